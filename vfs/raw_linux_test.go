package vfs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// mountRaw mounts a device for a test and returns the path of its file.
func mountRaw(t *testing.T, device *memoryDevice, o Options) (*Mount, string) {
	t.Helper()
	if err := Probe(); err != nil {
		t.Fatalf("%v: install the Debian package fuse3, and let this user open /dev/fuse", err)
	}
	point := t.TempDir()
	m, err := MountRaw(context.Background(), device, point, "disk", o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Unmount(context.Background(), true); err != nil {
			t.Errorf("unmount: %v", err)
		}
	})
	return m, filepath.Join(point, "disk")
}

func noise(sizeBytes int, seed uint64) []byte {
	p := make([]byte, sizeBytes)
	var key [32]byte
	key[0], key[1] = byte(seed), byte(seed>>8)
	rand.NewChaCha8(key).Read(p)
	return p
}

func openRaw(t *testing.T, path string, flags int) *os.File {
	t.Helper()
	f, err := os.OpenFile(path, flags, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func TestRawMountShape(t *testing.T) {
	const size = 9<<20 + 512
	m, path := mountRaw(t, &memoryDevice{content: make([]byte, size)}, Options{})
	folder := filepath.Dir(path)
	if m.Point() != folder {
		t.Errorf("point %q, want %q", m.Point(), folder)
	}
	for range 2 { // the second listing comes from the kernel's cache
		entries, err := os.ReadDir(folder)
		if err != nil || len(entries) != 1 || entries[0].Name() != "disk" || !entries[0].Type().IsRegular() {
			t.Errorf("listing: %v, %v", entries, err)
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Size() != size || info.Mode() != 0o600 {
		t.Fatalf("%v, %v", info, err)
	}
	var fs unix.Statfs_t
	if err := unix.Statfs(folder, &fs); err != nil || fs.Blocks*uint64(fs.Frsize) != size || fs.Bavail != 0 {
		t.Errorf("statfs: %d blocks of %d, %d free (%v)", fs.Blocks, fs.Frsize, fs.Bavail, err)
	}
	must := func(what string, err error, want error) {
		t.Helper()
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", what, err, want)
		}
	}
	other := filepath.Join(folder, "other")
	_, err = os.Lstat(other)
	must("stat", err, unix.ENOENT)
	must("create", os.WriteFile(other, nil, 0o600), unix.EPERM)
	must("mkdir", os.Mkdir(other, 0o700), unix.EPERM)
	must("symlink", os.Symlink("disk", other), unix.EPERM)
	must("link", os.Link(path, other), unix.EPERM)
	must("mknod", unix.Mknod(other, unix.S_IFIFO|0o600, 0), unix.EPERM)
	must("rename", os.Rename(path, other), unix.EPERM)
	must("remove", os.Remove(path), unix.EPERM)
	must("chmod", os.Chmod(path, 0o644), unix.EPERM)
	must("truncate", os.Truncate(path, 0), unix.EPERM)
	must("grow", os.Truncate(path, size+1), unix.EPERM)
	must("truncate to its own size", os.Truncate(path, size), nil)
	_, err = os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
	must("open with O_TRUNC", err, unix.EPERM)
	f := openRaw(t, path, os.O_RDWR)
	must("punch a hole", unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, 0, 4096), unix.EOPNOTSUPP)
	_, err = f.WriteAt([]byte{1}, size)
	must("write at the end", err, unix.ENOSPC)
	if end, err := f.Seek(0, 2); end != size {
		t.Errorf("the end is at %d (%v)", end, err)
	}
}

// rawExercised is the size of the device in TestRawMountContent.
const rawExercised = 24 << 20

// TestRawMountContent lets a process write and read by every way a program has, and looks for the bytes on the device.
// It must be a process of its own: a thread that waits for a page of a mapping would keep the server of that page from
// running when both are in one Go program.
func TestRawMountContent(t *testing.T) {
	device := &memoryDevice{content: noise(rawExercised, 1)}
	_, path := mountRaw(t, device, Options{})
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, program)
	command.Env = append(os.Environ(), useEnv+"=exercise "+path)
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	device.mu.Lock()
	defer device.mu.Unlock()
	if got, want := fmt.Sprintf("%x\n", sha256.Sum256(device.content)), string(out); got != want {
		t.Errorf("the device holds %s, the program wrote %s", got, want)
	}
	if device.writesSinceSync != 0 {
		t.Errorf("%d writes were not synced", device.writesSinceSync)
	}
	if device.biggestWrite < requestBytes || device.biggestRead < 128<<10 {
		t.Errorf("largest requests: write %d, read %d bytes", device.biggestWrite, device.biggestRead)
	}
}

// exerciseRaw is the process of TestRawMountContent. It prints the digest of what the device must hold, all of it synced.
func exerciseRaw(path string) error {
	model := noise(rawExercised, 1)
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	got := make([]byte, len(model))
	same := func(when string) error {
		if _, err := f.ReadAt(got, 0); err != nil || !bytes.Equal(got, model) {
			return fmt.Errorf("%s: other bytes (%v)", when, err)
		}
		return nil
	}
	if err := same("first read"); err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(5, 6))
	for range 100 {
		p := noise(random.IntN(3<<20), random.Uint64())
		off := random.Int64N(int64(len(model) - len(p)))
		if _, err := f.WriteAt(p, off); err != nil {
			return err
		}
		copy(model[off:], p)
		off = random.Int64N(int64(len(model) - 70_000))
		if _, err := f.ReadAt(got[:70_000], off); err != nil || !bytes.Equal(got[:70_000], model[off:off+70_000]) {
			return fmt.Errorf("read at %d: other bytes (%v)", off, err)
		}
	}
	mapped, err := unix.Mmap(int(f.Fd()), 0, len(model), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return err
	}
	if !bytes.Equal(mapped, model) {
		return errors.New("the mapping holds other bytes")
	}
	for i := range 1000 {
		off := random.IntN(len(model))
		mapped[off], model[off] = byte(i), byte(i)
	}
	if err := same("written to the mapping"); err != nil {
		return err
	}
	direct, err := os.OpenFile(path, os.O_RDWR|unix.O_DIRECT, 0) // past the page cache
	if err != nil {
		return err
	}
	page, err := unix.Mmap(-1, 0, 1<<20, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return err
	}
	copy(page, noise(len(page), 77))
	if _, err := direct.WriteAt(page, 4096); err != nil {
		return fmt.Errorf("O_DIRECT: %w", err)
	}
	copy(model[4096:], page)
	if err := same("written with O_DIRECT"); err != nil {
		return err
	}
	mapped[len(mapped)-1], model[len(model)-1] = 7, 7
	if err := unix.Msync(mapped, unix.MS_SYNC); err != nil {
		return fmt.Errorf("msync: %w", err)
	}
	fmt.Printf("%x\n", sha256.Sum256(model))
	return nil
}

