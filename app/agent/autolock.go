package agent

import (
	"context"
	"fmt"
	"time"

	"coffer/app/agent/autolock"
)

// autoLock are the rules by which this container locks by itself.
func (c *core) autoLock() autolock.Options {
	s := c.settings
	return autolock.Options{Idle: time.Duration(s.Idle), Lifetime: time.Duration(s.Lifetime),
		Suspend: s.AutoLock.Suspend, Screen: s.AutoLock.Screen, Force: s.AutoLock.Force}
}

// lockByItself locks the container when its time has come. The lifetime counts from when it was unlocked.
func (c *core) lockByItself(ctx context.Context) { c.auto.Run(ctx) }

// watchAutoLock begins to measure.
func (c *core) watchAutoLock() {
	c.auto = autolock.New(selfLocking{c}, c.autoLock(), func(reason autolock.Reason, err error) {
		// The error may name programs and files, which are for Status only.
		switch {
		case err == nil:
			c.log("auto-lock: "+string(reason)+": done", nil)
		default:
			c.log("auto-lock: "+string(reason)+": not possible now", nil)
		}
	})
}

// selfLocking is the container as package autolock sees it.
type selfLocking struct{ c *core }

// Activity tells about use through the drive and through the control socket.
func (s selfLocking) Activity() autolock.Activity {
	c := s.c
	a := autolock.Activity{LastUse: c.began.Add(time.Duration(c.used.Load())), Busy: c.running() > 0}
	if c.mount != nil {
		through := c.mount.Counters()
		if through.LastUse.After(a.LastUse) {
			a.LastUse = through.LastUse
		}
		a.Busy = a.Busy || through.OpenWriters > 0
	}
	return a
}

// Flush makes durable what programs have written, also into mapped files.
func (s selfLocking) Flush(ctx context.Context) error {
	switch c := s.c; {
	case c.mount != nil:
		return c.mount.Flush(ctx)
	case c.session != nil:
		return c.session.Volume.Sync()
	}
	return nil
}

// Lock locks as a client's request would. A drive that programs use is looked at first: an attempt would refuse whoever
// asks for something meanwhile.
func (s selfLocking) Lock(ctx context.Context, force bool) error {
	if c := s.c; !force && c.mount != nil {
		if users := c.mount.Users(); len(users) > 0 {
			return c.explainBusy(users)
		}
	}
	return s.c.lock(ctx, force, "by itself")
}

// addAutoLock completes a Status.
func (c *core) addAutoLock(s *Status) {
	auto := c.auto.Status()
	s.IdleSeconds = auto.IdleFor.Seconds()
	if auto.LocksIn > 0 {
		s.LocksIn = auto.LocksIn.Seconds()
	}
	if auto.Held != nil && s.Warning == "" {
		s.Warning = fmt.Sprintf("%s: %v", heldWords[auto.HeldFor], auto.Held)
	}
}

// heldWords begin the remark that a container could not lock by itself.
var heldWords = map[autolock.Reason]string{
	autolock.ReasonIdle:     "nobody uses it, but it cannot be locked",
	autolock.ReasonLifetime: "its lifetime is over, but it cannot be locked",
	autolock.ReasonSuspend:  "it stayed unlocked when the computer slept",
	autolock.ReasonScreen:   "the screen is locked, but it cannot be",
	autolock.ReasonShutdown: "the computer is shutting down, but it cannot be locked",
}
