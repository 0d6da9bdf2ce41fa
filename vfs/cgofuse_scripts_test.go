//go:build windows || ((darwin || freebsd) && cgo) || (linux && cgofuse)

package vfs

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/winfsp/cgofuse/fuse"
)

// TestWindowsScripts plays what Windows programs do, callback by callback, against the adapter. After each script the
// volume must hold exactly the files the script says, its check must be clean, and no handle may be left.
func TestWindowsScripts(t *testing.T) {
	scripts := map[string]struct {
		run  func(t *testing.T, d *winDrive)
		want map[string]string // every file in the container afterwards, with content; folders end in a slash
	}{
		"create, write, close":               {scriptCreate, map[string]string{"/A.txt": "hello"}},
		"dispositions":                       {scriptDispositions, map[string]string{"/f": "3", "/new": ""}},
		"delete on close":                    {scriptDeleteOnClose, map[string]string{"/keep": "k"}},
		"delete with the last close":         {scriptDeletePending, nil},
		"posix delete of an open file":       {scriptDeletePosix, map[string]string{"/f": "second"}},
		"delete folders":                     {scriptDeleteFolders, map[string]string{"/full/": "", "/full/x": "x"}},
		"rename over an open file":           {scriptRenameOverOpen, map[string]string{"/doc": "new"}},
		"rename refused":                     {scriptRenameRefused, map[string]string{"/a": "a", "/b": "b", "/d/": "", "/e/": ""}},
		"rename a folder with open files":    {scriptRenameFolder, map[string]string{"/to/": "", "/to/in/": "", "/to/in/f": "after"}},
		"case-only rename":                   {scriptCaseRename, map[string]string{"/README.md": "r", "/SubDir/": "", "/SubDir/x": "x"}},
		"case-folded lookup":                 {scriptCaseLookup, map[string]string{"/Folder/": "", "/Folder/Größe.TXT": "größe"}},
		"set allocation size, set end":       {scriptAllocation, map[string]string{"/f": "0123\x00\x00", "/g": "01"}},
		"append only":                        {scriptAppend, map[string]string{"/log": "onetwothree"}},
		"read-only attribute":                {scriptReadOnly, map[string]string{"/f": "content", "/d/": ""}},
		"attributes and times":               {scriptAttributes, map[string]string{"/f": "x", "/d/": ""}},
		"Office saves":                       {scriptOffice, map[string]string{"/report.docx": "version 3"}},
		"a handle used after its rename":     {scriptStaleHandle, map[string]string{"/doc": "new"}},
		"deleted by a handle that was moved": {scriptStaleDelete, map[string]string{"/doc": "new"}},
		"which file is not clear":            {scriptAmbiguous, map[string]string{"/doc": "new", "/doc.bak": "old"}},
		"ReplaceFile":                        {scriptReplaceFile, map[string]string{"/doc": "new", "/doc.bak": "old"}},
		"editor writes in place":             {scriptNotepad, map[string]string{"/note.txt": "shorter"}},
		"Explorer copies a file":             {scriptExplorerCopy, map[string]string{"/photo.jpg": strings.Repeat("p", 30000)}},
		"Explorer makes and names a folder":  {scriptExplorerFolder, map[string]string{"/Holiday 2026/": "", "/Holiday 2026/desktop.ini": "[x]"}},
		"Explorer deletes a tree":            {scriptExplorerDelete, nil},
		"recycle bin and thumbnails": {scriptLitter, map[string]string{"/$RECYCLE.BIN/": "", "/$RECYCLE.BIN/desktop.ini": "[.ShellClassInfo]",
			"/Thumbs.db": "thumbs", "/System Volume Information/": ""}},
		"names Windows forbids": {scriptBadNames, nil},
	}
	for name, script := range scripts {
		t.Run(name, func(t *testing.T) {
			d, finish := newTestWinDrive(t, false)
			script.run(t, d)
			finish(script.want)
		})
	}
}