func TestRawMountFsync(t *testing.T) {
	device := &memoryDevice{content: make([]byte, 1<<20)}
	_, path := mountRaw(t, device, Options{})
	f := openRaw(t, path, os.O_RDWR)
	for i := 1; i < 4; i++ {
		if _, err := f.WriteAt([]byte{byte(i)}, int64(i)); err != nil {
			t.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			t.Errorf("fsync %d: %v", i, err)
		}
		if syncs, open := device.state(); syncs != i || open != 0 {
			t.Errorf("fsync %d: %d syncs, %d writes open", i, syncs, open)
		}
	}
	device.failSync(unix.EIO)
	_, _ = f.WriteAt([]byte{9}, 9)
	if err := f.Sync(); !errors.Is(err, unix.EIO) {
		t.Errorf("fsync of a failing device: %v", err)
	}
	device.failSync(nil)
}

func TestRawMountReadOnly(t *testing.T) {
	device := &memoryDevice{content: noise(1<<20, 2)}
	_, path := mountRaw(t, device, Options{ReadOnly: true})
	if _, err := os.OpenFile(path, os.O_RDWR, 0); !errors.Is(err, unix.EROFS) {
		t.Errorf("open for writing: %v", err)
	}
	for what, err := range map[string]error{"truncate": os.Truncate(path, 0), "remove": os.Remove(path),
		"create": os.WriteFile(filepath.Join(filepath.Dir(path), "x"), nil, 0o600)} {
		if !errors.Is(err, unix.EROFS) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o400 {
		t.Errorf("%v, %v", info, err)
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, device.content) {
		t.Errorf("content: %v", err)
	}
	if syncs, _ := device.state(); syncs != 0 {
		t.Errorf("%d syncs of a device that is only read", syncs)
	}
}

// TestRawMountUnmount: a program that has the device open is named, and force takes the mount away with all that was
// written durable.
func TestRawMountUnmount(t *testing.T) {
	device := &memoryDevice{content: make([]byte, 1<<20)}
	m, path := mountRaw(t, device, Options{})
	holder := exec.Command("sh", "-c", fmt.Sprintf("exec 7<>%q; echo x >&7; echo ready; sleep 100", path))
	out, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = holder.Process.Kill(); _ = holder.Wait() }()
	if _, err := out.Read(make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	err = m.Unmount(context.Background(), false)
	var busy *BusyError
	if !errors.As(err, &busy) || len(busy.Users) == 0 {
		t.Fatalf("unmount while in use: %v", err)
	}
	if u := busy.Users[0]; u.PID != holder.Process.Pid || u.Path != path || !u.Write {
		t.Errorf("in the way: %+v, want pid %d writing %s", u, holder.Process.Pid, path)
	}
	if err := m.Unmount(context.Background(), true); err != nil {
		t.Fatalf("by force: %v", err)
	}
	select {
	case <-m.Done():
	case <-time.After(5 * time.Second):
		t.Error("not done after unmounting")
	}
	if _, open := device.state(); open != 0 {
		t.Errorf("%d writes were not synced", open)
	}
	if _, err := os.Stat(path); !errors.Is(err, unix.ENOENT) {
		t.Errorf("still there: %v", err)
	}
}
