// Package instance keeps the window of a user to one: a second start hands what it was asked to do to the first and ends.
//
// A lock on a file says which process is the window; it goes with the process, however that ends, so that what a killed window
// has left is taken over without guessing. Both files lie in the runtime folder, which nobody else can enter, and both ends of
// the socket make sure that the other belongs to this user. What arrives is small, bounded and checked all the same.
package instance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"coffer/app/agent/socket"
)

// Request is what a start of the window is asked to do beside showing itself.
type Request struct {
	Open    []string `json:"open,omitempty"`    // absolute paths of containers
	LockAll bool     `json:"lockAll,omitempty"` // lock everything
	Hidden  bool     `json:"hidden,omitempty"`  // do not come to the front
}

// Bounds of a request, and how long its sender may take.
const (
	maxRequest = 1 << 20
	maxPaths   = 500
	maxPath    = 32 << 10
	patience   = 5 * time.Second
)

// errBad is a request that nobody of this program sends.
var errBad = errors.New("not a request of this program")

// Check says whether the request is within its bounds.
func (r Request) Check() error {
	if len(r.Open) > maxPaths {
		return fmt.Errorf("open containers: %d at once, at most %d", len(r.Open), maxPaths)
	}
	for _, path := range r.Open {
		if !filepath.IsAbs(path) || len(path) > maxPath || strings.ContainsRune(path, 0) {
			return fmt.Errorf("open %.80q: not an absolute path", path)
		}
	}
	return nil
}

// Instance is this process as the window of its user. Make it with Take.
type Instance struct {
	lock     *os.File
	listener net.Listener
	path     string
	ended    sync.Once
}

// Files in the runtime folder. Neither name can be that of a container's agent.
const (
	lockName   = "window.lock"
	socketName = "window.sock"
)

// Take makes this process the window, with its files in folder, which must be config.RuntimeDir's. If there is one already, it
// gets the request, and Take returns nil without an error: this process has nothing to do any more.
func Take(ctx context.Context, folder string, request Request) (*Instance, error) {
	if err := request.Check(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	path := filepath.Join(folder, socketName)
	for {
		lock, err := tryLock(filepath.Join(folder, lockName))
		if err != nil {
			return nil, fmt.Errorf("is there a window already: %w", err)
		}
		if lock != nil {
			listener, err := socket.Listen(path)
			if err != nil {
				return nil, errors.Join(fmt.Errorf("be reached by later starts of the window: %w", err), lock.Close())
			}
			return &Instance{lock: lock, listener: listener, path: path}, nil
		}
		// The other one may be just starting, or ending: then either its socket or its lock is there a moment later.
		err = hand(ctx, path, request)
		if err == nil || errors.Is(err, errBad) {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("there is a window already, but it does not answer: %w", err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// answer is what the window says to a request.
type answer struct {
	Error string `json:"error,omitempty"`
}

// hand gives a request to the window that listens at path.
func hand(ctx context.Context, path string, request Request) error {
	conn, err := socket.Dial(ctx, path)
	if err != nil {
		return err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(patience))
	if err := json.NewEncoder(conn).Encode(request); err != nil {
		return err
	}
	var said answer
	if err := json.NewDecoder(io.LimitReader(conn, maxRequest)).Decode(&said); err != nil {
		return err
	}
	if said.Error != "" {
		return fmt.Errorf("the window says: %w: %s", errBad, said.Error)
	}
	return nil
}

// Serve calls handle for every request of a later start, one at a time, until Close.
func (i *Instance) Serve(handle func(Request)) {
	var one sync.Mutex
	slots := make(chan struct{}, 8) // connections at once: one that says nothing keeps others out only for a while
	for {
		conn, err := i.listener.Accept()
		if err != nil {
			return
		}
		slots <- struct{}{}
		go func() {
			defer func() { <-slots }()
			defer conn.Close()
			request, err := receive(conn)
			if err != nil {
				_ = json.NewEncoder(conn).Encode(answer{Error: err.Error()})
				return
			}
			one.Lock()
			handle(request)
			one.Unlock()
			_ = json.NewEncoder(conn).Encode(answer{})
		}()
	}
}

// receive reads a request and checks it.
func receive(conn net.Conn) (Request, error) {
	var r Request
	_ = conn.SetDeadline(time.Now().Add(patience))
	decoder := json.NewDecoder(io.LimitReader(conn, maxRequest))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&r); err != nil {
		return r, fmt.Errorf("request: %w", err)
	}
	return r, r.Check()
}

// Close makes way for the next window.
func (i *Instance) Close() {
	i.ended.Do(func() {
		_ = os.Remove(i.path) // while the lock is held: it is ours
		_ = i.listener.Close()
		_ = i.lock.Close()
	})
}
