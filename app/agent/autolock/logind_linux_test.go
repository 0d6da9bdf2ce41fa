package autolock

import (
	"bufio"
	"context"
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

// systemBus starts a private bus that takes the place of the system bus.
func systemBus(t *testing.T) (address string, daemon *os.Process) {
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
	command.Stderr = os.Stderr
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = command.Process.Kill(); _ = command.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("dbus-daemon does not start: %v", err)
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	address = strings.TrimSpace(line)
	t.Setenv("DBUS_SYSTEM_BUS_ADDRESS", address)
	return address, command.Process
}

// fakeLogind does what systemd-logind does, as far as we use it.
type fakeLogind struct {
	t    *testing.T
	conn *dbus.Conn
	deny bool // no inhibitor for anybody

	mu    sync.Mutex
	locks []*os.File // read ends of the inhibitors given out; they end when the holder lets go
	asked []string
	taken chan struct{} // one for every inhibitor
}

func newFakeLogind(t *testing.T, address string) *fakeLogind {
	t.Helper()
	conn, err := dbus.Connect(address)
	if err != nil {
		t.Fatal(err)
	}
	f := &fakeLogind{t: t, conn: conn, taken: make(chan struct{}, 16)}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.Export(f, loginPath, managerFace); err != nil {
		t.Fatal(err)
	}
	f.session("own", uint32(os.Getuid()))
	f.session("other", uint32(os.Getuid())+1)
	if reply, err := conn.RequestName(loginName, dbus.NameFlagReplaceExisting|dbus.NameFlagAllowReplacement); err != nil || reply != dbus.RequestNameReplyPrimaryOwner {
		t.Fatalf("name of logind: %v %v", reply, err)
	}
	return f
}

// Inhibit is org.freedesktop.login1.Manager.Inhibit.
func (f *fakeLogind) Inhibit(what, who, why, mode string) (dbus.UnixFD, *dbus.Error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.deny {
		return 0, dbus.NewError("org.freedesktop.DBus.Error.AccessDenied", nil)
	}
	var ends [2]int
	if err := syscall.Pipe2(ends[:], syscall.O_CLOEXEC); err != nil {
		return 0, dbus.MakeFailedError(err)
	}
	f.asked = append(f.asked, strings.Join([]string{what, who, mode}, "|"))
	f.locks = append(f.locks, os.NewFile(uintptr(ends[0]), "inhibitor"))
	// The message is sent after this returns; our end of it must be closed then, or nobody could ever let go.
	time.AfterFunc(300*time.Millisecond, func() { _ = syscall.Close(ends[1]); f.taken <- struct{}{} })
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

func sessionOf(name string) dbus.ObjectPath { return sessionsPath + dbus.ObjectPath("/"+name) }

func (f *fakeLogind) session(name string, uid uint32) {
	if err := f.conn.Export(fakeSession{uid}, sessionOf(name), propsFace); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fakeLogind) emit(path dbus.ObjectPath, name string, values ...any) {
	f.t.Helper()
	if err := f.conn.Emit(path, name, values...); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fakeLogind) hint(session string, locked bool) {
	f.t.Helper()
	f.emit(sessionOf(session), propsFace+".PropertiesChanged", sessionFace, map[string]dbus.Variant{"LockedHint": dbus.MakeVariant(locked)}, []string{})
}

// awaitTaken waits until another inhibitor is held.
func (f *fakeLogind) awaitTaken() {
	f.t.Helper()
	select {
	case <-f.taken:
	case <-time.After(10 * time.Second):
		f.t.Fatal("no inhibitor is taken")
	}
}

// heldFor is how long the latest inhibitor is held from now on, up to most.
func (f *fakeLogind) heldFor(most time.Duration) time.Duration {
	f.t.Helper()
	f.mu.Lock()
	lock := f.locks[len(f.locks)-1]
	f.mu.Unlock()
	began := time.Now()
	ended := make(chan struct{})
	go func() { defer close(ended); _, _ = lock.Read(make([]byte, 1)) }()
	select {
	case <-ended:
	case <-time.After(most):
	}
	return time.Since(began)
}

// watching runs a watcher over the real clock and the bus.
func watching(t *testing.T, o Options) (*fakeDrive, *Watcher) {
	t.Helper()
	d := &fakeDrive{last: time.Now()}
	w := New(d, o, nil)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); w.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		select {
		case <-done:
		case <-time.After(10 * time.Second):
			t.Error("the watcher does not end")
		}
	})
	return d, w
}

