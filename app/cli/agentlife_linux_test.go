package cli_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestClosedTerminal: closing the terminal a drive was unlocked on, a hang-up of its session and a Ctrl-C there change
// nothing.
func TestClosedTerminal(t *testing.T) {
	d := withDrives(t, "32MiB")
	p := onTerminal(t, d.folder, "unlock", "a.img", "mnt")
	p.expect("Password of a.img: ")
	p.write("correct horse\n")
	p.expect(d.point)
	if shown := p.ends(0); strings.Contains(shown, "horse") {
		t.Errorf("the password was echoed:\n%s", shown)
	}
	p.write("\x03")
	p.master.Close()
	pids := agents(t)
	if len(pids) != 1 {
		t.Fatalf("agents: %v", pids)
	}
	if err := syscall.Kill(pids[0], syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	time.Sleep(300 * time.Millisecond)
	writeFile(t, filepath.Join(d.point, "f"), []byte("still there"))
	checkDetached(t, pids[0])
	run(t, d.folder, 0, "lock", "mnt")
	d.tidy()
}

// checkDetached fails unless a process has a session of its own, no terminal, the root folder and no streams.
func checkDetached(t *testing.T, pid int) {
	t.Helper()
	if sid, err := unix.Getsid(pid); err != nil || sid != pid {
		t.Errorf("the agent is in session %d, want its own, %d (%v)", sid, pid, err)
	}
	for name, want := range map[string]string{"cwd": "/", "fd/0": "/dev/null", "fd/1": "/dev/null", "fd/2": ".crash"} {
		if got, err := os.Readlink(fmt.Sprintf("/proc/%d/%s", pid, name)); got != want && !(want == ".crash" && strings.HasSuffix(got, want)) {
			t.Errorf("%s of the agent is %q (%v), want %s", name, got, err, want)
		}
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(status[bytes.LastIndexByte(status, ')')+1:]))
	if fields[4] != "0" {
		t.Errorf("the agent has the terminal %s", fields[4])
	}
}

// TestNothingIsInherited: a file that the shell had open is not held by the agent.
func TestNothingIsInherited(t *testing.T) {
	d := withDrives(t, "32MiB")
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	command := exec.Command(program, "unlock", "a.img", "mnt", "--password-file", "pw")
	command.ExtraFiles = []*os.File{writer, writer, writer}
	p := startCommand(t, d.folder, command)
	writer.Close()
	if code, _, stderr := p.wait(); code != 0 {
		t.Fatalf("exit code %d\n%s", code, stderr)
	}
	if err := reader.SetReadDeadline(time.Now().Add(5 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := reader.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("the agent holds a pipe of the one who started it: %v", err)
	}
}

// TestStoppedAgent: an agent that does not answer neither hangs a listing nor is taken for dead.
func TestStoppedAgent(t *testing.T) {
	d := withDrives(t, "32MiB")
	pid := d.unlock()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	all := d.unlocked()
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("the listing took %v", took)
	}
	if len(all) != 1 || all[0]["unresponsive"] != true {
		t.Errorf("list: %v", all)
	}
	run(t, d.folder, 5, "unlock", "a.img", "--password-file", "pw")
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(d.point, "f"), []byte("alive"))
	run(t, d.folder, 0, "lock", "a.img")
	d.tidy()
}

// TestLockFromInside: the program that locks is not in its own way.
func TestLockFromInside(t *testing.T) {
	d := withDrives(t, "32MiB")
	d.unlock()
	if err := os.Mkdir(filepath.Join(d.point, "deep"), 0o700); err != nil {
		t.Fatal(err)
	}
	run(t, filepath.Join(d.point, "deep"), 0, "lock", d.point)
	d.tidy()
}

// slowImage makes a container whose key takes a noticeable time to derive.
func (d *drives) slowImage() {
	d.t.Helper()
	run(d.t, d.folder, 0, "create", "slow.img", "--size", "32MiB", "--kdf-memory=128MiB", "--kdf-time=6", "--password-file", "pw", "--quiet")
}

