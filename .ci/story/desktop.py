"""A desktop without a screen, a person in front of it, and what the person sees.

The events are real: a mouse that moves and keys that are pressed on an X server. Only the aiming is helped: the window, built
with the tag probe, tells where its widgets are."""
import json
import os
import socket
import subprocess
import time
from pathlib import Path

PATIENCE = 30  # seconds until something that was expected to happen counts as failed


class Failure(Exception):
    """Something is not as it should be."""


def until(what, check, patience=PATIENCE, step=0.05):
    """Waits until check() gives something true, and returns that."""
    deadline = time.monotonic() + patience
    while True:
        found = check()
        if found:
            return found
        if time.monotonic() > deadline:
            raise Failure(f"{what}: not within {patience} s")
        time.sleep(step)


class Desktop:
    """An X server, a window manager and a session bus of their own."""

    def __init__(self, work: Path, width: int, height: int):
        self.width, self.height, self.work = width, height, work
        self.running = []
        self.environment = dict(os.environ)
        self.log = open(work / "desktop.log", "ab")
        read, write = os.pipe()
        server = subprocess.Popen(["Xvfb", "-displayfd", str(write), "-screen", "0", f"{width}x{height}x24", "-nolisten", "tcp", "-noreset"],
                                  pass_fds=[write], stdout=self.log, stderr=self.log)
        self.running.append(server)
        os.close(write)
        with os.fdopen(read) as number:
            display = number.readline().strip()
        if not display:
            raise Failure("Xvfb did not start: see desktop.log")
        bus = work / "bus"
        self.environment.update(DISPLAY=f":{display}", DBUS_SESSION_BUS_ADDRESS=f"unix:path={bus}", LC_ALL="C.UTF-8", NO_AT_BRIDGE="1", GDK_BACKEND="x11", LIBGL_ALWAYS_SOFTWARE="1")
        for gone in ("WAYLAND_DISPLAY", "XAUTHORITY"):
            self.environment.pop(gone, None)
        self.start("dbus-daemon", "--session", "--nofork", "--nopidfile", f"--address=unix:path={bus}")
        rules = Path(__file__).with_name("openbox.xml")
        self.start("openbox", "--config-file", str(rules), "--sm-disable")
        until("the window manager", lambda: "window id" in self.output("xprop", "-root", "_NET_SUPPORTING_WM_CHECK"))

    def start(self, *command, **options):
        """Starts a program of the desktop, which is ended with it."""
        process = subprocess.Popen(command, env=self.environment, stdin=subprocess.DEVNULL, **{"stdout": self.log, "stderr": self.log, **options})
        self.running.append(process)
        return process

    def output(self, *command):
        return subprocess.run(command, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout

    def xdotool(self, *arguments):
        return subprocess.run(["xdotool", *map(str, arguments)], env=self.environment, check=True, stdout=subprocess.PIPE, text=True).stdout

    def point(self, x, y):
        self.xdotool("mousemove", x, y)

    def press(self, *keys):
        self.xdotool("key", "--clearmodifiers", "--delay", 15, *keys)

    def write(self, text):
        self.xdotool("type", "--delay", 8, text)

    def picture(self, path: Path):
        """Everything on the screen, as a PNG."""
        path.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["import", "-window", "root", "-define", "png:exclude-chunks=date,time", str(path)], env=self.environment, check=True)

    def end(self):
        for process in reversed(self.running):
            if process.poll() is None:
                process.terminate()
                try:
                    process.wait(5)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
        self.log.close()