func (d *fakeDrive) isLocked() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return !d.locked.IsZero()
}

// eventually waits for something that other goroutines bring about.
func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !f(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within 10 s: %s", what)
		}
	}
}

// never makes sure that something does not come about within a moment.
func never(t *testing.T, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(300 * time.Millisecond); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if f() {
			t.Fatalf("it happens: %s", what)
		}
	}
}

func TestLogindSuspend(t *testing.T) {
	address, _ := systemBus(t)
	f := newFakeLogind(t, address)
	d, w := watching(t, Options{Idle: time.Hour})
	f.awaitTaken()
	if want := "sleep:shutdown|Coffer|delay"; f.asked[0] != want {
		t.Errorf("asked for %q, want %q", f.asked[0], want)
	}
	eventually(t, "listening", func() bool { return w.Status().Listening })
	if held := f.heldFor(500 * time.Millisecond); held < 500*time.Millisecond {
		t.Fatalf("the inhibitor is let go %v after it was taken", held)
	}
	for range 2 { // it is taken again after waking
		d.set(func() { d.flushFor = 200 * time.Millisecond })
		f.emit(loginPath, managerFace+".PrepareForSleep", true)
		if held := f.heldFor(5 * time.Second); held < 100*time.Millisecond || held > 1500*time.Millisecond {
			t.Errorf("suspend waited %v for a flush of 200 ms", held)
		}
		if d.isLocked() {
			t.Fatal("locked although only idle time was chosen")
		}
		f.emit(loginPath, managerFace+".PrepareForSleep", false)
		f.awaitTaken()
	}
	if d.flushes != 2 {
		t.Errorf("%d flushes, want 2", d.flushes)
	}
	// A disk that hangs does not keep the machine awake.
	d.set(func() { d.flushFor = 20 * time.Second })
	f.emit(loginPath, managerFace+".PrepareForSleep", true)
	if held := f.heldFor(10 * time.Second); held < time.Second || held > 3*time.Second {
		t.Errorf("suspend waited %v for a disk that hangs, want 2 s", held)
	}
}

func TestLogindSuspendLocks(t *testing.T) {
	address, _ := systemBus(t)
	f := newFakeLogind(t, address)
	d, _ := watching(t, Options{Suspend: true})
	f.awaitTaken()
	f.emit(loginPath, managerFace+".PrepareForSleep", true)
	eventually(t, "locked", d.isLocked)
	if held := f.heldFor(5 * time.Second); held > time.Second {
		t.Errorf("suspend waited %v after the drive was locked", held)
	}
}

func TestLogindScreen(t *testing.T) {
	address, _ := systemBus(t)
	for name, lock := range map[string]func(f *fakeLogind, session string){
		"signal":   func(f *fakeLogind, session string) { f.emit(sessionOf(session), sessionFace+".Lock") },
		"property": func(f *fakeLogind, session string) { f.hint(session, true) },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFakeLogind(t, address)
			d, _ := watching(t, Options{Screen: true})
			f.awaitTaken()
			lock(f, "other")
			lock(f, "unknown")
			f.hint("own", false)
			f.emit(sessionOf("own"), propsFace+".PropertiesChanged", sessionFace, map[string]dbus.Variant{"IdleHint": dbus.MakeVariant(true)}, []string{})
			f.emit(sessionOf("own"), propsFace+".PropertiesChanged", sessionFace, map[string]dbus.Variant{"LockedHint": dbus.MakeVariant("odd")}, []string{})
			f.emit(sessionOf("own"), propsFace+".PropertiesChanged", sessionFace)
			never(t, "locked for the session of another", d.isLocked)
			lock(f, "own")
			eventually(t, "locked", d.isLocked)
		})
	}
}