// TestWindowsReadOnly: nothing can be changed on a read-only drive, everything can be read.
func TestWindowsReadOnly(t *testing.T) {
	d, finish := newTestWinDrive(t, true) // holds /f ("content") and /d/
	if got := d.get("/F"); got != "content" {
		t.Errorf("read %q", got)
	}
	for what, o := range map[string]winOpt{"create": {how: createNew, write: true}, "mkdir": {how: createNew, dir: true}} {
		_, errc := d.open("/new", o)
		d.refused(what, errc, fuse.EROFS)
	}
	_, errc := d.open("/f", winOpt{write: true})
	d.refused("open for writing", errc, fuse.EROFS)
	f := d.mustOpen("/f", winOpt{})
	d.refused("rename", f.rename("/g", false, true), fuse.EROFS)
	d.refused("set attributes", f.setBasic(winBasic{attrs: fuse.UF_HIDDEN}), fuse.EROFS)
	d.refused("set times", f.setBasic(winBasic{attrs: -1, write: time.Unix(1e9, 0)}), fuse.EROFS)
	d.refused("delete", f.setDelete(), fuse.EROFS)
	f.close()
	dir := d.mustOpen("/d", winOpt{dir: true})
	d.refused("delete a folder", dir.setDelete(), fuse.EROFS)
	dir.close()
	finish(map[string]string{"/f": "content", "/d/": ""})
}

func scriptCreate(t *testing.T, d *winDrive) {
	d.calls = nil
	f := d.mustOpen("/A.txt", winOpt{how: createNew, write: true, attrs: fuse.UF_ARCHIVE})
	d.must("write", f.write("hello", 0))
	if got := f.read(); got != "hello" {
		t.Errorf("read %q", got)
	}
	if got := f.info().Size; got != 5 {
		t.Errorf("size %d through the handle", got)
	}
	d.must("flush", f.flush())
	f.close()
	want := strings.Fields("getattr create chflags chown getattr getpath getattr write read getattr fsync flush release")
	if !slices.Equal(d.calls, want) {
		t.Errorf("the script made the callbacks %v, not %v", d.calls, want)
	}
}

func scriptDispositions(t *testing.T, d *winDrive) {
	_, errc := d.open("/f", winOpt{})
	d.refused("open of nothing", errc, fuse.ENOENT)
	_, errc = d.open("/no/such/folder/f", winOpt{how: createNew, write: true})
	d.refused("create without a folder", errc, fuse.ENOENT)
	d.put("/f", "1")
	_, errc = d.open("/F", winOpt{how: createNew, write: true})
	d.refused("CREATE_NEW of an existing name in another case", errc, fuse.EEXIST)
	// two programs race: both saw nothing, the second creates it after all
	_, errc = d.create("/F", winOpt{write: true})
	d.refused("O_EXCL create of an existing name in another case", errc, fuse.EEXIST)
	if errc := d.fs.Mkdir("/F", 0o777); errc != -fuse.EEXIST {
		t.Errorf("mkdir over a file: %v", fuse.Error(errc))
	}
	d.put("/F", "3")
	f := d.mustOpen("/f", winOpt{how: openAlways, write: true})
	if got := f.read(); got != "3" {
		t.Errorf("read %q", got)
	}
	f.close()
	d.mustOpen("/new", winOpt{how: openAlways, write: true}).close()
	_, errc = d.open("/f/below", winOpt{})
	d.refused("open below a file", errc, fuse.ENOTDIR, fuse.ENOENT)
}

func scriptDeleteOnClose(t *testing.T, d *winDrive) {
	f := d.mustOpen("/temp", winOpt{how: createNew, write: true, onClose: true})
	d.must("write", f.write("secret", 0))
	d.calls = nil
	f.close()
	if want := []string{"unlink", "flush", "release"}; !slices.Equal(d.calls, want) {
		t.Errorf("callbacks %v, not %v", d.calls, want)
	}
	if d.exists("/temp") {
		t.Error("still there")
	}
	d.put("/keep", "k")
	d.put("/again", "x")
	f = d.mustOpen("/AGAIN", winOpt{onClose: true})
	if got := f.read(); got != "x" {
		t.Errorf("read %q", got)
	}
	f.close()
}

func scriptDeletePending(t *testing.T, d *winDrive) {
	d.put("/f", "first")
	a, b := d.mustOpen("/f", winOpt{}), d.mustOpen("/F", winOpt{write: true})
	d.must("delete", a.setDelete())
	a.close()
	if !d.exists("/f") {
		t.Error("gone before the last close")
	}
	_, errc := d.open("/f", winOpt{})
	d.refused("open of what is being deleted", errc, fuse.EACCES)
	d.must("write", b.write("x", 0))
	b.close()
	if d.exists("/f") {
		t.Error("still there")
	}
}

