//go:build unix

package conformance

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

var removeCases = map[string]Case{
	"remove":             remove,
	"remove-open":        removeOpen,
	"remove-open-space":  removeOpenSpace,
	"remove-and-create":  removeAndCreate,
	"remove-tree":        removeTree,
	"remove-working-dir": removeWorkingDir,
}

func remove(t *testing.T, dir string) {
	f, d := filepath.Join(dir, "f"), filepath.Join(dir, "d")
	write(t, f, "x")
	must(t, os.Mkdir(d, 0o700))
	write(t, filepath.Join(d, "in"), "x")
	wantErr(t, "rmdir of a full folder", syscall.Rmdir(d), syscall.ENOTEMPTY)
	wantErr(t, "rmdir of a file", syscall.Rmdir(f), syscall.ENOTDIR)
	wantErr(t, "unlink of a folder", syscall.Unlink(d), syscall.EISDIR, syscall.EPERM)
	must(t, os.Remove(filepath.Join(d, "in")))
	must(t, syscall.Rmdir(d))
	must(t, syscall.Unlink(f))
	wantErr(t, "unlink twice", syscall.Unlink(f), syscall.ENOENT)
	wantErr(t, "rmdir twice", syscall.Rmdir(d), syscall.ENOENT)
	wantNames(t, dir)
}

// removeOpen works on with a file that has no name any more.
func removeOpen(t *testing.T, dir string) {
	p := filepath.Join(dir, "doomed")
	f := open(t, p, os.O_RDWR|os.O_CREATE)
	_, err := f.WriteString("first")
	must(t, err)
	must(t, os.Remove(p))
	wantNames(t, dir)
	wantNone(t, p)
	_, err = f.WriteAt(bytes.Repeat([]byte("z"), 100_000), 5)
	must(t, err)
	if st := fstat(t, f); st.Nlink != 0 || st.Size != 100_005 {
		t.Errorf("%d links, %d bytes", st.Nlink, st.Size)
	}
	got, err := io.ReadAll(io.NewSectionReader(f, 0, 1<<20))
	if err != nil || len(got) != 100_005 || string(got[:6]) != "firstz" {
		t.Errorf("reads %d bytes, %v", len(got), err)
	}
	write(t, p, "another under the same name")
	must(t, f.Truncate(3))
	must(t, f.Sync())
	must(t, f.Close())
	wantFile(t, p, "another under the same name")
}

// removeOpenSpace: the space of a removed file is free once it is closed.
func removeOpenSpace(t *testing.T, dir string) {
	var before, during, after syscall.Statfs_t
	p := filepath.Join(dir, "big")
	must(t, syscall.Statfs(dir, &before))
	f := open(t, p, os.O_RDWR|os.O_CREATE)
	_, err := f.Write(make([]byte, 2<<20))
	must(t, err)
	must(t, os.Remove(p))
	must(t, syscall.Statfs(dir, &during))
	if used := (before.Bfree - during.Bfree) * uint64(before.Bsize); used < 2<<20 {
		t.Errorf("an open removed file uses %d bytes", used)
	}
	must(t, f.Close())
	eventually(t, "the space is free again", func() bool {
		must(t, syscall.Statfs(dir, &after))
		return after.Bfree >= before.Bfree
	})
}

// removeAndCreate reuses names, and probably places, at once: old content must not show.
func removeAndCreate(t *testing.T, dir string) {
	for i := range 200 {
		p := filepath.Join(dir, fmt.Sprint("n", i%3))
		want := fmt.Sprint("content ", i)
		f, err := os.OpenFile(p, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
		must(t, err)
		_, err = f.WriteString(want)
		must(t, err)
		must(t, f.Close())
		wantFile(t, p, want)
		if st := stat(t, p); st.Size != int64(len(want)) || st.Nlink != 1 {
			t.Fatalf("round %d: size %d, links %d", i, st.Size, st.Nlink)
		}
		must(t, os.Remove(p))
		if i%2 == 0 {
			must(t, os.Mkdir(p, 0o700))
			must(t, os.Remove(p))
		}
	}
	wantNames(t, dir)
}

func removeTree(t *testing.T, dir string) {
	top := filepath.Join(dir, "top")
	for i := range 10 {
		for j := range 10 {
			d := filepath.Join(top, fmt.Sprint("branch ", i), fmt.Sprint("twig ", j))
			must(t, os.MkdirAll(d, 0o700))
			for k := range 5 {
				write(t, filepath.Join(d, fmt.Sprint("leaf ", k)), "x")
			}
		}
	}
	must(t, os.RemoveAll(top))
	wantNames(t, dir)
}

// removeWorkingDir removes a folder somebody is in.
func removeWorkingDir(t *testing.T, dir string) {
	p := filepath.Join(dir, "here")
	must(t, os.Mkdir(p, 0o700))
	d := open(t, p, os.O_RDONLY)
	must(t, os.Remove(p))
	if names, err := d.Readdirnames(-1); len(names) != 0 {
		t.Errorf("a removed folder lists %v, %v", names, err)
	}
	_, err := os.OpenFile(filepath.Join("/proc/self/fd", fmt.Sprint(d.Fd()), "new"), os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		t.Error("a file could be made in a removed folder")
	}
	must(t, os.Mkdir(p, 0o700))
	write(t, filepath.Join(p, "new"), "x")
	wantNames(t, p, "new")
}
