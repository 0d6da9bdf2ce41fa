package operations

import (
	"context"
	"fmt"
	"time"

	"coffer/fat32"
	"coffer/transfer"
)

// Drive is the mount beside which operations run.
type Drive interface {
	// Changed makes the system forget what it knew of the path.
	Changed(transfer.Change)
	// Flush brings down what programs have written and the system has not handed on.
	Flush(ctx context.Context) error
	// Writing says whether a program has the file open for writing.
	Writing(path string) bool
}

const (
	// releasePatience is how long a file may still count as open for writing after its last close: the system tells of
	// closes a moment later.
	releasePatience = 300 * time.Millisecond
	releaseStep     = 2 * time.Millisecond
	// flushPatience bounds the wait for a system that does not hand on what it holds.
	flushPatience = 30 * time.Second
)

// busyError says that a program writes to a file. It is fat32.ErrBusy.
type busyError struct{}

func (busyError) Error() string        { return "a program has it open for writing, on the drive" }
func (busyError) Is(target error) bool { return target == fat32.ErrBusy }

// neighbour is a drive as the operations beside it see it.
type neighbour struct{ drive Drive }

// Changed passes a change on.
func (n neighbour) Changed(c transfer.Change) { n.drive.Changed(c) }

// BeforeRead refuses a file that is open for writing: nobody knows when its writer is done.
func (n neighbour) BeforeRead(path string) error { return n.settle(path) }

// BeforeReplace does the same: what its writer still holds would be lost.
func (n neighbour) BeforeReplace(path string) error { return n.settle(path) }

// settle waits a little for a file that is open for writing, and then refuses it. Mapped pages are handed on before the
// last close of a file, or of its last mapping, is told, so that a file nobody has open for writing is down already; the
// flush is for systems that hold it open meanwhile.
func (n neighbour) settle(path string) error {
	if !n.drive.Writing(path) {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), flushPatience)
	defer cancel()
	if err := n.drive.Flush(ctx); err != nil {
		return fmt.Errorf("flush the drive: %w", err)
	}
	for end := time.Now().Add(releasePatience); n.drive.Writing(path); time.Sleep(releaseStep) {
		if time.Now().After(end) {
			return busyError{}
		}
	}
	return nil
}
