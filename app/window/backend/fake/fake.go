// Package fake is a Coffer in memory, for tests of the window: containers with passwords, files inside, jobs that a test moves
// along. It stands where *client.Client would, at the edge of the program, and nowhere else.
package fake

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"coffer/app/agent/registry"
	"coffer/app/client"
	"coffer/app/protocol"
	"coffer/app/window/backend"
	"coffer/transfer/report"
)

// Container is one container of the fake.
type Container struct {
	ID       string
	Password string
	Added    []string // other passwords
	Slots    []client.Slot
	Format   string
	Header   []string        // states of the copies of the header; nil: both good
	Users    []protocol.User // programs in the way of a lock
	Status   protocol.Status // while unlocked
	Unlocked bool
	Entries  map[string]protocol.Entry // by path
	Jobs     []*protocol.Job
	Died     bool // its agent ended without locking
}

// Coffer is the whole fake. Change it under Lock/Unlock of its mutex, or before the window runs.
type Coffer struct {
	Mu         sync.Mutex
	Containers map[string]*Container // by path of the image
	// Fail gives the error of the next call with the name, e.g. "Unlock"; it is taken.
	Fail map[string]error
	// Wait, if not nil, is received from before a call with the name goes on: long work.
	Wait map[string]chan struct{}
	// Calls are the calls made, as text: "Unlock /a.img".
	Calls       []string
	Answers     []protocol.JobAnswer // given to jobs
	Experiments []*report.Experiment
	Tests       []client.Test
	Checked     *client.Checked // what a check or salvage finds; nil: nothing
}

// New makes an empty one.
func New() *Coffer {
	return &Coffer{Containers: map[string]*Container{}, Fail: map[string]error{}, Wait: map[string]chan struct{}{}}
}

// Backend is the fake where the window takes the real thing.
func (c *Coffer) Backend() backend.Backend {
	return backend.Backend{Drives: c, Containers: c, Keys: c, Files: c, Jobs: c, Lab: c}
}

// Add makes a locked container with a real, empty file at image, so that it is not missing.
func (c *Coffer) Add(image, password string) *Container {
	_ = os.WriteFile(image, []byte("container"), 0o600)
	id, _ := client.Identity(image)
	c.Mu.Lock()
	defer c.Mu.Unlock()
	added := &Container{ID: id, Password: password, Format: "luks2", Entries: map[string]protocol.Entry{},
		Slots: []client.Slot{{KDF: "argon2id", MemoryKiB: 65536, Iterations: 3, Threads: 2, KeyBits: 512, Bound: true}}}
	c.Containers[image] = added
	return added
}

// Problem is a failure as Coffer tells it.
func Problem(code protocol.ExitCode, sentence, hint string) error {
	return &client.Error{Problem: protocol.Problem{Sentence: sentence, Hint: hint, Code: code}}
}

