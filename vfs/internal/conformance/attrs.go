//go:build unix

package conformance

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

var attrCases = map[string]Case{
	"times":          times,
	"times-odd":      timesOdd,
	"times-change":   timesChange,
	"read-only-file": readOnlyFile,
	"modes":          modes,
	"not-on-fat":     notOnFAT,
	"owner":          owner,
	"xattr":          xattr,
	"block-size":     blockSize,
	"links":          links,
}

// times come back at once as every later stat will tell them: rounded down to what FAT holds.
func times(t *testing.T, dir string) {
	p := filepath.Join(dir, "t")
	write(t, p, "x")
	set := time.Date(2021, 6, 15, 13, 45, 31, 999_000_000, time.Local)
	must(t, os.Chtimes(p, set, set))
	info, err := os.Stat(p)
	must(t, err)
	want := time.Date(2021, 6, 15, 13, 45, 30, 0, time.Local)
	if !info.ModTime().Equal(want) {
		t.Errorf("modified %v, want %v", info.ModTime(), want)
	}
	if at := accessed(p, t); !at.Equal(time.Date(2021, 6, 15, 0, 0, 0, 0, time.Local)) {
		t.Errorf("accessed %v: FAT holds the day", at)
	}
	must(t, os.Chtimes(p, time.Time{}, set.AddDate(1, 0, 0)))
	if at := accessed(p, t); at.Year() != 2021 {
		t.Errorf("access time changed to %v", at)
	}
	d := filepath.Join(dir, "d")
	must(t, os.Mkdir(d, 0o700))
	must(t, os.Chtimes(d, set, set))
	info, err = os.Stat(d)
	must(t, err)
	if !info.ModTime().Equal(want) {
		t.Errorf("folder modified %v, want %v", info.ModTime(), want)
	}
}

// timesOdd are outside of what FAT can hold: clamped, not wrapped.
func timesOdd(t *testing.T, dir string) {
	p := filepath.Join(dir, "t")
	write(t, p, "x")
	for _, c := range []struct{ set, year int }{{1970, 1980}, {1979, 1980}, {1980, 1980}, {2107, 2107}, {2108, 2107}, {2200, 2107}} {
		at := time.Date(c.set, 7, 1, 12, 0, 0, 0, time.Local)
		must(t, os.Chtimes(p, at, at))
		info, err := os.Stat(p)
		must(t, err)
		if info.ModTime().In(time.Local).Year() != c.year {
			t.Errorf("year %d became %v", c.set, info.ModTime())
		}
	}
}

func timesChange(t *testing.T, dir string) {
	p := filepath.Join(dir, "t")
	write(t, p, "x")
	past := time.Date(2001, 1, 1, 0, 0, 0, 0, time.Local)
	must(t, os.Chtimes(p, past, past))
	f := open(t, p, os.O_RDWR)
	if info, _ := f.Stat(); !info.ModTime().Equal(past) {
		t.Errorf("opening changed the time to %v", info.ModTime())
	}
	_, err := f.WriteString("y")
	must(t, err)
	info, err := f.Stat()
	must(t, err)
	if age := time.Since(info.ModTime()); age < 0 || age > 10*time.Second {
		t.Errorf("written %v ago by its time", age)
	}
	must(t, unix.Futimes(int(f.Fd()), []unix.Timeval{unix.NsecToTimeval(past.UnixNano()), unix.NsecToTimeval(past.UnixNano())}))
	must(t, f.Close())
	if info, _ := os.Stat(p); !info.ModTime().Equal(past) {
		t.Errorf("closing changed the time to %v", info.ModTime())
	}
}

