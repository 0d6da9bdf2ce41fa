package exerciser

import (
	"io"
	"io/fs"
	"os"
)

// System is the file system under test. Names are host paths. Errors must satisfy errors.Is against fs.ErrExist and
// fs.ErrNotExist where these apply. Calls may come from several goroutines.
type System interface {
	Open(name string, flag int) (Handle, error) // flags of package os; new files get mode 0666
	Rename(from, to string) error               // replaces what is there
	Remove(name string) error                   // a file or an empty folder
	Mkdir(name string) error
	Stat(name string) (fs.FileInfo, error)
	List(name string) ([]fs.FileInfo, error) // in any order, as a listing with attributes sees it
}

// Handle is an open file. Offsets and lengths are bytes.
type Handle interface {
	io.ReaderAt
	io.WriterAt
	io.Writer // at the end, if opened with os.O_APPEND
	Truncate(sizeBytes int64) error
	Sync() error
	Size() (int64, error)
	Close() error
	// Map maps the first sizeBytes of the file, shared. ErrUnsupported where the system has no such thing.
	Map(sizeBytes int64, writable bool) (Mapping, error)
	// Forget writes everything back and drops what the system's page cache holds of the file, so that the next read
	// asks the file system. A system that cannot do so only writes back.
	Forget() error
	// Punch asks to free a range, which a FAT volume must refuse without changing a byte.
	Punch(off, length int64) error
}

// Mapping is a shared memory map of a file. The memory must not be touched beyond the end of the file.
type Mapping interface {
	Bytes() []byte
	Sync() error
	Close() error
}

// ErrUnsupported means that this operating system has no such operation.
var ErrUnsupported = fs.ErrInvalid

// OS returns the file system of the host.
func OS() System { return hostSystem{} }

type hostSystem struct{}

func (hostSystem) Open(name string, flag int) (Handle, error) {
	f, err := os.OpenFile(name, flag, 0o666)
	if err != nil {
		return nil, err
	}
	return &hostFile{File: f}, nil
}

func (hostSystem) Remove(name string) error              { return os.Remove(name) }
func (hostSystem) Mkdir(name string) error               { return os.Mkdir(name, 0o777) }
func (hostSystem) Stat(name string) (fs.FileInfo, error) { return os.Lstat(name) }

// List reads the folder with one handle and asks for the attributes of each entry, as ls -l does.
func (hostSystem) List(name string) ([]fs.FileInfo, error) {
	d, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.Readdir(-1)
}

// hostFile gives an *os.File what package os has no call for.
type hostFile struct{ *os.File }

func (f *hostFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