// TestKilledParent: the one who unlocks may be killed. Before the drive is ready that undoes everything, at once; after, it
// changes nothing.
func TestKilledParent(t *testing.T) {
	d := withDrives(t, "32MiB")
	d.slowImage()
	for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGINT, syscall.SIGTERM} {
		p := start(t, d.folder, "unlock", "slow.img", "mnt", "--password-file", "pw")
		for deadline := time.Now().Add(10 * time.Second); len(processes(t, "kdf-child")) == 0; time.Sleep(2 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("no key is being derived")
			}
		}
		if err := p.command.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		code, _, stderr := p.wait()
		if signal != syscall.SIGKILL && (code != 130 || !strings.Contains(stderr, "interrupted")) {
			t.Errorf("%v: exit code %d\n%s", signal, code, stderr)
		}
		for len(agents(t))+len(processes(t, "kdf-child")) > 0 {
			if time.Since(begin) > 3*time.Second {
				t.Fatalf("%v: the agent %v or its child %v goes on", signal, agents(t), processes(t, "kdf-child"))
			}
			time.Sleep(2 * time.Millisecond)
		}
		d.tidy()
	}
	shell := exec.Command("sh", "-c", `"$0" unlock a.img mnt --password-file pw --quiet && echo unlocked && sleep 100`, program)
	p := startCommand(t, d.folder, shell)
	for deadline := time.Now().Add(20 * time.Second); len(d.unlocked()) == 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("nothing was unlocked")
		}
	}
	time.Sleep(100 * time.Millisecond)
	if err := syscall.Kill(-p.command.Process.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	p.wait()
	writeFile(t, filepath.Join(d.point, "f"), []byte("still there"))
	run(t, d.folder, 0, "lock", "a.img")
	d.tidy()
}

// TestForeground: the process itself holds the drive; Ctrl-C locks it, and that is a success.
func TestForeground(t *testing.T) {
	d := withDrives(t, "32MiB")
	for _, end := range []string{"signal", "lock"} {
		p := start(t, d.folder, "unlock", "a.img", "mnt", "--password-file", "pw", "--foreground")
		for deadline := time.Now().Add(20 * time.Second); len(d.unlocked()) == 0; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("nothing was unlocked")
			}
		}
		if pids := agents(t); len(pids) != 0 {
			t.Errorf("there are other processes: %v", pids)
		}
		writeFile(t, filepath.Join(d.point, "f"), []byte(end))
		if end == "signal" {
			if err := p.command.Process.Signal(syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
		} else {
			run(t, d.folder, 0, "lock", "mnt")
		}
		if code, out, stderr := p.wait(); code != 0 || out != d.point+"\n" {
			t.Errorf("%s: exit code %d\n%s%s", end, code, out, stderr)
		}
		d.tidy()
		if out, _ := run(t, d.folder, 0, "cat", "a.img:/f", "--password-file", "pw"); out != end {
			t.Errorf("the file holds %q, want %q", out, end)
		}
	}
}