func scriptDeletePosix(t *testing.T, d *winDrive) {
	d.put("/f", "first")
	reader, writer := d.mustOpen("/f", winOpt{}), d.mustOpen("/f", winOpt{write: true})
	del := d.mustOpen("/f", winOpt{})
	d.must("delete", del.deletePosix())
	del.close()
	if d.exists("/f") {
		t.Error("the name is still there")
	}
	if got := reader.read(); got != "first" {
		t.Errorf("a deleted open file reads %q", got)
	}
	d.must("write", writer.write("changed", 0))
	if got, size := reader.read(), reader.info().Size; got != "changed" || size != 7 {
		t.Errorf("after a write it reads %q, size %d", got, size)
	}
	d.put("/f", "second") // a new file of that name is another file
	if got := reader.read(); got != "changed" {
		t.Errorf("the old file reads %q", got)
	}
	d.must("truncate", writer.setEnd(3))
	if got := d.get("/f"); got != "second" {
		t.Errorf("the new file reads %q", got)
	}
	reader.close()
	writer.close()
}

func scriptDeleteFolders(t *testing.T, d *winDrive) {
	d.mkdir("/empty")
	d.mkdir("/full")
	d.put("/full/x", "x")
	d.refused("delete of a folder with content", d.delete("/full"), fuse.ENOTEMPTY)
	d.must("delete of an empty folder", d.delete("/EMPTY"))
	if d.exists("/empty") || !d.exists("/full/x") {
		t.Error("the wrong one is gone")
	}
	// a file appears between the question and the close: the removal fails, the file stays
	d.mkdir("/race")
	f := d.mustOpen("/race", winOpt{dir: true})
	d.must("delete", f.setDelete())
	d.put("/race/late", "late")
	f.close()
	if got := d.get("/race/late"); got != "late" {
		t.Errorf("read %q", got)
	}
	d.must("delete", d.delete("/race/late"))
	d.must("delete", d.delete("/race"))
}

func scriptRenameOverOpen(t *testing.T, d *winDrive) {
	d.put("/doc", "old")
	d.put("/tmp", "new")
	reader := d.mustOpen("/doc", winOpt{})
	f := d.mustOpen("/tmp", winOpt{})
	d.refused("without replace", f.rename("/DOC", false, true), fuse.EEXIST)
	d.must("rename over an open file", f.rename("/doc", true, true))
	f.close()
	if got := reader.read(); got != "old" {
		t.Errorf("the replaced file reads %q", got)
	}
	if got := d.get("/doc"); got != "new" {
		t.Errorf("the new one reads %q", got)
	}
	reader.close()
	if d.exists("/tmp") {
		t.Error("the old name is still there")
	}
}

func scriptRenameRefused(t *testing.T, d *winDrive) {
	d.put("/a", "a")
	d.put("/b", "b")
	d.mkdir("/d")
	d.mkdir("/e")
	d.refused("onto a file", d.move("/a", "/B", false), fuse.EEXIST)
	d.refused("onto a folder", d.move("/a", "/d", true), fuse.EACCES)
	d.refused("folder onto a folder", d.move("/d", "/e", true), fuse.EACCES)
	d.refused("into nothing", d.move("/a", "/none/a", true), fuse.ENOENT)
	d.refused("folder into itself", d.move("/d", "/d/below", true), fuse.EINVAL)
	if errc := d.fs.Rename3("/a", "/b", fuse.RENAME_NOREPLACE); errc != -fuse.EEXIST {
		t.Errorf("RENAME_NOREPLACE: %v", fuse.Error(errc))
	}
	if errc := d.fs.Rename3("/a", "/b", fuse.RENAME_EXCHANGE); errc != -fuse.EINVAL {
		t.Errorf("RENAME_EXCHANGE: %v", fuse.Error(errc))
	}
}