class Window:
    """The window of Coffer, as a person sees and uses it."""

    def __init__(self, desktop: Desktop, program: Path, environment: dict, arguments=()):
        self.desktop = desktop
        self.probe = desktop.work / "probe"
        self.probe.unlink(missing_ok=True)
        self.clicks, self.clicked = 0, 0
        self.log = open(desktop.work / "window.log", "ab")
        started = time.monotonic()
        self.process = subprocess.Popen([program, *map(str, arguments)], env={**environment, "COFFER_WINDOW_PROBE": str(self.probe)}, stdin=subprocess.DEVNULL,
                                        stdout=self.log, stderr=self.log)
        desktop.running.append(self.process)
        until("the window on the screen", lambda: self.alive() and desktop.output("xdotool", "search", "--onlyvisible", "--pid", str(self.process.pid)).split())
        until("the probe", self.probe.exists)
        self.connection = socket.socket(socket.AF_UNIX)
        self.connection.settimeout(60)
        self.connection.connect(str(self.probe))
        self.lines = self.connection.makefile("r")
        until("something in the window", lambda: self.items(all_layers=True))
        self.seconds = time.monotonic() - started

    def alive(self):
        if self.process.poll() is not None:
            raise Failure(f"the window has ended by itself with {self.process.returncode}: see window.log")
        return True

    # -- What it shows

    def ask(self, question):
        try:
            self.connection.sendall(question.encode() + b"\n")
            answer = self.lines.readline()
        except OSError as failure:
            raise Failure(f"the window does not answer: {failure}")
        if not answer:
            self.process.wait(10)
            raise Failure(f"the window has gone, with {self.process.returncode}: see window.log")
        return json.loads(answer)

    def view(self):
        views = [v for v in self.ask("widgets") if v["items"]]
        return views[-1] if views else {"items": [], "layers": 0}

    def items(self, all_layers=False):
        """What can be seen, in the top layer only: what is below a dialog gets no events."""
        view = self.view()
        return [i for i in view["items"] if all_layers or i["layer"] == view["layers"] - 1]

    def matching(self, text=None, kind=None, has=None, hint=None, icon=None, secret=None, focused=None, enabled=None, near=None, all_layers=False):
        """The items that fit: text is the whole of it, has a part; near is a text beside or above which they are."""
        found = []
        items = self.items(all_layers)
        for i in items:
            words = i.get("text", "")
            if (text is None or words == text) and (has is None or has in words) and (kind is None or i["kind"].endswith(kind)) \
                    and (hint is None or hint in i.get("hint", "")) and (icon is None or icon in i.get("icon", "")) \
                    and (secret is None or i.get("secret", False) == secret) and (focused is None or i.get("focused", False) == focused) \
                    and (enabled is None or i.get("disabled", False) != enabled):
                found.append(i)
        if near is not None:
            anchors = [i for i in items if i.get("text", "") == near]
            if not anchors:
                return []
            anchor = anchors[0]
            found = [i for i in found if i["y"] + i["height"] >= anchor["y"]]
            found.sort(key=lambda i: (max(0, i["y"] - anchor["y"] - anchor["height"]) + abs(i["x"] - anchor["x"]) / 8))
        return found

    def sees(self, *texts, **what):
        """Whether all of the texts, as parts, or an item that fits is there."""
        if what:
            return self.matching(**what)
        words = [i.get("text", "") for i in self.items(all_layers=True)]
        return all(any(t in w for w in words) for t in texts)

    def expect(self, *texts, patience=PATIENCE, **what):
        return until(f"to see {texts or what}", lambda: self.sees(*texts, **what), patience)

    def gone(self, *texts, patience=PATIENCE, **what):
        until(f"that {texts or what} goes", lambda: not self.sees(*texts, **what), patience)

    def locate(self, text=None, nth=0, patience=PATIENCE, **what):
        """The item, once it stays where it is and can be used."""
        last = [None]

        def steady():
            found = self.matching(text=text, enabled=True, **what)
            if len(found) <= nth and nth >= 0 or not found:
                return None
            before, last[0] = last[0], found[nth]
            return found[nth] if before == found[nth] else None

        return until(f"to find {text or ''} {what or ''}", steady, patience, 0.04)

    # -- What a person does

    def at(self, item, fx=0.5, fy=0.5):
        return int(item["x"] + item["width"] * fx), int(item["y"] + item["height"] * fy)

    def click(self, text=None, button=1, times=1, fx=0.5, fy=0.5, **what):
        item = self.locate(text, **what)
        if times > 1:  # else a click just before counts as one of them
            time.sleep(max(0, self.clicked + 0.4 - time.monotonic()))
        self.clicked = time.monotonic()
        self.clicks += times
        self.desktop.xdotool("mousemove", *self.at(item, fx, fy), "sleep", 0.04, "click", "--repeat", times, "--delay", 60, button)
        if item["kind"].endswith("Entry"):  # a click that may become a double click takes the toolkit a moment
            until("the field to have the focus", lambda: any(i.get("focused") and (i["x"], i["y"]) == (item["x"], item["y"]) for i in self.items()), 5)
        return item

    def press(self, *keys):
        self.desktop.press(*keys)

    def write(self, text):
        self.desktop.write(text)

    def fill(self, value, **what):
        """Puts a value into a field, instead of what is in it."""
        item = self.click(**what)
        self.press("ctrl+a")
        self.write(value)
        if not item.get("secret"):
            until(f"{value!r} in the field", lambda: self.matching(text=value, focused=True), 10)

    def drop(self, files, onto, position=None):
        """Drags files from another window onto an item of this one: the protocol for it (XDND), button down to button up."""
        x, y = position or (self.desktop.width - 200, self.desktop.height - 70)
        source = self.desktop.start("/usr/bin/python3", str(Path(__file__).with_name("drag.py")), str(x), str(y), *map(str, files), stdout=subprocess.PIPE, text=True)

        def hear(word):
            line = source.stdout.readline().strip()
            if line != word:
                raise Failure(f"the source of the drag says {line!r}, not {word!r}")

        hear("ready")
        place = self.desktop.output("xdotool", "search", "--onlyvisible", "--name", "^Drag source$").split()[-1]
        geometry = dict(line.split("=") for line in self.desktop.output("xdotool", "getwindowgeometry", "--shell", place).split())
        x, y = int(geometry["X"]) + int(geometry["WIDTH"]) // 2, int(geometry["Y"]) + int(geometry["HEIGHT"]) // 2
        to_x, to_y = self.at(onto) if isinstance(onto, dict) else onto
        steps = ["mousemove", x, y, "sleep", 0.1, "mousedown", 1]
        for i in range(1, 21):
            steps += ["mousemove", x + (to_x - x) * i // 20, y + (to_y - y) * i // 20, "sleep", 0.015]
        self.desktop.xdotool(*steps)
        hear("begin")
        # The target is asked while the pointer rests on it, as a person rests before letting go.
        self.desktop.xdotool("mousemove", to_x + 1, to_y, "sleep", 0.15, "mousemove", to_x, to_y, "sleep", 0.15, "mouseup", 1)
        hear("end")
        source.wait(10)

    # -- Ends

    def ended(self, patience=PATIENCE):
        until("the window to end", lambda: self.process.poll() is not None, patience)
        self.connection.close()
        return self.process.returncode
