// Package interrupt catches the signals that ask the program to end. It does so while packages are still being
// initialised, which takes tens of milliseconds: a signal in that time counts as one that comes later. It imports nothing
// but the standard library, so that it is initialised before the packages that take long.
package interrupt

import (
	"context"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
)

// caught receives the signals from the first moment on; nothing changes it afterwards.
var caught = catch()

// catch asks for the signals. SIGQUIT and SIGABRT are among them because Go's own answer to them prints the processor's
// registers, which can hold key material, and leaves a terminal without echo.
func catch() chan os.Signal {
	c := make(chan os.Signal, 2)
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT, syscall.SIGABRT}
	if !signal.Ignored(syscall.SIGHUP) { // under nohup a lost terminal is no reason to end
		signals = append(signals, syscall.SIGHUP)
	}
	signal.Notify(c, signals...)
	return c
}

// Context is cancelled by the first signal, also by one that came before the call. A second signal ends the process with
// exitCode at once, unless the returned function was called before: it is for work whose end must not be cut short. Call
// Context once, from the goroutine that runs the program.
func Context(exitCode int) (ctx context.Context, patient func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var isPatient atomic.Bool
	go func() {
		<-caught
		cancel()
		for range caught {
			if !isPatient.Load() {
				os.Exit(exitCode)
			}
		}
	}()
	return ctx, func() { isPatient.Store(true) }
}