func scriptRenameFolder(t *testing.T, d *winDrive) {
	d.mkdir("/from")
	d.mkdir("/from/in")
	d.put("/from/in/f", "before")
	f := d.mustOpen("/from/in/f", winOpt{write: true})
	d.must("rename", d.move("/from", "/to", false))
	d.must("write by a stale path", f.write("after!", 0))
	d.must("cut by a stale path", f.setEnd(5))
	when := time.Date(2020, 2, 2, 2, 2, 2, 0, time.Local)
	d.must("times by a stale path", f.setBasic(winBasic{attrs: -1, write: when}))
	d.must("flush", f.flush())
	f.close()
	stat, errc := d.getattr("/to/in/f", noHandle)
	d.must("getattr", errc)
	if got := stat.Mtim.Time(); !got.Equal(when) {
		t.Errorf("modified at %v, not %v", got, when)
	}
	// a listing that was begun under the old name goes on, and the folder can be deleted by its stale handle
	d.mkdir("/x")
	dir := d.mustOpen("/x", winOpt{dir: true})
	d.must("rename", dir.rename("/y", false, true))
	if n := len(dir.list()); n != 0 {
		t.Errorf("%d entries", n)
	}
	d.mkdir("/x") // the name is free for another folder, at once
	d.refused("delete of either, while it is not clear which", d.delete("/x"), fuse.EBUSY)
	dir.close()
	d.must("delete", d.delete("/x"))
	dir = d.mustOpen("/y", winOpt{dir: true})
	d.must("rename", dir.rename("/z", false, true))
	d.must("delete by a stale path", dir.setDelete())
	dir.close()
	if d.exists("/x") || d.exists("/y") || d.exists("/z") {
		t.Error("still there")
	}
}

func scriptCaseRename(t *testing.T, d *winDrive) {
	d.put("/readme.MD", "r")
	d.must("rename", d.move("/README.md", "/README.md", false))
	if !d.names("/")["README.md"] {
		t.Errorf("the root lists %v", d.names("/"))
	}
	d.mkdir("/subdir")
	d.put("/subdir/x", "x")
	open := d.mustOpen("/subdir/x", winOpt{})
	d.must("rename", d.move("/subdir", "/SubDir", false))
	if !d.names("/")["SubDir"] || !d.names("/SUBDIR")["x"] {
		t.Errorf("the root lists %v", d.names("/"))
	}
	if got := open.read(); got != "x" {
		t.Errorf("read %q", got)
	}
	open.close()
}

func scriptCaseLookup(t *testing.T, d *winDrive) {
	d.mkdir("/Folder")
	d.put("/FOLDER/Größe.TXT", "größe")
	f := d.mustOpen("/folder/GRÖßE.txt", winOpt{})
	if f.name != "/Folder/Größe.TXT" {
		t.Errorf("the name is given as %q", f.name)
	}
	f.close()
	if got := d.get("/fOLDER/gRÖßE.tXT"); got != "größe" {
		t.Errorf("read %q", got)
	}
	if names := d.names("/folder"); len(names) != 1 || !names["Größe.TXT"] {
		t.Errorf("listed as %v", names)
	}
	if errc, _ := d.fs.Getpath("/folder/none", noHandle); errc != -fuse.ENOENT {
		t.Errorf("getpath of nothing: %v", fuse.Error(errc))
	}
	if errc, name := d.fs.Getpath("/", noHandle); errc != 0 || name != "/" {
		t.Errorf("getpath of the root: %v %q", fuse.Error(errc), name)
	}
}

func scriptAllocation(t *testing.T, d *winDrive) {
	f := d.mustOpen("/f", winOpt{how: createNew, write: true})
	d.must("reserve", f.setAllocation(1<<20))
	if got := f.info().Size; got != 0 {
		t.Errorf("reserving made the file %d bytes long", got)
	}
	d.must("write", f.write("0123456789", 0))
	d.must("cut by allocation", f.setAllocation(4))
	d.must("set end", f.setEnd(6))
	d.refused("set end beyond 4 GiB - 1", f.setEnd(1<<32), fuse.EFBIG)
	d.refused("write beyond 4 GiB - 1", f.write("x", 1<<32-1), fuse.EFBIG)
	d.refused("set end beyond the volume", f.setEnd(1<<31), fuse.ENOSPC)
	if got := f.info().Size; got != 6 {
		t.Errorf("size %d after what was refused", got)
	}
	f.close()
	g := d.mustOpen("/g", winOpt{how: createNew, write: true})
	d.must("write", g.write("0123", 0))
	d.must("set end", g.setEnd(2))
	if stat := g.info(); stat.Size != 2 || stat.Blocks*512 < 2 {
		t.Errorf("size %d, %d blocks", stat.Size, stat.Blocks)
	}
	g.close()
}

