#!/usr/bin/python3
"""The story of a person and Coffer's window, told by real events and verified from outside.

story.py --work FOLDER --programs FOLDER [--size WxH] [--theme light|dark]    one variant of the story
         --screenshots [FOLDER]   four variants, each screen as a picture into FOLDER, else assets/screenshots
         --measure              how responsive the window is, as a table; nothing is asserted"""
import argparse
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

from chapters import Story
import gallery
from desktop import Desktop, Failure
from measuring import measure
from outside import Profile

VARIANTS = [("1280x800", "light"), ("1280x800", "dark"), ("1024x700", "light"), ("1024x700", "dark")]


def play(work, programs, size, theme, play_it, **options):
    """One desktop, one profile, one story."""
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    profile = Profile(work, programs)
    desktop = None
    story = None
    try:
        desktop = Desktop(work, *map(int, size.split("x")))
        story = Story(desktop, profile, size, theme, **options)
        play_it(story)
        return True
    except (Failure, OSError, subprocess.CalledProcessError) as failure:
        traceback.print_exc()
        print(f"\nstory: {failure}", file=sys.stderr)
        if desktop:
            kept = Path(tempfile.gettempdir()) / "coffer-story-failed.png"
            try:
                desktop.picture(kept)
                print(f"story: the screen at that moment: {kept}", file=sys.stderr)
                for i in story.window.items(all_layers=True):
                    if i.get("text") or i.get("hint") or i.get("icon"):
                        print("   ", {k: v for k, v in i.items() if k != "layer"}, file=sys.stderr)
            except Exception as second:
                print(f"story: {second}", file=sys.stderr)
        for log in work.glob("*.log"):
            print(f"-- {log.name}\n{log.read_text(errors='replace')[-3000:]}", file=sys.stderr)
        return False
    finally:
        profile.end()
        if desktop:
            desktop.end()


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--work", type=Path, required=True)
    arguments.add_argument("--programs", type=Path, required=True)
    arguments.add_argument("--size", default="1280x800", choices=["1280x800", "1024x700"])
    arguments.add_argument("--theme", default="light", choices=["light", "dark"])
    arguments.add_argument("--screenshots", type=Path, nargs="?", const=Path("assets/screenshots"))
    arguments.add_argument("--measure", action="store_true")
    chosen = arguments.parse_args()
    started = time.monotonic()
    if chosen.measure:
        fine = play(chosen.work / "measure", chosen.programs, chosen.size, chosen.theme, measure)
    elif chosen.screenshots:
        fine = all([play(chosen.work / f"{size}-{theme}", chosen.programs, size, theme, Story.tell, pictures=chosen.screenshots) for size, theme in VARIANTS])
        if fine:
            gallery.write(chosen.screenshots, VARIANTS)
    else:
        fine = play(chosen.work / "story", chosen.programs, chosen.size, chosen.theme, Story.tell)
    print(f"\nthe story took {time.monotonic() - started:.0f} s", flush=True)
    sys.exit(0 if fine else 1)


main()
