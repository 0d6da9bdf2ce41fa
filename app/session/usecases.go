package session

import (
	"context"
	"io"
)

// Files are the use cases on the files of one open container, whoever has it open: a *Session in this process, or a client
// of the agent that has unlocked it. All of them mean the same either way, to the message and the exit code.
type Files interface {
	Reading
	Changing
	// Close ends the use. Without an error everything changed is durable.
	Close() error
}

// Reading is what looks at files; paths are absolute inside the container.
type Reading interface {
	// List calls visit for the file at p, or for everything in the folder at p, with recursive also below it.
	List(ctx context.Context, p string, recursive bool, visit func(Entry) error) error
	// MustBeFile says whether there is a file at p that can be read now.
	MustBeFile(ctx context.Context, p string) error
	// Cat writes the bytes of the file at p to w.
	Cat(ctx context.Context, p string, w io.Writer) error
	// FileSystem describes the file system.
	FileSystem(ctx context.Context) (*FileSystemInfo, error)
}

// Changing is what changes names. What it did is seen at once by everybody, and durable after Close.
type Changing interface {
	Mkdir(ctx context.Context, p string, parents bool) error
	Remove(ctx context.Context, p string, recursive bool) error
	Move(ctx context.Context, sources []Place, to Place, force bool) ([]Moved, error)
}

// Payload are the use cases on the decrypted payload of one open container as a whole: a *Device in this process, or a
// client of the agent that has unlocked it.
type Payload interface {
	Check(ctx context.Context, r CheckRequest) (*CheckResult, error)
	Salvage(ctx context.Context, r CheckRequest) (*SalvageResult, error)
	Dump(ctx context.Context, w io.Writer, report Reporter) error
	DumpFile(ctx context.Context, to string, report Reporter) (int64, error)
	Close() error
}

var (
	_ Files   = (*Session)(nil)
	_ Payload = (*Device)(nil)
)
