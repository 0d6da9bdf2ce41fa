package instance

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"coffer/app/agent/socket"
)

// roleVariable makes this test binary a window of its own: the folder to take.
const roleVariable = "COFFER_TEST_INSTANCE"

func TestMain(m *testing.M) {
	if folder := os.Getenv(roleVariable); folder != "" {
		os.Exit(window(folder))
	}
	os.Exit(m.Run())
}

// window is a process that takes folder with the arguments as paths to open, prints what it is asked to do, and stays until its
// input ends.
func window(folder string) int {
	taken, err := Take(context.Background(), folder, Request{Open: os.Args[1:]})
	switch {
	case err != nil:
		fmt.Println("error:", err)
		return 1
	case taken == nil:
		fmt.Println("handed over")
		return 0
	}
	fmt.Println("window")
	go taken.Serve(func(r Request) {
		raw, _ := json.Marshal(r)
		fmt.Println(string(raw))
	})
	_, _ = io.Copy(io.Discard, os.Stdin)
	taken.Close()
	return 0
}

// process is such a process.
type process struct {
	t       *testing.T
	command *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
}

func begin(t *testing.T, folder string, paths ...string) *process {
	t.Helper()
	p := &process{t: t, command: exec.Command(os.Args[0], paths...)}
	p.command.Env = append(os.Environ(), roleVariable+"="+folder)
	p.command.Stderr = os.Stderr
	in, err := p.command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.in, p.out = in, bufio.NewReader(out)
	if err := p.command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.command.Process.Kill(); _ = p.command.Wait() })
	return p
}

func (p *process) says(want string) {
	p.t.Helper()
	line, err := p.out.ReadString('\n')
	if err != nil || strings.TrimSpace(line) != want {
		p.t.Fatalf("%q, %v; want %q", line, err, want)
	}
}

func TestSecondStartHandsOver(t *testing.T) {
	folder := t.TempDir()
	first := begin(t, folder)
	first.says("window")
	second := begin(t, folder, "/a.img", "/b b.img")
	second.says("handed over")
	first.says(`{"open":["/a.img","/b b.img"]}`)
	if err := second.command.Wait(); err != nil {
		t.Errorf("the second start: %v", err)
	}
	// A bare start comes to the front: an empty request arrives too.
	begin(t, folder).says("handed over")
	first.says(`{}`)
	// When it ends the next one is the window.
	_ = first.in.Close()
	if err := first.command.Wait(); err != nil {
		t.Fatal(err)
	}
	begin(t, folder).says("window")
}

func TestKilledWindowIsReplaced(t *testing.T) {
	folder := t.TempDir()
	first := begin(t, folder)
	first.says("window")
	if err := first.command.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = first.command.Wait()
	if _, err := os.Stat(filepath.Join(folder, socketName)); err != nil {
		t.Fatalf("a killed window leaves no socket, so this test shows nothing: %v", err)
	}
	second := begin(t, folder)
	second.says("window")
	begin(t, folder, "/a.img").says("handed over")
	second.says(`{"open":["/a.img"]}`)
}

func TestOnlyOneOfManyIsTheWindow(t *testing.T) {
	folder := t.TempDir()
	var all []*process
	for range 6 {
		all = append(all, begin(t, folder))
	}
	windows := 0
	for _, p := range all {
		switch line, err := p.out.ReadString('\n'); {
		case err != nil:
			t.Fatal(err)
		case line == "window\n":
			windows++
		case line != "handed over\n":
			t.Errorf("said %q", line)
		}
	}
	if windows != 1 {
		t.Errorf("%d windows", windows)
	}
}

// serving is an instance of this process, with what it was asked to do.
func serving(t *testing.T) (folder string, asked chan Request) {
	t.Helper()
	folder, asked = t.TempDir(), make(chan Request, 10)
	taken, err := Take(t.Context(), folder, Request{})
	if err != nil || taken == nil {
		t.Fatalf("%v, %v", taken, err)
	}
	t.Cleanup(taken.Close)
	go taken.Serve(func(r Request) { asked <- r })
	return folder, asked
}

func dial(t *testing.T, folder string) net.Conn {
	t.Helper()
	conn, err := socket.Dial(t.Context(), filepath.Join(folder, socketName))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	return conn
}

func TestHostileRequests(t *testing.T) {
	folder, asked := serving(t)
	many, _ := json.Marshal(Request{Open: strings.Split(strings.Repeat("/a\n", 600), "\n")})
	for name, sent := range map[string]string{
		"garbage":        "\x00\xff\x13 GET / HTTP/1.1\r\n\r\n",
		"not an object":  "[1,2,3]\n",
		"unknown field":  `{"open":["/a"],"run":"sh"}`,
		"relative path":  `{"open":["a.img"]}`,
		"NUL":            `{"open":["/a\u0000b"]}`,
		"number":         `{"open":[7]}`,
		"too many":       string(many),
		"too long":       `{"open":["/` + strings.Repeat("x", 40<<10) + `"]}`,
		"much too long":  `{"open":["/` + strings.Repeat("x", 2<<20) + `"]}`,
		"deeply nesting": strings.Repeat("[", 100000),
	} {
		conn := dial(t, folder)
		go func() { _, _ = io.WriteString(conn, sent) }() // it is not read to its end if it is too long
		var said answer
		if err := json.NewDecoder(conn).Decode(&said); err == nil && said.Error == "" {
			t.Errorf("%s was accepted", name)
		}
	}
	dial(t, folder).Close() // nothing at all
	half := dial(t, folder) // and one that never ends its sentence
	_, _ = io.WriteString(half, `{"open":`)
	again, err := Take(t.Context(), folder, Request{Open: []string{"/good.img"}, LockAll: true})
	if err != nil || again != nil {
		t.Fatalf("after hostile requests: %v, %v", again, err)
	}
	if got := <-asked; !reflect.DeepEqual(got, Request{Open: []string{"/good.img"}, LockAll: true}) {
		t.Errorf("asked for %+v first: a hostile request came through", got)
	}
	if len(asked) != 0 {
		t.Errorf("asked for more: %+v", <-asked)
	}
}

func TestBadRequestsAreNotSent(t *testing.T) {
	for _, r := range []Request{{Open: []string{"a.img"}}, {Open: []string{""}}, {Open: []string{"/a\x00"}}, {Open: make([]string, 501)}} {
		if taken, err := Take(t.Context(), t.TempDir(), r); err == nil {
			t.Errorf("%.40q: %v", r.Open, taken)
		}
	}
}

func TestSocketIsTheOwners(t *testing.T) {
	folder, _ := serving(t)
	for _, name := range []string{lockName, socketName} {
		info, err := os.Stat(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v: others may use it", name, info.Mode())
		}
	}
}

// TestSilentWindow: who holds the lock but never answers is named, in bounded time.
func TestSilentWindow(t *testing.T) {
	folder := t.TempDir()
	lock, err := tryLock(filepath.Join(folder, lockName))
	if err != nil || lock == nil {
		t.Fatal(err)
	}
	defer lock.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if taken, err := Take(ctx, folder, Request{}); err == nil || taken != nil || !strings.Contains(err.Error(), "does not answer") {
		t.Errorf("%v, %v", taken, err)
	}
}
