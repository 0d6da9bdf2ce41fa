"""How responsive the window is, as a table. The display is drawn by software here (llvmpipe on two cores, shared with the work
that is going on), which takes longer than a graphics card: so drawing stands apart from all else that Fyne's goroutine does."""
import json
import os
import threading
import time

from desktop import Failure

COLUMNS = ["event to refresh, at most", "posted function waits", "one posted function", "one look for events, with all they do", "one frame drawn, by software GL"]


class Table:
    def __init__(self):
        self.rows, self.notes = [], []

    def add(self, what, found):
        self.rows.append((what, found))
        print(f"  measured: {what}", flush=True)

    def note(self, line):
        self.notes.append(line)
        print(f"  {line}", flush=True)

    def show(self):
        print("\nMilliseconds: half of all, 99 of 100, the longest\n")
        width = max(len(what) for what, _ in self.rows) + 2
        print(" " * width + "".join(f"{c:>42}" for c in COLUMNS))
        for what, found in self.rows:
            cells = [found.get(c) for c in COLUMNS]
            print(f"{what:{width}}" + "".join(f"{c['p50']:.1f} / {c['p99']:.1f} / {c['max']:.1f} (of {c['count']})".rjust(42) if c and c["count"] else "-".rjust(42) for c in cells))
        print()
        for line in self.notes:
            print(line)


def processor_seconds(pid):
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory(pid):
    for line in open(f"/proc/{pid}/status"):
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return 0


