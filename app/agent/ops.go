package agent

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"coffer/app/agent/operations"
	"coffer/app/agent/registry"
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
		})
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
	return operations.NewClient(c.http.Transport, named)
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
