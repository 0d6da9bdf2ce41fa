"""The story itself: what the person does, chapter by chapter, and what must be true after it."""
import json
import os
import signal
import subprocess
import threading
import time

from desktop import Failure, Window, until
from outside import same

PASSWORD = "seven grey geese fly south"
ENDED = ("done", "partly", "failed", "cancelled")


class SlowDisk:
    """A container whose disk is slow: its process is stopped most of the time, so that a copy can be watched."""

    def __init__(self, process, running, stopped):
        self.process, self.running, self.stopped = process, running, stopped
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.slow)

    def slow(self):
        step = 0
        while not self.over.is_set():
            os.kill(self.process, signal.SIGSTOP)
            self.over.wait(self.stopped * (0.6, 1, 0.8, 1.5, 0.7, 1.2, 0.5)[step // 8 % 7])
            os.kill(self.process, signal.SIGCONT)
            time.sleep(self.running)
            step += 1

    def __enter__(self):
        self.thread.start()

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()


def chapter(title):
    """Marks a part of the story, which is printed with its time."""
    def mark(f):
        def run(self, *arguments):
            started = time.monotonic()
            print(f"  {title} ...", end="", flush=True)
            try:
                result = f(self, *arguments)
            except BaseException:
                print(" FAILED", flush=True)
                raise
            print(f" {time.monotonic() - started:.1f} s", flush=True)
            return result
        return run
    return mark


class Story:
    def __init__(self, desktop, profile, size, theme, pictures=None):
        self.desktop, self.profile, self.size, self.theme, self.pictures = desktop, profile, size, theme, pictures
        self.work = profile.work
        self.window = None
        self.taken = []

    # -- Tools of all chapters

    def open(self, *arguments):
        """Starts the window; the choice of light or dark is in the settings, as a person would have left it."""
        place = self.profile.config / "coffer" / "settings.json"
        place.parent.mkdir(mode=0o700, exist_ok=True)
        if not place.exists():
            place.write_text(json.dumps({"theme": self.theme, "kdfTime": "100ms"}))
        environment = self.profile.environment(self.desktop.environment)
        self.window = Window(self.desktop, self.profile.programs / "coffer-window", environment, arguments)
        until("the window to fill the screen", lambda: self.window.view()["width"] == self.desktop.width)
        return self.window

    def shot(self, name):
        """A picture of the screen, if pictures are wanted."""
        if not self.pictures:
            return
        time.sleep(0.4)  # an animation may be under way; nothing depends on this but the looks of the picture
        path = self.pictures / f"window-{name}-{self.size}-{self.theme}.png"
        self.desktop.picture(path)
        self.taken.append(path)

    def shrink(self):
        """Makes the pictures small: the window has few colours."""
        for path in self.taken:
            subprocess.run(["pngquant", "--force", "--skip-if-larger", "--strip", "--speed", "1", "--output", path, "128", path], check=False)

    def write_file(self, name, size):
        path = self.originals / name
        path.parent.mkdir(exist_ok=True, parents=True)
        with open(path, "wb") as f:
            for at in range(0, size, 10_000_000):
                f.write(os.urandom(min(size - at, 10_000_000)))
        return path

    def mounted(self):
        """Where the drive is, once it is there."""
        return until("the drive", lambda: self.profile.unlocked().get(str(self.image), {}).get("mountPoint"))

    def job(self, n):
        """The n-th copy of the container, or none."""
        jobs = self.profile.jobs(self.image)
        return jobs[n] if len(jobs) > n else None

    def copied(self, n):
        """Waits until the n-th copy has ended well."""
        job = until(f"copy {n} to end", lambda: (j := self.job(n)) and j["state"] in ENDED and j, 60)
        if job["state"] != "done":
            raise Failure(f"copy {n} is {job['state']}: {job}")
        return job

    def slow_disk(self, running=0.006, stopped=0.1):
        return SlowDisk(self.profile.unlocked()[str(self.image)]["pid"], running, stopped)

    def choose(self, **what):
        """The container in the list of Home."""
        self.window.press("ctrl+1")
        return self.window.locate("Photos", kind="Text", **what)

    # -- The chapters

    def tell(self):
        self.originals = self.profile.home / "Pictures"
        self.image = self.profile.home / "Documents" / "Photos.img"
        for n in range(1, 7):
            self.write_file(f"Holiday/Day {n}.jpg", 300_000)
        self.write_file("Holiday/Maps/Walks.pdf", 150_000)
        self.write_file("Letter.odt", 40_000)
        self.write_file("Song.ogg", 2_000_000)
        self.write_file("Notes.txt", 500)
        self.write_file("Film.mkv", 600_000_000)
        self.write_file("Concert.mkv", 600_000_000)
        self.begin()
        self.create()
        self.drop()
        self.watch()
        self.browse()
        self.export()
        self.report()
        self.survive()
        self.leave()
        self.check_health()
        self.measure()
        self.settings()
        self.lock()
        self.outside()
        self.shrink()

    @chapter("a window that was never used")
    def begin(self):
        self.open().expect("Your files, in an encrypted drive")
        self.shot("empty")

    @chapter("a container by the wizard, with the mouse alone but for what must be typed")
    def create(self):
        w = self.window
        w.clicks = 0
        w.click("Create a container")
        w.expect("New container", "Name and place")
        w.expect(text="My files", focused=True)
        w.press("ctrl+a")
        w.write("Photos")
        w.expect(str(self.image))
        self.shot("create-name")
        w.click("Next")
        w.expect("How much should fit in?", "are free on this disk")
        self.shot("create-size")
        w.click("Next")
        w.expect(secret=True, focused=True)
        w.write(PASSWORD)
        w.click(hint="The same once more")
        w.expect(hint="The same once more", focused=True)
        w.write(PASSWORD)
        w.expect("Strong.")
        self.shot("create-password")
        w.click("Next")
        w.expect("This recovery key opens the container")
        labels = [i for i in w.items() if i["kind"] == "widget.Label"]
        asked = [i["text"].split()[1] for i in labels if i.get("text", "").startswith("Group ")]
        numbers = {i["text"]: i for i in labels if i.get("text") in asked}
        groups = [next(i["text"] for i in labels if i["x"] == numbers[n]["x"] and i["y"] > numbers[n]["y"]) for n in asked]
        self.shot("create-recovery")
        w.expect(kind="KeyEntry", focused=True)
        w.write(groups[0])
        w.expect(kind="KeyEntry", text="", focused=True)  # the second field, without a click
        w.write(groups[1])
        w.click("Create")
        point = self.mounted()
        if not os.path.ismount(point):
            raise Failure(f"{point} is not a mount point")
        w.expect("Unlocked at", "Open in file manager")
        print(f" {w.clicks} clicks,", end="")
        if w.clicks > 7:
            raise Failure(f"{w.clicks} clicks from an empty window to a drive")

    @chapter("files dropped onto Files, and one onto the list of Home")
    def drop(self):
        w = self.window
        w.press("ctrl+2")
        w.expect("This folder is empty")
        w.drop([self.originals / n for n in ("Holiday", "Letter.odt", "Song.ogg")], (700, 400))
        self.copied(0)
        w.expect("Holiday", "Letter.odt", "Song.ogg")
        w.drop([self.originals / "Notes.txt"], self.choose())
        self.copied(1)
        for name in ("Holiday", "Letter.odt", "Song.ogg", "Notes.txt"):
            same(self.originals / name, self.mounted() + "/" + name)

    @chapter("a large copy with its chart, paused and gone on with")
    def watch(self):
        w = self.window
        point = self.mounted()
        with self.slow_disk(stopped=0.4 if self.pictures else 0.1):  # pictures take time
            w.drop([self.originals / "Film.mkv"], self.choose())
            until("a copy under way", lambda: (j := self.job(2)) and j["state"] == "running" and j["bytes"] > 200_000_000)
            w.expect("copy running")
            self.shot("home")
            w.press("ctrl+3")
            w.expect("Film.mkv", "Copying", "Average", "of 600 MB")
            if self.pictures:
                until("a chart to look at", lambda: self.job(2)["bytes"] > 400_000_000)
            self.shot("transfers")
            w.click("Pause")
            until("the pause", lambda: self.job(2)["state"] == "paused")
            before = self.job(2)["bytes"]
            w.expect("Paused", "1 copy paused")
            time.sleep(0.5)
            if self.job(2)["bytes"] > before:
                raise Failure("the copy goes on in its pause")
            w.click("Go on")
            until("the copy to go on", lambda: self.job(2)["state"] != "paused")
        self.copied(2)
        w.expect("Copied: Film.mkv")
        same(self.originals / "Film.mkv", point + "/Film.mkv")

    @chapter("Files: into a folder, and a search")
    def browse(self):
        w = self.window
        w.press("ctrl+2")
        w.click("Holiday", kind="Text")
        self.shot("files")
        w.click("Holiday", kind="Text", times=2)
        w.expect("Day 1.jpg", "Maps", "7 items")
        w.press("BackSpace")
        w.expect("Film.mkv")
        w.press("ctrl+f")
        w.write("walks")
        w.expect("Walks.pdf")
        w.gone(text="Film.mkv")
        self.shot("search")
        w.press("Escape")
        w.expect("Film.mkv")

    @chapter("a folder out again")
    def export(self):
        w = self.window
        target = self.profile.home / "Restored"
        target.mkdir()
        w.click("Holiday", kind="Text")
        w.click("Export to…")
        w.fill(str(target), kind="KeyEntry")
        w.press("Return")
        w.expect(f"This folder: {target}")
        w.click("Export here")
        self.copied(3)
        same(self.originals / "Holiday", target / "Holiday")

    @chapter("the history, and a report as a page and as a picture")
    def report(self):
        w = self.window
        w.press("ctrl+3")
        w.click("History")
        w.expect("600 MB")
        self.shot("history")
        w.click("600 MB")
        w.expect("Rates over time", "Where the time went")
        self.shot("record")
        for form, name, first in ((None, "page.html", b"<!"), ("Picture (.png)", "picture.png", b"\x89PNG\r\n\x1a\n")):
            path = self.profile.home / name
            w.click("Export…")
            w.expect("Save as")
            if form:
                w.click(kind="KeySelect")
                w.click(form)
            w.fill(str(path), kind="KeyEntry")
            w.click("Save")
            until(f"the report {path}", lambda: path.exists() and path.stat().st_size > 1000)
            w.click("Close")
            if not path.read_bytes().startswith(first):
                raise Failure(f"{path} begins with {path.read_bytes()[:16]}")
        w.press("Escape")

    @chapter("the window killed while it copies, and started again")
    def survive(self):
        with self.slow_disk(stopped=0.3):
            self.window.drop([self.originals / "Concert.mkv"], self.choose())
            until("a copy under way", lambda: (j := self.job(4)) and j["state"] == "running" and j["bytes"] > 0)
            self.window.process.kill()
            self.window.ended()
            if self.job(4)["state"] != "running":
                raise Failure(f"the copy is {self.job(4)['state']} after its window was killed")
            self.open().expect("1 copy running")
        self.copied(4)
        self.window.press("ctrl+3")
        self.window.expect("Concert.mkv", "Done")
        same(self.originals / "Concert.mkv", self.mounted() + "/Concert.mkv")

    @chapter("the window closed, and ended by a signal: the drive stays")
    def leave(self):
        for end in (lambda: self.window.press("ctrl+q"), lambda: self.window.process.send_signal(signal.SIGTERM)):
            end()
            self.window.ended()
            if not os.path.ismount(self.mounted()):
                raise Failure("the drive has gone with the window")
            self.open().expect("Unlocked at")

    @chapter("Health and keys: a check")
    def check_health(self):
        w = self.window
        w.press("ctrl+5")
        w.expect("The header is good")
        self.shot("health")
        w.click("Check…")
        w.expect("Check Photos")
        w.click("Check", kind="KeyButton")
        w.expect("Nothing is wrong.")
        w.click("Close")
        w.expect("The file system was sound at")

    @chapter("the lab: a drive, quick")
    def measure(self):
        w = self.window
        w.press("ctrl+4")
        w.click("Drive or folder")
        self.shot("lab")
        w.click("Run")
        w.expect("elapsed")
        w.expect("Export…", "reading", patience=90)
        self.shot("lab-result")
        if not self.profile.coffer("report", "list", "--json"):
            raise Failure("no report is kept")

    @chapter("Settings")
    def settings(self):
        w = self.window
        w.press("ctrl+6")
        w.expect("Appearance")
        self.shot("settings")
        for tab in ("Locking", "Drives and copies", "At login", "About"):
            w.click(tab, kind="KeyButton")
            w.gone("Appearance")
            self.shot("settings-" + tab.lower().replace(" ", "-"))

    @chapter("locked, refused a wrong password, unlocked, locked")
    def lock(self):
        w = self.window
        point = self.mounted()
        for password in ("seven grey goose", PASSWORD):
            if str(self.image) in self.profile.unlocked():
                self.choose()
                w.click("Lock")
                until("the lock", lambda: not self.profile.unlocked())
                if os.path.ismount(point):
                    raise Failure(f"{point} is still mounted")
                w.click("Unlock")
            w.expect(secret=True, focused=True)
            w.write(password)
            w.press("Return")
            if password != PASSWORD:
                w.expect("That is not the password of this container.")
                self.shot("unlock")
        self.mounted()
        w.expect("Unlocked at")
        w.click("Lock")
        until("the lock", lambda: not self.profile.unlocked())
        w.press("ctrl+q")
        w.ended()

    @chapter("from outside: the container is sound, its content exact")
    def outside(self):
        self.profile.coffer("check", self.image, password=PASSWORD)
        back = self.work / "back"
        self.profile.coffer("copy", f"{self.image}:/", back, password=PASSWORD)
        same(self.originals, back)