func scriptAppend(t *testing.T, d *winDrive) {
	d.put("/log", "one")
	f := d.mustOpen("/log", winOpt{append: true})
	d.must("append", f.write("two", -1))
	other := d.mustOpen("/LOG", winOpt{append: true})
	d.must("append", other.write("three", -1))
	other.close()
	f.close()
}

func scriptReadOnly(t *testing.T, d *winDrive) {
	d.put("/f", "content")
	open := d.mustOpen("/f", winOpt{write: true})
	f := d.mustOpen("/f", winOpt{})
	d.must("set read-only", f.setBasic(winBasic{attrs: fuse.UF_READONLY | fuse.UF_ARCHIVE}))
	if got := f.info().Flags; got != fuse.UF_READONLY|fuse.UF_ARCHIVE {
		t.Errorf("attributes %x", got)
	}
	f.close()
	d.must("write by a handle from before", open.write("CONTENT", 0))
	d.must("write by a handle from before", open.write("content", 0))
	open.close()
	_, errc := d.open("/f", winOpt{write: true})
	d.refused("open for writing", errc, fuse.EACCES)
	fi := fuse.FileInfo_t{Flags: fuse.O_RDWR}
	if errc := d.fs.OpenEx("/f", &fi); errc != -fuse.EACCES {
		t.Errorf("the adapter opens a read-only file for writing: %v", fuse.Error(errc))
	}
	d.refused("delete", d.delete("/f"), fuse.EPERM)
	if errc := d.fs.Access("/f", fuse.DELETE_OK); errc != -fuse.EACCES && errc != -fuse.EPERM {
		t.Errorf("access for deletion: %v", fuse.Error(errc))
	}
	d.must("a read-only file can be renamed", d.move("/f", "/g", false))
	d.must("and back", d.move("/g", "/f", false))
	f = d.mustOpen("/f", winOpt{})
	d.must("clear read-only", f.setBasic(winBasic{attrs: 0}))
	f.close()
	// on a folder the attribute means that Explorer looks for desktop.ini: it forbids nothing
	d.mkdir("/d")
	dir := d.mustOpen("/d", winOpt{dir: true})
	d.must("set read-only on a folder", dir.setBasic(winBasic{attrs: fuse.UF_READONLY}))
	dir.close()
	d.put("/d/x", "x")
	d.must("delete in it", d.delete("/d/x"))
	d.mkdir("/e")
	dir = d.mustOpen("/e", winOpt{dir: true})
	d.must("set read-only on a folder", dir.setBasic(winBasic{attrs: fuse.UF_READONLY}))
	dir.close()
	d.must("delete a read-only folder by its name", d.delete("/e"))
}

