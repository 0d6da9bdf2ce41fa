package vfs

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// useEnv makes the test program a user of a drive: "how path".
const useEnv = "COFFER_TEST_USE"

// useDrive does what useEnv asks for, says so, and waits for the end of its standard input.
func useDrive(how, path string) error {
	switch how {
	case "cwd":
		if err := os.Chdir(path); err != nil {
			return err
		}
	case "root":
		if err := unix.Chroot(path); err != nil {
			return err
		}
	case "run":
		// The program itself is on the drive.
	case "read", "write", "append":
		flag := map[string]int{"read": os.O_RDONLY, "write": os.O_RDWR, "append": os.O_WRONLY | os.O_APPEND}[how]
		f, err := os.OpenFile(path, flag, 0)
		if err != nil {
			return err
		}
		defer f.Close()
	case "deleted":
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := os.Remove(path); err != nil {
			return err
		}
	case "map", "mapwrite", "mapprivate":
		access := os.O_RDWR
		if how != "mapwrite" {
			access = os.O_RDONLY
		}
		f, err := os.OpenFile(path, access, 0)
		if err != nil {
			return err
		}
		protection, flag := unix.PROT_READ, unix.MAP_SHARED
		if how != "map" {
			protection |= unix.PROT_WRITE
		}
		if how == "mapprivate" {
			flag = unix.MAP_PRIVATE
		}
		if _, err := unix.Mmap(int(f.Fd()), 0, 4096, protection, flag); err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
	case "mapmark":
		if err := mapAndMark(path); err != nil {
			return err
		}
	case "exercise":
		return exerciseRaw(path)
	default:
		return fmt.Errorf("unknown use %q", how)
	}
	fmt.Println("ready")
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}

func TestMain(m *testing.M) {
	if what := os.Getenv(useEnv); what != "" {
		how, path, _ := strings.Cut(what, " ")
		if err := useDrive(how, path); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// startUser runs a process that uses path, until stop is called or the test ends.
func startUser(t *testing.T, how, path string) (pid int, stop func()) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return startCommand(t, exec.Command(program), []string{useEnv + "=" + how + " " + path})
}

// startCommand starts a command that says "ready" and then waits for the end of its input.
func startCommand(t *testing.T, command *exec.Cmd, environment []string) (pid int, stop func()) {
	t.Helper()
	command.Env = append(os.Environ(), environment...)
	in, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); strings.TrimSpace(line) != "ready" {
		t.Fatalf("%v: %q %v", command.Args, line, err)
	}
	var ended bool
	stop = func() {
		if !ended {
			ended = true
			_ = in.Close()
			_ = command.Wait()
		}
	}
	t.Cleanup(stop)
	return command.Process.Pid, stop
}

// usersOf are the entries of one process.
func usersOf(m *Mount, pid int) []User {
	return slices.DeleteFunc(m.Users(), func(u User) bool { return u.PID != pid })
}

