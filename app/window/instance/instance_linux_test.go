package instance

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"coffer/app/agent/socket"
)

// TestOtherUsers: another user can neither hand this window a request nor stand in for it, even where the folder lets them in.
func TestOtherUsers(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can be another user")
	}
	folder, asked := serving(t)
	stranger := func(script string) (string, error) {
		command := exec.Command("/usr/bin/python3", "-c", script, filepath.Join(folder, socketName))
		command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		command.Dir = "/"
		out, err := command.CombinedOutput()
		return string(out), err
	}
	for _, at := range []string{folder, filepath.Dir(folder)} {
		if err := os.Chmod(at, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(folder, socketName), 0o666); err != nil {
		t.Fatal(err)
	}
	out, err := stranger(`import socket,sys
s=socket.socket(socket.AF_UNIX); s.settimeout(10); s.connect(sys.argv[1])
try:
    s.sendall(b'{"open":["/stranger.img"]}'); print(len(s.recv(100)))
except (ConnectionResetError, BrokenPipeError): print(0)`)
	if err != nil || out != "0\n" {
		t.Errorf("a stranger was answered: %q, %v", out, err)
	}
	if again, err := Take(t.Context(), folder, Request{Open: []string{"/own.img"}}); err != nil || again != nil {
		t.Fatal(again, err)
	}
	if got := <-asked; len(got.Open) != 1 || got.Open[0] != "/own.img" {
		t.Errorf("asked for %+v", got)
	}
	// A socket that a stranger has put in the place of ours.
	fake := filepath.Join(folder, "fake.sock")
	go func() {
		_, _ = stranger(`import socket,sys,os
p=os.path.join(os.path.dirname(sys.argv[1]),"fake.sock"); s=socket.socket(socket.AF_UNIX); s.bind(p); os.chmod(p,0o666); s.listen(); s.settimeout(10)
c=s.accept()[0]; c.recv(100)`)
	}()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for {
		err := hand(ctx, fake, Request{})
		if errors.Is(err, socket.ErrForeign) {
			break
		}
		if err == nil || ctx.Err() != nil {
			t.Fatalf("handed to a stranger: %v", err)
		}
		time.Sleep(5 * time.Millisecond) // until the stranger listens
	}
}
