package agent

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"coffer/app/agent/operations"
	"coffer/app/agent/registry"
	"coffer/app/agent/socket"
	"coffer/app/session"
	"coffer/transfer"
	"coffer/vfs"
)

// beside is the drive as operations beside it see it.
type beside struct{ mount *vfs.Mount }

// Changed implements operations.Drive.
func (b beside) Changed(c transfer.Change) {
	kind := vfs.Written
	switch c.Kind {
	case transfer.Created:
		kind = vfs.Created
	case transfer.Removed:
		kind = vfs.Removed
	}
	b.mount.Changed(vfs.Change{Path: c.Path, Kind: kind})
}

// Flush implements operations.Drive.
func (b beside) Flush(ctx context.Context) error { return b.mount.Flush(ctx) }

// Writing implements operations.Drive.
func (b beside) Writing(path string) bool { return b.mount.Writing(path) }

// operationRoutes are the use cases on the container; see package operations.
func (c *core) operationRoutes() []route {
	if c.operations == nil {
		c.operations = operations.New(c.session, func() operations.Drive {
			if c.mount == nil {
				return nil
			}
			return beside{c.mount}
		}, reach)
	}
	all := []route{{path: operations.Prefix + "cancel", serve: func(w http.ResponseWriter, r *http.Request) error {
		c.operations.Cancel(w, r)
		return nil
	}}}
	for path, handle := range c.operations.Handlers() {
		all = append(all, route{path: path, job: true, serve: func(w http.ResponseWriter, r *http.Request) error {
			handle(w, r)
			return nil
		}})
	}
	return all
}

// Operations are the use cases on the container, run by its agent. named is the container as the person wrote it, for
// messages.
func (c *Client) Operations(named string) *operations.Client {
	return operations.NewClient(c.http.Transport, c.entry.ID, named)
}

// peerName is what a process that serves operations goes by in the runtime folder: its control socket without the ending.
var peerName = regexp.MustCompile(`^[0-9a-z-]{1,64}$`)

// reach leads to another process of this user that serves operations.
func reach(peer string) (http.RoundTripper, error) {
	if !peerName.MatchString(peer) {
		return nil, &session.Error{What: "reach the other container", Err: fmt.Errorf("%q names no process", peer), Code: session.Usage}
	}
	r, err := openRegistry(false)
	if err != nil {
		return nil, err
	}
	return newClient(r, Entry{ID: peer}).http.Transport, nil
}

// lendPrefix begins the names of sockets by which a command lends its container to an agent for one copy.
const lendPrefix = "lend-"

// lend lets other processes of this user reach a handler, under the name it returns, until stop is called. Sockets of
// commands that were killed are removed.
func lend(h http.Handler) (peer string, stop func(), err error) {
	r, err := openRegistry(true)
	if err != nil {
		return "", nil, err
	}
	left, err := filepath.Glob(r.Socket(lendPrefix + "*"))
	if err != nil {
		return "", nil, err
	}
	for _, abandoned := range left {
		if conn, err := net.Dial("unix", abandoned); err == nil {
			_ = conn.Close()
		} else if errors.Is(err, syscall.ECONNREFUSED) {
			_ = os.Remove(abandoned)
		}
	}
	peer = lendPrefix + strings.ToLower(rand.Text())
	listener, err := socket.Listen(r.Socket(peer))
	if err != nil {
		return "", nil, &session.Error{What: "copy", Err: fmt.Errorf("make a socket: %w", err)}
	}
	server := &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second, ErrorLog: log.New(io.Discard, "", 0)}
	go func() { _ = server.Serve(listener) }()
	return peer, func() {
		_ = server.Close()
		_ = os.Remove(r.Socket(peer))
	}, nil
}

// Copy runs a copy in the agent of a container that takes part, or else here; see operations.Copy.
func Copy(ctx context.Context, from, to session.Files, r session.CopyRequest) (*session.Record, error) {
	return operations.Copy(ctx, from, to, r, lend)
}

// FindImage returns the client of the agent that holds the file at path now, whatever path leads to it; ErrNotUnlocked when
// there is none. Unlike Find it takes no mount points, nor a path at which another file has been put since.
func FindImage(path string) (*Client, error) {
	r, err := openRegistry(false)
	if err != nil {
		return nil, err
	}
	id, err := registry.ID(path)
	if err != nil {
		return nil, &session.Error{What: "open " + path, Err: err}
	}
	live, err := r.Live()
	if err != nil {
		return nil, &session.Error{What: "look for unlocked containers", Err: err}
	}
	for _, e := range live {
		switch {
		case e.ID != id:
		case !e.Ready:
			return nil, &session.Error{What: "reach " + path, Code: session.InUse, Err: fmt.Errorf("process %d is just unlocking or locking it", e.PID)}
		default:
			return newClient(r, e), nil
		}
	}
	return nil, ErrNotUnlocked
}

// CheckLocked says whether no agent of this user holds the image: for what needs a container for itself. doing begins the
// sentence.
func CheckLocked(doing, image string) error {
	_, err := FindImage(image)
	switch {
	case err == nil:
		return session.NeedsLock(doing, image)
	case errors.Is(err, ErrNotUnlocked):
		return nil
	}
	return err
}
