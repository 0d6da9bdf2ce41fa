package cli_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// TestStrangersSeeNothing: a drive and a raw device are closed to another user, and to root when they are not root's,
// also where every folder on the way is open.
func TestStrangersSeeNothing(t *testing.T) {
	if os.Getuid() != 0 {
		t.Fatal("this test becomes another user: it needs root (./run test in CI has it)")
	}
	for _, how := range [][]string{nil, {"--raw"}} {
		d := withDrives(t, "32MiB")
		d.unlock(how...)
		for folder := d.folder; folder != os.TempDir() && folder != "/"; folder = filepath.Dir(folder) {
			if err := os.Chmod(folder, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		as := []string{"setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"}
		if out, err := exec.Command(as[0], append(as[1:], "ls", filepath.Dir(d.point))...).CombinedOutput(); err != nil {
			t.Fatalf("the way to the drive is not open, so this tests nothing: %v %s", err, out)
		}
		for _, look := range [][]string{{"ls", d.point}, {"cat", filepath.Join(d.point, "disk")}, {"touch", filepath.Join(d.point, "x")}} {
			if out, err := exec.Command(as[0], append(as[1:], look...)...).CombinedOutput(); err == nil {
				t.Errorf("%s: a stranger may %v: %s", how, look, out)
			}
		}
		run(t, d.folder, 0, "lock", "mnt")
	}
	l := newRawLab(t)
	l.ordinary()
	l.do("coffer create a.img --size 32MiB; mkdir device drive; coffer unlock a.img drive; touch drive/x")
	if _, err := os.ReadDir(filepath.Join(l.folder, "drive")); !errors.Is(err, syscall.EACCES) {
		t.Errorf("root looks into the drive of a user: %v", err)
	}
	l.do("coffer lock drive; coffer unlock --raw a.img device")
	if _, err := os.ReadFile(filepath.Join(l.folder, "device", "disk")); !errors.Is(err, syscall.EACCES) {
		t.Errorf("root reads the device of a user: %v", err)
	}
	l.do("coffer lock device")
}
