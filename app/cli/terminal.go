package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"coffer/container/secret"
)

// maxPasswordBytes bounds a typed or piped password.
const maxPasswordBytes = 4096

// errNoTerminal says that nobody can be asked.
var errNoTerminal = errors.New("no terminal to ask on")

// terminal is the controlling terminal of the process, opened for questions. It is used by one goroutine.
type terminal interface {
	io.Writer
	// silent switches the echo of typed characters off until the returned function is called.
	silent() (restore func(), err error)
	// reader reads what is typed, line by line as the terminal edits it, and fails with the context's error when it ends.
	reader(ctx context.Context) io.Reader
	Close() error
}

// askSecret asks for a secret without echo.
func askSecret(ctx context.Context, t terminal, question string) (*secret.Buffer, error) {
	restore, err := t.silent()
	if err != nil {
		return nil, fmt.Errorf("switch the terminal's echo off: %w", err)
	}
	fmt.Fprint(t, escape(question))
	typed, err := secret.ReadLine(t.reader(ctx), maxPasswordBytes)
	restore()
	fmt.Fprintln(t)
	if errors.Is(err, io.EOF) {
		return nil, errors.New("nothing was typed")
	}
	return typed, err
}

// askLine asks for something that is not secret.
func askLine(ctx context.Context, t terminal, question string) (string, error) {
	fmt.Fprint(t, escape(question))
	typed, err := secret.ReadLine(t.reader(ctx), maxPasswordBytes)
	if errors.Is(err, io.EOF) {
		return "", errors.New("nothing was typed")
	}
	if err != nil {
		return "", err
	}
	defer typed.Destroy()
	return strings.TrimSpace(string(typed.Bytes())), nil
}