// TestNothingSecretShows: while a key is derived and when the drive is there, no process shows the password in its
// arguments or environment, and no file of the runtime folder holds it; the agent cannot be looked into.
func TestNothingSecretShows(t *testing.T) {
	d := withDrives(t, "32MiB")
	d.slowImage()
	p := start(t, d.folder, "unlock", "slow.img", "mnt", "--password-file", "pw")
	looked := 0
	for len(d.unlocked()) == 0 {
		for _, verb := range []string{"unlock", "agent", "kdf-child"} {
			for _, pid := range processes(t, verb) {
				looked += showsPassword(t, pid)
			}
		}
		select {
		case <-p.done:
		default:
			time.Sleep(20 * time.Millisecond)
		}
	}
	if code, _, stderr := p.wait(); code != 0 {
		t.Fatalf("exit code %d\n%s", code, stderr)
	}
	pids := agents(t)
	if len(pids) != 1 {
		t.Fatalf("agents: %v", pids)
	}
	looked += showsPassword(t, pids[0])
	if looked < 5 {
		t.Errorf("%d processes were looked at: the test tests little", looked)
	}
	err := filepath.WalkDir(filepath.Join(d.folder, "run", "coffer"), func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		if content, err := os.ReadFile(path); err == nil && bytes.Contains(content, []byte("horse")) {
			t.Errorf("%s holds the password", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	limits, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", pids[0]))
	if err != nil || !strings.Contains(strings.Join(strings.Fields(string(limits)), " "), "Max core file size 0 0") {
		t.Errorf("the agent may leave a core dump (%v):\n%s", err, limits)
	}
	// The files of a process that cannot be looked into belong to root, whoever it runs for.
	locked := statusKB(t, pids[0], "VmLck")
	if locked == 0 {
		t.Error("the agent has locked no memory")
	}
}

// showsPassword looks at what a process shows everybody.
func showsPassword(t *testing.T, pid int) int {
	t.Helper()
	for _, name := range []string{"cmdline", "environ"} {
		content, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, name))
		if err != nil {
			return 0 // it has ended
		}
		if bytes.Contains(content, []byte("horse")) {
			t.Errorf("%s of process %d holds the password: %q", name, pid, content)
		}
	}
	return 1
}

// statusKB is a field of /proc/PID/status in KiB.
func statusKB(t *testing.T, pid int, field string) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if words := strings.Fields(line); len(words) == 3 && words[0] == field+":" {
			n, err := strconv.Atoi(words[1])
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatalf("no field %s", field)
	return 0
}

// TestMemoryOfAgent: what deriving the key took is gone, and an idle drive takes less than 60 MB.
func TestMemoryOfAgent(t *testing.T) {
	d := withDrives(t, "32MiB")
	run(t, d.folder, 0, "create", "default.img", "--size", "256MiB", "--password-file", "pw", "--quiet")
	out, _ := run(t, d.folder, 0, "unlock", "default.img", "mnt", "--password-file", "pw")
	pid := agents(t)[0]
	resident, peak := statusKB(t, pid, "VmRSS"), statusKB(t, pid, "VmHWM")
	t.Logf("%s: %d KiB resident, %d at most so far", strings.TrimSpace(out), resident, peak)
	if resident > 60_000 || peak > 120_000 {
		t.Errorf("an idle agent takes %d KiB, %d at most", resident, peak)
	}
	if children := processes(t, "kdf-child"); len(children) != 0 {
		t.Errorf("the child that derives keys still runs: %v", children)
	}
}

// TestWrongPasswordTakesAsLong: the time tells nothing about a password.
func TestWrongPasswordTakesAsLong(t *testing.T) {
	d := withDrives(t, "32MiB")
	d.slowImage()
	writeFile(t, filepath.Join(d.folder, "bad"), []byte("correct hearse\n"))
	right, wrong := time.Hour, time.Hour // the shortest: other work on the machine only adds
	for range 3 {
		begin := time.Now()
		run(t, d.folder, 0, "unlock", "slow.img", "--no-mount", "--password-file", "pw")
		right = min(right, time.Since(begin))
		run(t, d.folder, 0, "lock", "slow.img")
		begin = time.Now()
		if _, stderr := run(t, d.folder, 3, "unlock", "slow.img", "--no-mount", "--password-file", "bad"); !strings.Contains(stderr, "takes as long") {
			t.Errorf("the refusal does not say so:\n%s", stderr)
		}
		wrong = min(wrong, time.Since(begin))
	}
	t.Logf("right %v, wrong %v", right, wrong)
	if wrong < right*7/10 || right < wrong*7/10 {
		t.Errorf("a wrong password takes %v, a right one %v", wrong, right)
	}
	d.tidy()
}

// TestImageReplaced puts another file in the place of the image, or cuts it, while the drive is there: programs get
// errors, the new file is left alone, and the container can be locked.
func TestImageReplaced(t *testing.T) {
	for _, accident := range []string{"replaced", "removed", "cut"} {
		t.Run(accident, func(t *testing.T) {
			d := withDrives(t, "32MiB")
			pid := d.unlock()
			writeFile(t, filepath.Join(d.point, "before"), randomBytes(100_000, 1))
			other := filepath.Join(d.folder, "other.img")
			copyImage(t, d.image, other)
			before := digest(t, other)
			var err error
			switch accident {
			case "replaced":
				err = os.Rename(other, d.image)
			case "removed":
				err = os.Remove(d.image)
			case "cut":
				err = os.Truncate(d.image, 17<<20)
			}
			if err != nil {
				t.Fatal(err)
			}
			root, err := os.OpenRoot(d.point)
			if err != nil {
				t.Fatal(err)
			}
			if err := writeSynced(root, "after", randomBytes(100_000, 2)); err == nil {
				t.Error("a write to a lost image was acknowledged")
			}
			root.Close()
			if all := d.unlocked(); len(all) != 1 || fmt.Sprint(all[0]["problem"]) == "<nil>" {
				t.Errorf("list shows no problem: %v", all)
			}
			code, _, stderr := start(t, d.folder, "lock", "a.img", "--force").wait()
			if code == 0 || !strings.Contains(stderr, "image") {
				t.Errorf("lock: exit code %d\n%s", code, stderr)
			}
			ended(t, pid, 5*time.Second)
			d.tidy()
			if accident == "replaced" && digest(t, d.image) != before {
				t.Error("the new file was written to")
			}
		})
	}
}

// TestRuntimeFolder: a folder that others control is not used.
func TestRuntimeFolder(t *testing.T) {
	d := withDrives(t, "32MiB")
	folder := filepath.Join(d.folder, "run", "coffer")
	spoil := map[string]func() error{
		"entered by others": func() error { return os.Mkdir(folder, 0o755) },
		"a link":            func() error { return os.Symlink(d.folder, folder) },
		"a file":            func() error { return os.WriteFile(folder, nil, 0o600) },
		"another user's": func() error {
			if err := os.Mkdir(folder, 0o700); err != nil {
				return err
			}
			return os.Chown(folder, 65534, 65534)
		},
	}
	for name, make := range spoil {
		if err := make(); err != nil {
			t.Fatal(err)
		}
		code, _, stderr := start(t, d.folder, "unlock", "a.img", "--password-file", "pw").wait()
		if code != 1 || !strings.Contains(stderr, folder) {
			t.Errorf("%s: exit code %d\n%s", name, code, stderr)
		}
		if code, _, _ := start(t, d.folder, "ls", "a.img:/", "--password-file", "pw").wait(); code != 0 && code != 1 {
			t.Errorf("%s: ls ends with %d", name, code)
		}
		if err := os.Remove(folder); err != nil {
			t.Fatal(err)
		}
	}
	d.tidy()
}

// TestStrangersAreRefused: another user cannot speak to the agent even when the folder lets him in.
func TestStrangersAreRefused(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Fatal("this test becomes another user: it needs root (./run test in CI has it)")
	}
	d := withDrives(t, "32MiB")
	d.unlock()
	sockets, err := filepath.Glob(filepath.Join(d.folder, "run", "coffer", "*.sock"))
	if err != nil || len(sockets) != 1 {
		t.Fatalf("sockets: %v %v", sockets, err)
	}
	ask := func(user ...string) string {
		args := append(user, "curl", "-s", "-S", "--max-time", "5", "--unix-socket", sockets[0], "-d", "{}", "http://agent/v1/status")
		out, _ := exec.Command(args[0], args[1:]...).CombinedOutput()
		return string(out)
	}
	if answer := ask("env"); !strings.Contains(answer, `"mountPoint"`) {
		t.Fatalf("the owner is answered %q (this test needs the Debian package curl)", answer)
	}
	opened := d.folder
	for _, folder := range []string{filepath.Dir(opened), opened, filepath.Join(opened, "run"), filepath.Join(opened, "run", "coffer"), sockets[0]} {
		if err := os.Chmod(folder, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if answer := ask("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"); strings.Contains(answer, "mountPoint") || answer == "" {
		t.Errorf("a stranger is answered %q", answer)
	}
	if err := os.Chmod(filepath.Join(opened, "run", "coffer"), 0o700); err != nil {
		t.Fatal(err)
	}
}

// TestLostRegistry: a cleaner of old files takes the runtime folder away; the agent puts its files back, and can be found
// and locked again.
func TestLostRegistry(t *testing.T) {
	d := withDrives(t, "32MiB")
	d.unlock()
	if err := os.RemoveAll(filepath.Join(d.folder, "run", "coffer")); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(20 * time.Second); len(d.unlocked()) == 0; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the agent is never seen again")
		}
	}
	run(t, d.folder, 5, "unlock", "a.img", "--password-file", "pw")
	run(t, d.folder, 0, "lock", "a.img")
	d.tidy()
}

