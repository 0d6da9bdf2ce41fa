"""What the story checks from outside of the window: with the program coffer, the sockets of agents, and the disk."""
import http.client
import json
import os
import socket
import subprocess
from pathlib import Path

from desktop import Failure


def put(folder: Path, at: str):
    """Shows a folder in another place."""
    subprocess.run(["mount", "-t", "tmpfs", "none", Path(at).parent], check=True)
    Path(at).mkdir(mode=0o700)
    subprocess.run(["mount", "--bind", folder, at], check=True)
    return Path(at)


class Profile:
    """The folders of a person who has never used Coffer."""

    def __init__(self, work: Path, programs: Path):
        self.work, self.programs = work, programs
        self.home, self.config, self.data, self.state, self.runtime = (work / n for n in ("home", "config", "data", "state", "run"))
        for folder in (self.home, self.config, self.data, self.state, self.runtime):
            folder.mkdir(mode=0o700, parents=True)
        (self.home / "Documents").mkdir()
        if os.environ.get("COFFER_STORY_PLACES"):  # a mount namespace of our own: pictures show the paths that people have
            self.home, self.runtime, self.programs = (put(folder, at) for folder, at in ((self.home, "/home/me"), (self.runtime, "/run/user/1000"), (self.programs, "/opt/coffer")))

    def environment(self, base):
        return {**base, "HOME": str(self.home), "XDG_CONFIG_HOME": str(self.config), "XDG_DATA_HOME": str(self.data), "XDG_STATE_HOME": str(self.state),
                "XDG_RUNTIME_DIR": str(self.runtime), "XDG_DOCUMENTS_DIR": str(self.home / "Documents"), "FYNE_SCALE": "1", "FYNE_DISABLE_DPI_DETECTION": "1", "LANG": "en_US.UTF-8", "LC_ALL": "",
                "TZ": "UTC", "PATH": f"{self.programs}:{base['PATH']}"}

    def coffer(self, *arguments, password=None, check=True):
        """Runs the program; gives what it prints, decoded if it is JSON."""
        environment = self.environment(os.environ)
        if password is not None:
            arguments = (*arguments, "--password-stdin")
        ran = subprocess.run([self.programs / "coffer", *map(str, arguments)], env=environment, input=None if password is None else password + "\n",
                             stdin=subprocess.DEVNULL if password is None else None, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if check and ran.returncode != 0:
            raise Failure(f"coffer {' '.join(map(str, arguments))}: {ran.returncode}: {ran.stderr.strip()}")
        if "--json" in arguments:
            return json.loads(ran.stdout) if ran.stdout.strip() else None
        return ran.stdout

    def unlocked(self):
        """The unlocked containers, by the path of the file."""
        listed = self.coffer("list", "--json")
        listed = listed if isinstance(listed, list) else next(v for v in listed.values() if isinstance(v, list))
        return {c["image"]: c for c in listed}

    def ask(self, identity, path, document):
        """A request to the agent of a container, as the window makes them."""
        connection = http.client.HTTPConnection("agent", timeout=30)
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.settimeout(30)
        try:
            connection.sock.connect(str(self.runtime / "coffer" / f"{identity}.sock"))
            connection.request("POST", path, json.dumps(document), {"Content-Type": "application/json"})
            answer = connection.getresponse()
            body = answer.read()
        except OSError as failure:
            raise Failure(f"the agent of {identity}: {failure}")
        finally:
            connection.close()
        if answer.status != 200:
            raise Failure(f"the agent of {identity} refuses {path}: {body.decode(errors='replace')}")
        return json.loads(body)

    def jobs(self, image):
        """The copy jobs of an unlocked container, oldest first."""
        return self.ask(self.unlocked()[str(image)]["id"], "/v1/jobs/list", {}) or []

    def end(self):
        """Locks what is unlocked: nothing goes on after the story."""
        self.coffer("lock", "--all", "--force", check=False)


def same(a: Path, b: Path):
    """Compares files or folders, byte for byte."""
    ran = subprocess.run(["diff", "-r", "--brief", a, b], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if ran.returncode != 0:
        raise Failure(f"{a} and {b} differ: {ran.stdout.strip()}")