// TestLogindForged: anybody can send a signal to us; only logind's count.
func TestLogindForged(t *testing.T) {
	address, _ := systemBus(t)
	f := newFakeLogind(t, address)
	d, _ := watching(t, Options{Suspend: true, Screen: true})
	f.awaitTaken()
	forger, err := dbus.Connect(address)
	if err != nil {
		t.Fatal(err)
	}
	defer forger.Close()
	var names []string
	if err := forger.BusObject().Call(busName+".ListNames", 0).Store(&names); err != nil {
		t.Fatal(err)
	}
	sent := 0
	for _, name := range names {
		if !strings.HasPrefix(name, ":") {
			continue
		}
		for path, member := range map[dbus.ObjectPath]string{loginPath: managerFace + ".PrepareForSleep", sessionOf("own"): sessionFace + ".Lock"} {
			face, short := member[:strings.LastIndex(member, ".")], member[strings.LastIndex(member, ".")+1:]
			forger.Send(&dbus.Message{Type: dbus.TypeSignal, Headers: map[dbus.HeaderField]dbus.Variant{
				dbus.FieldPath: dbus.MakeVariant(path), dbus.FieldInterface: dbus.MakeVariant(face), dbus.FieldMember: dbus.MakeVariant(short),
				dbus.FieldDestination: dbus.MakeVariant(name), dbus.FieldSignature: dbus.MakeVariant(dbus.SignatureOf(true)),
			}, Body: []any{true}}, nil)
			sent++
		}
	}
	if sent < 6 {
		t.Fatalf("%d forged signals: the test tests nothing", sent)
	}
	never(t, "locked by a forged signal", func() bool { return d.isLocked() || d.flushes > 0 })
	f.emit(sessionOf("own"), sessionFace+".Lock")
	eventually(t, "locked by a true one", d.isLocked)
}

// TestLogindRestart: a new logind, and a new bus, are found again.
func TestLogindRestart(t *testing.T) {
	address, daemon := systemBus(t)
	old := newFakeLogind(t, address)
	d, w := watching(t, Options{Screen: true})
	old.awaitTaken()
	if err := old.conn.Close(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "no logind", func() bool { return !w.Status().Listening })
	f := newFakeLogind(t, address)
	f.awaitTaken()
	eventually(t, "listening again", func() bool { return w.Status().Listening })
	f.emit(sessionOf("own"), sessionFace+".Lock")
	eventually(t, "locked", d.isLocked)

	_, w = watching(t, Options{Screen: true})
	eventually(t, "listening", func() bool { return w.Status().Listening })
	_ = daemon.Kill()
	eventually(t, "the bus is gone", func() bool { return !w.Status().Listening })
}

// TestLogindDenied: who may not delay suspend is told of it all the same.
func TestLogindDenied(t *testing.T) {
	address, _ := systemBus(t)
	f := newFakeLogind(t, address)
	f.mu.Lock()
	f.deny = true
	f.mu.Unlock()
	d, w := watching(t, Options{Suspend: true})
	eventually(t, "listening", func() bool { return w.Status().Listening })
	f.emit(loginPath, managerFace+".PrepareForSleep", true)
	eventually(t, "locked", d.isLocked)
}

// TestBusThatDoesNotAnswer: a bus that is stopped holds nothing up.
func TestBusThatDoesNotAnswer(t *testing.T) {
	address, daemon := systemBus(t)
	if err := daemon.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	d, w := watching(t, Options{Idle: time.Second, Suspend: true})
	eventually(t, "locked for idle time", d.isLocked)
	if w.Status().Listening {
		t.Error("it listens to a bus that does not answer")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	began := time.Now()
	if _, err := connectSystem(ctx); err == nil || time.Since(began) > 2*time.Second {
		t.Errorf("connecting: %v after %v", err, time.Since(began))
	}
	_ = address
}

// TestNoBus: a system without a bus, as a server or a container.
func TestNoBus(t *testing.T) {
	t.Setenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path="+filepath.Join(t.TempDir(), "none"))
	d, w := watching(t, Options{Idle: time.Second, Suspend: true, Screen: true})
	eventually(t, "locked for idle time", d.isLocked)
	if w.Status().Listening {
		t.Error("it listens to nothing")
	}
}

// TestUptime: the clock of lifetimes counts in this system's time since boot.
func TestUptime(t *testing.T) {
	raw, err := os.ReadFile("/proc/uptime")
	if err != nil {
		t.Fatal(err)
	}
	var seconds float64
	if _, err := fmt.Sscan(string(raw), &seconds); err != nil {
		t.Fatal(err)
	}
	if got := uptime().Seconds(); got < seconds-1 || got > seconds+2 {
		t.Errorf("uptime %.1f s, the system says %.1f s", got, seconds)
	}
}
