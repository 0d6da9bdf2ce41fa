package cli_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"coffer/app/agent/autolock/logindtest"
)

// awaitLocked waits until nothing is unlocked any more and returns how long that took.
func (d *drives) awaitLocked(most time.Duration) time.Duration {
	d.t.Helper()
	began := time.Now()
	for len(d.unlocked()) > 0 {
		if time.Since(began) > most {
			d.t.Fatalf("still unlocked after %v: %v", most, d.unlocked())
		}
		time.Sleep(20 * time.Millisecond)
	}
	return time.Since(began)
}

// stayUnlocked fails if the drive locks within a time, during which f is called again and again.
func (d *drives) stayUnlocked(how string, long time.Duration, f func()) {
	d.t.Helper()
	// Beside the commands that look, which take their time on a busy machine.
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for f != nil {
			f()
			select {
			case <-stop:
				return
			case <-time.After(100 * time.Millisecond):
			}
		}
	}()
	defer func() { close(stop); <-stopped }()
	for end := time.Now().Add(long); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if len(d.unlocked()) == 0 {
			d.t.Fatalf("locked although %s", how)
		}
	}
}

// onDrive starts a shell whose working directory is the drive; it goes when stop is called.
func (d *drives) onDrive(script string) (pid int, stop func()) {
	d.t.Helper()
	command := exec.Command("sh", "-c", script+`; echo ready; read x`)
	command.Dir = d.point
	in, err := command.StdinPipe()
	if err != nil {
		d.t.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		d.t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		d.t.Fatal(err)
	}
	said := make([]byte, 6)
	if _, err := io.ReadFull(out, said); err != nil || string(said) != "ready\n" {
		d.t.Fatalf("%q %v", said, err)
	}
	ended := false
	stop = func() {
		if !ended {
			ended = true
			_ = in.Close()
			_ = command.Wait()
		}
	}
	d.t.Cleanup(stop)
	return command.Process.Pid, stop
}

func (d *drives) path(name string) string { return filepath.Join(d.point, name) }

// read is the content of a file of the locked container.
func (d *drives) read(name string) string {
	d.t.Helper()
	out, _ := run(d.t, d.folder, 0, "cat", "a.img:/"+name, "--password-file", "pw")
	return out
}

func TestIdleLock(t *testing.T) {
	d := withDrives(t, "32MiB")
	d.unlock("--idle", "2s")
	if in, ok := d.unlocked()[0]["locksInSeconds"].(float64); !ok || in <= 0 || in > 2 {
		t.Errorf("locks in %v", d.unlocked()[0])
	}
	writeFile(t, d.path("f"), bytes.Repeat([]byte("x"), 4096))
	d.stayUnlocked("it is read", 3*time.Second, func() {
		if _, err := os.ReadFile(d.path("f")); err != nil {
			t.Error(err)
		}
	})
	// Looking at the drive is no use of it, neither is asking the agent; or `list` would keep it open for ever.
	began := time.Now()
	for len(d.unlocked()) > 0 && time.Since(began) < 30*time.Second {
		var st unix.Statfs_t
		_ = unix.Statfs(d.point, &st)
		time.Sleep(50 * time.Millisecond)
	}
	if took := time.Since(began); took < time.Second || took > 15*time.Second {
		t.Errorf("locked after %v, want 2 s", took)
	}
	d.tidy()
	if got := d.read("f"); len(got) != 4096 {
		t.Errorf("%d bytes", len(got))
	}
}

// TestIdleLockWithoutDrive: operations are use, for as long as they run.
func TestIdleLockWithoutDrive(t *testing.T) {
	d := withDrives(t, "32MiB")
	run(t, d.folder, 0, "unlock", "a.img", "--no-mount", "--idle", "4s", "--password-file", "pw")
	writeFile(t, filepath.Join(d.folder, "big"), make([]byte, 4<<20))
	run(t, d.folder, 0, "copy", "big", "a.img:/", "--quiet")
	// Nobody reads what it prints: it goes on for as long as we like.
	cat := exec.Command(program, "cat", "a.img:/big")
	cat.Dir = d.folder
	out, err := cat.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cat.Start(); err != nil {
		t.Fatal(err)
	}
	d.stayUnlocked("a job runs", 7*time.Second, nil)
	if n, err := io.Copy(io.Discard, out); n != 4<<20 || err != nil || cat.Wait() != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
	if took := d.awaitLocked(20 * time.Second); took < 500*time.Millisecond {
		t.Errorf("locked %v after the job", took)
	}
	d.tidy()
}

