package transfers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"coffer/app/client"
	"coffer/app/protocol"
	"coffer/app/window/model"
	"coffer/app/window/text"
	"coffer/app/window/ui"
)

// Times of the watcher.
const (
	attendedStep = 500 * time.Millisecond // between two looks while the screen is shown
	hiddenStep   = 2 * time.Second        // and while it is not
	quietStep    = 10 * time.Second       // of containers in which nothing goes on
	idleStep     = 2 * time.Second        // of those while the screen is shown
	callLimit    = 5 * time.Second        // for one look
)

// Summary is all jobs in a few figures, for the line at the bottom of the window.
type Summary struct {
	Running, Waiting, Asking, Paused int // Running: those that look at their sources too
	// Done and Total are bytes of all jobs since the last moment without any, so that the share never falls back because a
	// job has ended; those that are compared in the end count twice. What a waiting job will copy is not known yet and not part
	// of Total.
	Done, Total int64
	Rate        float64 // bytes per second, of all jobs together
}

// Active is the number of jobs that have not ended.
func (s Summary) Active() int { return s.Running + s.Waiting + s.Asking + s.Paused }

// Fraction is how much is done, 0 to 1; negative when that is not known.
func (s Summary) Fraction() float64 {
	if s.Total <= 0 {
		return -1
	}
	return min(float64(s.Done)/float64(s.Total), 1)
}

// Key names a job for as long as the window lives: numbers begin anew with every unlocking.
type Key struct {
	Container string // identity
	ID        uint64
	Queued    int64
}

// Job is a copy job and the container whose agent runs it. Windows are all since its beginning, but only while the screen is
// shown.
type Job struct {
	protocol.Job
	Container string // identity
	Image     string // path of the container
	Title     string // name of the container

	whole       bool // it has ended, and all is known that there is to know
	interrupted bool // its agent is gone, and only the watcher knows it
}

// Key is the name of the job.
func (j Job) Key() Key { return Key{j.Container, j.ID, j.Queued.UnixNano()} }

// Watcher knows the jobs of all unlocked containers. They live in the agents, so it finds them again after the window was
// closed or killed. Make it with NewWatcher; its methods may be used in any goroutine.
type Watcher struct {
	deps    *ui.Deps
	started time.Time
	wake    chan struct{}

	looking sync.Mutex // one look at a time
	mu      sync.Mutex
	jobs    map[Key]Job
	batch   map[Key]bool  // jobs since the last moment without any
	told    map[Key]state // of what the person was told
	trouble map[string]error
	drives  string // what the model said last about who is unlocked, and how busy
	attends bool
	quiet   map[string]quiet // by identity: containers without an open job at the last look
	listens map[int]func()
	next    int
}

type state = protocol.JobState

// quiet is how much a container had done when it was asked last.
type quiet struct {
	at          time.Time
	jobs        int
	read, wrote int64
}

// NewWatcher makes a watcher, which looks at nothing before Run or Look.
func NewWatcher(d *ui.Deps) *Watcher {
	return &Watcher{deps: d, started: time.Now(), wake: make(chan struct{}, 1), jobs: map[Key]Job{}, batch: map[Key]bool{},
		told: map[Key]state{}, trouble: map[string]error{}, quiet: map[string]quiet{}, listens: map[int]func(){}}
}

// Run looks at the jobs until ctx ends: every half second while the screen is shown, else every two seconds, and at once when
// a container is unlocked or gets work.
func (w *Watcher) Run(ctx context.Context) {
	stop := w.deps.Model.Listen(w.modelChanged)
	defer stop()
	for {
		w.Look(ctx)
		wait := time.NewTimer(w.step())
		select {
		case <-ctx.Done():
		case <-w.wake:
		case <-wait.C:
		}
		wait.Stop()
		if ctx.Err() != nil {
			return
		}
	}
}

func (w *Watcher) step() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.attends {
		return attendedStep
	}
	return hiddenStep
}

