// Package model is what the window knows: the containers a person has listed and the state of each, as the agents tell it. It
// draws nothing. States come from the agents only, so what the command line does shows here within a second, and a crash of
// the window changes nothing.
package model

import (
	"cmp"
	"context"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"coffer/app/client"
	"coffer/app/config"
	"coffer/app/protocol"
	"coffer/app/window/natural"
)

// State is how a container is.
type State int

// States of a container.
const (
	Locked       State = iota // a file that nobody of this user has unlocked
	Missing                   // there is no file at its path
	Busy                      // its agent is just unlocking or locking it
	Unlocked                  // without a drive, or at Status.MountPoint
	Unresponsive              // its agent does not answer
)

// Open says whether an agent holds the container and answers.
func (s State) Open() bool { return s == Unlocked }

// Held says whether an agent holds the container at all.
func (s State) Held() bool { return s == Unlocked || s == Busy || s == Unresponsive }

// Container is one line of the list.
type Container struct {
	config.Known
	ID     string // identity of the file; "" while it is missing
	State  State
	Listed bool            // the person has it in the list; else it is there because it is unlocked
	Status protocol.Status // if Unlocked, or Entry only if Busy or Unresponsive
}

// InUse says whether files of its drive are open or something runs in it.
func (c Container) InUse() bool {
	return c.State.Open() && (c.Status.OpenFiles > 0 || c.Status.Jobs > 0)
}

// Title is the name to show.
func (c Container) Title() string {
	if c.Name != "" {
		return c.Name
	}
	return strings.TrimSuffix(filepath.Base(c.Path), filepath.Ext(c.Path))
}

// Sample is the traffic of a container at one moment.
type Sample struct {
	At          time.Time
	Read, Write float64 // bytes per second at the file system
}

func (s Sample) moves() bool { return s.Read+s.Write > 0 }

// Times.
const (
	pollStep  = 500 * time.Millisecond // between two looks at the agents
	fileStep  = 5 * time.Second        // between two looks at the files of the list, at least
	fileCost  = 20 * time.Millisecond  // more of it for each file, so that a long list costs no more
	keepSpan  = 60 * time.Second       // of samples
	callLimit = 5 * time.Second
)

// Drives is whom the model asks.
type Drives interface {
	Drives(ctx context.Context) ([]protocol.Status, error)
}

// Model keeps the list. Make it with New. Safe for concurrent use.
type Model struct {
	drives Drives
	file   string // where the list is kept; "": nowhere
	wake   chan struct{}
	seek   chan struct{} // as wake, for the files

	editing sync.Mutex // held while the list is changed on the disk

	mu        sync.Mutex
	stamp     stamp // of the list as it was read
	known     []config.Known
	files     map[string]fileState // by path
	looked    time.Time
	unlocked  []protocol.Status
	failure   error // of the last look at the agents
	samples   map[string][]Sample
	before    map[string]counted
	listeners map[int]func()
	next      int
}

// fileState is what the disk says about a file of the list.
type fileState struct {
	id   string // "": missing
	size int64
}

// stamp tells two versions of a file apart.
type stamp struct {
	changed time.Time
	size    int64
}

func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}
	}
	return stamp{info.ModTime(), info.Size()}
}

// counted are the counters of an agent at one moment.
type counted struct {
	at          time.Time
	read, wrote int64
}

// New makes a model of the list kept at file. With an error the model works, and the list on the disk is left alone.
func New(drives Drives, file string) (*Model, error) {
	seen := stampOf(file)
	known, err := config.LoadKnown(file)
	m := &Model{drives: drives, file: file, known: known, stamp: seen, wake: make(chan struct{}, 1), seek: make(chan struct{}, 1),
		files: map[string]fileState{}, samples: map[string][]Sample{}, before: map[string]counted{}, listeners: map[int]func(){}}
	return m, err
}

// Run looks at the agents and at the files until ctx ends: apart from each other, for a file on a disk that does not answer
// must not hide what the agents say.
func (m *Model) Run(ctx context.Context) {
	var loops sync.WaitGroup
	defer loops.Wait()
	loops.Go(func() { every(ctx, pollStep, m.seek, func() { m.lookAtFiles(time.Now()) }) })
	every(ctx, pollStep, m.wake, func() { m.lookAtAgents(ctx) })
}

func every(ctx context.Context, step time.Duration, wake <-chan struct{}, look func()) {
	tick := time.NewTicker(step)
	defer tick.Stop()
	for ctx.Err() == nil {
		look()
		select {
		case <-ctx.Done():
		case <-wake:
		case <-tick.C:
		}
	}
}

