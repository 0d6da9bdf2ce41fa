//go:build unix

package conformance

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// The rules of names where the system's cache tells upper from lower case: architecture.md, "Names and case".
var caseCases = map[string]Case{
	"case-lookup":       caseLookup,
	"case-create":       caseCreate,
	"case-exclusive":    caseExclusive,
	"case-rename":       caseRename,
	"case-replace":      caseReplace,
	"case-ghost":        caseGhost,
	"case-negative":     caseNegative,
	"case-hidden-alias": caseAlias,
}

func caseLookup(t *testing.T, dir string) {
	write(t, filepath.Join(dir, "Letter.txt"), "x")
	must(t, os.Mkdir(filepath.Join(dir, "Folder"), 0o700))
	if insensitive {
		wantFile(t, filepath.Join(dir, "LETTER.TXT"), "x")
	} else {
		wantNone(t, filepath.Join(dir, "LETTER.TXT"))
		wantNone(t, filepath.Join(dir, "letter.txt"))
		wantNone(t, filepath.Join(dir, "folder"))
	}
	wantNames(t, dir, "Folder", "Letter.txt")
}

// caseCreate opens what is there, and the handle and both names lead to one file.
func caseCreate(t *testing.T, dir string) {
	write(t, filepath.Join(dir, "Makefile"), "old content")
	f := open(t, filepath.Join(dir, "MAKEFILE"), os.O_RDWR|os.O_CREATE)
	got := make([]byte, 3)
	_, err := f.ReadAt(got, 0)
	must(t, err)
	if string(got) != "old" {
		t.Errorf("opened something else: %q", got)
	}
	_, err = f.WriteAt([]byte("NEW"), 0)
	must(t, err)
	must(t, f.Close())
	wantFile(t, filepath.Join(dir, "Makefile"), "NEW content")
	wantNames(t, dir, "Makefile")
	g := open(t, filepath.Join(dir, "makefile"), os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
	_, err = g.WriteString("short")
	must(t, err)
	must(t, g.Close())
	wantFile(t, filepath.Join(dir, "Makefile"), "short")
}

func caseExclusive(t *testing.T, dir string) {
	write(t, filepath.Join(dir, "name"), "x")
	must(t, os.Mkdir(filepath.Join(dir, "folder"), 0o700))
	_, err := os.OpenFile(filepath.Join(dir, "NAME"), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	wantErr(t, "O_EXCL in another spelling", err, syscall.EEXIST)
	wantErr(t, "mkdir in another spelling", os.Mkdir(filepath.Join(dir, "FOLDER"), 0o700), syscall.EEXIST)
	wantErr(t, "mkdir over a file", os.Mkdir(filepath.Join(dir, "NAME"), 0o700), syscall.EEXIST)
	wantNames(t, dir, "folder", "name")
}

func caseRename(t *testing.T, dir string) {
	old, upper := filepath.Join(dir, "readme.md"), filepath.Join(dir, "README.md")
	write(t, old, "x")
	ino := stat(t, old).Ino
	must(t, os.Rename(old, upper))
	wantNames(t, dir, "README.md")
	if !insensitive {
		wantNone(t, old)
	}
	wantFile(t, upper, "x")
	if got := stat(t, upper).Ino; got != ino {
		t.Errorf("another file: %d, was %d", got, ino)
	}
	must(t, os.Mkdir(filepath.Join(dir, "sub"), 0o700))
	write(t, filepath.Join(dir, "sub", "in it"), "y")
	must(t, os.Rename(filepath.Join(dir, "sub"), filepath.Join(dir, "Sub")))
	wantNames(t, dir, "README.md", "Sub")
	wantFile(t, filepath.Join(dir, "Sub", "in it"), "y")
}

// caseReplace renames onto another spelling of an existing name: the new spelling stays, the old one is gone.
func caseReplace(t *testing.T, dir string) {
	write(t, filepath.Join(dir, "target.txt"), "old")
	stat(t, filepath.Join(dir, "target.txt"))
	write(t, filepath.Join(dir, "source"), "new")
	must(t, os.Rename(filepath.Join(dir, "source"), filepath.Join(dir, "Target.TXT")))
	wantNames(t, dir, "Target.TXT")
	wantFile(t, filepath.Join(dir, "Target.TXT"), "new")
	eventually(t, "the old spelling is gone", func() bool {
		_, err := os.Lstat(filepath.Join(dir, "target.txt"))
		return insensitive || os.IsNotExist(err)
	})
}

// caseGhost removes a file that was opened under another spelling: no spelling lives on.
func caseGhost(t *testing.T, dir string) {
	write(t, filepath.Join(dir, "ghost"), "x")
	f := open(t, filepath.Join(dir, "GHOST"), os.O_RDWR|os.O_CREATE)
	must(t, f.Close())
	must(t, os.Remove(filepath.Join(dir, "ghost")))
	wantNone(t, filepath.Join(dir, "GHOST"))
	wantNone(t, filepath.Join(dir, "ghost"))
	write(t, filepath.Join(dir, "GHOST"), "again")
	wantNames(t, dir, "GHOST")
	wantFile(t, filepath.Join(dir, "GHOST"), "again")
}

// caseNegative looks for names that do not exist before they come into being.
func caseNegative(t *testing.T, dir string) {
	p := filepath.Join(dir, "later")
	for range 3 {
		wantNone(t, p)
	}
	write(t, filepath.Join(dir, "first"), "x")
	must(t, os.Rename(filepath.Join(dir, "first"), p))
	wantFile(t, p, "x")
	must(t, os.Remove(p))
	wantNone(t, p)
	must(t, os.Mkdir(p, 0o700))
	if stat(t, p).Mode&syscall.S_IFMT != syscall.S_IFDIR {
		t.Error("not a folder")
	}
}

// caseAlias removes and renames under a spelling that is only an alias in the system's cache.
func caseAlias(t *testing.T, dir string) {
	if insensitive {
		return
	}
	write(t, filepath.Join(dir, "data"), "x")
	f := open(t, filepath.Join(dir, "DATA"), os.O_RDWR|os.O_CREATE)
	wantErr(t, "unlink of another spelling", syscall.Unlink(filepath.Join(dir, "DATA")), syscall.ENOENT)
	wantErr(t, "rename of another spelling", os.Rename(filepath.Join(dir, "DATA"), filepath.Join(dir, "new")), syscall.ENOENT)
	must(t, f.Close())
	wantFile(t, filepath.Join(dir, "data"), "x")
}
