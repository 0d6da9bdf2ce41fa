//go:build unix

// Package conformance is what every binding of vfs must do alike: a set of
// cases that run on a mounted drive, over whatever FUSE library it was mounted.
// The cases use nothing of vfs; they see what a program sees. They want an empty
// drive of 64 to 256 MiB on a case-preserving FAT volume and may run one after
// the other on the same drive.
package conformance

import (
	"errors"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"syscall"
	"testing"
)

// Case is one case. It may use anything below dir, an empty folder on the drive,
// and leaves nothing open.
type Case func(t *testing.T, dir string)

// Cases returns all cases by name.
func Cases() map[string]Case {
	all := make(map[string]Case)
	for _, group := range []map[string]Case{fileCases, mapCases, nameCases, caseCases, renameCases, removeCases, listCases, attrCases, spaceCases} {
		for name, c := range group {
			if _, twice := all[name]; twice {
				panic("two cases are called " + name)
			}
			all[name] = c
		}
	}
	return all
}

// Run runs all cases on the drive at point, each in a folder of its own, and
// checks that nothing is left behind that no case made.
func Run(t *testing.T, point string) {
	cases := Cases()
	names := make([]string, 0, len(cases))
	for name := range cases {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(point, name)
			must(t, os.Mkdir(dir, 0o700))
			cases[name](t, dir)
			noHidden(t, point)
			must(t, os.RemoveAll(dir))
		})
	}
	left, err := os.ReadDir(point)
	must(t, err)
	for _, e := range left {
		t.Errorf("left behind: %s", e.Name())
	}
}

// noHidden fails if a library has hidden a removed file instead of removing it.
func noHidden(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if strings.HasPrefix(filepath.Base(path), ".fuse_hidden") {
			t.Errorf("%s is in the container", path)
		}
		return err
	})
	must(t, err)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wantErr fails unless err is one of the numbers.
func wantErr(t *testing.T, what string, err error, want ...syscall.Errno) {
	t.Helper()
	for _, w := range want {
		if errors.Is(err, w) {
			return
		}
	}
	t.Errorf("%s: got %v, want %v", what, err, want)
}

func write(t *testing.T, path, content string) {
	t.Helper()
	must(t, os.WriteFile(path, []byte(content), 0o600))
}

// wantFile fails unless path holds content.
func wantFile(t *testing.T, path, content string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || string(got) != content {
		t.Errorf("%s: %.80q, %v; want %.80q", filepath.Base(path), got, err, content)
	}
}

// wantNone fails unless path does not exist.
func wantNone(t *testing.T, path string) {
	t.Helper()
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s exists: %v", filepath.Base(path), err)
	}
}

// wantNames fails unless dir lists exactly these names.
func wantNames(t *testing.T, dir string, want ...string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	must(t, err)
	got := make([]string, 0, len(list))
	for _, e := range list {
		got = append(got, e.Name())
	}
	sort.Strings(want)
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("%s lists %q, want %q", filepath.Base(dir), got, want)
	}
}

func stat(t *testing.T, path string) *syscall.Stat_t {
	t.Helper()
	var st syscall.Stat_t
	must(t, syscall.Lstat(path, &st))
	return &st
}

func fstat(t *testing.T, f *os.File) *syscall.Stat_t {
	t.Helper()
	var st syscall.Stat_t
	must(t, syscall.Fstat(int(f.Fd()), &st))
	return &st
}

func open(t *testing.T, path string, flags int) *os.File {
	t.Helper()
	f, err := os.OpenFile(path, flags, 0o600)
	must(t, err)
	t.Cleanup(func() { _ = f.Close() })
	return f
}
