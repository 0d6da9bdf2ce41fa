package autolock

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"

	"coffer/app/agent/autolock/logindtest"
)

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
	address, _ := logindtest.Bus(t)
	f := logindtest.New(t, address)
	d, w := watching(t, Options{Idle: time.Hour})
	f.AwaitTaken()
	if want := "sleep:shutdown|Coffer|delay"; f.Asked()[0] != want {
		t.Errorf("asked for %q, want %q", f.Asked()[0], want)
	}
	eventually(t, "listening", func() bool { return w.Status().Listening })
	if held := f.HeldFor(500 * time.Millisecond); held < 500*time.Millisecond {
		t.Fatalf("the inhibitor is let go %v after it was taken", held)
	}
	for range 2 { // it is taken again after waking
		d.set(func() { d.flushFor = 200 * time.Millisecond })
		f.Sleep(true)
		if held := f.HeldFor(5 * time.Second); held < 100*time.Millisecond || held > 1500*time.Millisecond {
			t.Errorf("suspend waited %v for a flush of 200 ms", held)
		}
		if d.isLocked() {
			t.Fatal("locked although only idle time was chosen")
		}
		f.Sleep(false)
		f.AwaitTaken()
	}
	if d.flushes != 2 {
		t.Errorf("%d flushes, want 2", d.flushes)
	}
	// A disk that hangs does not keep the machine awake.
	d.set(func() { d.flushFor = 20 * time.Second })
	f.Sleep(true)
	if held := f.HeldFor(10 * time.Second); held < time.Second || held > 3*time.Second {
		t.Errorf("suspend waited %v for a disk that hangs, want 2 s", held)
	}
}

func TestLogindSuspendLocks(t *testing.T) {
	address, _ := logindtest.Bus(t)
	f := logindtest.New(t, address)
	d, _ := watching(t, Options{Suspend: true})
	f.AwaitTaken()
	f.Sleep(true)
	eventually(t, "locked", d.isLocked)
	if held := f.HeldFor(5 * time.Second); held > time.Second {
		t.Errorf("suspend waited %v after the drive was locked", held)
	}
}

func TestLogindScreen(t *testing.T) {
	address, _ := logindtest.Bus(t)
	for name, lock := range map[string]func(f *logindtest.Logind, session string){
		"signal":   func(f *logindtest.Logind, session string) { f.Lock(session) },
		"property": func(f *logindtest.Logind, session string) { f.Hint(session, true) },
	} {
		t.Run(name, func(t *testing.T) {
			f := logindtest.New(t, address)
			d, _ := watching(t, Options{Screen: true})
			f.AwaitTaken()
			lock(f, "other")
			lock(f, "unknown")
			f.Hint("own", false)
			f.Emit(logindtest.Session("own"), propsFace+".PropertiesChanged", sessionFace, map[string]dbus.Variant{"IdleHint": dbus.MakeVariant(true)}, []string{})
			f.Emit(logindtest.Session("own"), propsFace+".PropertiesChanged", sessionFace, map[string]dbus.Variant{"LockedHint": dbus.MakeVariant("odd")}, []string{})
			f.Emit(logindtest.Session("own"), propsFace+".PropertiesChanged", sessionFace)
			never(t, "locked for the session of another", d.isLocked)
			lock(f, "own")
			eventually(t, "locked", d.isLocked)
		})
	}
}

// TestLogindForged: anybody can send a signal to us; only logind's count.
func TestLogindForged(t *testing.T) {
	address, _ := logindtest.Bus(t)
	f := logindtest.New(t, address)
	d, _ := watching(t, Options{Suspend: true, Screen: true})
	f.AwaitTaken()
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
		for path, member := range map[dbus.ObjectPath]string{loginPath: managerFace + ".PrepareForSleep", logindtest.Session("own"): sessionFace + ".Lock"} {
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
	f.Lock("own")
	eventually(t, "locked by a true one", d.isLocked)
}

// TestLogindRestart: a new logind, and a new bus, are found again.
func TestLogindRestart(t *testing.T) {
	address, daemon := logindtest.Bus(t)
	old := logindtest.New(t, address)
	d, w := watching(t, Options{Screen: true})
	old.AwaitTaken()
	if err := old.Leave(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "no logind", func() bool { return !w.Status().Listening })
	f := logindtest.New(t, address)
	f.AwaitTaken()
	eventually(t, "listening again", func() bool { return w.Status().Listening })
	f.Lock("own")
	eventually(t, "locked", d.isLocked)

	_, w = watching(t, Options{Screen: true})
	eventually(t, "listening", func() bool { return w.Status().Listening })
	_ = daemon.Kill()
	eventually(t, "the bus is gone", func() bool { return !w.Status().Listening })
}

// TestLogindDenied: who may not delay suspend is told of it all the same.
func TestLogindDenied(t *testing.T) {
	address, _ := logindtest.Bus(t)
	f := logindtest.New(t, address)
	f.Deny()
	d, w := watching(t, Options{Suspend: true})
	eventually(t, "listening", func() bool { return w.Status().Listening })
	f.Sleep(true)
	eventually(t, "locked", d.isLocked)
}

// TestBusThatDoesNotAnswer: a bus that is stopped holds nothing up.
func TestBusThatDoesNotAnswer(t *testing.T) {
	address, daemon := logindtest.Bus(t)
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