// call notes a call, waits if a test wants that, and gives the error a test wants.
func (c *Coffer) call(ctx context.Context, name string, about ...any) error {
	c.Mu.Lock()
	c.Calls = append(c.Calls, strings.TrimSpace(name+" "+fmt.Sprintln(about...)))
	wait, err := c.Wait[name], c.Fail[name]
	delete(c.Fail, name)
	c.Mu.Unlock()
	if wait != nil {
		select {
		case <-wait:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if err == nil {
		err = ctx.Err()
	}
	return err
}

// Called says how often a call with the name was made.
func (c *Coffer) Called(name string) (n int) {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	for _, call := range c.Calls {
		if first, _, _ := strings.Cut(call, " "); first == name {
			n++
		}
	}
	return n
}

func (c *Coffer) byID(id string) (*Container, string, error) {
	for image, one := range c.Containers {
		if one.ID == id && one.Unlocked {
			return one, image, nil
		}
	}
	return nil, "", Problem(protocol.NoCredential, client.ErrNotUnlocked.Error(), "")
}

// Drives implements backend.Drives.
func (c *Coffer) Drives(context.Context) ([]protocol.Status, error) {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	if err := c.Fail["Drives"]; err != nil {
		return nil, err
	}
	var all []protocol.Status
	for _, image := range slices.Sorted(maps.Keys(c.Containers)) {
		if one := c.Containers[image]; one.Unlocked {
			all = append(all, one.Status)
		}
	}
	return all, nil
}

// Unlock implements backend.Drives.
func (c *Coffer) Unlock(ctx context.Context, r client.UnlockRequest, to client.Reporter) (*registry.Entry, error) {
	if to != nil {
		to(protocol.Event{Kind: protocol.EventStage, Stage: "open"})
	}
	if err := c.call(ctx, "Unlock", r.Image); err != nil {
		return nil, err
	}
	c.Mu.Lock()
	defer c.Mu.Unlock()
	one := c.Containers[r.Image]
	switch {
	case one == nil:
		return nil, Problem(protocol.Unsupported, "open "+r.Image+": not a container", "")
	case one.Format != r.Format && r.Format != "" || one.Format == "raw" && r.Format != "raw":
		return nil, Problem(protocol.Unsupported, "open "+r.Image+": not a container", "")
	case string(r.Credential.Password) != one.Password && !slices.Contains(one.Added, string(r.Credential.Password)):
		return nil, Problem(protocol.WrongKey, "open "+r.Image+": wrong password or key", "check Caps Lock and the keyboard layout")
	}
	one.Unlocked, one.Died = true, false
	point := r.MountPoint
	if point == "" && !r.NoMount {
		point = "/drives/" + path.Base(r.Image)
	}
	one.Status.Entry = registry.Entry{Version: registry.Version, ID: one.ID, Image: r.Image, Ready: true, Started: time.Now(), MountPoint: point, ReadOnly: r.ReadOnly}
	if one.Status.TotalBytes == 0 {
		one.Status.TotalBytes, one.Status.FreeBytes = 1e9, 6e8
	}
	return &one.Status.Entry, nil
}

// Lock implements backend.Drives.
func (c *Coffer) Lock(ctx context.Context, id string, force bool) error {
	if err := c.call(ctx, "Lock", id, force); err != nil {
		return err
	}
	c.Mu.Lock()
	defer c.Mu.Unlock()
	one, image, err := c.byID(id)
	if err != nil {
		return err
	}
	if len(one.Users) > 0 && !force {
		return Problem(protocol.InUse, "lock "+image+": "+one.Users[0].Program+" uses it", "close it, or lock by force")
	}
	one.Unlocked = false
	return nil
}

// Users implements backend.Drives.
func (c *Coffer) Users(_ context.Context, id string) ([]protocol.User, error) {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	one, _, err := c.byID(id)
	if err != nil {
		return nil, err
	}
	return slices.Clone(one.Users), nil
}

// Info implements backend.Containers.
func (c *Coffer) Info(ctx context.Context, image string) (*client.Info, error) {
	if err := c.call(ctx, "Info", image); err != nil {
		return nil, err
	}
	c.Mu.Lock()
	defer c.Mu.Unlock()
	one := c.Containers[image]
	if one == nil || one.Format == "raw" {
		return nil, Problem(protocol.Unsupported, "open "+image+": not a container", "")
	}
	info := &client.Info{Path: image}
	info.Container.Format, info.Container.Cipher, info.Container.Slots = one.Format, "aes-256-xts", slices.Clone(one.Slots)
	info.Container.ImageBytes, info.Container.UsableBytes, info.Container.HeaderState = 1e9, 984e6, []string{"good", "good"}
	if one.Header != nil {
		info.Container.HeaderState = slices.Clone(one.Header)
	}
	if one.Unlocked {
		info.FileSystem = &client.FileSystem{Type: "FAT32", TotalBytes: one.Status.TotalBytes, FreeBytes: one.Status.FreeBytes}
	}
	return info, nil
}

// Create implements backend.Containers.
func (c *Coffer) Create(ctx context.Context, r client.CreateRequest, to client.Reporter) (*client.Created, error) {
	if err := c.call(ctx, "Create", r.Image); err != nil {
		return nil, err
	}
	c.Add(r.Image, string(r.Credential.Password))
	return &client.Created{Path: r.Image, Format: "luks2", Cipher: "aes-256-xts", ImageBytes: max(r.SizeBytes, r.UsableBytes), UsableBytes: max(r.SizeBytes, r.UsableBytes)}, nil
}

// Check implements backend.Containers.
func (c *Coffer) Check(ctx context.Context, r client.CheckRequest, _ client.Reporter) (*client.Checked, error) {
	err := c.call(ctx, "Check", r.Image, r.Repair, r.Format)
	c.Mu.Lock()
	defer c.Mu.Unlock()
	if found := c.Checked; found != nil {
		return found, err
	}
	return &client.Checked{}, err
}

// Destroy implements backend.Containers.
func (c *Coffer) Destroy(ctx context.Context, image string) error {
	return c.call(ctx, "Destroy", image)
}

// AddKey implements backend.Keys.
func (c *Coffer) AddKey(ctx context.Context, image string, present, added client.Credential) (int, error) {
	if err := c.call(ctx, "AddKey", image); err != nil {
		return 0, err
	}
	c.Mu.Lock()
	defer c.Mu.Unlock()
	one := c.Containers[image]
	if one == nil || string(present.Password) != one.Password {
		return 0, Problem(protocol.WrongKey, "open "+image+": wrong password or key", "")
	}
	one.Added = append(one.Added, string(added.Password))
	one.Slots = append(one.Slots, client.Slot{Number: len(one.Slots), KDF: "argon2id", Bound: true})
	return len(one.Slots) - 1, nil
}

// ChangeKey implements backend.Keys.
func (c *Coffer) ChangeKey(ctx context.Context, image string, present, added client.Credential) (int, error) {
	return 0, c.call(ctx, "ChangeKey", image)
}

// RemoveKey implements backend.Keys.
func (c *Coffer) RemoveKey(ctx context.Context, image string, slot int, force bool) error {
	return c.call(ctx, "RemoveKey", image, slot, force)
}

// NewKeyfile implements backend.Keys.
func (c *Coffer) NewKeyfile(ctx context.Context, file string) error {
	return c.call(ctx, "NewKeyfile", file)
}

// BackupHeader implements backend.Keys.
func (c *Coffer) BackupHeader(ctx context.Context, image, to string) error {
	return c.call(ctx, "BackupHeader", image, to)
}

// RestoreHeader implements backend.Keys.
func (c *Coffer) RestoreHeader(ctx context.Context, image, from string, force bool) error {
	return c.call(ctx, "RestoreHeader", image, from, force)
}

// List implements backend.Files.
func (c *Coffer) List(ctx context.Context, id, folder string, recursive bool, visit func(protocol.Entry) error) error {
	if err := c.call(ctx, "List", id, folder); err != nil {
		return err
	}
	c.Mu.Lock()
	one, _, err := c.byID(id)
	var found []protocol.Entry
	if err == nil {
		for _, p := range slices.Sorted(maps.Keys(one.Entries)) {
			if path.Dir(p) == folder || recursive && strings.HasPrefix(p, strings.TrimSuffix(folder, "/")+"/") {
				found = append(found, one.Entries[p])
			}
		}
	}
	c.Mu.Unlock()
	for _, e := range found {
		if err == nil {
			err = visit(e)
		}
	}
	return err
}

// Put adds an entry.
func (one *Container) Put(p string, folder bool, size int64) {
	one.Entries[p] = protocol.Entry{Path: p, Folder: folder, SizeBytes: size, Modified: time.Date(2024, 5, 6, 7, 8, 10, 0, time.UTC)}
}

func (c *Coffer) change(ctx context.Context, name, id string, change func(*Container), about ...any) error {
	if err := c.call(ctx, name, about...); err != nil {
		return err
	}
	c.Mu.Lock()
	defer c.Mu.Unlock()
	one, _, err := c.byID(id)
	if err == nil {
		change(one)
	}
	return err
}

// Mkdir implements backend.Files.
func (c *Coffer) Mkdir(ctx context.Context, id, p string) error {
	return c.change(ctx, "Mkdir", id, func(one *Container) { one.Put(p, true, 0) }, p)
}

// Remove implements backend.Files.
func (c *Coffer) Remove(ctx context.Context, id, p string) error {
	return c.change(ctx, "Remove", id, func(one *Container) {
		maps.DeleteFunc(one.Entries, func(q string, _ protocol.Entry) bool { return q == p || strings.HasPrefix(q, p+"/") })
	}, p)
}

// Rename implements backend.Files.
func (c *Coffer) Rename(ctx context.Context, id, from, to string) error {
	return c.change(ctx, "Rename", id, func(one *Container) {
		for q, e := range maps.Clone(one.Entries) {
			if rest, ok := strings.CutPrefix(q, from); ok && (rest == "" || rest[0] == '/') {
				delete(one.Entries, q)
				e.Path = to + rest
				one.Entries[e.Path] = e
			}
		}
	}, from, to)
}

// Move implements backend.Files.
func (c *Coffer) Move(ctx context.Context, id string, paths []string, folder string) error {
	for _, p := range paths {
		if err := c.Rename(ctx, id, p, path.Join(folder, path.Base(p))); err != nil {
			return err
		}
	}
	return nil
}

// StartCopy implements backend.Jobs: the job waits until a test moves it along.
func (c *Coffer) StartCopy(ctx context.Context, id string, job protocol.CopyJob) (*protocol.Job, error) {
	var started protocol.Job
	err := c.change(ctx, "StartCopy", id, func(one *Container) {
		j := &protocol.Job{ID: uint64(len(one.Jobs) + 1), State: protocol.JobWaiting, Copy: job, Queued: time.Now(), WindowSeconds: 1}
		one.Jobs = append(one.Jobs, j)
		started = *j
	}, job.Sources, job.Destination)
	return &started, err
}

// Jobs implements backend.Jobs.
func (c *Coffer) Jobs(ctx context.Context, id string) ([]protocol.Job, error) {
	if err := c.call(ctx, "Jobs", id); err != nil {
		return nil, err
	}
	c.Mu.Lock()
	defer c.Mu.Unlock()
	one, _, err := c.byID(id)
	if err != nil {
		return nil, err
	}
	all := []protocol.Job{}
	for _, j := range one.Jobs {
		shown := *j
		shown.Windows = nil
		all = append(all, shown)
	}
	return all, nil
}

// Died implements backend.Jobs.
func (c *Coffer) Died(id string) bool {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	for _, one := range c.Containers {
		if one.ID == id {
			return one.Died
		}
	}
	return false
}

// Job implements backend.Jobs.
func (c *Coffer) Job(ctx context.Context, id string, job uint64, from int) (*protocol.Job, error) {
	return c.onJob(ctx, "Job", id, job, func(j *protocol.Job) {}, from)
}

func (c *Coffer) onJob(ctx context.Context, name, id string, job uint64, change func(*protocol.Job), from int) (*protocol.Job, error) {
	if err := c.call(ctx, name, job); err != nil {
		return nil, err
	}
	c.Mu.Lock()
	defer c.Mu.Unlock()
	one, _, err := c.byID(id)
	if err != nil {
		return nil, err
	}
	for _, j := range one.Jobs {
		if j.ID == job {
			change(j)
			shown := *j
			shown.Windows = slices.Clone(j.Windows[min(from, len(j.Windows)):])
			return &shown, nil
		}
	}
	return nil, Problem(protocol.Failed, fmt.Sprintf("there is no job %d", job), "")
}

// AnswerJob implements backend.Jobs.
func (c *Coffer) AnswerJob(ctx context.Context, id string, answer protocol.JobAnswer) (*protocol.Job, error) {
	return c.onJob(ctx, "AnswerJob", id, answer.ID, func(j *protocol.Job) {
		j.State, j.Questions = protocol.JobRunning, nil
		c.Answers = append(c.Answers, answer)
	}, 0)
}

// PauseJob implements backend.JobControl.
func (c *Coffer) PauseJob(ctx context.Context, id string, job uint64) (*protocol.Job, error) {
	return c.onJob(ctx, "PauseJob", id, job, func(j *protocol.Job) { j.State = protocol.JobPaused }, 0)
}

// ResumeJob implements backend.JobControl.
func (c *Coffer) ResumeJob(ctx context.Context, id string, job uint64) (*protocol.Job, error) {
	return c.onJob(ctx, "ResumeJob", id, job, func(j *protocol.Job) { j.State = protocol.JobRunning }, 0)
}

// CancelJob implements backend.JobControl.
func (c *Coffer) CancelJob(ctx context.Context, id string, job uint64) (*protocol.Job, error) {
	return c.onJob(ctx, "CancelJob", id, job, func(j *protocol.Job) { j.State = protocol.JobCancelled }, 0)
}

// ForgetJob implements backend.JobControl.
func (c *Coffer) ForgetJob(ctx context.Context, id string, job uint64) error {
	return c.change(ctx, "ForgetJob", id, func(one *Container) {
		one.Jobs = slices.DeleteFunc(one.Jobs, func(j *protocol.Job) bool { return j.ID == job })
	}, job)
}

// Lab implements backend.Lab.
func (c *Coffer) Lab(ctx context.Context, r client.LabRequest, to client.Reporter) ([]*report.Experiment, error) {
	if to != nil {
		to(protocol.Event{Kind: protocol.EventProgress, Stage: r.Experiment, Done: 1, Total: 4, Unit: protocol.UnitMeasurements})
	}
	if err := c.call(ctx, "Lab", r.Experiment); err != nil {
		return nil, err
	}
	return c.Experiments, nil
}

// SelfTest implements backend.Lab.
func (c *Coffer) SelfTest(ctx context.Context) ([]client.Test, error) {
	return c.Tests, c.call(ctx, "SelfTest")
}

// Version implements backend.Lab.
func (c *Coffer) Version(ctx context.Context) (client.Version, error) {
	return client.Version{Version: "v1", Go: "go", OS: "linux", Arch: "amd64", Engine: "vaes"}, c.call(ctx, "Version")
}