// Refresh makes Run look at once.
func (m *Model) Refresh() {
	for _, c := range []chan struct{}{m.wake, m.seek} {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

// Look asks the agents, and the disk when it is time, and tells the listeners if something has changed.
func (m *Model) Look(ctx context.Context) {
	m.lookAtFiles(time.Now())
	m.lookAtAgents(ctx)
}

func (m *Model) lookAtAgents(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	statuses, err := m.drives.Drives(ctx)
	m.mu.Lock()
	changed := m.takeLocked(statuses, err, time.Now())
	m.mu.Unlock()
	if changed {
		m.tell()
	}
}

// lookAtFiles looks at the files of the list: all of them now and then, and those not seen yet; and at the list itself, which
// another program may have changed.
func (m *Model) lookAtFiles(now time.Time) {
	m.mu.Lock()
	due := now.Sub(m.looked) >= fileStep+time.Duration(len(m.known))*fileCost
	if due {
		m.looked = now
	}
	m.mu.Unlock()
	changed := due && m.reload()
	m.mu.Lock()
	var paths []string
	for _, k := range m.known {
		if _, seen := m.files[k.Path]; due || !seen {
			paths = append(paths, k.Path)
		}
	}
	m.mu.Unlock()
	found := map[string]fileState{}
	for _, path := range paths {
		found[path] = lookAt(path)
	}
	m.mu.Lock()
	for path, state := range found {
		before, seen := m.files[path]
		changed = changed || !seen || before != state
		m.files[path] = state
	}
	m.mu.Unlock()
	if changed {
		m.tell()
	}
}

// reload reads the list again if it is another one on the disk, and says so. One that cannot be read changes nothing here: the
// next change by the person tells what is wrong with it.
func (m *Model) reload() (changed bool) {
	if m.file == "" {
		return false
	}
	m.editing.Lock()
	defer m.editing.Unlock()
	now := stampOf(m.file)
	m.mu.Lock()
	same := now == m.stamp
	m.mu.Unlock()
	if same {
		return false
	}
	known, err := config.LoadKnown(m.file)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stamp = now
	if err != nil {
		return false
	}
	m.known = known
	return true
}

func lookAt(path string) fileState {
	info, err := os.Stat(path)
	if err != nil || info.IsDir() {
		return fileState{}
	}
	id, err := client.Identity(path)
	if err != nil {
		return fileState{}
	}
	return fileState{id: id, size: info.Size()}
}

// takeLocked takes what the agents say, and says whether a person could see a difference.
func (m *Model) takeLocked(statuses []protocol.Status, err error, now time.Time) bool {
	changed := (err == nil) != (m.failure == nil)
	m.failure = err
	if err != nil {
		return changed
	}
	changed = changed || !slices.EqualFunc(m.unlocked, statuses, func(a, b protocol.Status) bool { return visible(a) == visible(b) })
	m.unlocked = statuses
	alive := map[string]bool{}
	for _, s := range statuses {
		alive[s.ID] = true
		changed = m.sampleLocked(s, now) || changed
	}
	for id := range m.before {
		if !alive[id] {
			delete(m.samples, id)
			delete(m.before, id)
		}
	}
	return changed
}

// visible is a status without what changes all the time though nothing happens. What is shown in seconds is in whole ones.
func visible(s protocol.Status) protocol.Status {
	s.IdleSeconds, s.Busy, s.Started = 0, protocol.Busy{}, s.Started.UTC()
	s.Backing = protocol.Traffic{BytesWritten: s.Backing.BytesWritten} // tells of a change of names too
	step := 1.0
	if s.LocksIn > 2*60 {
		step = 60
	}
	s.LocksIn = math.Ceil(s.LocksIn/step) * step
	return s
}

// sampleLocked keeps the traffic since the last look, and says whether any of the last minute is to be seen.
func (m *Model) sampleLocked(s protocol.Status, now time.Time) (seen bool) {
	if s.Unresponsive || !s.Ready {
		return false
	}
	last, known := m.before[s.ID]
	if known && now.Sub(last.at) < pollStep/2 { // the answer before was late, or a look was asked for: too short for a rate
		return slices.ContainsFunc(m.samples[s.ID], Sample.moves)
	}
	m.before[s.ID] = counted{now, s.FileSystem.BytesRead, s.FileSystem.BytesWritten}
	list := m.samples[s.ID]
	seconds := now.Sub(last.at).Seconds()
	if read, wrote := s.FileSystem.BytesRead-last.read, s.FileSystem.BytesWritten-last.wrote; known && seconds > 0 && read >= 0 && wrote >= 0 {
		list = append(list, Sample{At: now, Read: float64(read) / seconds, Write: float64(wrote) / seconds})
	}
	for len(list) > 0 && now.Sub(list[0].At) > keepSpan {
		seen = seen || list[0].moves() // it goes
		list = list[1:]
	}
	m.samples[s.ID] = list
	return seen || slices.ContainsFunc(list, Sample.moves)
}

// Containers is the list as it is now: favourites first, then by title, its numbers by value; then what is unlocked but not listed.
func (m *Model) Containers() []Container {
	m.mu.Lock()
	defer m.mu.Unlock()
	type place struct {
		of    int
		title string
	}
	order := make([]place, len(m.known))
	for i, k := range m.known {
		order[i] = place{i, strings.ToLower(Container{Known: k}.Title())}
	}
	slices.SortFunc(order, func(a, b place) int {
		x, y := &m.known[a.of], &m.known[b.of]
		if x.Favourite != y.Favourite {
			if x.Favourite {
				return -1
			}
			return 1
		}
		return cmp.Or(natural.Compare(a.title, b.title), cmp.Compare(x.Path, y.Path))
	})
	list := make([]Container, 0, len(order)+len(m.unlocked))
	listed := map[string]bool{}
	for _, one := range order {
		c := m.listedLocked(m.known[one.of])
		listed[c.ID] = true
		list = append(list, c)
	}
	for _, s := range m.unlocked {
		if !listed[s.ID] {
			list = append(list, Container{Known: config.Known{Path: s.Image}, ID: s.ID, Status: s, State: stateOf(s)})
		}
	}
	return list
}

// listedLocked is a container of the list as it is now.
func (m *Model) listedLocked(k config.Known) Container {
	file, seen := m.files[k.Path]
	c := Container{Known: k, ID: file.id, Listed: true}
	if file.id != "" {
		c.SizeBytes = file.size
	} else if seen {
		c.State = Missing
	}
	for _, s := range m.unlocked {
		if c.ID != "" && s.ID == c.ID {
			c.ID, c.Status, c.State = s.ID, s, stateOf(s)
			return c
		}
	}
	for _, s := range m.unlocked { // its file is gone from there, or was replaced: what is unlocked is still what was there
		if s.Image == k.Path {
			c.ID, c.Status, c.State = s.ID, s, stateOf(s)
			if seen && c.Status.Warning == "" {
				c.Status.Warning = replacedWarning
			}
		}
	}
	return c
}

// replacedWarning is for people, in English as all that Coffer itself says.
const replacedWarning = "the file at its path was moved, removed or replaced; the drive still belongs to the one that was unlocked: lock it, and put the file back"

func stateOf(s protocol.Status) State {
	switch {
	case s.Unresponsive:
		return Unresponsive
	case !s.Ready:
		return Busy
	}
	return Unlocked
}

// Container is the one at path. One that is not known by this path is looked at, on the disk.
func (m *Model) Container(path string) Container {
	all := m.Containers()
	for _, c := range all {
		if c.Path == path {
			return c
		}
	}
	state := lookAt(path)
	for _, c := range all {
		if state.id != "" && c.ID == state.id {
			return c
		}
	}
	c := Container{Known: config.Known{Path: path, SizeBytes: state.size}, ID: state.id}
	if state.id == "" {
		c.State = Missing
	}
	return c
}

// Failure is why the agents could not be asked, nil if they could.
func (m *Model) Failure() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.failure
}

// History is the traffic of the last minute, oldest first.
func (m *Model) History(id string) []Sample {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.samples[id])
}

