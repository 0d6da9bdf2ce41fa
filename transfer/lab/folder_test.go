package lab

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// deadVariable makes TestRemovesWhatTheKilledLeft a process that is about to be killed.
const deadVariable = "COFFER_LAB_DEAD"

// TestRemovesWhatTheKilledLeft: the folder of an experiment that was killed goes with the next one in the same place, that of
// one that runs stays, and so does a folder of the name that is not ours.
func TestRemovesWhatTheKilledLeft(t *testing.T) {
	if dir := os.Getenv(deadVariable); dir != "" {
		folder, _, err := tempFolder(dir, 1)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "large"), make([]byte, 1<<20), 0o600); err != nil {
			t.Fatal(err)
		}
		_, _ = os.Stdout.WriteString("made " + folder + "\n")
		_, _ = io.Copy(io.Discard, os.Stdin)
		return
	}
	dir := t.TempDir()
	other := filepath.Join(dir, folderPrefix+"other")
	if err := os.Mkdir(other, 0o700); err != nil {
		t.Fatal(err)
	}
	child := exec.Command(os.Args[0], "-test.run=^TestRemovesWhatTheKilledLeft$")
	child.Env = append(os.Environ(), deadVariable+"="+dir)
	if _, err := child.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	left, made := strings.CutPrefix(strings.TrimSpace(line), "made ")
	if err != nil || !made {
		t.Fatalf("%q, %v", line, err)
	}
	exists := func(path string) bool { _, err := os.Lstat(path); return err == nil }
	begin := func() {
		t.Helper()
		_, remove, err := tempFolder(dir, 1)
		if err != nil {
			t.Fatal(err)
		}
		if err := remove(); err != nil {
			t.Fatal(err)
		}
	}
	if begin(); !exists(left) {
		t.Error("the folder of a running experiment was removed")
	}
	_ = child.Process.Kill()
	_ = child.Wait()
	if begin(); exists(left) {
		t.Error("the folder of a killed experiment is still there")
	}
	if !exists(other) {
		t.Error("a folder that no experiment has made was removed")
	}
	if found, _ := os.ReadDir(dir); len(found) != 1 {
		t.Errorf("left: %v", found)
	}
}
