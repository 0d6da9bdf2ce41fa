"""A page with every picture of the window, beside the pictures, for people who look before they try."""

SCREENS = [
    ("empty", "The first start"),
    ("create-name", "A new container: its name and place"),
    ("create-size", "Its size"),
    ("create-password", "Its password"),
    ("create-recovery", "Its recovery key, shown once"),
    ("home", "All containers, and one that is being filled"),
    ("unlock", "A password that was not it"),
    ("files", "What is inside"),
    ("search", "Search in it"),
    ("transfers", "What is being copied, and how fast"),
    ("history", "What was copied"),
    ("record", "Where the time of a copy went"),
    ("lab", "The lab: what can be measured"),
    ("lab-result", "The lab: an answer"),
    ("health", "Condition and keys"),
    ("settings", "Settings"),
    ("settings-locking", "Settings: drives that lock by themselves"),
    ("settings-drives-and-copies", "Settings: drives and copies"),
    ("settings-at-login", "Settings: at login"),
    ("settings-about", "Settings: about, with the self-test"),
]


def write(folder, variants):
    """The page; it fails when a picture is missing or has no place on it."""
    wanted = {f"window-{screen}-{size}-{theme}.png" for screen, _ in SCREENS for size, theme in variants}
    found = {p.name for p in folder.glob("window-*.png")}
    if wanted != found:
        raise ValueError(f"pictures that are missing: {sorted(wanted - found)}; that are too many: {sorted(found - wanted)}")
    lines = ["# Every screen of the window", "",
             "Pictures of a real run, driven by mouse and keys: `./run story --screenshots`. Each in two sizes of the window, light and dark.", ""]
    for screen, words in SCREENS:
        lines += [f"## {words}", "", "| | |", "|---|---|"]
        cells = [f"![{words}, {size}, {theme}](window-{screen}-{size}-{theme}.png)" for size, theme in variants]
        lines += [f"| {left} | {right} |" for left, right in zip(cells[::2], cells[1::2])] + [""]
    (folder / "README.md").write_text("\n".join(lines))
