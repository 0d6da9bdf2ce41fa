package cli_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// drives is a folder with a container a.img and a runtime folder of its own.
type drives struct {
	t      *testing.T
	folder string
	image  string
	point  string
}

// withDrives makes it; whatever is still unlocked at the end is locked.
func withDrives(t *testing.T, size string) *drives {
	t.Helper()
	if _, err := os.Stat("/dev/fuse"); err != nil {
		t.Fatalf("%v: this test mounts drives; it needs FUSE in the kernel and the Debian package fuse3", err)
	}
	folder := t.TempDir()
	runtime := filepath.Join(folder, "run")
	if err := os.Mkdir(runtime, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_RUNTIME_DIR", runtime)
	d := &drives{t: t, folder: folder, point: filepath.Join(folder, "mnt")}
	d.image = makeImage(t, folder, "a.img", size)
	t.Cleanup(func() {
		if code, out, stderr := start(t, folder, "lock", "--all", "--force").wait(); code != 0 {
			t.Errorf("lock what is left: %d\n%s%s", code, out, stderr)
		}
	})
	return d
}

// unlock unlocks a.img at mnt and returns the process that holds it.
func (d *drives) unlock(args ...string) (pid int) {
	d.t.Helper()
	out, _ := run(d.t, d.folder, 0, append([]string{"unlock", "a.img", "mnt", "--password-file", "pw", "--json"}, args...)...)
	var entry struct{ PID int }
	if err := json.Unmarshal([]byte(out), &entry); err != nil || entry.PID == 0 {
		d.t.Fatalf("unlock: %v\n%s", err, out)
	}
	return entry.PID
}

// unlocked is the answer of `list`.
func (d *drives) unlocked() (all []map[string]any) {
	d.t.Helper()
	out, _ := run(d.t, d.folder, 0, "list", "--json")
	var document struct{ Unlocked []map[string]any }
	if err := json.Unmarshal([]byte(out), &document); err != nil {
		d.t.Fatalf("list: %v\n%s", err, out)
	}
	return document.Unlocked
}

// tidy fails unless nothing is unlocked, mounted, registered or running.
func (d *drives) tidy() {
	d.t.Helper()
	if all := d.unlocked(); len(all) != 0 {
		d.t.Errorf("still unlocked: %v", all)
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		d.t.Fatal(err)
	}
	if strings.Contains(string(mounts), d.folder) {
		d.t.Errorf("still mounted:\n%s", mounts)
	}
	files, err := os.ReadDir(filepath.Join(d.folder, "run", "coffer"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		d.t.Fatal(err)
	}
	for _, file := range files {
		if file.Name() != "drives" {
			d.t.Errorf("left in the registry: %s", file.Name())
		}
	}
	if left, _ := os.ReadDir(filepath.Join(d.folder, "run", "coffer", "drives")); len(left) != 0 {
		d.t.Errorf("left of drives: %v", left)
	}
	if pids := agents(d.t); len(pids) != 0 {
		d.t.Errorf("agents still run: %v", pids)
	}
}

// agents are the processes of the program that hold containers, of this test run only.
func agents(t *testing.T) (pids []int) {
	t.Helper()
	return processes(t, "agent")
}

// processes are the processes of the program with this verb.
func processes(t *testing.T, verb string) (pids []int) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range all {
		// The command line of a process that waits for a page may not be had for as long as it waits: only of ours it is asked.
		if name, err := os.ReadFile(filepath.Join(filepath.Dir(path), "comm")); err != nil || strings.TrimSpace(string(name)) != filepath.Base(program) {
			continue
		}
		raw, err := os.ReadFile(path)
		words := strings.Split(string(raw), "\x00")
		if err != nil || len(words) < 2 || words[0] != program || words[1] != verb {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	return pids
}

// ended waits until a process is gone and says how long that took.
func ended(t *testing.T, pid int, patience time.Duration) time.Duration {
	t.Helper()
	begin := time.Now()
	for !gone(pid) {
		if time.Since(begin) > patience {
			t.Fatalf("process %d still runs after %v", pid, patience)
		}
		time.Sleep(2 * time.Millisecond)
	}
	return time.Since(begin)
}

// gone says whether a process has ended.
func gone(pid int) bool {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || strings.Contains(string(status), ") Z ")
}

// rounds is how often a test repeats: few, or what the variable says.
func rounds(t *testing.T, variable string, few int) int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return few
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s=%q is no number of rounds", variable, text)
	}
	return n
}

// TestRacingUnlocks starts two unlocks of one container at once, by two paths: exactly one wins, the other exits within a
// second with 5 and names the holder. COFFER_RACE_ROUNDS makes it longer (./run torture).
func TestRacingUnlocks(t *testing.T) {
	d := withDrives(t, "32MiB")
	if err := os.Symlink("a.img", filepath.Join(d.folder, "link.img")); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(d.image, filepath.Join(d.folder, "hard.img")); err != nil {
		t.Fatal(err)
	}
	paths := []string{"a.img", "link.img", "hard.img"}
	n := rounds(t, "COFFER_RACE_ROUNDS", 10)
	var slowest time.Duration
	slow := 0
	for round := range n {
		racers := []*racer{d.race(paths[round%3], round), d.race(paths[(round+1)%3], round)}
		for _, r := range racers {
			<-r.done
		}
		winner, loser := racers[0], racers[1]
		if winner.code != 0 {
			winner, loser = loser, winner
		}
		if winner.code != 0 || loser.code != 5 {
			t.Fatalf("round %d: exit codes %d and %d\n%s%s", round, winner.code, loser.code, winner.stderr, loser.stderr)
		}
		all := d.unlocked()
		if len(all) != 1 {
			t.Fatalf("round %d: %d are unlocked: %v", round, len(all), all)
		}
		if pid := fmt.Sprintf("process %.0f", all[0]["pid"]); !strings.Contains(loser.stderr, pid) {
			t.Errorf("round %d: the loser does not name %s:\n%s", round, pid, loser.stderr)
		}
		slowest = max(slowest, loser.took)
		if loser.took > time.Second {
			slow++
		}
		run(t, d.folder, 0, "lock", "a.img")
		if pids := agents(t); len(pids) != 0 {
			t.Fatalf("round %d: agents still run: %v", round, pids)
		}
	}
	t.Logf("%d rounds; the slowest loser took %v", n, slowest)
	if slow > n/10 || slowest > 3*time.Second {
		t.Errorf("%d of %d losers took more than a second, the slowest %v", slow, n, slowest)
	}
	d.tidy()
}

// TestOneAgentPerFile: whatever path leads to a file, it is one container: symbolic link, hard link, bind mount.
func TestOneAgentPerFile(t *testing.T) {
	d := withDrives(t, "32MiB")
	for _, name := range []string{"link.img", "hard.img", "bound.img"} {
		path := filepath.Join(d.folder, name)
		var err error
		switch name {
		case "link.img":
			err = os.Symlink(d.image, path)
		case "hard.img":
			err = os.Link(d.image, path)
		default:
			writeFile(t, path, nil)
			err = syscall.Mount(d.image, path, "", syscall.MS_BIND, "")
			t.Cleanup(func() { _ = syscall.Unmount(path, syscall.MNT_DETACH) })
		}
		if err != nil {
			t.Fatal(err)
		}
		d.unlock()
		if _, stderr := run(t, d.folder, 5, "unlock", name, "--password-file", "pw"); !strings.Contains(stderr, "unlock "+name+": already unlocked at "+d.point) {
			t.Errorf("%s: the refusal says\n%s", name, stderr)
		}
		run(t, d.folder, 0, "lock", name)
		run(t, d.folder, 0, "unlock", name, "--no-mount", "--password-file", "pw")
		run(t, d.folder, 5, "unlock", "a.img", "mnt", "--password-file", "pw")
		run(t, d.folder, 0, "lock", "a.img")
	}
}

// racer is one of two unlocks.
type racer struct {
	code   int
	stderr string
	took   time.Duration
	done   chan struct{}
}

// race starts one; odd rounds mount a drive.
func (d *drives) race(path string, round int) *racer {
	args := []string{"unlock", path, "--password-file", "pw", "--no-mount"}
	if round%2 == 1 {
		args = args[:4]
	}
	r := &racer{done: make(chan struct{})}
	begin := time.Now()
	p := start(d.t, d.folder, args...)
	go func() {
		defer close(r.done)
		<-p.done
		_ = p.command.Wait()
		r.took, r.code, r.stderr = time.Since(begin), p.command.ProcessState.ExitCode(), p.stderr.String()
	}()
	return r
}

// writer writes files on a drive, each synced, until it fails.
type writer struct {
	mu           sync.Mutex
	acknowledged map[string][]byte // files whose fsync has returned
	done         chan struct{}
}

// startWriter writes files of up to 100 KB into folder, which it holds: it never writes to what is there without the drive.
func startWriter(t *testing.T, folder string, seed uint64) *writer {
	t.Helper()
	root, err := os.OpenRoot(folder)
	if err != nil {
		t.Fatal(err)
	}
	w := &writer{acknowledged: map[string][]byte{}, done: make(chan struct{})}
	go func() {
		defer close(w.done)
		defer root.Close()
		for i := uint64(0); ; i++ {
			name, content := fmt.Sprintf("file number %d.bin", i%60), randomBytes(int(i*7919%100_000), seed*1000+i)
			w.mu.Lock()
			delete(w.acknowledged, name) // it is being replaced: both contents are right
			w.mu.Unlock()
			if writeSynced(root, name, content) != nil {
				return
			}
			w.mu.Lock()
			w.acknowledged[name] = content
			w.mu.Unlock()
		}
	}()
	return w
}

func writeSynced(root *os.Root, name string, content []byte) error {
	file, err := root.Create(name)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	return errors.Join(err, file.Sync(), file.Close())
}

// wait waits for the end of the writer and returns what was acknowledged.
func (w *writer) wait(t *testing.T) map[string][]byte {
	t.Helper()
	select {
	case <-w.done:
	case <-time.After(20 * time.Second):
		t.Fatal("a program on the drive hangs")
	}
	return w.acknowledged
}

// TestKilledAgent kills the process that holds a drive with SIGKILL while files are written and synced on it. The next
// command, whichever, detaches the dead drive and tidies the registry; after the next unlock every byte whose fsync had
// returned is there. COFFER_AGENT_KILLS makes it longer (./run torture).
func TestKilledAgent(t *testing.T) {
	d := withDrives(t, "64MiB")
	total := 0
	commands := [][]string{{"list"}, {"version"}, {"info", "a.img"}, {"lock", "--all"}, {"ls", "a.img:/", "--password-file", "pw"},
		{"unlock", "a.img", "--no-mount", "--password-file", "pw"}}
	n := rounds(t, "COFFER_AGENT_KILLS", 6)
	for round := range n {
		pid := d.unlock()
		w := startWriter(t, d.point, uint64(round))
		time.Sleep(time.Duration(20+round*37%200) * time.Millisecond)
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		acknowledged := w.wait(t)
		ended(t, pid, 5*time.Second)
		_, stderr := run(t, d.folder, 0, commands[round%len(commands)]...)
		if !strings.Contains(stderr, "has ended without locking; its drive "+d.point+" was detached") {
			t.Fatalf("round %d: nothing is said of the dead agent:\n%s", round, stderr)
		}
		if _, err := os.Lstat(d.point); !os.IsNotExist(err) {
			t.Fatalf("round %d: the mount point is still there: %v", round, err)
		}
		run(t, d.folder, 0, "lock", "--all")
		d.tidy()
		d.unlock()
		for name, content := range acknowledged {
			if got, err := os.ReadFile(filepath.Join(d.point, name)); err != nil || !bytes.Equal(got, content) {
				t.Fatalf("round %d: %s was acknowledged and is lost or wrong (%d of %d bytes, %v)", round, name, len(got), len(content), err)
			}
		}
		total += len(acknowledged)
		run(t, d.folder, 0, "lock", "mnt")
		if out, _ := run(t, d.folder, 0, "check", "a.img", "--password-file", "pw"); !strings.Contains(out, "is clean") {
			t.Fatalf("round %d: %s", round, out)
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("%d kills, %d files acknowledged", n, total)
	if total < 5*n {
		t.Errorf("only %d files were acknowledged in %d rounds: the test tests little", total, n)
	}
	d.tidy()
}

// TestTerm: SIGTERM flushes, unmounts and ends within five seconds, also while programs write. What a write had returned
// for is there, and the volume is clean.
func TestTerm(t *testing.T) {
	d := withDrives(t, "64MiB")
	pid := d.unlock()
	content := randomBytes(3<<20, 1)
	writeFile(t, filepath.Join(d.point, "written.bin"), content) // not synced
	w := startWriter(t, d.point, 2)
	held, err := os.Open(filepath.Join(d.point, "written.bin"))
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	time.Sleep(200 * time.Millisecond)
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil && err != syscall.ESRCH { // impatience changes nothing
		t.Fatal(err)
	}
	t.Logf("ended after %v", ended(t, pid, 5*time.Second))
	acknowledged := w.wait(t)
	held.Close()
	d.tidy()
	if out, _ := run(t, d.folder, 0, "check", "a.img", "--password-file", "pw"); !strings.Contains(out, "is clean") {
		t.Errorf("not clean after SIGTERM:\n%s", out)
	}
	if _, stderr := run(t, d.folder, 0, "unlock", "a.img", "mnt", "--password-file", "pw"); stderr != "" {
		t.Errorf("the next unlock says: %s", stderr)
	}
	acknowledged["written.bin"] = content
	for name, want := range acknowledged {
		if got, err := os.ReadFile(filepath.Join(d.point, name)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is lost or wrong (%d of %d bytes, %v)", name, len(got), len(want), err)
		}
	}
	if len(acknowledged) < 3 {
		t.Errorf("only %d files were written: the test tests little", len(acknowledged))
	}
}

// TestUnmountFromOutside: umount by other means than ours locks the container.
func TestUnmountFromOutside(t *testing.T) {
	d := withDrives(t, "32MiB")
	pid := d.unlock()
	writeFile(t, filepath.Join(d.point, "f"), []byte("kept"))
	if out, err := exec.Command("umount", d.point).CombinedOutput(); err != nil {
		t.Fatalf("umount: %v %s", err, out)
	}
	ended(t, pid, 5*time.Second)
	d.tidy()
	if out, _ := run(t, d.folder, 0, "cat", "a.img:/f", "--password-file", "pw"); out != "kept" {
		t.Errorf("the file holds %q", out)
	}
}

// TestBusyLock: a drive in use is not locked; who uses it is named, with process, file and whether it writes. With --force
// it is locked, and what was written is kept.
func TestBusyLock(t *testing.T) {
	d := withDrives(t, "32MiB")
	pid := d.unlock()
	user := exec.Command("sh", "-c", "exec 3>notes.txt; echo written >&3; echo ready; read wait")
	user.Dir = d.point
	stop, err := user.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	ready, err := user.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := user.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { stop.Close(); _ = user.Wait() }()
	if _, err := ready.Read(make([]byte, 6)); err != nil {
		t.Fatal(err)
	}
	_, stderr := run(t, d.folder, 5, "lock", "a.img")
	want := fmt.Sprintf("(process %d), which writes %s", user.Process.Pid, filepath.Join(d.point, "notes.txt"))
	if works := "which works in " + d.point; !strings.Contains(stderr, works) {
		t.Errorf("the refusal lacks %q:\n%s", works, stderr)
	}
	if !strings.Contains(stderr, want) || !strings.Contains(stderr, "hint: ") || !strings.Contains(stderr, "--force") {
		t.Errorf("the refusal lacks %q or the hint:\n%s", want, stderr)
	}
	writeFile(t, filepath.Join(d.point, "still.txt"), []byte("works")) // nothing has changed
	begin := time.Now()
	run(t, d.folder, 0, "lock", "a.img", "--force")
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("a forced lock took %v", took)
	}
	if !gone(pid) {
		t.Error("lock returned before the process that held the key had ended")
	}
	d.tidy()
	if out, _ := run(t, d.folder, 0, "cat", "a.img:/notes.txt", "a.img:/still.txt", "--password-file", "pw"); out != "written\nworks" {
		t.Errorf("after a forced lock the files hold %q", out)
	}
}

// TestModes: what the drive shows is its owner's alone; programs on it run; without w means the read-only attribute.
func TestModes(t *testing.T) {
	d := withDrives(t, "32MiB")
	d.unlock()
	script := filepath.Join(d.point, "script.sh")
	writeFile(t, script, []byte("#!/bin/sh\necho ran\n"))
	if out, err := exec.Command(script).Output(); err != nil || string(out) != "ran\n" {
		t.Errorf("a program on the drive: %q %v", out, err)
	}
	if err := os.Chmod(script, 0o400); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(d.point, "folder", "file"), nil)
	for name, want := range map[string]os.FileMode{".": os.ModeDir | 0o700, "folder": os.ModeDir | 0o700, "folder/file": 0o700, "script.sh": 0o500} {
		if info, err := os.Stat(filepath.Join(d.point, name)); err != nil || info.Mode() != want {
			t.Errorf("%s: %v %v, want %v", name, info.Mode(), err, want)
		}
	}
	run(t, d.folder, 0, "lock", "a.img")
}

// TestCopyViaMount: the same copy through the drive, as the record says, and all bytes arrive; without a drive it is refused.
func TestCopyViaMount(t *testing.T) {
	d := withDrives(t, "64MiB")
	tree := filepath.Join(d.folder, "tree", "deeper")
	if err := os.MkdirAll(tree, 0o700); err != nil {
		t.Fatal(err)
	}
	content := bytes.Repeat([]byte("a line of some file\n"), 200_000)
	for _, name := range []string{"one", "a name that is long enough"} {
		if err := os.WriteFile(filepath.Join(tree, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run(t, d.folder, 10, "copy", "tree", "a.img:/", "--via", "mount")
	d.unlock()
	run(t, d.folder, 2, "copy", "tree", "other", "--via", "mount")
	for _, args := range [][]string{{"tree", "a.img:/"}, {"a.img:/tree", "back"}, {"a.img:/tree", "a.img:/again"}} {
		out, _ := run(t, d.folder, 0, append([]string{"copy", "--via", "mount", "--verify", "--json"}, args...)...)
		var record struct {
			Path                string
			Files, Verified     int64
			Source, Destination struct{ Kind, Format, FileSystem string }
		}
		if err := json.Unmarshal([]byte(out), &record); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		inside := record.Source
		if strings.HasPrefix(args[1], "a.img:") {
			inside = record.Destination
		}
		if record.Path != "mount" || record.Files != 2 || record.Verified != 2 || inside.Kind != "container" || inside.Format != "luks2" || inside.FileSystem == "" {
			t.Errorf("%v: %+v", args, record)
		}
	}
	run(t, d.folder, 0, "lock", "a.img")
	for _, inside := range []string{"/tree/deeper/one", "/again/deeper/a name that is long enough"} {
		if out, _ := run(t, d.folder, 0, "cat", "a.img:"+inside, "--password-file", "pw"); out != string(content) {
			t.Errorf("%s holds %d bytes", inside, len(out))
		}
	}
	if back, err := os.ReadFile(filepath.Join(d.folder, "back", "deeper", "one")); err != nil || !bytes.Equal(back, content) {
		t.Errorf("copied out: %d bytes, %v", len(back), err)
	}
}

// TestRefusalsViaMount: what the drive cannot take is told as of a copy that goes directly: which name and why, and that it is
// the container that is full.
func TestRefusalsViaMount(t *testing.T) {
	d := withDrives(t, "32MiB")
	d.unlock()
	tree := filepath.Join(d.folder, "tree")
	if err := os.Mkdir(tree, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"fine", "10:30?", "ends in a dot.", "Capitals", "CAPITALS"} {
		if err := os.WriteFile(filepath.Join(tree, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	refused := func(args ...string) (failed []string) {
		_, stderr := run(t, d.folder, 9, append([]string{"copy", "tree", "--quiet"}, args...)...)
		for line := range strings.Lines(stderr) {
			if strings.HasPrefix(line, "failed: ") {
				failed = append(failed, line)
			}
		}
		return failed
	}
	mounted, direct := refused("a.img:/mounted", "--via", "mount"), refused("a.img:/direct")
	if len(mounted) != 3 || !slices.Equal(mounted, direct) {
		t.Errorf("through the drive:\n%s\ndirectly:\n%s", mounted, direct)
	}
	if err := os.WriteFile(filepath.Join(d.folder, "big"), make([]byte, 40<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, way := range []string{"mount", "direct"} {
		_, stderr := run(t, d.folder, 6, "copy", "big", "a.img:/", "--via", way)
		if !strings.Contains(stderr, "remove files inside, or make a bigger container") || strings.Contains(stderr, "disk") {
			t.Errorf("full, by way of %s: %s", way, stderr)
		}
	}
}
