package cli_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestPasswordLeavesMemory looks at a running program that has a container open: the password must be in no part of its
// memory any more, nor in its command line or environment, and nobody but root may look at all.
func TestPasswordLeavesMemory(t *testing.T) {
	folder := t.TempDir()
	const password = "unmistakable pass phrase 8f31c7"
	writeFile(t, filepath.Join(folder, "pw"), []byte(password+"\n"))
	run(t, folder, 0, "create", "m.img", "--size", "64MiB", "--kdf-memory=64KiB", "--kdf-time=1", "--password-file", "pw", "--quiet")
	for _, source := range []string{"--password-file pw", "--password-stdin <pw", "--password-fd 7 7<pw"} {
		// dump to a pipe that nobody empties: the container is open, and the program waits.
		command := exec.Command("sh", "-c", "exec "+program+" dump m.img - "+source)
		command.Dir = folder
		pipe, err := command.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(pipe, make([]byte, 4096)); err != nil { // the first sector is out: it is open
			t.Fatal(err)
		}
		lookForPassword(t, command.Process.Pid, source, []byte(password))
		command.Process.Kill()
		command.Wait()
	}
}

func lookForPassword(t *testing.T, pid int, source string, password []byte) {
	t.Helper()
	for _, name := range []string{"cmdline", "environ"} {
		content, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, name))
		if err != nil && os.Getuid() == 0 {
			t.Fatal(err)
		}
		if bytes.Contains(content, password) {
			t.Errorf("%s: the password is in the %s", source, name)
		}
	}
	memory, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if os.Getuid() != 0 {
		if !errors.Is(err, os.ErrPermission) {
			t.Errorf("%s: another process of the same user could read the memory: %v", source, err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer memory.Close()
	regions, err := os.Open(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		t.Fatal(err)
	}
	defer regions.Close()
	read, control := 0, false
	for lines := bufio.NewScanner(regions); lines.Scan(); {
		var from, to int64
		if _, err := fmt.Sscanf(lines.Text(), "%x-%x", &from, &to); err != nil || !strings.Contains(lines.Text(), " rw") {
			continue
		}
		content := make([]byte, to-from)
		n, _ := memory.ReadAt(content, from) // parts that were never touched cannot be read
		read += n
		control = control || bytes.Contains(content[:n], []byte("m.img"))
		if at := bytes.Index(content[:n], password); at >= 0 {
			t.Errorf("%s: the password is in memory, in %s", source, lines.Text())
		}
	}
	if read < 1<<20 || !control {
		t.Fatalf("%s: %d bytes of memory were read, the image's name found: %v; the test looks at nothing", source, read, control)
	}
}