func scriptAttributes(t *testing.T, d *winDrive) {
	f := d.mustOpen("/f", winOpt{how: createNew, write: true, attrs: fuse.UF_HIDDEN})
	d.must("write", f.write("x", 0))
	if got := f.info().Flags; got != fuse.UF_HIDDEN|fuse.UF_ARCHIVE {
		t.Errorf("created with attributes %x", got)
	}
	for _, attrs := range []int64{fuse.UF_SYSTEM, fuse.UF_HIDDEN | fuse.UF_SYSTEM | fuse.UF_ARCHIVE, 0, fuse.UF_ARCHIVE} {
		d.must("set attributes", f.setBasic(winBasic{attrs: attrs}))
		if got := f.info().Flags; int64(got) != attrs {
			t.Errorf("attributes %x, set %x", got, attrs)
		}
	}
	write := time.Date(2024, 2, 29, 12, 34, 57, 999e6, time.Local)
	created := time.Date(2023, 5, 6, 7, 8, 9, 123e6, time.Local)
	access := time.Date(2025, 1, 2, 3, 4, 5, 0, time.Local)
	d.must("set times", f.setBasic(winBasic{attrs: -1, write: write, created: created, access: access, change: write}))
	stat := f.info()
	if got := stat.Mtim.Time(); !got.Equal(time.Date(2024, 2, 29, 12, 34, 56, 0, time.Local)) {
		t.Errorf("write time %v", got)
	}
	if got := stat.Birthtim.Time(); !got.Equal(time.Date(2023, 5, 6, 7, 8, 9, 120e6, time.Local)) {
		t.Errorf("creation time %v", got)
	}
	if got := stat.Atim.Time(); !got.Equal(time.Date(2025, 1, 2, 0, 0, 0, 0, time.Local)) {
		t.Errorf("access time %v", got)
	}
	d.must("one time only", f.setBasic(winBasic{attrs: -1, access: access.AddDate(0, 0, 1)}))
	after := f.info()
	if after.Mtim != stat.Mtim || after.Birthtim != stat.Birthtim {
		t.Errorf("setting the access time moved the others")
	}
	f.close()
	d.mkdir("/d")
	dir := d.mustOpen("/D", winOpt{dir: true})
	d.must("set attributes", dir.setBasic(winBasic{attrs: fuse.UF_HIDDEN | fuse.UF_SYSTEM, write: write}))
	if stat := dir.info(); stat.Flags != fuse.UF_HIDDEN|fuse.UF_SYSTEM || !isDirMode(stat.Mode) {
		t.Errorf("folder with attributes %x, mode %o", stat.Flags, stat.Mode)
	}
	dir.close()
	root := d.mustOpen("/", winOpt{dir: true})
	listed := root.list()["f"]
	if listed.Flags != fuse.UF_ARCHIVE || listed.Size != 1 || listed.Mtim != after.Mtim || listed.Ino != after.Ino || listed.Birthtim != after.Birthtim {
		t.Errorf("the listing says %+v, the handle %+v", listed, after)
	}
	root.close()
}

// scriptOffice: write a temporary file, original to backup, temporary to original, delete the backup. Twice.
func scriptOffice(t *testing.T, d *winDrive) {
	d.put("/report.docx", "version 1")
	for _, version := range []string{"version 2", "version 3"} {
		lock := d.mustOpen("/~$report.docx", winOpt{how: createNew, write: true, attrs: fuse.UF_HIDDEN, onClose: true})
		d.must("write", lock.write("owner", 0))
		doc := d.mustOpen("/report.docx", winOpt{}) // Word keeps the document open
		tmp := d.mustOpen("/~WRD0001.tmp", winOpt{how: createNew, write: true})
		d.must("reserve", tmp.setAllocation(100))
		d.must("write", tmp.write(version, 0))
		d.must("flush", tmp.flush())
		d.must("attributes", tmp.setBasic(winBasic{attrs: fuse.UF_ARCHIVE, created: time.Unix(1.7e9, 0)}))
		tmp.close()
		doc.close()
		d.must("original to backup", d.move("/report.docx", "/~WRL0002.tmp", false))
		d.must("temporary to original", d.move("/~WRD0001.tmp", "/report.docx", false))
		d.must("delete the backup", d.delete("/~WRL0002.tmp"))
		lock.close()
		if got := d.get("/Report.docx"); got != version {
			t.Errorf("the document reads %q, not %q", got, version)
		}
	}
}

// scriptStaleHandle: the handle that renamed a file stays in use under the path it was opened by.
func scriptStaleHandle(t *testing.T, d *winDrive) {
	d.put("/doc", "old")
	f := d.mustOpen("/doc", winOpt{write: true})
	d.must("rename", f.rename("/doc.1", false, true))
	if got := f.info().Size; got != 3 {
		t.Errorf("size %d", got)
	}
	d.must("attributes by a stale path", f.setBasic(winBasic{attrs: fuse.UF_HIDDEN, write: time.Unix(1.6e9, 0)}))
	d.must("rename again by the same handle", f.rename("/doc.2", false, true))
	stat, errc := d.getattr("/doc.2", noHandle)
	d.must("getattr", errc)
	if stat.Flags != fuse.UF_HIDDEN || stat.Mtim.Sec != 1.6e9 {
		t.Errorf("the renamed file has attributes %x, time %v", stat.Flags, stat.Mtim.Time())
	}
	// the name is taken by another file: the stale path must not reach it
	d.put("/doc", "new")
	d.must("cut by the stale handle", f.setEnd(1))
	f.close()
	if got := d.get("/doc"); got != "new" {
		t.Errorf("the new file reads %q", got)
	}
	d.must("delete", d.delete("/doc.2"))
}

