package logindtest

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
)

const (
	loginName    = "org.freedesktop.login1"
	loginPath    = dbus.ObjectPath("/org/freedesktop/login1")
	managerFace  = loginName + ".Manager"
	sessionFace  = loginName + ".Session"
	sessionsPath = dbus.ObjectPath("/org/freedesktop/login1/session")
	propsFace    = "org.freedesktop.DBus.Properties"
)

// Bus starts a private bus that takes the place of the system bus, also for child processes, until the test ends.
func Bus(t testing.TB) (address string, daemon *os.Process) {
	t.Helper()
	program, err := exec.LookPath("dbus-daemon")
	if err != nil {
		t.Fatal("dbus-daemon is missing: apt-get install dbus")
	}
	folder := t.TempDir()
	settings := filepath.Join(folder, "bus.conf")
	// As on the real bus, anybody may send a signal straight to anybody.
	text := fmt.Sprintf(`<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:path=%s/bus</listen><auth>EXTERNAL</auth>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>`, folder)
	if err := os.WriteFile(settings, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.Command(program, "--config-file="+settings, "--nofork", "--print-address", "--nopidfile", "--nosyslog")
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var complaints bytes.Buffer // of limits it may not raise, and the like
	command.Stderr = &complaints
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = command.Process.Kill(); _ = command.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		_ = command.Wait()
		t.Fatalf("dbus-daemon does not start: %v\n%s", err, complaints.String())
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	address = strings.TrimSpace(line)
	t.Setenv("DBUS_SYSTEM_BUS_ADDRESS", address)
	return address, command.Process
}

// Logind does what systemd-logind does, as far as Coffer uses it. It knows two sessions: "own" and "other", of this user
// and of another.
type Logind struct {
	t    testing.TB
	conn *dbus.Conn

	mu    sync.Mutex
	deny  bool
	locks []*os.File // read ends of the inhibitors given out; they end when the holder lets go
	asked []string
	taken chan struct{} // one for every inhibitor
}

// New takes the name of logind on the bus at address.
func New(t testing.TB, address string) *Logind {
	t.Helper()
	conn, err := dbus.Connect(address)
	if err != nil {
		t.Fatal(err)
	}
	l := &Logind{t: t, conn: conn, taken: make(chan struct{}, 16)}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.Export(l, loginPath, managerFace); err != nil {
		t.Fatal(err)
	}
	l.session("own", uint32(os.Getuid()))
	l.session("other", uint32(os.Getuid())+1)
	if reply, err := conn.RequestName(loginName, dbus.NameFlagReplaceExisting|dbus.NameFlagAllowReplacement); err != nil || reply != dbus.RequestNameReplyPrimaryOwner {
		t.Fatalf("name of logind: %v %v", reply, err)
	}
	return l
}

// Inhibit is org.freedesktop.login1.Manager.Inhibit.
func (l *Logind) Inhibit(what, who, why, mode string) (dbus.UnixFD, *dbus.Error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.deny {
		return 0, dbus.NewError("org.freedesktop.DBus.Error.AccessDenied", nil)
	}
	var ends [2]int
	if err := syscall.Pipe2(ends[:], syscall.O_CLOEXEC); err != nil {
		return 0, dbus.MakeFailedError(err)
	}
	l.asked = append(l.asked, strings.Join([]string{what, who, mode}, "|"))
	l.locks = append(l.locks, os.NewFile(uintptr(ends[0]), "inhibitor"))
	// The message is sent after this returns; our end of it must be closed then, or nobody could ever let go.
	time.AfterFunc(300*time.Millisecond, func() { _ = syscall.Close(ends[1]); l.taken <- struct{}{} })
	return dbus.UnixFD(ends[1]), nil
}

// fakeSession has the one property that is asked for.
type fakeSession struct{ uid uint32 }

// Get is org.freedesktop.DBus.Properties.Get.
func (s fakeSession) Get(face, name string) (dbus.Variant, *dbus.Error) {
	if face != sessionFace || name != "User" {
		return dbus.Variant{}, dbus.NewError("org.freedesktop.DBus.Error.UnknownProperty", nil)
	}
	return dbus.MakeVariant(struct {
		UID  uint32
		Path dbus.ObjectPath
	}{s.uid, "/org/freedesktop/login1/user/_0"}), nil
}

// Session is the path of a session.
func Session(name string) dbus.ObjectPath { return sessionsPath + dbus.ObjectPath("/"+name) }

func (l *Logind) session(name string, uid uint32) {
	if err := l.conn.Export(fakeSession{uid}, Session(name), propsFace); err != nil {
		l.t.Fatal(err)
	}
}

// Emit sends a signal.
func (l *Logind) Emit(path dbus.ObjectPath, name string, values ...any) {
	l.t.Helper()
	if err := l.conn.Emit(path, name, values...); err != nil {
		l.t.Fatal(err)
	}
}

// Hint says that the property LockedHint of a session changed.
func (l *Logind) Hint(session string, locked bool) {
	l.t.Helper()
	l.Emit(Session(session), propsFace+".PropertiesChanged", sessionFace, map[string]dbus.Variant{"LockedHint": dbus.MakeVariant(locked)}, []string{})
}

// AwaitTaken waits until another inhibitor is held.
func (l *Logind) AwaitTaken() {
	l.t.Helper()
	select {
	case <-l.taken:
	case <-time.After(10 * time.Second):
		l.t.Fatal("no inhibitor is taken")
	}
}

// HeldFor is how long the latest inhibitor is held from now on, up to most.
func (l *Logind) HeldFor(most time.Duration) time.Duration {
	l.t.Helper()
	l.mu.Lock()
	lock := l.locks[len(l.locks)-1]
	l.mu.Unlock()
	began := time.Now()
	ended := make(chan struct{})
	go func() { defer close(ended); _, _ = lock.Read(make([]byte, 1)) }()
	select {
	case <-ended:
	case <-time.After(most):
	}
	return time.Since(began)
}

// Deny refuses inhibitors from now on.
func (l *Logind) Deny() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.deny = true
}

// Asked is what inhibitors were asked for: "what|who|mode".
func (l *Logind) Asked() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.asked
}

// Sleep announces that the machine is about to sleep, or woke.
func (l *Logind) Sleep(begins bool) { l.Emit(loginPath, managerFace+".PrepareForSleep", begins) }

// Shutdown announces that the machine is about to be switched off.
func (l *Logind) Shutdown() { l.Emit(loginPath, managerFace+".PrepareForShutdown", true) }

// Lock asks a session to lock its screen.
func (l *Logind) Lock(session string) { l.Emit(Session(session), sessionFace+".Lock") }

// Leave takes logind away from the bus.
func (l *Logind) Leave() error { return l.conn.Close() }
