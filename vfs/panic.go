package vfs

import (
	"bytes"
	"fmt"
	"runtime"
	"runtime/debug"
)

// Panicked turns a panic that a binding recovered from a callback into the error of that
// callback. The volume is read-only from now on, because nobody knows in which state it is; reads go on.
func (fs *FS) Panicked(value any) error {
	fs.volume.Fail(errPanic)
	if fs.options.OnPanic != nil {
		fs.options.OnPanic(panicReport(value, debug.Stack()))
	}
	return errPanic
}

// panicReport describes a panic without anything a program may have put into it: messages of the
// runtime hold numbers only, of all other values just the type is told. Stacks hold names of functions and addresses.
func panicReport(value any, stack []byte) []byte {
	var b bytes.Buffer
	if e, ok := value.(runtime.Error); ok {
		fmt.Fprintf(&b, "panic in a file-system callback: %s\n\n", e.Error())
	} else {
		fmt.Fprintf(&b, "panic in a file-system callback: value of type %T\n\n", value)
	}
	// The first lines of a stack tell the goroutine and this function; a line "panic(...)" may hold the value.
	for line := range bytes.Lines(stack) {
		if bytes.HasPrefix(line, []byte("panic(")) {
			line = []byte("panic(...)\n")
		}
		b.Write(line)
	}
	return b.Bytes()
}
