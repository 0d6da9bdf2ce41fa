package agent

import (
	"context"
	"errors"
	"time"

	"coffer/vfs"
)

// The file system inside a raw container is mounted by a program of its own, which ends a moment after it was unmounted:
// it still writes what it holds.
const (
	rawPatience = 4 * time.Second
	rawStep     = 50 * time.Millisecond
)

// unmountRaw is an unforced unmounting of a raw drive that waits for such a program to end, unless somebody is in a hurry.
func (c *core) unmountRaw(ctx context.Context) error {
	deadline := time.Now().Add(rawPatience)
	for {
		err := c.mount.Unmount(ctx, false)
		if !errors.Is(err, vfs.ErrBusy) || c.forced.Load() || time.Now().After(deadline) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(rawStep):
		}
	}
}
