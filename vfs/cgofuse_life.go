//go:build windows || ((darwin || freebsd) && cgo) || (linux && cgofuse)

package vfs

import (
	"os"
	"os/signal"
	"reflect"
	"sync"
	"unsafe"

	"github.com/winfsp/cgofuse/fuse"
)

// cgoLife is the part of a file system that learns of its beginning and end. A file system embeds it.
type cgoLife struct {
	host    *fuse.FileSystemHost
	begun   chan struct{} // closed by the first callback
	beginIt sync.Once
}

// start prepares for a mount by host.
func (l *cgoLife) start(host *fuse.FileSystemHost) {
	l.host, l.begun = host, make(chan struct{})
}

// Init is the first callback.
func (l *cgoLife) Init() {
	if l.host == nil {
		return // in a test, without a mount
	}
	leaveSignals(l.host)
	l.beginIt.Do(func() { close(l.begun) })
}

// Destroy is the last callback.
func (l *cgoLife) Destroy() {}

// pid is the process a callback is made for, 0 if the library does not tell.
func (l *cgoLife) pid() int {
	if l.host == nil {
		return 0
	}
	_, _, pid := fuse.Getcontext()
	return max(pid, 0)
}

// leaveSignals takes SIGINT and SIGTERM away from cgofuse, which registers for them just before Init and
// would unmount, without a flush and whoever uses the drive: signals belong to the program. cgofuse offers no way to ask for
// that, so that its field has to be found by name; without it (Windows) there is nothing to do.
func leaveSignals(host *fuse.FileSystemHost) (left bool) {
	field := reflect.ValueOf(host).Elem().FieldByName("sigc")
	if !field.IsValid() || field.Type() != reflect.TypeFor[chan os.Signal]() {
		return false
	}
	if c := *(*chan os.Signal)(unsafe.Pointer(field.UnsafeAddr())); c != nil {
		signal.Stop(c)
		return true
	}
	return false
}