// readOnlyFile: chmod is mapped to the read-only attribute.
func readOnlyFile(t *testing.T, dir string) {
	p := filepath.Join(dir, "r")
	write(t, p, "x")
	keep := open(t, p, os.O_RDWR)
	must(t, os.Chmod(p, 0o444))
	if m := stat(t, p).Mode & 0o222; m != 0 {
		t.Errorf("still writable: %o", m)
	}
	_, err := os.OpenFile(p, os.O_WRONLY, 0)
	wantErr(t, "open for writing", err, syscall.EACCES)
	wantErr(t, "truncate", os.Truncate(p, 0), syscall.EACCES)
	// Where the kernel checks modes by itself, it tells root that everything is allowed.
	if err := unix.Access(p, unix.W_OK); err != syscall.EACCES && (err != nil || os.Getuid() != 0) {
		t.Errorf("access(2) for writing: %v", err)
	}
	must(t, unix.Access(p, unix.R_OK))
	must(t, unix.Access(dir, unix.R_OK|unix.W_OK|unix.X_OK))
	wantFile(t, p, "x")
	_, err = keep.WriteAt([]byte("y"), 0)
	must(t, err) // opened before
	must(t, os.Rename(p, p+"2"))
	must(t, os.Chmod(p+"2", 0o600))
	write(t, p+"2", "z")
	must(t, os.Chmod(p+"2", 0o400))
	must(t, os.Remove(p+"2"))
}

func modes(t *testing.T, dir string) {
	p := filepath.Join(dir, "m")
	write(t, p, "x")
	want := stat(t, p).Mode
	for _, mode := range []os.FileMode{0o644, 0o755, 0o600, 0o777} {
		must(t, os.Chmod(p, mode))
		if got := stat(t, p).Mode; got != want {
			t.Errorf("chmod %o made it %o, was %o", mode, got, want)
		}
	}
	must(t, os.Chmod(dir, 0o500))
	write(t, filepath.Join(dir, "folders stay writable"), "")
	if m := stat(t, dir).Mode & 0o077; m != 0 {
		t.Errorf("others may: %o", m)
	}
}

func notOnFAT(t *testing.T, dir string) {
	p := filepath.Join(dir, "f")
	write(t, p, "x")
	wantErr(t, "symlink", os.Symlink("f", filepath.Join(dir, "s")), syscall.EPERM)
	wantErr(t, "link", os.Link(p, filepath.Join(dir, "l")), syscall.EPERM)
	wantErr(t, "fifo", syscall.Mkfifo(filepath.Join(dir, "p"), 0o600), syscall.EPERM)
	must(t, syscall.Mknod(filepath.Join(dir, "plain"), syscall.S_IFREG|0o600, 0))
	_, err := os.Readlink(p)
	wantErr(t, "readlink", err, syscall.EINVAL)
	wantNames(t, dir, "f", "plain")
}

func owner(t *testing.T, dir string) {
	p := filepath.Join(dir, "o")
	write(t, p, "x")
	st := stat(t, p)
	if int(st.Uid) != os.Getuid() || int(st.Gid) != os.Getgid() {
		t.Errorf("belongs to %d:%d", st.Uid, st.Gid)
	}
	must(t, os.Chown(p, os.Getuid(), os.Getgid()))
	must(t, os.Chown(p, -1, -1))
	wantErr(t, "chown to somebody else", os.Chown(p, os.Getuid()+1, -1), syscall.EPERM)
}

func xattr(t *testing.T, dir string) {
	p := filepath.Join(dir, "x")
	write(t, p, "x")
	for range 2 {
		wantErr(t, "setxattr", unix.Setxattr(p, "user.test", []byte("v"), 0), syscall.ENOTSUP, syscall.ENOSYS)
		_, err := unix.Getxattr(p, "user.test", make([]byte, 10))
		wantErr(t, "getxattr", err, syscall.ENOTSUP, syscall.ENOSYS)
	}
}

func blockSize(t *testing.T, dir string) {
	p := filepath.Join(dir, "b")
	must(t, os.WriteFile(p, make([]byte, 100_001), 0o600))
	var fs syscall.Statfs_t
	must(t, syscall.Statfs(dir, &fs))
	st := stat(t, p)
	cluster := int64(fs.Bsize)
	if want := (100_001 + cluster - 1) / cluster * cluster / 512; st.Blocks != want {
		t.Errorf("%d blocks of 512 bytes, want %d", st.Blocks, want)
	}
	if st.Blksize < 128<<10 {
		t.Errorf("programs are told to use %d bytes at once", st.Blksize)
	}
}

func links(t *testing.T, dir string) {
	p := filepath.Join(dir, "l")
	write(t, p, "x")
	if n := stat(t, p).Nlink; n != 1 {
		t.Errorf("file has %d links", n)
	}
	if n := stat(t, dir).Nlink; n < 1 {
		t.Errorf("folder has %d links", n)
	}
}
