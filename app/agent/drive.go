package agent

import (
	"context"
	"time"
)

// drive is a mount as the agent uses it.
type drive interface {
	Point() string
	Done() <-chan struct{}
	Unmount(ctx context.Context, force bool) error
	Counters() driveCounters
}

type driveCounters struct {
	LastUse time.Time
}

// detachDead detaches the dead mount at a mount point, if there is one.
func detachDead(point string) error { return nil }

// unmount takes the drive away. Without a drive it does nothing.
func (c *core) unmount(ctx context.Context, force bool) error {
	if c.mount == nil {
		return nil
	}
	return c.mount.Unmount(ctx, force)
}