// TestIdleLockHeld: a file open for writing is not idle; a program that only stands on the drive delays the lock, is named,
// and nothing is forced on it.
func TestIdleLockHeld(t *testing.T) {
	d := withDrives(t, "32MiB")
	d.unlock("--idle", "1s")
	_, stop := d.onDrive("exec 3>f; cd /")
	d.stayUnlocked("a file is open for writing", 3*time.Second, nil)
	pid, leave := d.onDrive(":")
	stop()
	warned := ""
	for end := time.Now().Add(30 * time.Second); warned == "" && time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if all := d.unlocked(); len(all) > 0 {
			warned, _ = all[0]["warning"].(string)
		}
	}
	d.stayUnlocked("a shell stands on it", 2*time.Second, nil)
	if !strings.Contains(warned, fmt.Sprintf("sh (process %d)", pid)) || !strings.Contains(warned, d.point) {
		t.Errorf("the warning is %q, want it to name process %d and %s", warned, pid, d.point)
	}
	leave()
	d.awaitLocked(20 * time.Second)
	d.tidy()
}

// TestLifetimeLock: the end of the lifetime takes the drive from whoever uses it; what was acknowledged is there.
func TestLifetimeLock(t *testing.T) {
	d := withDrives(t, "32MiB")
	began := time.Now()
	d.unlock("--lifetime", "3s", "--idle", "1h")
	f, err := os.Create(d.path("f"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	acknowledged := 0
	for time.Since(began) < 60*time.Second {
		line := fmt.Sprintf("line %d\n", acknowledged)
		if _, err = f.WriteString(line); err != nil {
			break
		}
		if err = f.Sync(); err != nil {
			break
		}
		acknowledged++
	}
	if took := time.Since(began); err == nil || took < 2500*time.Millisecond || took > 30*time.Second {
		t.Errorf("the writer met %v after %v", err, took)
	}
	d.awaitLocked(20 * time.Second)
	d.tidy()
	if got := strings.Count(d.read("f"), "\n"); acknowledged == 0 || got < acknowledged {
		t.Errorf("%d lines of %d that were acknowledged", got, acknowledged)
	}
	run(t, d.folder, 0, "check", "a.img", "--password-file", "pw")
}

// TestIdleOfAStoppedAgent: an agent that was stopped for longer than its idle time locks when it goes on, and one that was used
// just before does not lock early.
func TestIdleOfAStoppedAgent(t *testing.T) {
	d := withDrives(t, "32MiB")
	pid := d.unlock("--idle", "3s")
	writeFile(t, d.path("f"), []byte("x"))
	time.Sleep(300 * time.Millisecond) // the file is closed asynchronously
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	time.Sleep(4 * time.Second)
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	d.awaitLocked(20 * time.Second)
	d.tidy()
}

// TestSuspendFlushes: before the machine sleeps, what programs have written is on the disk, also what they have written
// into mapped memory, and nothing keeps the machine awake.
func TestSuspendFlushes(t *testing.T) {
	d := withDrives(t, "32MiB")
	address, _ := logindtest.Bus(t)
	l := logindtest.New(t, address)
	pid := d.unlock()
	l.AwaitTaken()
	writeFile(t, d.path("mapped"), make([]byte, 8192))
	f, err := os.OpenFile(d.path("mapped"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	memory, err := unix.Mmap(int(f.Fd()), 0, 8192, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	copy(memory[4000:], "written into memory")
	l.Sleep(true)
	if held := l.HeldFor(10 * time.Second); held > 4*time.Second {
		t.Errorf("the machine was kept awake for %v", held)
	}
	// Power fails while it sleeps.
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = unix.Munmap(memory)
	f.Close()
	d.unlocked() // cleans up
	if got := d.read("mapped"); len(got) != 8192 || !strings.HasPrefix(got[4000:], "written into memory") {
		t.Error("what was written into memory before the machine slept is not there")
	}
}

// TestSuspendLocks: the default; a drive in use stays, unless force was asked for.
func TestSuspendLocks(t *testing.T) {
	d := withDrives(t, "32MiB")
	address, _ := logindtest.Bus(t)
	l := logindtest.New(t, address)
	d.unlock()
	l.AwaitTaken()
	l.Sleep(true)
	l.HeldFor(10 * time.Second)
	d.awaitLocked(20 * time.Second)
	d.tidy()

	d.unlock()
	l.AwaitTaken()
	_, stop := d.onDrive(":")
	l.Sleep(true)
	if held := l.HeldFor(10 * time.Second); held > 4*time.Second {
		t.Errorf("the machine was kept awake for %v", held)
	}
	l.Sleep(false)
	l.AwaitTaken()
	d.stayUnlocked("a shell stands on it", time.Second, nil)
	run(t, d.folder, 5, "lock", "a.img")
	stop()
	run(t, d.folder, 0, "lock", "a.img")

	d.unlock("--lock-force")
	l.AwaitTaken()
	_, stop = d.onDrive("echo kept > kept; exec 3<kept")
	l.Sleep(true)
	l.HeldFor(10 * time.Second)
	d.awaitLocked(20 * time.Second)
	stop()
	d.tidy()
	if got := d.read("kept"); got != "kept\n" {
		t.Errorf("%q", got)
	}

	d.unlock("--lock-on", "none")
	l.AwaitTaken()
	l.Sleep(true)
	l.HeldFor(10 * time.Second)
	l.Lock("own")
	d.stayUnlocked("nothing locks it", time.Second, nil)
	run(t, d.folder, 0, "lock", "a.img")
}

func TestScreenLocks(t *testing.T) {
	d := withDrives(t, "32MiB")
	address, _ := logindtest.Bus(t)
	l := logindtest.New(t, address)
	d.unlock("--lock-on", "screen")
	l.AwaitTaken()
	l.Lock("other")
	l.Sleep(true)
	l.HeldFor(10 * time.Second)
	d.stayUnlocked("only another's screen was locked", time.Second, nil)
	l.Hint("own", true)
	d.awaitLocked(20 * time.Second)
	d.tidy()
}

// fingerprint is what a backup program sees of the image.
func (d *drives) fingerprint() (modified time.Time, sum [32]byte) {
	d.t.Helper()
	info, err := os.Stat(d.image)
	if err != nil {
		d.t.Fatal(err)
	}
	content, err := os.ReadFile(d.image)
	if err != nil {
		d.t.Fatal(err)
	}
	return info.ModTime(), sha256.Sum256(content)
}

// TestImageTimeFollowsContent: the modification time of the image changes if and only if its content does.
func TestImageTimeFollowsContent(t *testing.T) {
	d := withDrives(t, "32MiB")
	d.unlock()
	writeFile(t, d.path("file"), bytes.Repeat([]byte("content "), 1000))
	writeFile(t, d.path("letter"), []byte("written once"))
	if err := os.MkdirAll(d.path("folder/sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	run(t, d.folder, 0, "lock", "a.img")
	looks := `set -e
ls -lR . > /dev/null; cat file > /dev/null; stat . file folder > /dev/null; df . > /dev/null; find . -newer file > /dev/null
grep -r content . > /dev/null; tar cf - . > /dev/null; [ ! -e nothing ]
mkdir folder 2> /dev/null && exit 1; rmdir folder 2> /dev/null && exit 1; rm nothing 2> /dev/null && exit 1; ln -s a b 2> /dev/null && exit 1
chmod 700 file; touch -r file file; mv file file 2> /dev/null || true; : >> file; mkdir -p folder/sub
dd if=/dev/null of=file conv=notrunc status=none; sync -f .
`
	modified, sum := d.fingerprint()
	for name, look := range map[string]func(){
		"the drive": func() {
			d.unlock()
			command := exec.Command("bash", "-c", looks)
			command.Dir = d.point
			if out, err := command.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			time.Sleep(6 * time.Second) // the volume writes down what changed every five
			run(t, d.folder, 0, "check", "a.img")
			run(t, d.folder, 0, "lock", "a.img")
		},
		"the agent": func() {
			run(t, d.folder, 0, "unlock", "a.img", "--no-mount", "--password-file", "pw")
			run(t, d.folder, 0, "ls", "-R", "a.img:/")
			run(t, d.folder, 0, "cat", "a.img:/file")
			run(t, d.folder, 5, "key", "add", "a.img", "--password-file", "pw", "--new-password-file", "pw")
			run(t, d.folder, 0, "lock", "a.img")
		},
		"without an agent": func() {
			run(t, d.folder, 0, "ls", "-R", "a.img:/", "--password-file", "pw")
			run(t, d.folder, 0, "cat", "a.img:/file", "--password-file", "pw")
			run(t, d.folder, 0, "check", "a.img", "--password-file", "pw")
			run(t, d.folder, 0, "info", "a.img")
			run(t, d.folder, 3, "ls", "a.img:/", "--password-file", "wrong")
		},
	} {
		if name == "without an agent" {
			writeFile(t, filepath.Join(d.folder, "wrong"), []byte("no such password"))
		}
		look()
		if m, s := d.fingerprint(); !m.Equal(modified) || s != sum {
			t.Errorf("looking through %s: modified %v, was %v; content the same: %v", name, m, modified, s == sum)
			modified, sum = m, s
		}
	}
	for name, change := range map[string]func(){
		"write":  func() { writeFile(t, d.path("file"), bytes.Repeat([]byte("Content "), 1000)) },
		"touch":  func() { _ = os.Chtimes(d.path("file"), time.Time{}, time.Unix(1e9, 0)) },
		"rename": func() { _ = os.Rename(d.path("folder/sub"), d.path("folder/other")) },
		"chmod":  func() { _ = os.Chmod(d.path("letter"), 0o400) },
		"mapped": func() {
			f, err := os.OpenFile(d.path("map"), os.O_RDWR|os.O_CREATE, 0o600)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if err := f.Truncate(4096); err != nil {
				t.Fatal(err)
			}
			memory, err := unix.Mmap(int(f.Fd()), 0, 4096, unix.PROT_WRITE, unix.MAP_SHARED)
			if err != nil {
				t.Fatal(err)
			}
			memory[0] = 1
			_ = unix.Munmap(memory)
		},
	} {
		d.unlock()
		change()
		run(t, d.folder, 0, "lock", "a.img")
		m, s := d.fingerprint()
		if !m.After(modified) || s == sum {
			t.Errorf("%s: modified %v, was %v; content the same: %v", name, m, modified, s == sum)
		}
		modified, sum = m, s
	}
}

// TestLitterOption: litter is gone with the lock, or stays if it was to be kept.
func TestLitterOption(t *testing.T) {
	d := withDrives(t, "32MiB")
	for where, want := range map[string]string{"memory": "", "keep": ".DS_Store"} {
		d.unlock("--litter", where)
		writeFile(t, d.path(".DS_Store"), []byte("icons"))
		if got, err := os.ReadFile(d.path(".DS_Store")); err != nil || string(got) != "icons" {
			t.Errorf("%s: %q %v", where, got, err)
		}
		run(t, d.folder, 0, "lock", "a.img")
		out, _ := run(t, d.folder, 0, "ls", "a.img:/", "--password-file", "pw")
		if strings.Contains(out, ".DS_Store") != (want != "") {
			t.Errorf("%s: the container holds %q", where, out)
		}
		if want != "" {
			run(t, d.folder, 0, "rm", "a.img:/.DS_Store", "--password-file", "pw")
		}
	}
}
