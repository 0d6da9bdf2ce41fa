//go:build unix

package conformance

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

var renameCases = map[string]Case{
	"rename":            rename,
	"rename-replace":    renameReplace,
	"rename-no-replace": renameNoReplace,
	"rename-folders":    renameFolders,
	"rename-open":       renameOpen,
	"rename-save":       renameSave,
}

func rename(t *testing.T, dir string) {
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "sub", "a name that is longer")
	must(t, os.Mkdir(filepath.Join(dir, "sub"), 0o700))
	write(t, a, "content")
	ino := stat(t, a).Ino
	must(t, os.Rename(a, b))
	wantNone(t, a)
	wantFile(t, b, "content")
	if got := stat(t, b).Ino; got != ino {
		t.Errorf("identity changed from %d to %d", ino, got)
	}
	must(t, os.Rename(b, b))
	must(t, os.Rename(b, a))
	wantNames(t, filepath.Join(dir, "sub"))
	wantFile(t, a, "content")
	wantErr(t, "rename of nothing", os.Rename(b, a), syscall.ENOENT)
	wantErr(t, "rename into nothing", os.Rename(a, filepath.Join(dir, "none", "a")), syscall.ENOENT)
}

func renameReplace(t *testing.T, dir string) {
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	write(t, a, "new")
	write(t, b, "old and longer")
	f := open(t, b, os.O_RDWR)
	must(t, os.Rename(a, b))
	wantFile(t, b, "new")
	wantNames(t, dir, "b")
	got := make([]byte, 14)
	_, err := f.ReadAt(got, 0)
	must(t, err)
	if string(got) != "old and longer" {
		t.Errorf("the replaced file reads %q", got)
	}
	_, err = f.WriteAt([]byte("still here"), 0)
	must(t, err)
	if st := fstat(t, f); st.Nlink != 0 || st.Size != 14 {
		t.Errorf("the replaced file has %d links and %d bytes", st.Nlink, st.Size)
	}
	wantFile(t, b, "new")
}

func renameFolders(t *testing.T, dir string) {
	p := func(names ...string) string { return filepath.Join(append([]string{dir}, names...)...) }
	for _, d := range []string{"full", "empty", "from", "from/inner"} {
		must(t, os.Mkdir(p(d), 0o700))
	}
	write(t, p("full", "x"), "x")
	write(t, p("from", "inner", "y"), "y")
	write(t, p("file"), "f")
	wantErr(t, "folder over a full folder", syscall.Rename(p("from"), p("full")), syscall.ENOTEMPTY)
	wantErr(t, "folder over a file", syscall.Rename(p("from"), p("file")), syscall.ENOTDIR)
	wantErr(t, "file over a folder", syscall.Rename(p("file"), p("empty")), syscall.EISDIR)
	wantErr(t, "folder into itself", syscall.Rename(p("from"), p("from", "inner", "z")), syscall.EINVAL)
	must(t, syscall.Rename(p("from"), p("empty")))
	wantNames(t, dir, "empty", "file", "full")
	wantFile(t, p("empty", "inner", "y"), "y")
	must(t, os.Rename(p("empty", "inner"), p("full", "inner")))
	wantFile(t, p("full", "inner", "y"), "y")
	var up, want syscall.Stat_t
	must(t, syscall.Stat(p("full", "inner")+"/..", &up))
	must(t, syscall.Stat(p("full"), &want))
	if up.Ino != want.Ino {
		t.Errorf(".. leads to %d, not to %d", up.Ino, want.Ino)
	}
}

// renameOpen goes on writing to a file, and working below a folder, that is renamed meanwhile.
func renameOpen(t *testing.T, dir string) {
	must(t, os.Mkdir(filepath.Join(dir, "d1"), 0o700))
	f := open(t, filepath.Join(dir, "d1", "f"), os.O_RDWR|os.O_CREATE)
	_, err := f.WriteString("one ")
	must(t, err)
	must(t, os.Rename(filepath.Join(dir, "d1", "f"), filepath.Join(dir, "d1", "g")))
	must(t, os.Rename(filepath.Join(dir, "d1"), filepath.Join(dir, "d2")))
	_, err = f.WriteString("two")
	must(t, err)
	must(t, f.Truncate(6))
	must(t, f.Sync())
	must(t, f.Close())
	wantFile(t, filepath.Join(dir, "d2", "g"), "one tw")
	write(t, filepath.Join(dir, "d2", "f"), "a new one under the old name")
	wantFile(t, filepath.Join(dir, "d2", "g"), "one tw")
}

// renameSave is how editors save: write beside, rename over; or move aside, write anew.
func renameSave(t *testing.T, dir string) {
	p := filepath.Join(dir, "document.txt")
	write(t, p, "version 0")
	for i := range 20 {
		content := "version " + string(rune('A'+i))
		tmp := filepath.Join(dir, ".document.txt.tmp")
		f, err := os.OpenFile(tmp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		must(t, err)
		_, err = f.WriteString(content)
		must(t, err)
		if i%4 == 0 {
			must(t, f.Sync())
		}
		must(t, f.Close())
		if i%2 == 0 {
			must(t, os.Rename(p, p+"~"))
		}
		must(t, os.Rename(tmp, p))
		wantFile(t, p, content)
	}
	wantNames(t, dir, "document.txt", "document.txt~")
}
