//go:build unix

package cli

import (
	"context"
	"fmt"
	"io"

	"golang.org/x/sys/unix"
)

// tty is /dev/tty by its raw descriptor: Go's own files cannot poll terminals on every Unix.
type tty struct{ fd int }

// openTerminal opens the controlling terminal; errNoTerminal when there is none.
func openTerminal() (terminal, error) {
	fd, err := unix.Open("/dev/tty", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoTerminal, err)
	}
	return &tty{fd: fd}, nil
}

// Write prints to the terminal.
func (t *tty) Write(p []byte) (int, error) { return unix.Write(t.fd, p) }

// Close closes the descriptor.
func (t *tty) Close() error { return unix.Close(t.fd) }

func (t *tty) silent() (func(), error) {
	before, err := unix.IoctlGetTermios(t.fd, ioctlGetTermios)
	if err != nil {
		return nil, err
	}
	after := *before
	after.Lflag &^= unix.ECHO
	after.Lflag |= unix.ICANON | unix.ISIG
	after.Iflag |= unix.ICRNL
	if err := unix.IoctlSetTermios(t.fd, ioctlSetTermios, &after); err != nil {
		return nil, err
	}
	return func() { _ = unix.IoctlSetTermios(t.fd, ioctlSetTermios, before) }, nil
}

func (t *tty) reader(ctx context.Context) io.Reader { return ttyReader{t, ctx} }

type ttyReader struct {
	t   *tty
	ctx context.Context
}

// Read waits for typed bytes in steps of 100 ms, so that a cancelled context ends it.
func (r ttyReader) Read(p []byte) (int, error) {
	for {
		if err := r.ctx.Err(); err != nil {
			return 0, err
		}
		var ready unix.FdSet
		ready.Set(r.t.fd)
		wait := unix.Timeval{Usec: 100_000}
		n, err := unix.Select(r.t.fd+1, &ready, nil, nil, &wait)
		if err == unix.EINTR || err == nil && n == 0 {
			continue
		}
		if err != nil {
			return 0, err
		}
		got, err := unix.Read(r.t.fd, p)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return 0, err
		case got == 0:
			return 0, io.EOF
		}
		return got, nil
	}
}
