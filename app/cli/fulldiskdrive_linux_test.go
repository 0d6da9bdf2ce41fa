package cli_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestFullDiskDrive lets the disk below the drive of a thin container fill up: programs are told how much room there is, an
// fsync tells the truth, and once the disk has space again the drive works without being unlocked anew. It runs itself again
// in a mount namespace of its own.
func TestFullDiskDrive(t *testing.T) {
	if os.Getenv(inNamespace) == "" {
		args := []string{"-m"}
		if os.Getuid() != 0 {
			args = []string{"-r", "-m"}
		}
		again := exec.Command("unshare", append(args, os.Args[0], "-test.run=^TestFullDiskDrive$", "-test.v")...)
		again.Env = append(os.Environ(), inNamespace+"=1")
		out, err := again.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "--- PASS: TestFullDiskDrive") {
			t.Fatalf("in a mount namespace (needs util-linux): %v\n%s", err, out)
		}
		return
	}
	d := withDrives(t, "32MiB")
	disk := filepath.Join(d.folder, "disk")
	if err := os.Mkdir(disk, 0o700); err != nil {
		t.Fatal(err)
	}
	const diskBytes = 100 << 20
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=100m", "tmpfs", disk).CombinedOutput(); err != nil {
		t.Fatalf("mount: %v %s", err, out)
	}
	defer syscall.Unmount(disk, syscall.MNT_DETACH)
	makeImage(t, d.folder, "disk/thin.img", "1GiB")
	run(t, d.folder, 0, "unlock", "disk/thin.img", "mnt", "--password-file", "pw", "--quiet")
	room := func() (total, free, available int64) {
		var s syscall.Statfs_t
		if err := syscall.Statfs(d.point, &s); err != nil {
			t.Fatal(err)
		}
		return int64(s.Blocks) * s.Bsize, int64(s.Bfree) * s.Bsize, int64(s.Bavail) * s.Bsize
	}
	if total, free, available := room(); total < 900<<20 || free < 900<<20 || available > diskBytes || available < diskBytes/2 {
		t.Errorf("on a disk of %d bytes: %d in all, %d free, %d available", diskBytes, total, free, available)
	}
	acknowledged := map[string][]byte{}
	save := func(name string, sizeBytes int) error {
		content := randomBytes(sizeBytes, uint64(len(acknowledged)))
		f, err := os.Create(filepath.Join(d.point, name))
		if err != nil {
			return err
		}
		_, err = f.Write(content)
		if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
			acknowledged[name] = content
		}
		return err
	}
	if err := errors.Join(save("first", 10<<20), save("in the way", 1<<20)); err != nil {
		t.Fatal(err)
	}
	fill(t, filepath.Join(disk, "filler"))
	if _, free, available := room(); free < 900<<20 || available > 5<<20 {
		t.Errorf("on a full disk: %d free, %d available", free, available)
	}
	if err := save("second", 10<<20); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("an fsync on a full disk: %v", err)
	}
	// What was not taken is in nobody's way: a removal becomes durable without any room.
	if err := os.Remove(filepath.Join(d.point, "in the way")); err != nil {
		t.Error(err)
	}
	delete(acknowledged, "in the way")
	if folder, err := os.Open(d.point); err != nil {
		t.Error(err)
	} else if err := errors.Join(folder.Sync(), folder.Close()); err != nil {
		t.Errorf("a removal on a full disk: %v", err)
	}
	if err := os.Remove(filepath.Join(disk, "filler")); err != nil {
		t.Fatal(err)
	}
	// Small writes may have been under way when the disk was full; they are tried again by the next sync, at the latest after
	// five seconds, and until then nothing new is taken.
	for begin := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		err := save("second", 10<<20)
		if err == nil {
			break
		}
		if time.Since(begin) > 10*time.Second {
			t.Fatalf("with space again: %v", err)
		}
	}
	if err := save("third", 10<<20); err != nil {
		t.Errorf("with space again: %v", err)
	}
	run(t, d.folder, 0, "lock", "mnt")
	if out, _ := run(t, d.folder, 0, "check", "disk/thin.img", "--password-file", "pw"); !strings.Contains(out, "is clean") {
		t.Errorf("check: %s", out)
	}
	run(t, d.folder, 0, "unlock", "disk/thin.img", "mnt", "--password-file", "pw", "--quiet")
	for name, want := range acknowledged {
		if got, err := os.ReadFile(filepath.Join(d.point, name)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is lost or wrong: %d bytes, %v", name, len(got), err)
		}
	}
	if len(acknowledged) != 3 {
		t.Errorf("%d files were acknowledged, want 3", len(acknowledged))
	}
	run(t, d.folder, 0, "lock", "mnt")
}
