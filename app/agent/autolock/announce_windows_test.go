package autolock

import (
	"context"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// TestHiddenWindow sends the window what Windows sends it.
func TestHiddenWindow(t *testing.T) {
	user := windows.NewLazySystemDLL("user32.dll")
	find, sendMessage := user.NewProc("FindWindowW"), user.NewProc("SendMessageW")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	a, err := connectSystem(ctx)
	if err != nil {
		t.Fatal(err)
	}
	events, served := make(chan Event, 1), make(chan error, 1)
	go func() { served <- a.serve(ctx, events) }()
	name, err := windows.UTF16PtrFromString("CofferAutoLock")
	if err != nil {
		t.Fatal(err)
	}
	var window uintptr
	for end := time.Now().Add(10 * time.Second); window == 0; time.Sleep(10 * time.Millisecond) {
		select {
		case err := <-served:
			t.Fatalf("no window: %v", err)
		default:
		}
		if window, _, _ = find.Call(uintptr(unsafe.Pointer(name)), 0); window == 0 && time.Now().After(end) {
			t.Fatal("no window after 10 s")
		}
	}
	for _, c := range []struct {
		message, parameter uintptr
		want               Event
	}{
		{wmPowerBroadcast, powerSuspend, Event{Kind: Suspend}},
		{wmPowerBroadcast, powerResume, Event{Kind: Resume}},
		{wmSessionChange, sessionLock, Event{Kind: ScreenLocked}},
		{wmSessionChange, sessionUnlock, Event{Kind: ScreenUnlocked}},
		{wmEndSession, 1, Event{Kind: Shutdown, Last: true}},
	} {
		answered := make(chan time.Duration, 1)
		began := time.Now()
		go func() {
			_, _, _ = sendMessage.Call(window, c.message, c.parameter, 0)
			answered <- time.Since(began)
		}()
		select {
		case e := <-events:
			if e.Kind != c.want.Kind || e.Last != c.want.Last {
				t.Errorf("message %#x: %+v, want %+v", c.message, e, c.want)
			}
			waits := e.Done != nil
			if waits { // the system waits for it
				time.Sleep(200 * time.Millisecond)
			}
			e.done()
			if took := <-answered; waits && took < 150*time.Millisecond || took > time.Second {
				t.Errorf("message %#x was answered after %v", c.message, took)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("message %#x: no event", c.message)
		}
	}
	// Nobody answers: Windows is not held up.
	began := time.Now()
	events <- Event{}
	_, _, _ = sendMessage.Call(window, wmPowerBroadcast, powerSuspend, 0)
	if took := time.Since(began); took < time.Second || took > 3*time.Second {
		t.Errorf("suspend was held up for %v, want %v", took, flushTime)
	}
	cancel()
	select {
	case err := <-served:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Error("the window does not close")
	}
}