// Refresh makes Run look at once, and at all containers.
func (w *Watcher) Refresh() {
	w.mu.Lock()
	clear(w.quiet)
	w.mu.Unlock()
	w.rouse()
}

func (w *Watcher) rouse() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// Attend says whether somebody looks at the jobs: then they are looked at more often, and their windows are asked for.
func (w *Watcher) Attend(yes bool) {
	w.mu.Lock()
	w.attends = yes
	w.mu.Unlock()
	if yes {
		w.Refresh()
	}
}

// modelChanged looks when a container was unlocked or locked, or has more or less to do.
func (w *Watcher) modelChanged() {
	drives := ""
	for _, c := range w.deps.Model.Containers() {
		if c.State == model.Unlocked {
			drives += fmt.Sprintln(c.ID, c.Status.Jobs)
		}
	}
	w.mu.Lock()
	changed := drives != w.drives
	w.drives = drives
	w.mu.Unlock()
	if changed {
		w.rouse()
	}
}

// Jobs are all jobs: those that have not ended first, in the order of their queues, then the others, the newest first.
func (w *Watcher) Jobs() []Job {
	w.mu.Lock()
	all := slices.Collect(maps.Values(w.jobs))
	w.mu.Unlock()
	slices.SortFunc(all, func(a, b Job) int {
		switch {
		case a.State.Ended() && b.State.Ended():
			return cmp.Or(b.Ended.Compare(a.Ended), b.Queued.Compare(a.Queued), cmp.Compare(b.ID, a.ID))
		case a.State.Ended():
			return 1
		case b.State.Ended():
			return -1
		}
		return cmp.Or(cmp.Compare(rank(a.State), rank(b.State)), a.Queued.Compare(b.Queued), cmp.Compare(a.Container, b.Container), cmp.Compare(a.ID, b.ID))
	})
	return all
}

// rank puts what waits for its turn after what has had it.
func rank(s state) int {
	if s == protocol.JobWaiting {
		return 1
	}
	return 0
}

// Trouble is why the jobs of a container could not be asked for, by the path of the container.
func (w *Watcher) Trouble() map[string]error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.trouble)
}

// Summary is all jobs in a few figures.
func (w *Watcher) Summary() Summary {
	w.mu.Lock()
	defer w.mu.Unlock()
	var s Summary
	for k, j := range w.jobs {
		switch {
		case j.State == protocol.JobRunning, j.State == protocol.JobPlanning:
			s.Running++
			s.Rate += j.Current
		case j.State == protocol.JobWaiting:
			s.Waiting++
		case j.State == protocol.JobAsking:
			s.Asking++
		case j.State == protocol.JobPaused:
			s.Paused++
		}
		if !w.batch[k] {
			continue
		}
		done, total := j.work()
		s.Done += done
		s.Total += total
	}
	return s
}

// Listen calls changed after every change, in any goroutine, until stop is called.
func (w *Watcher) Listen(changed func()) (stop func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	id := w.next
	w.next++
	w.listens[id] = changed
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.listens, id)
	}
}

// lookAtAll is Look for somebody who has just changed something.
func (w *Watcher) lookAtAll(ctx context.Context) {
	w.mu.Lock()
	clear(w.quiet)
	w.mu.Unlock()
	w.Look(ctx)
}

// Look asks the agents for their jobs, tells the listeners if something has changed, and the person what ended or asks.
func (w *Watcher) Look(ctx context.Context) {
	w.looking.Lock()
	defer w.looking.Unlock()
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	var open []model.Container
	for _, c := range w.deps.Model.Containers() {
		if c.State == model.Unlocked || c.State == model.Unresponsive {
			open = append(open, c)
		}
	}
	died := w.died(open) // first: whatever runs coffer next clears away what tells it
	found := w.ask(ctx, open)
	w.mu.Lock()
	changed, news := w.takeLocked(found, died)
	var all []func()
	if changed {
		all = slices.Collect(maps.Values(w.listens))
	}
	w.mu.Unlock()
	for _, listener := range all {
		listener()
	}
	if len(news) > 0 {
		w.deps.Do(func() {
			for _, n := range news {
				w.deps.Shell.Notify(n.title, n.words)
			}
		})
	}
}

