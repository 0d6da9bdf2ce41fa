package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"coffer/app/agent/registry"
	"coffer/app/agent/socket"
	"coffer/app/session"
)

// Hooks are what the one who runs an agent wants to know. Fields may be nil, but for Ready.
type Hooks struct {
	Watch Watch
	// Ready is called when the container is unlocked; an error undoes it all.
	Ready func(Entry) error
	// Log receives what happens; never a name from inside a container.
	Log func(event string, err error)

	detached bool // nobody reads what this process writes
}

// ServeSpawned is the process that Unlock starts: it reads its request from in, answers on out, and keeps the container
// unlocked until it is locked or ctx ends. It closes both streams when it is on its own.
func ServeSpawned(ctx context.Context, in, out *os.File, log func(string, error)) error {
	settle()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var mu sync.Mutex
	encoder := json.NewEncoder(out)
	say := func(a answer) error {
		mu.Lock()
		defer mu.Unlock()
		return encoder.Encode(a)
	}
	settings, credential, err := readRequest(in)
	if err == nil {
		kept := make(chan bool, 1)
		go awaitKeep(in, kept, cancel)
		hooks := Hooks{Log: log, detached: true, Watch: Watch{
			Stage: func(stage string) { _ = say(answer{Stage: stage}) },
			Note:  func(text string) { _ = say(answer{Note: text}) },
		}}
		hooks.Ready = func(e Entry) error {
			if err := say(answer{Ready: &e}); err != nil {
				return err
			}
			if !<-kept {
				return context.Canceled
			}
			return letGo()
		}
		err = Serve(ctx, settings, &credential, hooks)
	}
	if err != nil {
		problem := session.Explain(err)
		_ = say(answer{Error: &problem}) // nobody may be there to hear it
	}
	return err
}

// awaitKeep waits for the word that somebody has seen the agent ready. Its absence cancels.
func awaitKeep(in *os.File, kept chan<- bool, cancel func()) {
	word := make([]byte, 1)
	if n, _ := in.Read(word); n == 1 && word[0] == keep {
		kept <- true
		return
	}
	cancel()
	kept <- false
}

// Serve unlocks a container and keeps it unlocked in this process until it is locked by a client, unmounted from outside,
// locked by itself (auto-lock), or ctx ends, which locks it by force. The credential is destroyed once it is not needed any
// more. An error of the locking, the last chance to hear of a write that failed, is returned.
func Serve(ctx context.Context, s Settings, credential *session.Credential, h Hooks) error {
	defer credential.Destroy()
	if h.Log == nil {
		h.Log = func(string, error) {}
	}
	if err := s.complete(); err != nil {
		return err
	}
	c, err := start(ctx, s, credential, h)
	if err != nil {
		return err
	}
	ready := func() error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := c.claim.Update(func(e *Entry) { e.Ready = true }); err != nil {
			return err
		}
		return h.Ready(c.claim.Entry())
	}
	if err := ready(); err != nil {
		return errors.Join(err, c.undo())
	}
	h.Log("unlocked", nil)
	// The credential, what deriving the key took, and what opening the file system left behind: gone.
	debug.FreeOSMemory()
	collectSeldom()
	return c.serve(ctx)
}

// start claims, opens, mounts and listens.
func start(ctx context.Context, s Settings, credential *session.Credential, h Hooks) (*core, error) {
	id, err := registry.ID(s.Image)
	if err != nil {
		return nil, &session.Error{What: "open " + s.Named, Err: err}
	}
	r, err := openRegistry(true)
	if err != nil {
		return nil, err
	}
	c := &core{settings: s, detached: h.detached, log: h.Log, began: time.Now(), jobs: map[*job]struct{}{}, locked: make(chan struct{})}
	c.claim, err = r.Claim(Entry{
		ID: id, Image: s.Image, Started: c.began.UTC().Round(time.Millisecond), ReadOnly: s.ReadOnly, Raw: s.Raw, Program: s.Program,
	}, cleaner())
	var held *registry.HeldError
	if errors.As(err, &held) {
		return nil, inUse(s.Named, held)
	}
	if err != nil {
		return nil, &session.Error{What: "unlock " + s.Named, Err: err}
	}
	c.expectCrashes()
	h.Watch.stage("open")
	c.rank.set(niceUnlocking)
	err = c.openContainer(ctx, *credential, h.Watch)
	c.rank.set(niceServing)
	if err != nil {
		return nil, errors.Join(s.asNamed(err), c.release())
	}
	credential.Destroy()
	if c.listener, err = socket.Listen(c.claim.Socket()); err != nil {
		err = &session.Error{What: "unlock " + s.Named, Err: fmt.Errorf("make the control socket: %w", err)}
		return nil, errors.Join(err, c.close(), c.release())
	}
	if err := c.openDrive(ctx, h.Watch); err != nil {
		return nil, errors.Join(err, c.listener.Close(), c.close(), c.release())
	}
	c.watchAutoLock()
	return c, nil
}