def idle(window, seconds=10):
    """Percent of one processor over some seconds, nobody touching anything."""
    window.desktop.point(window.desktop.width // 2, window.desktop.height - 5)
    time.sleep(2)
    before = processor_seconds(window.process.pid)
    time.sleep(seconds)
    return (processor_seconds(window.process.pid) - before) / seconds * 100


def measured(window, do):
    """What was measured while do ran."""
    window.ask("measure start")
    do()
    return window.ask("measure take")


def restless(window, seconds=None, running=None, area=(60, 20, 60, 260)):
    """A person who moves the pointer about, for some seconds or as long as something runs."""
    x, y, x2, y2 = area
    started, step = time.monotonic(), 0
    while (seconds is None or time.monotonic() - started < seconds) and (running is None or running()):
        window.desktop.point(x + (x2 - x) * (step % 7) // 7, y + (y2 - y) * (step % 13) // 13)
        step += 1
        time.sleep(0.05)


def wheel(window, item, notches, down=True):
    window.desktop.xdotool("mousemove", *window.at(item), "click", "--repeat", notches, "--delay", 12, 5 if down else 4)


def stubs(profile, count):
    """A list of many containers, all of them there."""
    folder = profile.work / "many"
    folder.mkdir()
    known = []
    for i in range(count):
        path = folder / f"Archive {i:04}.img"
        with open(path, "wb") as f:
            f.truncate((1 + i % 50) << 24)
        known.append({"path": str(path), "favourite": i % 97 == 0, "size": (1 + i % 50) << 24})
    place = profile.config / "coffer"
    place.mkdir(mode=0o700, exist_ok=True)
    listed = place / "containers.json"
    old = json.loads(listed.read_text()) if listed.exists() else []
    listed.write_text(json.dumps(old + known))


class Copies:
    """A copy of a large file into an unlocked container, again and again as long as it is wanted: one takes seconds only."""

    def __init__(self, profile, image, film):
        self.profile, self.film = profile, film
        self.identity = profile.unlocked()[str(image)]["id"]
        self.wanted, self.rates, self.failure = False, [], None

    def __enter__(self):
        self.wanted = True
        self.thread = threading.Thread(target=self.run)
        self.thread.start()
        return self

    def run(self):
        try:
            while self.wanted:
                job = self.profile.ask(self.identity, "/v1/jobs/start", {"sources": [str(self.film)], "destination": "/", "toInside": True, "existing": "replace"})
                while job["state"] not in ("done", "partly", "failed", "cancelled"):
                    time.sleep(0.1)
                    job = self.profile.ask(self.identity, "/v1/jobs/show", {"id": job["id"]})
                if job["state"] != "done":
                    raise Failure(f"the copy is {job['state']}: {job.get('problem')}")
                self.rates.append(job["average"] / 1e6)
        except Failure as failure:
            self.failure = failure

    def __exit__(self, *_):
        self.wanted = False
        self.thread.join()
        if self.failure:
            raise self.failure


# -- The measured story

PASSWORD = "seven grey geese"
QUICK = ("--kdf-memory", "8MiB", "--kdf-time", "100ms")
BIG = 2_000_000_000
LEAVES = 20_000


def measure(story):
    """Everything that the window promises about its speed."""
    table, profile = Table(), story.profile
    work = profile.work
    archive, letters, many = work / "archive.img", work / "letters.img", work / "many-files.img"
    profile.coffer("create", archive, "--size", "5GiB", *QUICK, password=PASSWORD)
    profile.coffer("create", letters, "--size", "64MiB", "--kdf-time", "3s", password=PASSWORD)
    profile.coffer("create", many, "--size", "512MiB", *QUICK, password=PASSWORD)
    film = work / "film.bin"
    with open(film, "wb") as f:
        for _ in range(BIG // 10_000_000):
            f.write(os.urandom(10_000_000))
    leaves = work / "leaves"
    leaves.mkdir()
    for i in range(LEAVES):
        (leaves / f"leaf {i:05}.txt").write_text(f"leaf {i}\n")
    profile.coffer("copy", leaves, f"{many}:/", password=PASSWORD)
    for image in (archive, many):
        profile.coffer("unlock", image, password=PASSWORD)
    listed = profile.config / "coffer" / "containers.json"
    listed.parent.mkdir(mode=0o700, exist_ok=True)
    listed.write_text(json.dumps([{"path": str(p)} for p in (archive, letters, many)]))

    window = story.open()
    window.expect("archive", "letters", "many-files")
    table.note(f"from the start of the program to its first picture: {window.seconds * 1000:.0f} ms")
    table.note(f"idle, as the window opens: {idle(window):.2f} % of one core")
    window.click("archive", kind="Text")
    window.expect("Unlocked at")
    table.note(f"idle, an unlocked drive with its chart shown: {idle(window):.2f} % of one core")
    table.add("pointer moving, nothing else", measured(window, lambda: restless(window, 5)))

    copies = Copies(profile, archive, film)
    with copies:
        table.add("2 GB copy, Home with its chart", measured(window, lambda: restless(window, 6)))
        window.press("ctrl+3")
        table.add("2 GB copy, Transfers", measured(window, lambda: restless(window, 6)))
        window.press("ctrl+1")
        window.click("letters", kind="Text")
        window.click("Unlock", kind="Button")
        window.expect(secret=True, focused=True)

        def check():
            window.write(PASSWORD)
            window.press("Return")
            restless(window, 30, lambda: not profile.unlocked().get(str(letters), {}).get("ready"))

        table.add("2 GB copy, a password is typed and checked", measured(window, check))
    table.note(f"the copies of 2 GB meanwhile: {len(copies.rates)}, at {min(copies.rates):.0f} to {max(copies.rates):.0f} MB/s")

    window.press("ctrl+1")
    window.click("many-files", kind="Text")
    window.press("ctrl+2")
    window.locate("leaves", kind="Text")
    window.ask("measure start")
    window.click("leaves", kind="Text", times=2)
    started, first = time.monotonic(), None
    while True:
        shown = [i.get("text", "").replace(",", "") for i in window.items()]
        if first is None and any("leaf 0" in words for words in shown):
            first = time.monotonic() - started
        if any(words.startswith(f"{LEAVES} items") for words in shown):
            break
        if time.monotonic() - started > 30:
            raise Failure("the folder of 20,000 files is not there after 30 s")
        time.sleep(0.02)
    whole = time.monotonic() - started
    table.note(f"a folder of 20,000 files: first rows after {(first or whole) * 1000:.0f} ms, all after {whole * 1000:.0f} ms (looked for every 20 ms and more)")
    table.add("20,000 files, opening", window.ask("measure take"))
    row = window.locate(has="leaf 0", kind="Text")
    table.add("20,000 files, scrolling by the wheel", measured(window, lambda: wheel(window, row, 150)))
    table.add("20,000 files, by the keyboard", measured(window, lambda: window.press(*["Next"] * 20, "End", "Home", *["Down"] * 20)))
    table.add("20,000 files, ordered by size and back", measured(window, lambda: [window.click(by, kind="Button") for by in ("Size", "Modified", "Name")]))
    window.press("ctrl+q")
    window.ended()

    stubs(profile, 1000)
    window = story.open()
    window.expect("Archive 0000")
    table.note(f"start with 1,000 containers: {window.seconds * 1000:.0f} ms to the first picture")
    table.note(f"idle with 1,000 containers: {idle(window):.2f} % of one core")
    row = window.locate(has="Archive 0", kind="Text")
    table.add("1,000 containers, scrolling by the wheel", measured(window, lambda: wheel(window, row, 150)))
    table.add("1,000 containers, searching", measured(window, lambda: (window.click(hint="Search"), window.write("archive 07"))))
    table.note(f"memory of the window at the end: {memory(window.process.pid):.0f} MB")
    window.press("ctrl+q")
    window.ended()
    table.show()
