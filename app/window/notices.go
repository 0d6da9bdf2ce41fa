package window

import (
	"context"
	"sync"
	"time"

	"coffer/app/protocol"
	"coffer/app/window/backend"
	"coffer/app/window/model"
	"coffer/app/window/text"
	"coffer/app/window/ui"
	"coffer/app/window/unlock"
)

// asked is whom ownLocks asks; it has a method Drives, so a field cannot be called that.
type asked = backend.Drives

// ownLocks notes what this window itself locks: of that nobody needs to be told.
type ownLocks struct {
	asked
	mu  sync.Mutex
	ids map[string]bool
}

// Lock implements backend.Drives.
func (o *ownLocks) Lock(ctx context.Context, id string, force bool) error {
	o.set(id, true) // before: the model may see the end earlier than the answer comes
	err := o.asked.Lock(ctx, id, force)
	if err != nil {
		o.set(id, false)
	}
	return err
}

func (o *ownLocks) set(id string, own bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ids == nil {
		o.ids = map[string]bool{}
	}
	o.ids[id] = own
}

// take says whether the window locked it, once.
func (o *ownLocks) take(id string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	own := o.ids[id]
	delete(o.ids, id)
	return own
}

// notice is something a person should hear of at once.
type notice struct{ title, words string }

// watch compares what is unlocked with what was, and finds what a person should hear of: a drive that went without them, a
// drive with a problem.
type watch struct {
	before map[string]model.Container // by identity, what was unlocked
	own    func(id string) bool       // whether the window locked it
}

// almostDue is how near to its time a drive must have been that then went by itself: two looks at it, and some.
const almostDue = 3 * time.Second

// look takes the list as it is now.
func (o *watch) look(now []model.Container) (notices []notice) {
	after := map[string]model.Container{}
	for _, c := range now {
		switch was, known := o.before[c.ID]; {
		case c.ID == "":
		case c.State.Open():
			after[c.ID] = c
			if problem := c.Status.Problem; problem != "" && (!known || problem != was.Status.Problem) {
				notices = append(notices, notice{text.T("Problem with %s", ui.Clean(c.Title())), ui.Sentence(problem)})
			}
		case known && (c.State == model.Busy || c.State == model.Unresponsive):
			after[c.ID] = was // not gone, as far as one knows
		}
	}
	for id, was := range o.before {
		if _, still := after[id]; still || o.own(id) || !was.Listed {
			continue // what is not listed comes and goes, as drives of experiments do
		}
		words := text.T("Another program locked it, or the process that held it ended.")
		if due := was.Status.LocksIn; due > 0 && due < almostDue.Seconds() {
			words = text.T("It locked by itself, as its settings say.")
		}
		notices = append(notices, notice{text.T("%s is locked", ui.Clean(was.Title())), words})
	}
	o.before = after
	return notices
}

// startNotices tells the person what watch finds, until the window ends.
func (w *window) startNotices(own *ownLocks) {
	o := &watch{own: own.take}
	var one sync.Mutex
	stop := w.deps.Model.Listen(func() {
		if w.deps.Model.Failure() != nil {
			return // nothing is known
		}
		one.Lock()
		defer one.Unlock()
		for _, n := range o.look(w.deps.Model.Containers()) {
			w.deps.Do(func() { w.Notify(n.title, n.words) })
		}
	})
	context.AfterFunc(w.deps.Context, stop)
}

// lockQuietly locks a container from the tray. If something is in the way, the window comes to the front and says so.
func (w *window) lockQuietly(c model.Container) {
	w.deps.Work(func(ctx context.Context) error { return unlock.Quietly(ctx, w.deps, c.ID) }, func(err error) {
		w.deps.Model.Refresh()
		switch {
		case err == nil:
		case ui.IsCode(err, int(protocol.InUse)):
			w.front()
			unlock.Lock(w.deps, c, nil)
		default:
			w.front()
			ui.ShowError(w.window, err)
		}
	})
}

// lockAllQuietly locks everything from the tray, or for a later start that asked for it. What could not be locked is asked about.
func (w *window) lockAllQuietly() {
	var stuck []model.Container
	w.deps.Work(func(ctx context.Context) error {
		for _, c := range w.deps.Model.Containers() {
			if c.State.Open() && unlock.Quietly(ctx, w.deps, c.ID) != nil {
				stuck = append(stuck, c)
			}
		}
		return nil
	}, func(error) {
		w.deps.Model.Refresh()
		if len(stuck) == 0 {
			w.Notify(text.T("Everything is locked"), text.T("No drive is open any more."))
			return
		}
		w.front()
		w.lockAllAsking()
	})
}