// scriptStaleDelete: a handle is renamed away, its old name is taken, then the handle deletes its file.
func scriptStaleDelete(t *testing.T, d *winDrive) {
	d.put("/doc", "old")
	f := d.mustOpen("/doc", winOpt{})
	d.must("rename", f.rename("/doc.bak", false, true))
	d.put("/tmp", "new")
	d.must("new to the old name", d.move("/tmp", "/doc", false))
	d.must("delete", f.setDelete())
	f.close()
	if d.exists("/doc.bak") {
		t.Error("the backup is still there")
	}
	if got := d.get("/doc"); got != "new" {
		t.Errorf("the document reads %q", got)
	}
}

// scriptAmbiguous: two files are open that were opened by one path. WinFsp names only the path, so that nothing may be
// deleted or renamed by it: rather an error than the wrong file. Attributes go to the file that has the name.
func scriptAmbiguous(t *testing.T, d *winDrive) {
	d.put("/doc", "old")
	f := d.mustOpen("/doc", winOpt{})
	d.must("rename", f.rename("/doc.bak", false, true))
	d.put("/doc", "new")
	g := d.mustOpen("/doc", winOpt{})
	d.refused("delete", f.setDelete(), fuse.EBUSY)
	d.refused("delete", g.setDelete(), fuse.EBUSY)
	d.refused("rename", f.rename("/third", false, true), fuse.EBUSY)
	before := f.info()
	d.must("attributes", g.setBasic(winBasic{attrs: fuse.UF_HIDDEN}))
	if f.info() != before || g.info().Flags != fuse.UF_HIDDEN {
		t.Errorf("attributes are %x and %x", f.info().Flags, g.info().Flags)
	}
	if old, now := f.read(), g.read(); old != "old" || now != "new" {
		t.Errorf("they read %q and %q", old, now)
	}
	f.close()
	d.must("rename, now that it is clear", g.rename("/x", false, true))
	d.must("and back", d.move("/x", "/doc", false))
	g.close()
}

// scriptReplaceFile: the document to the backup, the replacement to the document, both by handles opened before.
func scriptReplaceFile(t *testing.T, d *winDrive) {
	d.put("/doc", "old")
	d.put("/tmp", "new")
	doc, tmp := d.mustOpen("/doc", winOpt{}), d.mustOpen("/tmp", winOpt{write: true})
	stat := doc.info()
	d.must("times of the original", tmp.setBasic(winBasic{attrs: fuse.UF_ARCHIVE, created: stat.Birthtim.Time()}))
	d.must("original to backup", doc.rename("/doc.bak", true, true))
	d.must("replacement to original", tmp.rename("/doc", false, true))
	tmp.close()
	doc.close()
}

func scriptNotepad(t *testing.T, d *winDrive) {
	d.put("/note.txt", "a longer text")
	f := d.mustOpen("/note.txt", winOpt{how: openAlways, write: true})
	d.must("write", f.write("shorter", 0))
	d.must("set end", f.setEnd(7))
	f.close()
}

func scriptExplorerCopy(t *testing.T, d *winDrive) {
	for _, probe := range []string{"/desktop.ini", "/autorun.inf", "/photo.jpg", "/photo.jpg:Zone.Identifier"} {
		if _, errc := d.open(probe, winOpt{}); errc != -fuse.ENOENT && errc != -fuse.EINVAL {
			t.Errorf("looking for %s: %v", probe, fuse.Error(errc))
		}
	}
	content := strings.Repeat("p", 30000)
	f := d.mustOpen("/photo.jpg", winOpt{how: createNew, write: true, attrs: fuse.UF_ARCHIVE})
	d.must("set end before writing", f.setEnd(30000))
	for off := 0; off < len(content); off += 10000 {
		d.must("write", f.write(content[off:off+10000], int64(off)))
	}
	when := time.Date(2019, 7, 1, 10, 0, 0, 0, time.Local)
	d.must("times", f.setBasic(winBasic{attrs: fuse.UF_ARCHIVE, write: when, created: when, access: when}))
	f.close()
	if stat, _ := d.getattr("/photo.jpg", noHandle); !stat.Mtim.Time().Equal(when) || !stat.Birthtim.Time().Equal(when) {
		t.Errorf("times after the close: %v, %v", stat.Mtim.Time(), stat.Birthtim.Time())
	}
}