// answer is what one agent says.
type answer struct {
	container model.Container
	jobs      []Job
	err       error
	died      bool // it ended without locking
}

// ask asks the agents side by side: one that hangs must not hide the others' jobs.
func (w *Watcher) ask(ctx context.Context, open []model.Container) []answer {
	answers := make([]answer, len(open))
	var group sync.WaitGroup
	for i, c := range open {
		group.Go(func() {
			answers[i] = answer{container: c}
			switch {
			case c.State == model.Unresponsive:
				answers[i].err = context.DeadlineExceeded
				return
			case w.skips(c):
				answers[i].jobs = w.of(c.ID)
				return
			}
			answers[i].jobs, answers[i].err = w.askOne(ctx, c)
			answers[i].died = notUnlocked(answers[i].err) && w.deps.Backend.Jobs.Died(c.ID)
		})
	}
	group.Wait()
	return answers
}

// skips says whether a container need not be asked: it had no open job a moment ago, and has done nothing since.
func (w *Watcher) skips(c model.Container) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := quiet{time.Now(), c.Status.Jobs, c.Status.FileSystem.BytesRead, c.Status.FileSystem.BytesWritten}
	before, known := w.quiet[c.ID]
	span := quietStep
	if w.attends {
		span = idleStep
	}
	if known && now.at.Sub(before.at) < span && now.jobs == before.jobs && now.read == before.read && now.wrote == before.wrote {
		return true
	}
	w.quiet[c.ID] = now // until it turns out to have an open job
	return false
}

// of are the jobs of the agent of a container as they were.
func (w *Watcher) of(id string) (jobs []Job) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, j := range w.jobs {
		if j.Container == id && !j.interrupted {
			jobs = append(jobs, j)
		}
	}
	return jobs
}

func (w *Watcher) askOne(ctx context.Context, c model.Container) ([]Job, error) {
	list, err := w.deps.Backend.Jobs.Jobs(ctx, c.ID)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	attends := w.attends
	w.mu.Unlock()
	jobs := make([]Job, 0, len(list))
	for _, one := range list {
		j := Job{Job: one, Container: c.ID, Image: c.Path, Title: c.Title()}
		w.mu.Lock()
		before := w.jobs[j.Key()]
		w.mu.Unlock()
		w.complete(ctx, &j, before, attends)
		jobs = append(jobs, j)
	}
	return jobs, nil
}

// complete adds the windows and what else the list leaves out. What is known of an ended job does not change any more.
func (w *Watcher) complete(ctx context.Context, j *Job, before Job, attends bool) {
	j.Windows = before.Windows
	if before.WindowSeconds != j.WindowSeconds { // of short jobs they become finer at the end
		j.Windows = nil
	}
	if j.State.Ended() && before.whole {
		*j = before
		return
	}
	if !attends || j.State == protocol.JobWaiting || j.State == protocol.JobAsking {
		return
	}
	from := len(j.Windows)
	if j.State.Ended() {
		from = 0
	}
	shown, err := w.deps.Backend.Jobs.Job(ctx, j.Container, j.ID, from)
	if err != nil || shown.Queued.UnixNano() != j.Queued.UnixNano() {
		return // gone meanwhile: the next look tells
	}
	windows := shown.Windows
	switch {
	case from == 0:
	case shown.WindowSeconds == j.WindowSeconds:
		windows = append(slices.Clip(j.Windows), shown.Windows...)
	default: // they have become longer just now: all of them at the next look
		windows = nil
	}
	j.Job = *shown
	j.Windows, j.whole = windows, shown.State.Ended()
}

// news is something a person is told.
type news struct{ title, words string }