// Listen calls changed after every change, in any goroutine, until stop is called.
func (m *Model) Listen(changed func()) (stop func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	id := m.next
	m.next++
	m.listeners[id] = changed
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.listeners, id)
	}
}

func (m *Model) tell() {
	m.mu.Lock()
	var all []func()
	for _, l := range m.listeners {
		all = append(all, l)
	}
	m.mu.Unlock()
	for _, l := range all {
		l()
	}
}

// Add puts the container at path into the list, unless it is there, and saves the list. Like all that changes the list it waits
// for the disk.
func (m *Model) Add(path string) error { return m.Update(path, func(*config.Known) {}) }

// Update changes what is known of the container at path, adding it if need be, and saves the list.
func (m *Model) Update(path string, change func(*config.Known)) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	return m.edit(func(list []config.Known) []config.Known {
		i := slices.IndexFunc(list, func(k config.Known) bool { return k.Path == path })
		if i < 0 {
			i, list = len(list), append(list, config.Known{Path: path})
		}
		change(&list[i])
		return list
	})
}

// Forget takes the container at path off the list. Its file stays.
func (m *Model) Forget(path string) error {
	return m.edit(func(list []config.Known) []config.Known {
		return slices.DeleteFunc(list, func(k config.Known) bool { return k.Path == path })
	})
}

// edit changes the list as it is on the disk now: another program may have changed it.
func (m *Model) edit(change func([]config.Known) []config.Known) error {
	if err := m.change(change); err != nil {
		return err
	}
	m.tell()
	m.Refresh()
	return nil
}

func (m *Model) change(change func([]config.Known) []config.Known) error {
	m.editing.Lock()
	defer m.editing.Unlock()
	m.mu.Lock()
	list := slices.Clone(m.known)
	m.mu.Unlock()
	if m.file != "" {
		var err error
		if list, err = config.LoadKnown(m.file); err != nil {
			return err
		}
	}
	before := slices.Clone(list)
	list = change(list)
	if !reflect.DeepEqual(before, list) {
		if err := config.SaveKnown(m.file, list); err != nil {
			return err
		}
	}
	now := stampOf(m.file)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.known, m.stamp = list, now
	return nil
}
