package container_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"coffer/container"
	"coffer/container/kdf"
	"coffer/container/secret"
)

// TestMain runs the helpers when the test binary was started as one.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "kdf-child":
			if kdf.ServeChild(os.Stdin, os.Stdout) != nil {
				os.Exit(1)
			}
			os.Exit(0)
		case "memory-helper":
			memoryHelper(os.Args[2])
			os.Exit(0)
		}
	}
	os.Exit(m.Run())
}

// childKDF derives in a child process, as the program does.
func childKDF() kdf.Deriver { return kdf.Child{Executable: os.Args[0], Args: []string{"kdf-child"}} }

// memoryHelper opens a container with the password on standard input, tells
// when it is open and when it is closed, and waits for a line each time.
func memoryHelper(path string) {
	in := bufio.NewReader(os.Stdin)
	step := func(what string, err error) {
		fmt.Println(what, err)
		_, _ = in.ReadString('\n')
	}
	pw, err := secret.ReadLine(os.Stdin, 100) // not through in: its buffer would keep the password
	if err != nil {
		step("password", err)
		return
	}
	c := container.Credential{Password: pw, Slot: container.AnySlot}
	v, err := container.Open(context.Background(), path, container.OpenOptions{Deriver: childKDF()}, c)
	if err != nil {
		step("open", err)
		return
	}
	_, err = v.WriteAt([]byte("work"), 100)
	pw.Destroy()
	step("open", err)
	err = errors.Join(v.Sync(), v.Close())
	step("closed", err)
}

// TestMemory looks into the memory of a process that has a container open, and
// has closed it: the password is nowhere once its buffer is destroyed, the
// volume key is never there but as part of the key schedule, and after Close
// not even that.
func TestMemory(t *testing.T) {
	const pass = "a password nobody else uses 7391"
	path := filepath.Join(t.TempDir(), "a.img")
	create(t, path, container.CreateOptions{SizeBytes: 2 << 20, KDF: cheap}, pass)
	key := volumeKey(t, path, pass)

	cmd := exec.Command(os.Args[0], "memory-helper", path)
	stdin, err1 := cmd.StdinPipe()
	stdout, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(stdout)
	expect := func(want string) {
		t.Helper()
		if line, err := lines.ReadString('\n'); line != want+" <nil>\n" {
			t.Fatalf("helper says %q, %v", line, err)
		}
	}
	// Spelled so that the needles are not in the helper's own code.
	needles := map[string][]byte{"password": []byte(pass), "key, first half": key[:32], "key, second half": key[32:]}
	if _, err := io.WriteString(stdin, pass+"\n"); err != nil {
		t.Fatal(err)
	}
	expect("open")
	open := countInMemory(t, cmd.Process.Pid, needles)
	fmt.Fprintln(stdin)
	expect("closed")
	closed := countInMemory(t, cmd.Process.Pid, needles)
	fmt.Fprintln(stdin)
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	t.Logf("open: %v, closed: %v", open, closed)
	for name := range needles {
		if closed[name] != 0 {
			t.Errorf("%s is in memory %d times after Close", name, closed[name])
		}
		if most := map[string]int{"password": 0}; strings.HasPrefix(name, "key") && open[name] > 1 || name == "password" && open[name] > most[name] {
			t.Errorf("%s is in memory %d times while open", name, open[name])
		}
	}
}

// volumeKey asks cryptsetup for the volume key.
func volumeKey(t *testing.T, path, pass string) []byte {
	t.Helper()
	out := filepath.Join(t.TempDir(), "key")
	mustCryptsetup(t, pass, "luksDump", "-q", "--dump-volume-key", "--volume-key-file", out, "--key-file=-", path)
	key, err := os.ReadFile(out)
	if err != nil || len(key) != 64 {
		t.Fatalf("volume key of %d bytes, %v", len(key), err)
	}
	return key
}

// countInMemory counts byte strings in all writable memory of a process.
func countInMemory(t *testing.T, pid int, needles map[string][]byte) map[string]int {
	t.Helper()
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		t.Fatal(err)
	}
	mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		t.Fatal(err)
	}
	defer mem.Close()
	found, scanned := map[string]int{}, 0
	for line := range strings.Lines(string(maps)) {
		var start, end int64
		var flags string
		if _, err := fmt.Sscanf(line, "%x-%x %s", &start, &end, &flags); err != nil || !strings.HasPrefix(flags, "rw") {
			continue
		}
		b := make([]byte, end-start)
		n, err := mem.ReadAt(b, start)
		if err != nil {
			continue // [vvar] and the like
		}
		scanned += n
		for name, needle := range needles {
			found[name] += bytes.Count(b[:n], needle)
		}
	}
	if scanned < 1<<20 {
		t.Fatalf("only %d bytes of memory could be read", scanned)
	}
	return found
}
