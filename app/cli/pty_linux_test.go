package cli_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// typist is a program on a pseudo-terminal and the person in front of it.
type typist struct {
	t       *testing.T
	master  *os.File
	command *exec.Cmd

	mu   sync.Mutex
	text strings.Builder // everything the terminal showed
	seen int             // how much of it expect has passed
	end  bool
}

// onTerminal starts the program with a terminal of its own on all three streams.
func onTerminal(t *testing.T, folder string, args ...string) *typist {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(int(slave.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: 120}); err != nil {
		t.Fatal(err)
	}
	p := &typist{t: t, master: master, command: exec.Command(program, args...)}
	p.command.Dir = folder
	p.command.Env = append(os.Environ(), "HOME="+folder, "XDG_DATA_HOME="+folder, "XDG_CONFIG_HOME="+folder, "TERM=xterm")
	p.command.Stdin, p.command.Stdout, p.command.Stderr = slave, slave, slave
	p.command.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := p.command.Start(); err != nil {
		t.Fatal(err)
	}
	slave.Close()
	go p.read()
	t.Cleanup(func() { p.command.Process.Kill(); master.Close() })
	return p
}

func (p *typist) read() {
	buffer := make([]byte, 4096)
	for {
		n, err := p.master.Read(buffer)
		p.mu.Lock()
		p.text.Write(buffer[:n])
		p.end = err != nil
		p.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// expect waits until the terminal has shown text, after what was expected before.
func (p *typist) expect(text string) {
	p.t.Helper()
	for deadline := time.Now().Add(60 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		p.mu.Lock()
		shown, end := p.text.String(), p.end
		at := strings.Index(shown[p.seen:], text)
		if at >= 0 {
			p.seen += at + len(text)
		}
		p.mu.Unlock()
		if at >= 0 {
			return
		}
		if end || time.Now().After(deadline) {
			p.t.Fatalf("the terminal never showed %q; it showed:\n%s", text, shown)
		}
	}
}

func (p *typist) write(text string) {
	p.t.Helper()
	if _, err := p.master.WriteString(text); err != nil {
		p.t.Fatal(err)
	}
}

// ends waits for the end of the program and returns its exit code and all that the terminal showed.
func (p *typist) ends(want int) string {
	p.t.Helper()
	err := p.command.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		p.t.Fatal(err)
	}
	time.Sleep(50 * time.Millisecond)
	p.mu.Lock()
	defer p.mu.Unlock()
	if got := p.command.ProcessState.ExitCode(); got != want {
		p.t.Fatalf("exit code %d, want %d; the terminal showed:\n%s", got, want, p.text.String())
	}
	return p.text.String()
}

func TestPromptTwiceWithoutEcho(t *testing.T) {
	folder := t.TempDir()
	p := onTerminal(t, folder, "create", "p.img", "--size", "32MiB", "--kdf-memory=64KiB", "--kdf-time=1")
	p.expect("New password for p.img: ")
	p.write("password1\n")
	p.expect("Very weak")
	p.expect("The same again: ")
	p.write("different\n")
	p.expect("The two differ")
	p.expect("New password for p.img: ")
	p.write("\n")
	p.expect("please type one")
	p.expect("New password for p.img: ")
	p.write("gravel orbit 7 tulip mask\n")
	p.expect("Strong")
	p.expect("The same again: ")
	p.write("gravel orbit 7 tulip mask\n")
	p.expect("created p.img")
	if shown := p.ends(0); strings.Contains(shown, "gravel") || strings.Contains(shown, "password1") {
		t.Errorf("a password was echoed:\n%s", shown)
	}
	p = onTerminal(t, folder, "ls", "p.img:/")
	p.expect("Password of p.img: ")
	p.write("wrong\n")
	p.expect("coffer: open p.img: ")
	p.expect("hint: ")
	p.ends(3)
	p = onTerminal(t, folder, "mkdir", "p.img:/x")
	p.expect("Password of p.img: ")
	p.write("gravel orbit 7 tulip mask\n")
	p.ends(0)
}

func TestInterruptAtThePrompt(t *testing.T) {
	folder := t.TempDir()
	p := onTerminal(t, folder, "create", "p.img", "--size", "32MiB")
	p.expect("New password for p.img: ")
	if on := echo(t, p.master); on {
		t.Error("echo is on during the prompt")
	}
	p.write("\x03") // Ctrl-C
	p.expect("coffer: interrupted")
	p.ends(130)
	if _, err := os.Stat(filepath.Join(folder, "p.img")); !os.IsNotExist(err) {
		t.Errorf("an interrupted create left a file: %v", err)
	}
	p = onTerminal(t, folder, "ls", "p.img")
	p.ends(2)
}

// TestQuitAtThePrompt: Ctrl-\ prints no registers and leaves the terminal as it was.
func TestQuitAtThePrompt(t *testing.T) {
	folder := t.TempDir()
	p := onTerminal(t, folder, "create", "p.img", "--size", "32MiB")
	p.expect("New password for p.img: ")
	p.write("half a secret\x1c")
	p.expect("coffer: interrupted")
	if shown := p.ends(130); strings.Contains(shown, "goroutine") || strings.Contains(shown, "rax") {
		t.Errorf("a dump was printed:\n%s", shown)
	}
	if !echo(t, p.master) {
		t.Error("the terminal was left without echo")
	}
}

// echo says whether the terminal echoes.
func echo(t *testing.T, master *os.File) bool {
	t.Helper()
	state, err := unix.IoctlGetTermios(int(master.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return state.Lflag&unix.ECHO != 0
}

func TestDestroyAsksForTheName(t *testing.T) {
	folder := t.TempDir()
	image := makeImage(t, folder, "d.img", "16MiB")
	p := onTerminal(t, folder, "destroy", "d.img")
	p.expect("Type the name d.img")
	p.write("yes\n")
	p.expect("nothing was changed")
	p.ends(1)
	run(t, folder, 0, "ls", "d.img:/", "--password-file", "pw")
	p = onTerminal(t, folder, "destroy", "d.img")
	p.expect("Type the name d.img")
	p.write("d.img\n")
	if shown := p.ends(0); strings.Contains(shown, `\x0a`) {
		t.Errorf("line ends are escaped:\n%s", shown)
	}
	if code, _, _ := start(t, folder, "ls", "d.img:/", "--password-file", "pw").wait(); code == 0 {
		t.Errorf("%s opens after destroy", image)
	}
}

func TestLastKeyAsksForTheName(t *testing.T) {
	folder := t.TempDir()
	makeImage(t, folder, "k.img", "16MiB")
	p := onTerminal(t, folder, "key", "remove", "k.img", "--slot", "0", "--force")
	p.expect("Nobody will be able to open it again.")
	p.expect("Type the name k.img")
	p.write("\n")
	p.expect("nothing was changed")
	p.ends(1)
	run(t, folder, 0, "ls", "k.img:/", "--password-file", "pw")
	p = onTerminal(t, folder, "key", "remove", "k.img", "--slot", "0", "--force")
	p.expect("Type the name k.img")
	p.write("k.img\n")
	p.ends(0)
	if code, _, _ := start(t, folder, "ls", "k.img:/", "--password-file", "pw").wait(); code == 0 {
		t.Error("the container opens without a key")
	}
}

func TestProgressBarOnlyOnATerminal(t *testing.T) {
	folder := t.TempDir()
	makeImage(t, folder, "b.img", "1100MiB")
	if err := os.WriteFile(filepath.Join(folder, "big.bin"), randomBytes(300<<20, 1), 0o600); err != nil {
		t.Fatal(err)
	}
	p := onTerminal(t, folder, "copy", "big.bin", "b.img:/", "--password-file", "pw", "--verify")
	p.expect("copy")
	p.expect("MB/s")
	p.expect("ETA")
	p.expect("average=")
	p.ends(0)
	_, out, errors := start(t, folder, "copy", "-f", "big.bin", "b.img:/big2.bin", "--password-file", "pw").wait()
	if strings.Contains(out+errors, "ETA") {
		t.Errorf("a bar without a terminal:\n%s%s", out, errors)
	}
	p = onTerminal(t, folder, "copy", "-f", "big.bin", "b.img:/big.bin", "--password-file", "pw", "--quiet")
	if shown := p.ends(0); strings.Contains(shown, "ETA") {
		t.Errorf("a bar with --quiet:\n%s", shown)
	}
}
