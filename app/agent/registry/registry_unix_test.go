//go:build unix

package registry

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestSweepSparesWhoAnswers: a lock file removed by hand does not make a living process look dead.
func TestSweepSparesWhoAnswers(t *testing.T) {
	folder := t.TempDir()
	r := In(folder)
	claim, err := r.Claim(Entry{ID: testID, MountPoint: "/mnt"}, Cleaner{Detach: detachNothing})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("unix", claim.Socket())
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	if err := os.Remove(filepath.Join(folder, testID+".lock")); err != nil {
		t.Fatal(err)
	}
	left, err := r.Sweep(Cleaner{Detach: func(string) error { t.Error("a living drive was detached"); return nil }})
	if err != nil || len(left) != 0 {
		t.Errorf("%v %v", left, err)
	}
	if got := names(t, folder); !strings.Contains(got, testID+".json") || !strings.Contains(got, testID+".sock") {
		t.Errorf("left: %q", got)
	}
}

// TestHeal: what somebody removed from the registry is there again, the lock too.
func TestHeal(t *testing.T) {
	for _, lost := range []string{"*.json", "*.lock", "*", ""} {
		folder := filepath.Join(t.TempDir(), "run")
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		r := In(folder)
		claim, err := r.Claim(Entry{ID: testID, Image: "/x"}, Cleaner{Detach: detachNothing})
		if err != nil {
			t.Fatal(err)
		}
		if lost == "" {
			err = os.RemoveAll(folder)
		} else {
			files, _ := filepath.Glob(filepath.Join(folder, lost))
			for _, file := range files {
				err = errors.Join(err, os.Remove(file))
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		there, err := claim.Heal()
		if err != nil || there {
			t.Errorf("%q lost: socket there: %v, %v", lost, there, err)
		}
		if live, err := r.Live(); err != nil || len(live) != 1 || live[0].Image != "/x" || r.holder(testID) != os.Getpid() {
			t.Errorf("%q lost: live: %v %v", lost, live, err)
		}
		if left, err := r.Sweep(Cleaner{Detach: detachNothing}); err != nil || len(left) != 0 {
			t.Errorf("%q lost: swept: %v %v", lost, left, err)
		}
		if err := claim.Release(); err != nil {
			t.Error(err)
		}
		if got := names(t, folder); got != "" {
			t.Errorf("%q lost: left: %q", lost, got)
		}
	}
}

// TestLongPaths: sockets in folders whose path is longer than a socket's can be.
func TestLongPaths(t *testing.T) {
	folder := filepath.Join(t.TempDir(), strings.Repeat("long/", 30))
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	socket := In(folder).Socket(testID)
	var listener net.Listener
	err := AtShortPath(socket, func(path string) (err error) { listener, err = net.Listen("unix", path); return err })
	if err != nil {
		if strings.Contains(err.Error(), "too long") {
			return // said plainly; only Linux has another way
		}
		t.Fatal(err)
	}
	defer listener.Close()
	if _, err := os.Lstat(socket); err != nil || !answers(socket) {
		t.Errorf("the socket is not where it should be: %v", err)
	}
}

// TestCleaningIsNotLiving: while somebody cleans up after a dead process the lock is held, and yet nothing is unlocked.
func TestCleaningIsNotLiving(t *testing.T) {
	r := In(t.TempDir())
	claim, err := r.Claim(Entry{ID: testID}, Cleaner{Detach: detachNothing})
	if err != nil {
		t.Fatal(err)
	}
	defer claim.Release()
	if live, err := r.Live(); err != nil || len(live) != 1 {
		t.Fatalf("%v, %v", live, err)
	}
	ended := exec.Command("true")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	if err := claim.Update(func(e *Entry) { e.PID = ended.Process.Pid }); err != nil {
		t.Fatal(err)
	}
	if live, err := r.Live(); err != nil || len(live) != 0 {
		t.Errorf("%v, %v", live, err)
	}
}
