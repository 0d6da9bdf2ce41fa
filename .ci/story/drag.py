#!/usr/bin/python3
"""A window with one thing in it that can be dragged: a source for real drags of files, like a file manager.

drag.py X Y FILE...   The window is at X, Y. What happens is told on standard output, a word a line: ready, begin, end."""
import sys
from pathlib import Path

import gi

gi.require_version("Gtk", "3.0")
gi.require_version("Gdk", "3.0")
from gi.repository import Gdk, Gtk


def tell(word):
    print(word, flush=True)


x, y, files = int(sys.argv[1]), int(sys.argv[2]), [Path(f).resolve() for f in sys.argv[3:]]
window = Gtk.Window(title="Drag source", decorated=False, skip_taskbar_hint=True, accept_focus=False)
window.set_keep_above(True)
window.set_default_size(150, 44)
window.move(x, y)
handle = Gtk.EventBox()
handle.add(Gtk.Label(label=f"{len(files)} files" if len(files) > 1 else files[0].name))
window.add(handle)
handle.drag_source_set(Gdk.ModifierType.BUTTON1_MASK, None, Gdk.DragAction.COPY)
handle.drag_source_add_uri_targets()
handle.connect("drag-begin", lambda *_: tell("begin"))
handle.connect("drag-data-get", lambda _w, _c, data, _i, _t: data.set_uris([f.as_uri() for f in files]))
handle.connect("drag-failed", lambda *_: tell("failed"))
handle.connect("drag-end", lambda *_: (tell("end"), Gtk.main_quit()))
window.connect("map-event", lambda *_: tell("ready"))
window.show_all()
Gtk.main()
