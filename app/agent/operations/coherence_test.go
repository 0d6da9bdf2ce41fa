//go:build linux

package operations_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"coffer/app/agent"
	"coffer/app/agent/operations"
	"coffer/app/session"
)

// world is a container that is a drive, its agent, and the model of what must be in it.
type world struct {
	t       *testing.T
	folder  string // of the host: image, password
	scratch string // for copies
	image   string
	program string
	point   string
	client  *operations.Client
	random  *rand.Rand
	root    *item
	held    []holder
	did     []string
	seed    uint64
	steps   int
}

// newWorld makes a container and mounts it, in a process of its own.
func newWorld(t *testing.T, seed uint64) *world {
	t.Helper()
	folder := t.TempDir()
	w := &world{t: t, folder: folder, scratch: filepath.Join(folder, "scratch"), image: filepath.Join(folder, "c.img"), program: filepath.Join(folder, "program"),
		seed: seed, random: rand.New(rand.NewPCG(seed, 1)), root: newFolder("")}
	build := exec.Command("go", "build", "-o", w.program, "coffer/app/coffer") // before HOME changes
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the program: %v\n%s", err, out)
	}
	run := filepath.Join(folder, "run")
	for _, path := range []string{run, w.scratch} {
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, value := range map[string]string{"XDG_RUNTIME_DIR": run, "HOME": folder, "XDG_STATE_HOME": folder, "XDG_CONFIG_HOME": folder, "XDG_DATA_HOME": folder} {
		t.Setenv(name, value)
	}
	for path, content := range map[string]string{"pw": "correct horse\n", "scratch/new": "new"} {
		if err := os.WriteFile(filepath.Join(folder, path), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w.coffer("create", w.image, "--size", "96MiB", "--kdf-memory=64KiB", "--kdf-time=1", "--password-file", "pw", "--quiet")
	w.unlock()
	t.Cleanup(func() { w.coffer("lock", "--all", "--force", "--quiet") })
	return w
}

// coffer runs the program and returns its output; it must succeed.
func (w *world) coffer(args ...string) string {
	w.t.Helper()
	command := exec.Command(w.program, args...)
	command.Dir = w.folder
	out, err := command.CombinedOutput()
	if err != nil {
		w.t.Fatalf("coffer %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

func (w *world) unlock() {
	w.t.Helper()
	w.coffer("unlock", w.image, "--password-file", "pw")
	client, err := agent.FindImage(w.image)
	if err != nil {
		w.t.Fatal(err)
	}
	w.point, w.client = client.Entry().MountPoint, client.Operations(w.image)
}

// fail ends the test with what was done before.
func (w *world) fail(format string, values ...any) {
	w.t.Helper()
	w.t.Fatalf("seed %d, operation %d:\n%s\n%s", w.seed, w.steps, strings.Join(w.did, "\n"), fmt.Sprintf(format, values...))
}

// TestCoherence does operations at random, half through the drive, half through the agent, and after each of them compares
// both sides with one model. COFFER_COHERENCE_OPS makes it longer (10,000 in ./run torture), COFFER_COHERENCE_SEED repeats
// one run.
func TestCoherence(t *testing.T) {
	count, seed := 1000, rand.Uint64()
	for name, set := range map[string]func(uint64){
		"COFFER_COHERENCE_OPS": func(n uint64) { count = int(n) }, "COFFER_COHERENCE_SEED": func(n uint64) { seed = n },
	} {
		if text := os.Getenv(name); text != "" {
			n, err := strconv.ParseUint(text, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			set(n)
		}
	}
	if testing.Short() {
		count = 200
	}
	t.Logf("seed %d, %d operations", seed, count)
	w := newWorld(t, seed)
	for w.steps = range count {
		w.once()
	}
	for len(w.held) > 0 {
		w.readHeld(0)
	}
	w.verifyAll()
	before := w.times()
	dropCaches(t)
	w.sameTimes("dropping caches", before, w.times())
	w.coffer("lock", w.image)
	if out := w.coffer("check", w.image, "--password-file", "pw"); !strings.Contains(out, "is clean") {
		t.Errorf("check: %s", out)
	}
	w.unlock()
	w.sameTimes("locking and unlocking", before, w.times())
	w.verifyAll()
}

// once does one operation and looks at what it has changed.
func (w *world) once() {
	dir, name, other := w.someFolder(), someName(w.random), w.someFolder()
	w.lookAt(dir, name)
	touched := []*item{dir}
	i := w.someItem(false)
	file := w.someItem(true)
	switch k := w.random.IntN(16); {
	case k == 0:
		w.mountWrite(dir, name)
	case k == 1:
		w.mountMkdir(dir, name)
	case k == 2 || k == 3:
		w.agentCopyIn(dir, name)
	case k == 4:
		w.agentMkdir(dir, name)
	case i == nil || file == nil:
		w.mountWrite(dir, name)
	case k == 5:
		touched = append(touched, file.parent)
		w.mountChange(file)
	case k == 6:
		touched = append(touched, i.parent)
		w.mountRemove(i)
	case k == 7 || k == 8:
		touched = append(touched, i.parent)
		w.mountRename(i, dir, name)
	case k == 9:
		w.mountTimes(i)
	case k == 10:
		w.mountHold(file)
	case k == 11:
		touched = append(touched, i.parent)
		w.agentRemove(i)
	case k <= 13:
		touched = append(touched, i.parent)
		w.agentMove(i, dir, name)
	case k == 14:
		w.agentCopyOut(file)
	case w.random.IntN(4) == 0:
		w.agentBusy(file)
	default: // a change of case only
		touched = append(touched, i.parent)
		if w.random.IntN(2) == 0 {
			w.mountRename(i, i.parent, respelt(w.random, i.name))
		} else {
			w.agentMove(i, i.parent, respelt(w.random, i.name))
		}
	}
	for _, folder := range append(touched, other) {
		if folder.inside(w.root) && attached(w.root, folder) {
			w.verify(folder)
		}
	}
}

// attached says whether a folder is still in the model.
func attached(root, folder *item) bool {
	for ; folder.parent != nil; folder = folder.parent {
		if folder.parent.child(folder.name) != folder {
			return false
		}
	}
	return folder == root
}

// lookAt makes the kernel remember whatever it likes about a name, in all spellings, before something happens to it.
func (w *world) lookAt(dir *item, name string) {
	for range 3 {
		spelt := respelt(w.random, name)
		there := dir.child(spelt)
		_, err := os.Lstat(w.at(path.Join(dir.path(), spelt)))
		if there != nil && there.name == spelt {
			w.expect(err)
		} else if !errors.Is(err, fs.ErrNotExist) {
			w.fail("stat of %s in %s, which is not there in this spelling: %v", spelt, dir.path(), err)
		}
	}
}

// seen is what one side tells of an entry.
type seen struct {
	folder   bool
	size     int64
	modified time.Time
}

// verify compares one folder, and the content of one file in it, on both sides with the model.
func (w *world) verify(dir *item) {
	w.t.Helper()
	p := dir.path()
	onDrive, fromAgent := map[string]seen{}, map[string]seen{}
	entries, err := os.ReadDir(w.at(p))
	w.expect(err)
	for _, entry := range entries {
		info, err := os.Lstat(w.at(path.Join(p, entry.Name())))
		w.expect(err)
		one := seen{info.IsDir(), info.Size(), info.ModTime()}
		if one.folder {
			one.size = 0
		}
		onDrive[entry.Name()] = one
	}
	w.expect(w.client.List(context.Background(), respelt(w.random, p), false, func(e session.Entry) error {
		fromAgent[path.Base(e.Path)] = seen{e.Folder, e.SizeBytes, e.Modified}
		return nil
	}))
	if len(onDrive) != len(dir.children) || len(fromAgent) != len(dir.children) {
		w.fail("%s holds %d entries; the drive shows %v, the agent %v", p, len(dir.children), onDrive, fromAgent)
	}
	var files []*item
	for _, c := range dir.sorted() {
		a, b := onDrive[c.name], fromAgent[c.name]
		want := seen{c.folder, int64(len(c.content)), b.modified}
		if !a.modified.Equal(b.modified) || a.folder != want.folder || b.folder != want.folder || a.size != want.size || b.size != want.size {
			w.fail("%s: want %+v; the drive shows %+v, the agent %+v (%v, %v)", c.path(), want, a, b, onDrive, fromAgent)
		}
		if !c.folder {
			files = append(files, c)
		}
	}
	if len(files) > 0 {
		w.sameContent(files[w.random.IntN(len(files))])
	}
	w.lookAt(dir, someName(w.random))
}

// sameContent reads a file on both sides.
func (w *world) sameContent(i *item) {
	w.t.Helper()
	got, err := os.ReadFile(w.at(i.path()))
	w.expect(err)
	if !bytes.Equal(got, i.content) {
		w.fail("%s on the drive: %d bytes, want %d, or they differ", i.path(), len(got), len(i.content))
	}
	var out bytes.Buffer
	w.expect(w.client.Cat(context.Background(), respelt(w.random, i.path()), &out))
	if !bytes.Equal(out.Bytes(), i.content) {
		w.fail("%s from the agent: %d bytes, want %d, or they differ", i.path(), out.Len(), len(i.content))
	}
}

// verifyAll compares everything.
func (w *world) verifyAll() {
	w.t.Helper()
	w.root.walk(func(i *item) {
		if i.folder {
			w.verify(i)
		} else {
			w.sameContent(i)
		}
	})
}

// times are all times that stat gives of everything on the drive.
func (w *world) times() map[string][3]time.Time {
	w.t.Helper()
	all := map[string][3]time.Time{}
	w.root.walk(func(i *item) {
		var st syscall.Stat_t
		w.expect(syscall.Lstat(w.at(i.path()), &st))
		all[i.path()] = [3]time.Time{time.Unix(st.Mtim.Unix()), time.Unix(st.Atim.Unix()), time.Unix(st.Ctim.Unix())}
	})
	return all
}

func (w *world) sameTimes(after string, want, got map[string][3]time.Time) {
	w.t.Helper()
	for p, times := range want {
		if p != "/" && got[p] != times { // the root of FAT has no times
			w.t.Errorf("%s: modified, read, changed %v, after %s %v", p, times, after, got[p])
		}
	}
}

// dropCaches makes the kernel forget what it may; it takes root.
func dropCaches(t *testing.T) {
	t.Helper()
	if err := os.WriteFile("/proc/sys/vm/drop_caches", []byte("3\n"), 0); err != nil {
		t.Fatalf("drop the caches of the kernel: %v (run the test as root)", err)
	}
}

// TestGitCloneWithCollidingNames: a repository whose names differ only in case cannot be checked out whole. Git is told
// so, nothing is overwritten, and both sides show the same.
func TestGitCloneWithCollidingNames(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatalf("%v (Debian package git)", err)
	}
	w := newWorld(t, 1)
	run := func(dir string, args ...string) (string, error) {
		command := exec.Command(git, append([]string{"-c", "user.name=n", "-c", "user.email=e@example.org", "-C", dir}, args...)...)
		out, err := command.CombinedOutput()
		return string(out), err
	}
	source := filepath.Join(w.scratch, "source")
	for name, content := range map[string]string{"File.txt": "upper", "file.txt": "lower", "dir/a": "a", "plain": "plain"} {
		path := filepath.Join(source, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"commit", "-q", "-m", "x"}} {
		if out, err := run(source, args...); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	out, err := run(w.scratch, "clone", "-q", source, w.at("clone"))
	if err == nil || !strings.Contains(out, "file.txt") || !strings.Contains(strings.ToLower(out), "exist") {
		t.Errorf("git clone of colliding names: %v\n%s", err, out)
	}
	names := map[string]string{}
	w.expect(w.client.List(context.Background(), "/clone", false, func(e session.Entry) error {
		names[path.Base(e.Path)] = ""
		return nil
	}))
	entries, err := os.ReadDir(w.at("clone"))
	w.expect(err)
	if len(entries) != len(names) {
		t.Errorf("the drive shows %v, the agent %v", entries, names)
	}
	upper, err := os.ReadFile(w.at("clone/File.txt"))
	if _, lowerErr := os.Lstat(w.at("clone/file.txt")); err != nil || string(upper) != "upper" || !errors.Is(lowerErr, fs.ErrNotExist) {
		t.Errorf("the first of two colliding files: %q, %v; the second: %v", upper, err, lowerErr)
	}
	var fromAgent bytes.Buffer
	if err := w.client.Cat(context.Background(), "/clone/FILE.TXT", &fromAgent); err != nil || fromAgent.String() != "upper" {
		t.Errorf("in any spelling, from the agent: %q, %v", fromAgent.String(), err)
	}
	w.coffer("lock", w.image)
	if out := w.coffer("check", w.image, "--password-file", "pw"); !strings.Contains(out, "is clean") {
		t.Errorf("check: %s", out)
	}
}