func TestUsers(t *testing.T) {
	v, _ := newVolume(t, 64<<20)
	m := mountTest(t, v, Options{})
	folder := filepath.Join(m.Point(), "a folder")
	file := filepath.Join(folder, "file ü #1.txt")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, make([]byte, 4096), 0o600); err != nil {
		t.Fatal(err)
	}
	if users := m.Users(); len(users) != 0 {
		t.Fatalf("users of an idle drive: %+v", users)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		how, path string
		write     bool
	}{
		{"cwd", folder, false}, {"cwd", m.Point(), false}, {"read", file, false}, {"write", file, true}, {"append", file, true},
		{"map", file, false}, {"mapwrite", file, true}, {"mapprivate", file, false},
	} {
		t.Run(c.how, func(t *testing.T) {
			pid, stop := startUser(t, c.how, c.path)
			want := []User{{PID: pid, Program: filepath.Base(program), Path: c.path, Write: c.write, WorksIn: c.how == "cwd"}}
			if got := usersOf(m, pid); !slices.Equal(got, want) {
				t.Errorf("got %+v, want %+v", got, want)
			}
			if len(m.Users()) != 1 {
				t.Errorf("others: %+v", m.Users())
			}
			stop()
			// Handles are given back asynchronously.
			for end := time.Now().Add(5 * time.Second); len(m.Users()) > 0; time.Sleep(5 * time.Millisecond) {
				if time.Now().After(end) {
					t.Fatalf("still there: %+v", m.Users())
				}
			}
		})
	}
	t.Run("root", func(t *testing.T) {
		pid, stop := startUser(t, "root", folder)
		defer stop()
		if got := usersOf(m, pid); len(got) != 1 || got[0].Path != folder || got[0].Write || !got[0].WorksIn {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("run", func(t *testing.T) {
		content, err := os.ReadFile(program)
		if err != nil {
			t.Fatal(err)
		}
		own := filepath.Join(folder, "program.exe")
		if err := os.WriteFile(own, content, 0o700); err != nil {
			t.Fatal(err)
		}
		// Through a shell: Go stands still until its child has begun to run the program, which this process has to serve.
		pid, stop := startCommand(t, exec.Command("sh", "-c", `exec "$0"`, own), []string{useEnv + "=run /"})
		defer stop()
		if got := usersOf(m, pid); len(got) != 1 || got[0] != (User{PID: pid, Program: "program.exe", Path: own}) {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("deleted", func(t *testing.T) {
		pid, _ := startUser(t, "deleted", file)
		if got := usersOf(m, pid); len(got) != 1 || !got[0].Write {
			t.Errorf("got %+v", got)
		}
	})
}

// TestUsersOwn: what this process has open itself does not count.
func TestUsersOwn(t *testing.T) {
	v, _ := newVolume(t, 64<<20)
	m := mountTest(t, v, Options{})
	f, err := os.Create(filepath.Join(m.Point(), "own"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if users := m.Users(); len(users) != 0 {
		t.Errorf("%+v", users)
	}
}

// TestUsersElsewhere: a process that sees the drive under another path is found by the device.
func TestUsersElsewhere(t *testing.T) {
	v, _ := newVolume(t, 64<<20)
	m := mountTest(t, v, Options{})
	other := filepath.Join(t.TempDir(), "other")
	if err := os.Mkdir(other, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(m.Point(), "f"), make([]byte, 4096), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount(m.Point(), other, "", unix.MS_BIND, ""); err != nil {
		t.Fatalf("bind mount (the tests run as root): %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(other, unix.MNT_DETACH) })
	for _, how := range []string{"cwd", "read", "mapwrite"} {
		path := other
		if how != "cwd" {
			path = filepath.Join(other, "f")
		}
		pid, stop := startUser(t, how, path)
		got := usersOf(m, pid)
		if !slices.ContainsFunc(got, func(u User) bool { return u.Path == path }) {
			t.Errorf("%s under another path: %+v", how, got)
		}
		stop()
	}
}

// TestUsersOfAThread: FUSE tells the thread that opened a file; the process is what people know.
func TestUsersOfAThread(t *testing.T) {
	tid := make(chan int)
	go func() { tid <- unix.Gettid() }()
	other := <-tid
	if pid, program := describeProcess(other); pid != os.Getpid() || program == "" {
		t.Errorf("thread %d: %d %q", other, pid, program)
	}
	if users := new(userFinder).find(t.TempDir(), []openHandle{{pid: other, path: "/x"}}); len(users) != 0 {
		t.Errorf("a thread of this process: %+v", users)
	}
	// One that has ended is still told, if nobody else has the file.
	command := exec.Command("true")
	if err := command.Run(); err != nil {
		t.Fatal(err)
	}
	gone := command.Process.Pid
	if users := new(userFinder).find("/nowhere", []openHandle{{pid: gone, path: "/x", write: true}}); len(users) != 1 || users[0] != (User{PID: gone, Path: "/nowhere/x", Write: true}) {
		t.Errorf("%+v", users)
	}
}

// TestUsersOfADeadMount: searching takes no part in the mount, so that a mount that does not answer holds nothing up, also if
// a process is stuck in it.
func TestUsersOfADeadMount(t *testing.T) {
	point := t.TempDir()
	device, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	data := fmt.Sprintf("fd=%d,rootmode=40000,user_id=%d,group_id=%d", device.Fd(), os.Getuid(), os.Getgid())
	if err := unix.Mount("dead", point, "fuse", unix.MS_NOSUID|unix.MS_NODEV, data); err != nil {
		t.Fatalf("mount (the tests run as root): %v", err)
	}
	t.Cleanup(func() { _ = device.Close(); _ = unix.Unmount(point, unix.MNT_DETACH) })
	// Nobody answers: this one hangs in the kernel until the device is closed.
	stuck := exec.Command("ls", point)
	if err := stuck.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stuck.Process.Kill(); _ = device.Close(); _ = stuck.Wait() })
	time.Sleep(100 * time.Millisecond)
	began := time.Now()
	users := new(userFinder).find(point, nil)
	if d := time.Since(began); d > usersPatience+time.Second {
		t.Errorf("searching took %v", d)
	}
	t.Logf("%v, users %+v", time.Since(began), users)
}

// TestUsersNameTheBusy: a drive in use names who uses it when it is to be unmounted, and comes free when he goes.
func TestUsersNameTheBusy(t *testing.T) {
	v, _ := newVolume(t, 64<<20)
	m := mountTest(t, v, Options{})
	pid, stop := startUser(t, "cwd", m.Point())
	err := m.Unmount(t.Context(), false)
	busy, ok := err.(*BusyError)
	if !ok || len(busy.Users) != 1 || busy.Users[0].PID != pid || busy.Users[0].Path != m.Point() {
		t.Errorf("%v: %+v", err, busy)
	}
	stop()
	for end := time.Now().Add(5 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if err = m.Unmount(t.Context(), false); err == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
}

// TestUsersByAnother: a program of another user is known by its handle even to those who may not look into it.
func TestUsersByAnother(t *testing.T) {
	v, _ := newVolume(t, 64<<20)
	m := mountTest(t, v, Options{AllowOther: true})
	// The other user has to get to the mount point.
	for folder := filepath.Dir(m.Point()); folder != "/" && folder != os.TempDir(); folder = filepath.Dir(folder) {
		if err := os.Chmod(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(m.Point(), "f")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.Command("sh", "-c", `exec 3<>"$0"; echo ready; read x`, file)
	command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 12345, Gid: 12345}}
	pid, _ := startCommand(t, command, nil)
	want := User{PID: pid, Program: "sh", Path: file, Write: true}
	if got := usersOf(m, pid); !slices.Equal(got, []User{want}) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	// As the core alone knows it: what an agent of an ordinary user is left with.
	pid2, program := describeProcess(m.serves.openHandles()[0].pid)
	if pid2 != pid || !strings.HasSuffix(program, "sh") {
		t.Errorf("by handle: %d %q", pid2, program)
	}
}

// TestOthersRights: another user who is let in may do what the modes say, but only the owner sets modes and times.
func TestOthersRights(t *testing.T) {
	v, _ := newVolume(t, 64<<20)
	m := mountTest(t, v, Options{AllowOther: true})
	for folder := filepath.Dir(m.Point()); folder != "/" && folder != os.TempDir(); folder = filepath.Dir(folder) {
		if err := os.Chmod(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	command := exec.Command("sh", "-c", `cd "$0" || exit 1
		echo text > theirs && touch theirs && mv theirs theirs2 || exit 2
		touch -d 2020-01-01 theirs2 && exit 3
		chmod a-w theirs2 && exit 4
		chown 12345 theirs2 && exit 5
		rm theirs2`, m.Point())
	command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 12345, Gid: 12345}}
	if out, err := command.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestUsersOfAStuckProcess: a process whose memory map cannot be read costs one search its patience, and later ones nothing.
func TestUsersOfAStuckProcess(t *testing.T) {
	var f userFinder
	if !f.enter(os.Getppid()) || f.enter(os.Getppid()) {
		t.Fatal("a process can be entered twice")
	}
	began := time.Now()
	_ = f.find(t.TempDir(), nil)
	if d := time.Since(began); d > usersPatience+time.Second {
		t.Errorf("searching took %v", d)
	}
	if len(f.stuck) > 1+mapReaders {
		t.Errorf("%d processes are taken for stuck", len(f.stuck))
	}
	f.leave(os.Getppid())
	if !f.enter(os.Getppid()) {
		t.Error("a process that moves on is still passed over")
	}
}

func TestParseMaps(t *testing.T) {
	m := mountIdentity{point: "/mnt/d", major: 0, minor: 0x31, known: true}
	for line, want := range map[string]struct {
		path      string
		write, ok bool
	}{
		"7f00-7f01 rw-s 00000000 00:31 12                         /mnt/d/a b": {"/mnt/d/a b", true, true},
		"7f00-7f01 rw-p 00000000 00:31 12                         /mnt/d/a":   {"/mnt/d/a", false, true},
		"7f00-7f01 r--s 00000000 00:31 12 /elsewhere/a (deleted)":             {"/elsewhere/a", false, true},
		"7f00-7f01 r--s 00000000 fe:00 12 /mnt/dd/a":                          {"", false, false},
		"7f00-7f01 r-xp 00000000 fe:00 1234 /mnt/d/x\\012y":                   {"/mnt/d/x\ny", false, true},
		"7f00-7f01 rw-p 00000000 00:00 0                          [heap]":     {"", false, false},
		"7f00-7f01 rw-p 00000000 00:00 0 ":                                    {"", false, false},
		"":                                                                    {"", false, false},
		"garbage":                                                             {"", false, false},
	} {
		path, write, ok := m.mapped(line)
		if ok != want.ok || ok && (path != want.path || write != want.write) {
			t.Errorf("%q: %q %v %v", line, path, write, ok)
		}
	}
	if got := unescapeOctal(`/a\040b\134c\`); got != `/a b\c\` {
		t.Errorf("%q", got)
	}
	long := mergeUsers([]User{{PID: 2, Path: "/b"}, {PID: 1, Path: "/a"}, {PID: 2, Path: "/b", Write: true}, {PID: 2, Path: "/a"}})
	if !slices.Equal(long, []User{{PID: 1, Path: "/a"}, {PID: 2, Path: "/a"}, {PID: 2, Path: "/b", Write: true}}) {
		t.Errorf("%+v", long)
	}
}
