//go:build unix

package conformance

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

var listCases = map[string]Case{
	"list-many":       listMany,
	"list-while-work": listWhileWork,
	"list-types":      listTypes,
	"list-fresh":      listFresh,
}

func listMany(t *testing.T, dir string) {
	const n = 3000
	want := make(map[string]bool)
	for i := range n {
		name := fmt.Sprintf("file with a long name %05d", i)
		if i%2 == 0 {
			name = fmt.Sprintf("F%05d", i)
		}
		want[name] = true
		f, err := os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_WRONLY, 0o600)
		must(t, err)
		must(t, f.Close())
	}
	for round := range 2 {
		got := make(map[string]bool)
		list, err := os.ReadDir(dir)
		must(t, err)
		for _, e := range list {
			if got[e.Name()] || !want[e.Name()] {
				t.Fatalf("round %d: %q is listed twice, or should not be there", round, e.Name())
			}
			got[e.Name()] = true
		}
		if len(got) != n {
			t.Fatalf("round %d: %d of %d", round, len(got), n)
		}
	}
}

// listWhileWork removes and makes files while a listing goes on: what stays is listed exactly once.
func listWhileWork(t *testing.T, dir string) {
	for i := range 1000 {
		write(t, filepath.Join(dir, fmt.Sprintf("stay or go %04d", i)), "")
	}
	d := open(t, dir, os.O_RDONLY)
	seen := make(map[string]int)
	for k := 0; ; k++ {
		names, err := d.Readdirnames(50)
		for _, name := range names {
			seen[name]++
		}
		if err == io.EOF {
			break
		}
		must(t, err)
		for i := range 5 {
			if k > 100 {
				break // else a listing that shows new files would never end
			}
			if at := k*5 + i; at%2 == 1 && at < 1000 {
				_ = os.Remove(filepath.Join(dir, fmt.Sprintf("stay or go %04d", at)))
			}
			write(t, filepath.Join(dir, fmt.Sprint("new ", k, i)), "")
		}
	}
	for i := 0; i < 1000; i += 2 {
		if name := fmt.Sprintf("stay or go %04d", i); seen[name] != 1 {
			t.Errorf("%s was listed %d times", name, seen[name])
		}
	}
}

func listTypes(t *testing.T, dir string) {
	write(t, filepath.Join(dir, "f"), "x")
	must(t, os.Mkdir(filepath.Join(dir, "d"), 0o700))
	list, err := os.ReadDir(dir)
	must(t, err)
	for _, e := range list {
		info, err := e.Info()
		must(t, err)
		if e.Type() != info.Mode().Type() || e.IsDir() != (e.Name() == "d") {
			t.Errorf("%s is listed as %v and is %v", e.Name(), e.Type(), info.Mode())
		}
	}
	st := stat(t, filepath.Join(dir, "d"))
	if st.Mode&syscall.S_IFMT != syscall.S_IFDIR || st.Ino == 0 || st.Ino == stat(t, filepath.Join(dir, "f")).Ino {
		t.Errorf("folder: %+v", st)
	}
}

// listFresh lists again after every change.
func listFresh(t *testing.T, dir string) {
	wantNames(t, dir)
	write(t, filepath.Join(dir, "a"), "")
	wantNames(t, dir, "a")
	must(t, os.Mkdir(filepath.Join(dir, "b"), 0o700))
	wantNames(t, dir, "a", "b")
	must(t, os.Rename(filepath.Join(dir, "a"), filepath.Join(dir, "b", "a")))
	wantNames(t, dir, "b")
	wantNames(t, filepath.Join(dir, "b"), "a")
	must(t, os.Remove(filepath.Join(dir, "b", "a")))
	wantNames(t, filepath.Join(dir, "b"))
	must(t, os.Rename(filepath.Join(dir, "b"), filepath.Join(dir, "B")))
	wantNames(t, dir, "B")
}
