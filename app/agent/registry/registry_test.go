package registry

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// helperVariable makes the test program a process that claims a container: FOLDER, then the id.
const helperVariable = "COFFER_REGISTRY_HELPER"

func TestMain(m *testing.M) {
	if asked := os.Getenv(helperVariable); asked != "" {
		folder, id, _ := strings.Cut(asked, "\n")
		claimAndHold(folder, id)
	}
	os.Exit(m.Run())
}

// claimAndHold claims, says how that went, and holds the claim until its input ends, which releases it, or it is killed.
func claimAndHold(folder, id string) {
	claim, err := In(folder).Claim(Entry{ID: id, Image: "/image", MountPoint: filepath.Join(folder, "mnt"), OwnPoint: true, Started: time.Now()}, Cleaner{Detach: detachNothing})
	var held *HeldError
	switch {
	case errors.As(err, &held):
		fmt.Printf("held by %d\n", held.PID)
		os.Exit(5)
	case err != nil:
		fmt.Println(err)
		os.Exit(1)
	}
	if err := claim.Update(func(e *Entry) { e.Ready = true }); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("claimed")
	_, _ = os.Stdin.Read(make([]byte, 1))
	if err := claim.Release(); err != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

func detachNothing(string) error { return nil }

// holder is a process that claims a container.
type holder struct {
	t       *testing.T
	command *exec.Cmd
	said    string
	release func()
}

func startHolder(t *testing.T, folder, id string) *holder {
	t.Helper()
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), helperVariable+"="+folder+"\n"+id)
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
	h := &holder{t: t, command: command, release: func() { in.Close() }}
	h.said, err = bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = command.Process.Kill(); _ = command.Wait() })
	return h
}

// tempDir is t.TempDir, except that Windows and Wine may still hold what a killed process had open when it is removed.
func tempDir(t *testing.T) string {
	t.Helper()
	if runtime.GOOS != "windows" {
		return t.TempDir()
	}
	folder, err := os.MkdirTemp("", "registry-*")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	return folder
}

const testID = "0123456789abcdef"

func names(t *testing.T, folder string) string {
	t.Helper()
	files, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, file := range files {
		all = append(all, file.Name())
	}
	return strings.Join(all, " ")
}

func TestClaimNamesTheHolder(t *testing.T) {
	folder := tempDir(t)
	r := In(folder)
	h := startHolder(t, folder, testID)
	if h.said != "claimed\n" {
		t.Fatal(h.said)
	}
	begin := time.Now()
	_, err := r.Claim(Entry{ID: testID}, Cleaner{Detach: detachNothing})
	var held *HeldError
	if !errors.As(err, &held) || held.PID != h.command.Process.Pid || held.Entry.Image != "/image" || !held.Entry.Ready {
		t.Fatalf("%v: %+v, want process %d", err, held, h.command.Process.Pid)
	}
	if took := time.Since(begin); took > time.Second {
		t.Errorf("the loser was told after %v", took)
	}
	if live, err := r.Live(); err != nil || len(live) != 1 || live[0].PID != h.command.Process.Pid || !r.Held(testID) {
		t.Errorf("live: %v %v", live, err)
	}
	if left, err := r.Sweep(Cleaner{Detach: detachNothing}); err != nil || len(left) != 0 {
		t.Errorf("a living process was swept: %v %v", left, err)
	}
	h.release()
	if err := h.command.Wait(); err != nil {
		t.Fatal(err)
	}
	if got := names(t, folder); got != "" || r.Held(testID) {
		t.Errorf("left after the release: %q", got)
	}
	claim, err := r.Claim(Entry{ID: testID}, Cleaner{Detach: detachNothing})
	if err != nil {
		t.Fatal(err)
	}
	if err := claim.Release(); err != nil {
		t.Error(err)
	}
}

