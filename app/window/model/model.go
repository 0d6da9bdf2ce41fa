// Package model is what the window knows: the containers a person has listed and the state of each, as the agents tell it. It
// draws nothing. States come from the agents only, so what the command line does shows here within a second, and a crash of
// the window changes nothing.
package model

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"coffer/app/client"
	"coffer/app/config"
	"coffer/app/protocol"
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

// Container is one line of the list.
type Container struct {
	config.Known
	ID     string // identity of the file; "" while it is missing
	State  State
	Listed bool            // the person has it in the list; else it is there because it is unlocked
	Status protocol.Status // if Unlocked, or Entry only if Busy or Unresponsive
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

// Times.
const (
	pollStep  = 500 * time.Millisecond // between two looks at the agents
	fileStep  = 5 * time.Second        // between two looks at the files of the list
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

	mu        sync.Mutex
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

// counted are the counters of an agent at one moment.
type counted struct {
	at          time.Time
	read, wrote int64
}

// New makes a model of the list kept at file.
func New(drives Drives, file string) (*Model, error) {
	known, err := config.LoadKnown(file)
	m := &Model{drives: drives, file: file, known: known, wake: make(chan struct{}, 1), files: map[string]fileState{},
		samples: map[string][]Sample{}, before: map[string]counted{}, listeners: map[int]func(){}}
	return m, err
}

// Run looks at the agents until ctx ends.
func (m *Model) Run(ctx context.Context) {
	tick := time.NewTicker(pollStep)
	defer tick.Stop()
	for {
		m.Look(ctx)
		select {
		case <-ctx.Done():
			return
		case <-m.wake:
		case <-tick.C:
		}
	}
}

// Refresh makes Run look at once.
func (m *Model) Refresh() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// Look asks the agents, and the disk when it is time, and tells the listeners if something has changed.
func (m *Model) Look(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	statuses, err := m.drives.Drives(ctx)
	m.mu.Lock()
	paths := m.dueLocked()
	m.mu.Unlock()
	found := map[string]fileState{}
	for _, path := range paths {
		found[path] = lookAt(path)
	}
	m.mu.Lock()
	changed := m.takeLocked(statuses, err, found, time.Now())
	m.mu.Unlock()
	if changed {
		m.tell()
	}
}

// dueLocked are the files to be looked at now: all of them now and then, and those not seen yet.
func (m *Model) dueLocked() []string {
	all := time.Since(m.looked) >= fileStep
	if all {
		m.looked = time.Now()
	}
	var paths []string
	for _, k := range m.known {
		if _, seen := m.files[k.Path]; all || !seen {
			paths = append(paths, k.Path)
		}
	}
	return paths
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

// takeLocked takes what was found and says whether a person could see a difference.
func (m *Model) takeLocked(statuses []protocol.Status, err error, found map[string]fileState, now time.Time) bool {
	changed := (err == nil) != (m.failure == nil)
	m.failure = err
	for path, state := range found {
		changed = changed || m.files[path] != state
		m.files[path] = state
	}
	if err != nil {
		return changed
	}
	changed = changed || len(statuses) > 0 || len(m.unlocked) != len(statuses)
	m.unlocked = statuses
	alive := map[string]bool{}
	for _, s := range statuses {
		alive[s.ID] = true
		m.sampleLocked(s, now)
	}
	for id := range m.samples {
		if !alive[id] {
			delete(m.samples, id)
			delete(m.before, id)
		}
	}
	return changed
}

// sampleLocked keeps the traffic since the last look.
func (m *Model) sampleLocked(s protocol.Status, now time.Time) {
	if s.Unresponsive || !s.Ready {
		return
	}
	last, seen := m.before[s.ID]
	m.before[s.ID] = counted{now, s.FileSystem.BytesRead, s.FileSystem.BytesWritten}
	seconds := now.Sub(last.at).Seconds()
	if !seen || seconds <= 0 {
		return
	}
	list := append(m.samples[s.ID], Sample{At: now, Read: float64(s.FileSystem.BytesRead-last.read) / seconds, Write: float64(s.FileSystem.BytesWritten-last.wrote) / seconds})
	for len(list) > 0 && now.Sub(list[0].At) > keepSpan {
		list = list[1:]
	}
	m.samples[s.ID] = list
}

// Containers is the list as it is now: favourites first, then by title; then what is unlocked but not listed.
func (m *Model) Containers() []Container {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := []Container{}
	listed := map[string]bool{}
	for _, k := range m.known {
		state := m.files[k.Path]
		c := Container{Known: k, ID: state.id, Listed: true}
		if state.id == "" {
			c.State = Missing
		} else {
			c.SizeBytes = state.size
		}
		for _, s := range m.unlocked {
			if s.ID == c.ID || c.ID == "" && s.Image == k.Path {
				c.ID, c.Status, c.State = s.ID, s, stateOf(s)
				listed[s.ID] = true
			}
		}
		list = append(list, c)
	}
	slices.SortStableFunc(list, func(a, b Container) int {
		if a.Favourite != b.Favourite {
			if a.Favourite {
				return -1
			}
			return 1
		}
		return cmp.Compare(strings.ToLower(a.Title()), strings.ToLower(b.Title()))
	})
	for _, s := range m.unlocked {
		if !listed[s.ID] {
			list = append(list, Container{Known: config.Known{Path: s.Image}, ID: s.ID, Status: s, State: stateOf(s)})
		}
	}
	return list
}

func stateOf(s protocol.Status) State {
	switch {
	case s.Unresponsive:
		return Unresponsive
	case !s.Ready:
		return Busy
	}
	return Unlocked
}

// Container is the one at path; one that is not in the list is looked at.
func (m *Model) Container(path string) Container {
	state := lookAt(path)
	for _, c := range m.Containers() {
		if c.Path == path || state.id != "" && c.ID == state.id {
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

// Add puts the container at path into the list, unless it is there, and saves the list.
func (m *Model) Add(path string) error {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	return m.edit(func(list []config.Known) []config.Known {
		if slices.ContainsFunc(list, func(k config.Known) bool { return k.Path == absolute }) {
			return list
		}
		return append(list, config.Known{Path: absolute})
	})
}

// Update changes what is known of the container at path, adding it if need be, and saves the list.
func (m *Model) Update(path string, change func(*config.Known)) error {
	if err := m.Add(path); err != nil {
		return err
	}
	return m.edit(func(list []config.Known) []config.Known {
		for i := range list {
			if list[i].Path == path {
				change(&list[i])
			}
		}
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
	m.mu.Lock()
	list, err := slices.Clone(m.known), error(nil)
	if m.file != "" {
		if list, err = config.LoadKnown(m.file); err != nil {
			m.mu.Unlock()
			return err
		}
	}
	list = change(list)
	err = config.SaveKnown(m.file, list)
	if err == nil {
		m.known = list
	}
	m.mu.Unlock()
	m.tell()
	m.Refresh()
	return err
}
