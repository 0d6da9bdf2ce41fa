package autolock

import (
	"context"
	"fmt"
	"runtime"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Messages and their parameters (winuser.h, wtsapi32.h).
const (
	wmDestroy         = 0x0002
	wmClose           = 0x0010
	wmQueryEndSession = 0x0011
	wmEndSession      = 0x0016
	wmPowerBroadcast  = 0x0218
	wmSessionChange   = 0x02B1

	powerSuspend = 4
	powerResume  = 0x12 // sent after every sleep, also if nobody is there

	sessionLock   = 7
	sessionUnlock = 8
)

// windowClass is WNDCLASSEXW.
type windowClass struct {
	size, style                        uint32
	procedure                          uintptr
	classExtra, windowExtra            int32
	instance, icon, cursor, background uintptr
	menu, name                         *uint16
	smallIcon                          uintptr
}

// message is MSG.
type message struct {
	window         uintptr
	id             uint32
	wParam, lParam uintptr
	time           uint32
	x, y           int32
	private        uint32
}

// systemCalls are the functions x/sys does not have.
type systemCalls struct {
	registerClass, createWindow, destroyWindow, defaultProcedure     *windows.LazyProc
	getMessage, dispatchMessage, postMessage, postQuitMessage        *windows.LazyProc
	registerSession, unregisterSession, unregisterClass, getInstance *windows.LazyProc
}

func loadSystemCalls() *systemCalls {
	user, session, kernel := windows.NewLazySystemDLL("user32.dll"), windows.NewLazySystemDLL("wtsapi32.dll"), windows.NewLazySystemDLL("kernel32.dll")
	return &systemCalls{
		registerClass: user.NewProc("RegisterClassExW"), createWindow: user.NewProc("CreateWindowExW"),
		destroyWindow: user.NewProc("DestroyWindow"), defaultProcedure: user.NewProc("DefWindowProcW"),
		getMessage: user.NewProc("GetMessageW"), dispatchMessage: user.NewProc("DispatchMessageW"),
		postMessage: user.NewProc("PostMessageW"), postQuitMessage: user.NewProc("PostQuitMessage"),
		unregisterClass: user.NewProc("UnregisterClassW"), getInstance: kernel.NewProc("GetModuleHandleW"),
		registerSession:   session.NewProc("WTSRegisterSessionNotification"),
		unregisterSession: session.NewProc("WTSUnRegisterSessionNotification"),
	}
}

// hiddenWindow receives what Windows tells top-level windows; a message-only window would not be told of sleep.
type hiddenWindow struct{ calls *systemCalls }

// connectSystem always succeeds; the window is made by serve, which has the thread it belongs to.
func connectSystem(context.Context) (announcer, error) { return &hiddenWindow{loadSystemCalls()}, nil }

// serve implements announcer. It is called once in a process: its callback is never given back.
func (h *hiddenWindow) serve(ctx context.Context, events chan<- Event) error {
	runtime.LockOSThread() // a window belongs to the thread that made it
	defer runtime.UnlockOSThread()
	name, err := windows.UTF16PtrFromString("CofferAutoLock")
	if err != nil {
		return err
	}
	instance, _, _ := h.calls.getInstance.Call(0)
	class := windowClass{procedure: windows.NewCallback(func(window, id, wParam, lParam uintptr) uintptr {
		return h.receive(ctx, events, window, uint32(id), wParam, lParam)
	}), instance: instance, name: name}
	class.size = uint32(unsafe.Sizeof(class))
	if atom, _, err := h.calls.registerClass.Call(uintptr(unsafe.Pointer(&class))); atom == 0 {
		return fmt.Errorf("register window class: %w: %w", errForGood, err)
	}
	defer func() { _, _, _ = h.calls.unregisterClass.Call(uintptr(unsafe.Pointer(name)), instance) }()
	window, _, err := h.calls.createWindow.Call(0, uintptr(unsafe.Pointer(name)), uintptr(unsafe.Pointer(name)), 0, 0, 0, 0, 0, 0, 0, instance, 0)
	if window == 0 {
		return fmt.Errorf("make hidden window: %w: %w", errForGood, err)
	}
	const thisSession = 0
	// Without it there are no screen locks; all else works.
	if ok, _, _ := h.calls.registerSession.Call(window, thisSession); ok != 0 {
		defer func() { _, _, _ = h.calls.unregisterSession.Call(window) }()
	}
	defer context.AfterFunc(ctx, func() { _, _, _ = h.calls.postMessage.Call(window, wmClose, 0, 0) })()
	for {
		var m message
		got, _, err := h.calls.getMessage.Call(uintptr(unsafe.Pointer(&m)), 0, 0, 0)
		switch int32(got) {
		case 0: // the window was closed
			return nil
		case -1:
			return fmt.Errorf("messages of the hidden window: %w: %w", errForGood, err)
		}
		_, _, _ = h.calls.dispatchMessage.Call(uintptr(unsafe.Pointer(&m)))
	}
}

// receive is the window procedure. Windows waits for its answer before it sleeps or ends the session.
func (h *hiddenWindow) receive(ctx context.Context, events chan<- Event, window uintptr, id uint32, wParam, lParam uintptr) uintptr {
	switch id {
	case wmPowerBroadcast:
		switch wParam {
		case powerSuspend:
			announce(ctx, events, Event{Kind: Suspend})
		case powerResume:
			send(ctx, events, Event{Kind: Resume})
		}
		return 1
	case wmQueryEndSession:
		return 1
	case wmEndSession:
		if wParam != 0 {
			announce(ctx, events, Event{Kind: Shutdown, Last: true})
		}
		return 0
	case wmSessionChange:
		switch wParam {
		case sessionLock:
			send(ctx, events, Event{Kind: ScreenLocked})
		case sessionUnlock:
			send(ctx, events, Event{Kind: ScreenUnlocked})
		}
		return 0
	case wmClose:
		_, _, _ = h.calls.destroyWindow.Call(window)
		return 0
	case wmDestroy:
		_, _, _ = h.calls.postQuitMessage.Call(0)
		return 0
	}
	answer, _, _ := h.calls.defaultProcedure.Call(window, uintptr(id), wParam, lParam)
	return answer
}

// announce passes an event on and waits until it was dealt with, for as long as Windows waits for us.
func announce(ctx context.Context, events chan<- Event, e Event) {
	done := make(chan struct{})
	e.Done = once(func() { close(done) })
	timer := time.NewTimer(flushTime)
	defer timer.Stop()
	select {
	case events <- e:
	case <-timer.C:
		return
	case <-ctx.Done():
		return
	}
	select {
	case <-done:
	case <-timer.C:
	case <-ctx.Done():
	}
}