// openContainer opens the container and, unless it is raw, the file system inside.
func (c *core) openContainer(ctx context.Context, credential session.Credential, watch Watch) (err error) {
	if c.settings.Raw {
		c.device, err = session.OpenDevice(ctx, c.settings.target(), c.settings.ReadOnly, credential)
		return err
	}
	c.session, err = session.Open(ctx, c.settings.target(), session.OpenOptions{ReadOnly: c.settings.ReadOnly}, credential)
	if err != nil {
		return err
	}
	c.device = &c.session.Device
	for _, note := range c.session.Notes {
		watch.note(strings.Replace(note, c.settings.Image, c.settings.Named, 1))
	}
	return nil
}

// undo takes back an unlock that nobody waited for.
func (c *core) undo() error {
	ctx, cancel := context.WithTimeout(context.Background(), unmountPatience)
	defer cancel()
	return errors.Join(c.lock(ctx, true, "not kept"), c.listener.Close(), c.release())
}

// serve answers on the socket until the container is locked.
func (c *core) serve(ctx context.Context) error {
	c.http = c.server()
	go func() { _ = c.http.Serve(c.listener) }()
	background, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	for _, work := range c.backgrounds() {
		running.Go(func() { work(background) })
	}
	var gone <-chan struct{} // nil: never
	if c.mount != nil {
		gone = c.mount.Done()
	}
	select {
	case <-c.locked:
	case <-ctx.Done():
		c.lockByForce("terminated")
	case <-gone:
		c.lockByForce("unmounted from outside")
	}
	stop()
	running.Wait()
	closing, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if c.http.Shutdown(closing) != nil { // the answer of the lock request is on its way out
		_ = c.http.Close()
	}
	return errors.Join(c.lockErr, c.release())
}

// lockByForce locks whatever is in the way. Its result is in lockErr.
func (c *core) lockByForce(reason string) {
	ctx, cancel := context.WithTimeout(context.Background(), unmountPatience)
	defer cancel()
	_ = c.lock(ctx, true, reason)
}

const (
	// healTicks is how often, in steps of the meter, the agent looks whether its files in the registry are still there.
	healTicks = 5
	// restAfter is the time without use after which memory that was needed for the use is given back.
	restAfter = 30 * time.Second
)

// watchOver samples the counters, gives memory back when the drive comes to rest, and puts back what a cleaner of old
// files has taken from the registry: without it nobody could lock the container any more.
func (c *core) watchOver(ctx context.Context) {
	ticker := time.NewTicker(meterStep)
	defer ticker.Stop()
	rested := true // serve has just done it
	for tick := 1; ; tick++ {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		c.meter.sample(c.counts())
		if tick%healTicks == 0 {
			c.heal()
		}
		switch idle := c.auto.Status().IdleFor; {
		case idle < restAfter:
			rested = idle > 2*meterStep && rested
		case !rested:
			debug.FreeOSMemory()
			rested = true
		}
	}
}

// heal restores what is missing of the registry.
func (c *core) heal() {
	if _, err := os.Lstat(c.claim.CrashFile()); errors.Is(err, os.ErrNotExist) {
		defer c.expectCrashes() // the folder is there again by then
	}
	there, err := c.claim.Heal()
	if err != nil || there {
		return
	}
	listener, err := socket.Listen(c.claim.Socket())
	if err != nil {
		c.log("restore the control socket", err)
		return
	}
	go func() { _ = c.http.Serve(listener) }()
}