// TestWithoutFUSE: a system that cannot mount says so, with exit code 10 and before it asks for a password; the rest works.
func TestWithoutFUSE(t *testing.T) {
	d := withDrives(t, "32MiB")
	// A mount namespace of its own, with a /dev that lacks it.
	inside := `mount -t tmpfs none /dev && mknod /dev/null c 1 3 && mknod /dev/urandom c 1 9 || exit 99
"$0" unlock a.img; echo "code $?"
"$0" unlock a.img --no-mount --password-file pw && "$0" mkdir a.img:/made && "$0" lock a.img; echo "code $?"`
	_, out, stderr := startCommand(t, d.folder, exec.Command("unshare", "-m", "sh", "-c", inside, program)).wait()
	if !strings.HasPrefix(out, "code 10\n") || !strings.HasSuffix(out, "code 0\n") {
		t.Errorf("it said\n%s%s", out, stderr)
	}
	if !strings.Contains(stderr, "FUSE") || !strings.Contains(stderr, "hint: without it `coffer unlock --no-mount`") {
		t.Errorf("it is not told what is missing:\n%s", stderr)
	}
	d.tidy()
}

// TestLockAllNested: a container that lies on the drive of another is locked before it, also by force: nothing is lost.
func TestLockAllNested(t *testing.T) {
	d := withDrives(t, "100MiB")
	for _, force := range [][]string{nil, {"--force"}} {
		d.unlock()
		inner := filepath.Join(d.point, "inner.img")
		if force == nil {
			makeImage(t, d.point, "inner.img", "40MiB")
		}
		run(t, d.folder, 0, "unlock", inner, "deep", "--password-file", "pw", "--quiet")
		content := randomBytes(5<<20, uint64(len(force)))
		writeFile(t, filepath.Join(d.folder, "deep", "file"), content) // not synced
		run(t, d.folder, 0, append([]string{"lock", "--all"}, force...)...)
		d.tidy()
		d.unlock()
		run(t, d.folder, 0, "unlock", inner, "deep", "--password-file", "pw", "--quiet")
		if got, err := os.ReadFile(filepath.Join(d.folder, "deep", "file")); err != nil || !bytes.Equal(got, content) {
			t.Errorf("lock --all %v: %d bytes, %v", force, len(got), err)
		}
		run(t, d.folder, 0, "lock", "--all")
		d.tidy()
	}
}

