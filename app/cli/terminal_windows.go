package cli

import (
	"context"
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/sys/windows"
)

// console is the process's console, by its input and output buffers.
type console struct {
	in, out windows.Handle
	rest    []byte // read but not yet handed out: the tail of a line in UTF-8
}

// openTerminal opens the console; errNoTerminal when there is none.
func openTerminal() (terminal, error) {
	open := func(name string) (windows.Handle, error) {
		path, err := windows.UTF16PtrFromString(name)
		if err != nil {
			return 0, err
		}
		return windows.CreateFile(path, windows.GENERIC_READ|windows.GENERIC_WRITE,
			windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE, nil, windows.OPEN_EXISTING, 0, 0)
	}
	in, err := open("CONIN$")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoTerminal, err)
	}
	out, err := open("CONOUT$")
	if err != nil {
		_ = windows.CloseHandle(in)
		return nil, fmt.Errorf("%w: %w", errNoTerminal, err)
	}
	return &console{in: in, out: out}, nil
}

// Write prints to the console.
func (c *console) Write(p []byte) (int, error) {
	text := utf16.Encode([]rune(string(p)))
	if len(text) == 0 {
		return 0, nil
	}
	var written uint32
	if err := windows.WriteConsole(c.out, &text[0], uint32(len(text)), &written, nil); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Close wipes what was typed ahead and closes the console.
func (c *console) Close() error {
	clear(c.rest[:cap(c.rest)])
	_ = windows.CloseHandle(c.out)
	return windows.CloseHandle(c.in)
}

func (c *console) silent() (func(), error) {
	var before uint32
	if err := windows.GetConsoleMode(c.in, &before); err != nil {
		return nil, err
	}
	after := before&^windows.ENABLE_ECHO_INPUT | windows.ENABLE_LINE_INPUT | windows.ENABLE_PROCESSED_INPUT
	if err := windows.SetConsoleMode(c.in, after); err != nil {
		return nil, err
	}
	return func() { _ = windows.SetConsoleMode(c.in, before) }, nil
}

func (c *console) reader(ctx context.Context) io.Reader { return consoleReader{c, ctx} }

type consoleReader struct {
	c   *console
	ctx context.Context
}

// Read gives what was typed as UTF-8. The console delivers whole lines as UTF-16; both buffers are wiped after use.
func (r consoleReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	if len(r.c.rest) == 0 {
		var typed [maxPasswordBytes]uint16
		defer clear(typed[:])
		var n uint32
		if err := windows.ReadConsole(r.c.in, &typed[0], uint32(len(typed)), &n, nil); err != nil {
			return 0, err
		}
		if n == 0 {
			if err := r.ctx.Err(); err != nil {
				return 0, err
			}
			return 0, io.EOF
		}
		r.c.rest = appendUTF8(make([]byte, 0, 3*n), typed[:n])
	}
	n := copy(p, r.c.rest)
	clear(r.c.rest[:n])
	r.c.rest = r.c.rest[n:]
	return n, nil
}

// appendUTF8 decodes units without a copy elsewhere; to has room for three bytes a unit.
func appendUTF8(to []byte, units []uint16) []byte {
	for i := 0; i < len(units); i++ {
		r := rune(units[i])
		if utf16.IsSurrogate(r) && i+1 < len(units) {
			r = utf16.DecodeRune(r, rune(units[i+1]))
			i++
		}
		to = utf8.AppendRune(to, r)
	}
	return to
}