// TestSweepAfterKill: what a killed process left is detached and removed, once; a failure leaves it for the next time.
func TestSweepAfterKill(t *testing.T) {
	folder := tempDir(t)
	r := In(folder)
	point := filepath.Join(folder, "mnt")
	if err := os.Mkdir(point, 0o700); err != nil {
		t.Fatal(err)
	}
	h := startHolder(t, folder, testID)
	if err := h.command.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = h.command.Wait()
	if live, err := r.Live(); err != nil || len(live) != 0 {
		t.Errorf("live: %v %v", live, err)
	}
	broken := errors.New("cannot be detached")
	left, err := r.Sweep(Cleaner{Detach: func(string) error { return broken }})
	if err != nil || len(left) != 1 || !errors.Is(left[0].Err, broken) {
		t.Fatalf("%v %v, want one that failed", left, err)
	}
	var detached []string
	left, err = r.Sweep(Cleaner{Detach: func(point string) error { detached = append(detached, point); return nil }})
	if err != nil || len(left) != 1 || left[0].Err != nil || left[0].PID != h.command.Process.Pid {
		t.Fatalf("%+v %v, want one", left, err)
	}
	if len(detached) != 1 || detached[0] != point || names(t, folder) != "" {
		t.Errorf("detached %q; left: %q", detached, names(t, folder))
	}
}

// TestClaimAfterKill: a claim cleans up by itself, also when others sweep at the same time; exactly one of several wins.
func TestClaimAfterKill(t *testing.T) {
	for round := range 5 {
		folder := tempDir(t)
		r := In(folder)
		h := startHolder(t, folder, testID)
		if err := h.command.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = h.command.Wait()
		var sweepers sync.WaitGroup
		for range 4 {
			sweepers.Go(func() {
				for range 20 {
					_, _ = r.Sweep(Cleaner{Detach: func(string) error { time.Sleep(time.Millisecond); return nil }})
				}
			})
		}
		said := make(chan *holder, 3)
		for range 3 {
			go func() { said <- startHolder(t, folder, testID) }()
		}
		claimed, other := 0, ""
		for range 3 {
			if h := <-said; h.said == "claimed\n" {
				claimed++
			} else {
				other += h.said
			}
		}
		sweepers.Wait()
		if claimed != 1 || strings.Count(other, "held by ") != 2 {
			t.Fatalf("round %d: %d claimed it; the others: %q", round, claimed, other)
		}
		if live, err := r.Live(); err != nil || len(live) != 1 {
			t.Fatalf("round %d: live: %v %v", round, live, err)
		}
	}
}

// TestHostileEntries: files that are no entries are passed over, and nothing named in them is touched.
func TestHostileEntries(t *testing.T) {
	folder := tempDir(t)
	r := In(folder)
	for name, content := range map[string]string{
		"a.json": "", "b.json": "{", "c.json": `{"id":"other","mountPoint":"/home"}`, "d.json": "[]",
		"e.json": strings.Repeat(" ", maxEntryBytes+1),
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(folder, "f.json"), 0o700); err != nil {
		t.Fatal(err)
	}
	if live, err := r.Live(); err != nil || len(live) != 0 {
		t.Errorf("live: %v %v", live, err)
	}
	left, err := r.Sweep(Cleaner{Detach: func(point string) error { t.Errorf("detached %s", point); return nil }})
	if err != nil {
		t.Error(err)
	}
	for _, l := range left {
		if l.MountPoint != "" && l.Err == nil {
			t.Errorf("%+v was believed", l)
		}
	}
}

// TestID: every path to a file has its identity, another file has another one.
func TestID(t *testing.T) {
	folder := tempDir(t)
	path := filepath.Join(folder, "a")
	for _, name := range []string{"a", "b"} {
		if err := os.WriteFile(filepath.Join(folder, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(path, filepath.Join(folder, "hard")); err != nil {
		t.Fatal(err)
	}
	want, err := ID(path)
	if err != nil || len(want) != 16 {
		t.Fatalf("%q %v", want, err)
	}
	if got, err := ID(filepath.Join(folder, "hard")); err != nil || got != want {
		t.Errorf("a hard link: %q %v, want %q", got, err, want)
	}
	if got, err := ID(filepath.Join(folder, "b")); err != nil || got == want {
		t.Errorf("another file: %q %v", got, err)
	}
	if _, err := ID(filepath.Join(folder, "missing")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}