func scriptExplorerFolder(t *testing.T, d *winDrive) {
	d.mkdir("/New folder")
	_, errc := d.open("/New Folder", winOpt{how: createNew, dir: true})
	d.refused("a second one", errc, fuse.EEXIST)
	d.mkdir("/New folder (2)")
	d.must("name it", d.move("/New folder", "/Holiday 2026", false))
	ini := d.mustOpen("/Holiday 2026/desktop.ini", winOpt{how: createNew, write: true, attrs: fuse.UF_HIDDEN | fuse.UF_SYSTEM})
	d.must("write", ini.write("[x]", 0))
	ini.close()
	dir := d.mustOpen("/Holiday 2026", winOpt{dir: true})
	d.must("attributes", dir.setBasic(winBasic{attrs: fuse.UF_READONLY}))
	dir.close()
	d.must("undo the second", d.delete("/New folder (2)"))
}

func scriptExplorerDelete(t *testing.T, d *winDrive) {
	d.mkdir("/tree")
	d.mkdir("/tree/sub")
	for i := range 40 {
		d.put(fmt.Sprintf("/tree/sub/file number %d", i), "x")
	}
	root := d.mustOpen("/tree", winOpt{dir: true}) // Explorer shows the folder meanwhile
	sub := d.mustOpen("/tree/sub", winOpt{dir: true})
	for name := range sub.list() {
		f := d.mustOpen("/tree/sub/"+name, winOpt{onClose: true})
		f.close()
	}
	d.must("delete", sub.setDelete())
	sub.close()
	if n := len(root.list()); n != 0 {
		t.Errorf("%d entries left", n)
	}
	d.must("delete", root.setDelete())
	root.close()
}

func scriptLitter(t *testing.T, d *winDrive) {
	bin := d.mustOpen("/$RECYCLE.BIN", winOpt{how: createNew, dir: true, attrs: fuse.UF_HIDDEN | fuse.UF_SYSTEM})
	bin.close()
	d.put("/$Recycle.Bin/desktop.ini", "[.ShellClassInfo]")
	d.put("/unloved.txt", "u")
	d.must("into the bin", d.move("/unloved.txt", "/$RECYCLE.BIN/$R000001.txt", false))
	d.must("empty the bin", d.delete("/$RECYCLE.BIN/$R000001.txt"))
	thumbs := d.mustOpen("/Thumbs.db", winOpt{how: openAlways, write: true, attrs: fuse.UF_HIDDEN | fuse.UF_SYSTEM})
	d.must("write", thumbs.write("thumbs", 0))
	thumbs.close()
	d.mkdir("/System Volume Information")
	root := d.mustOpen("/", winOpt{dir: true})
	if got := root.list()["$RECYCLE.BIN"].Flags; got&(fuse.UF_HIDDEN|fuse.UF_SYSTEM) != fuse.UF_HIDDEN|fuse.UF_SYSTEM {
		t.Errorf("the bin has attributes %x", got)
	}
	root.close()
}

func scriptBadNames(t *testing.T, d *winDrive) {
	for _, name := range []string{"/a:b", "/a*", "/a?", "/a\"b", "/a|b", "/a<b", "/trailing.", "/trailing ", "/\xff"} {
		_, errc := d.create(name, winOpt{write: true})
		d.refused(fmt.Sprintf("create %q", name), errc, fuse.EINVAL)
		if errc := d.fs.Mkdir(name, 0o777); errc != -fuse.EINVAL {
			t.Errorf("mkdir %q: %v", name, fuse.Error(errc))
		}
	}
	_, errc := d.create("/"+strings.Repeat("n", 256), winOpt{write: true})
	d.refused("256 characters", errc, fuse.ENAMETOOLONG)
	for what, errc := range map[string]int{"symlink": d.fs.Symlink("/x", "/link"), "link": d.fs.Link("/x", "/hard"), "mknod": d.fs.Mknod("/fifo", fuse.S_IFIFO, 0)} {
		d.refused(what, errc, fuse.EPERM)
	}
}