// TestLockOfLostImage: a drive whose image is gone is locked by force only. The error is told once, and the process has ended
// when the command returns.
func TestLockOfLostImage(t *testing.T) {
	d := withDrives(t, "32MiB")
	pid := d.unlock()
	writeFile(t, filepath.Join(d.point, "saved"), []byte("x"))
	run(t, d.folder, 0, "mkdir", "a.img:/saves-all")
	if err := os.Remove(d.image); err != nil {
		t.Fatal(err)
	}
	_ = os.WriteFile(filepath.Join(d.point, "lost"), []byte("x"), 0o600)
	if _, stderr := run(t, d.folder, 1, "lock", "mnt"); !strings.Contains(stderr, "was deleted or replaced") || !strings.Contains(stderr, "--force locks it all the same") {
		t.Errorf("an unforced lock says: %s", stderr)
	}
	_, stderr := run(t, d.folder, 1, "lock", "mnt", "--force")
	if n := strings.Count(stderr, "was deleted or replaced"); n != 1 || !strings.Contains(stderr, "it is locked, but not everything could be written down") {
		t.Errorf("a forced lock tells the cause %d times: %s", n, stderr)
	}
	if !gone(pid) {
		t.Error("lock returned before the process that held the key had ended")
	}
	d.tidy()
}

// TestMountPointFirst: a mount point that cannot be is told before anybody is asked for a password.
func TestMountPointFirst(t *testing.T) {
	d := withDrives(t, "32MiB")
	writeFile(t, filepath.Join(d.folder, "full", "file"), nil)
	for point, want := range map[string]string{"full": "the folder is not empty", "pw": "not a folder", "none/below": "no such file or directory",
		"/etc": "belongs to the system"} {
		if _, stderr := run(t, d.folder, 1, "unlock", "a.img", point); !strings.Contains(stderr, want) || !strings.Contains(stderr, "mount at ") {
			t.Errorf("%s: %s, want %q", point, stderr, want)
		}
	}
	if _, stderr := run(t, d.folder, 11, "unlock", "a.img", "mnt"); !strings.Contains(stderr, "no password") {
		t.Errorf("a good mount point: %s", stderr)
	}
	if _, err := os.Lstat(d.point); !os.IsNotExist(err) {
		t.Errorf("looking at a mount point made it: %v", err)
	}
}