// takeLocked takes what the agents said; changed if a person could see a difference.
func (w *Watcher) takeLocked(found []answer, died map[string]bool) (changed bool, told []news) {
	jobs, trouble := map[Key]Job{}, map[string]error{}
	for k, j := range w.jobs {
		if j.interrupted {
			jobs[k] = j
		}
	}
	for _, a := range found {
		if a.died {
			died[a.container.ID] = true
		}
		for _, j := range a.jobs {
			jobs[j.Key()] = j
		}
		if a.err == nil || notUnlocked(a.err) || errors.Is(a.err, context.Canceled) {
			continue
		}
		trouble[a.container.Path] = a.err
		delete(w.quiet, a.container.ID)
		for k, j := range w.jobs { // it has not answered: what was known stays
			if k.Container == a.container.ID {
				jobs[k] = j
			}
		}
	}
	for k, j := range jobs {
		if !j.State.Ended() {
			delete(w.quiet, k.Container)
		}
	}
	told = w.keepLocked(jobs, died)
	changed = len(jobs) != len(w.jobs) || len(trouble) != len(w.trouble)
	for k, j := range jobs {
		before, known := w.jobs[k]
		changed = changed || !known || moved(before, j) || j.State == protocol.JobAsking // until the person was asked
		told = append(told, w.tellLocked(k, j)...)
	}
	stopped := map[string]bool{}
	for k, j := range w.jobs {
		if _, still := jobs[k]; !still && !j.State.Ended() && !stopped[j.Container] && w.deps.Model.Failure() == nil {
			stopped[j.Container] = true
			told = append(told, news{text.T("The copy was stopped"), text.T("%s was locked before all files were copied.", ui.Clean(j.Title))})
		}
	}
	for k := range w.told {
		if _, still := jobs[k]; !still {
			delete(w.told, k)
		}
	}
	w.jobs, w.trouble = jobs, trouble
	w.batchLocked()
	return changed, told
}

func notUnlocked(err error) bool {
	return err != nil && (errors.Is(err, client.ErrNotUnlocked) || client.Code(err) == protocol.NoCredential)
}

// moved says whether a job looks different now.
func moved(a, b Job) bool {
	return a.State != b.State || a.Stage != b.Stage || a.Bytes != b.Bytes || a.Files != b.Files || a.TotalBytes != b.TotalBytes || a.TotalFiles != b.TotalFiles ||
		a.Current != b.Current || a.Average != b.Average || a.RemainingSeconds != b.RemainingSeconds || len(a.Windows) != len(b.Windows) ||
		len(a.Problems) != len(b.Problems) || len(a.Notes) != len(b.Notes) || len(a.Questions) != len(b.Questions) || (a.Record == nil) != (b.Record == nil) || a.Title != b.Title
}

// batchLocked keeps which jobs count for the total.
func (w *Watcher) batchLocked() {
	active := false
	for k, j := range w.jobs {
		if !j.State.Ended() {
			active = true
			w.batch[k] = true
		}
	}
	for k := range w.batch {
		if _, still := w.jobs[k]; !active || !still {
			delete(w.batch, k)
		}
	}
}

// tellLocked is what a person is told of a job, each thing once. What had ended before the window was started is no news.
func (w *Watcher) tellLocked(k Key, j Job) []news {
	if w.told[k] == j.State {
		return nil
	}
	w.told[k] = j.State
	switch {
	case j.State == protocol.JobAsking:
		return []news{{text.T("A copy has a question"), Title(j.Copy) + ": " + text.T("it goes on when you have answered.")}}
	case !j.State.Ended() || j.Ended.Before(w.started):
		return nil
	case j.State == protocol.JobDone:
		return []news{{text.T("Copied"), Title(j.Copy) + ", " + text.Size(j.Bytes) + ", " + text.Rate(j.Average)}}
	case j.State == protocol.JobPartly:
		return []news{{text.T("Copied, but not everything"), Title(j.Copy) + ": " + text.T("some files are missing. Transfers shows which.")}}
	case j.interrupted:
		return nil // once for all of its agent
	case j.State == protocol.JobFailed:
		return []news{{text.T("A copy failed"), Title(j.Copy) + ": " + Why(j)}}
	}
	return nil // cancelled: the person did it
}
