package model

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"coffer/app/agent/registry"
	"coffer/app/client"
	"coffer/app/config"
	"coffer/app/protocol"
)

// agents stands for the agents.
type agents struct {
	mu  sync.Mutex
	all []protocol.Status
	err error
}

func (a *agents) Drives(context.Context) ([]protocol.Status, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.all), a.err
}

func (a *agents) set(err error, all ...protocol.Status) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.all, a.err = all, err
}

// place is a folder with containers, the list of them and a model of it.
type place struct {
	*Model
	agents *agents
	folder string
}

func start(t *testing.T) *place {
	t.Helper()
	p := &place{agents: &agents{}, folder: t.TempDir()}
	m, err := New(p.agents, filepath.Join(p.folder, "containers.json"))
	if err != nil {
		t.Fatal(err)
	}
	p.Model = m
	return p
}

// image makes a file in the folder.
func (p *place) image(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(p.folder, name)
	if err := os.WriteFile(path, []byte(name), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// unlocked is the status of an unlocked container.
func unlocked(t *testing.T, path string) protocol.Status {
	t.Helper()
	id, err := client.Identity(path)
	if err != nil {
		t.Fatal(err)
	}
	return protocol.Status{Entry: registry.Entry{ID: id, Image: path, Ready: true, MountPoint: "/drives/x"}, TotalBytes: 100, FreeBytes: 40}
}

// look looks at everything as if it were time to.
func (p *place) look() {
	p.mu.Lock()
	p.looked = time.Time{}
	p.mu.Unlock()
	p.Look(context.Background())
}

func (p *place) named(t *testing.T, title string) Container {
	t.Helper()
	for _, c := range p.Containers() {
		if c.Title() == title {
			return c
		}
	}
	t.Fatalf("%s is not in the list", title)
	return Container{}
}

func TestStates(t *testing.T) {
	p := start(t)
	a, b := p.image(t, "a.img"), p.image(t, "b.img")
	for _, path := range []string{a, b, filepath.Join(p.folder, "gone.img")} {
		if err := p.Add(path); err != nil {
			t.Fatal(err)
		}
	}
	if got := p.named(t, "gone").State; got != Locked {
		t.Errorf("a file that nobody has looked at yet is %v", got)
	}
	p.look()
	if got := p.named(t, "gone").State; got != Missing {
		t.Errorf("a file that is not there is %v", got)
	}
	if c := p.named(t, "a"); c.State != Locked || c.SizeBytes != 5 || !c.Listed || c.InUse() {
		t.Errorf("a locked container is %+v", c)
	}

	s := unlocked(t, a)
	busy, silent := s, s
	busy.Ready, silent.Unresponsive = false, true
	for want, status := range map[State]protocol.Status{Unlocked: s, Busy: busy, Unresponsive: silent} {
		p.agents.set(nil, status)
		p.look()
		c := p.named(t, "a")
		if c.State != want || c.Status.MountPoint != "/drives/x" || !c.State.Held() || c.State.Open() != (want == Unlocked) {
			t.Errorf("state %v is shown as %+v", want, c)
		}
		if got := p.named(t, "b").State; got != Locked {
			t.Errorf("the other one is %v", got)
		}
	}

	s.OpenFiles = 1
	p.agents.set(nil, s)
	p.look()
	if !p.named(t, "a").InUse() {
		t.Error("an open file is not seen as use")
	}

	if err := os.Remove(b); err != nil {
		t.Fatal(err)
	}
	p.agents.set(nil)
	p.look()
	if p.named(t, "b").State != Missing || p.named(t, "a").State != Locked {
		t.Errorf("after removal and lock: %+v", p.Containers())
	}
}

// TestUnlockedFileGone: a drive whose file was taken away is still a drive.
func TestUnlockedFileGone(t *testing.T) {
	p := start(t)
	a := p.image(t, "a.img")
	if err := p.Add(a); err != nil {
		t.Fatal(err)
	}
	p.agents.set(nil, unlocked(t, a))
	if err := os.Remove(a); err != nil {
		t.Fatal(err)
	}
	p.look()
	if all := p.Containers(); len(all) != 1 || all[0].State != Unlocked {
		t.Errorf("%+v", all)
	}
}

// TestUnlockedFileReplaced: while another file stands at its path, a container is shown as what it is, unlocked, with a warning.
func TestUnlockedFileReplaced(t *testing.T) {
	p := start(t)
	a := p.image(t, "a.img")
	if err := p.Add(a); err != nil {
		t.Fatal(err)
	}
	p.look()
	p.agents.set(nil, unlocked(t, a))
	if err := os.Rename(a, a+".moved"); err != nil {
		t.Fatal(err)
	}
	p.image(t, "a.img")
	p.look()
	all := p.Containers()
	if len(all) != 1 || all[0].State != Unlocked || all[0].Status.Warning == "" {
		t.Errorf("%+v", all)
	}
}

// TestNotListed: what the command line unlocked is shown though it is not in the list, also by another path.
func TestNotListed(t *testing.T) {
	p := start(t)
	a := p.image(t, "a.img")
	p.agents.set(nil, unlocked(t, a))
	p.look()
	if c := p.named(t, "a"); c.Listed || c.State != Unlocked || c.Path != a {
		t.Errorf("%+v", c)
	}
	link := filepath.Join(p.folder, "link.img")
	if err := os.Symlink(a, link); err != nil {
		t.Fatal(err)
	}
	if err := p.Add(link); err != nil {
		t.Fatal(err)
	}
	p.look()
	if all := p.Containers(); len(all) != 1 || all[0].State != Unlocked || all[0].Path != link {
		t.Errorf("one container by two paths shows as %+v", all)
	}
	if c := p.Container(a); c.Path != link {
		t.Errorf("its other path leads to %+v", c)
	}
}

func TestOrder(t *testing.T) {
	p := start(t)
	for _, name := range []string{"zebra.img", "Ant.img", "bear.img", "c10.img", "c2.img"} {
		if err := p.Add(p.image(t, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Update(filepath.Join(p.folder, "zebra.img"), func(k *config.Known) { k.Favourite = true }); err != nil {
		t.Fatal(err)
	}
	if err := p.Update(filepath.Join(p.folder, "Ant.img"), func(k *config.Known) { k.Name = "cow" }); err != nil {
		t.Fatal(err)
	}
	var titles []string
	for _, c := range p.Containers() {
		titles = append(titles, c.Title())
	}
	if want := []string{"zebra", "bear", "c2", "c10", "cow"}; !slices.Equal(titles, want) {
		t.Errorf("%v, not %v", titles, want)
	}
}

// TestEditsKept: what was changed is there in the next start, and edits of two programs do not undo each other.
func TestEditsKept(t *testing.T) {
	p := start(t)
	a, b := p.image(t, "a.img"), p.image(t, "b.img")
	other, err := New(p.agents, p.file)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(p.Add(a), p.Add(a), other.Add(b)); err != nil {
		t.Fatal(err)
	}
	idle := config.Duration(time.Minute)
	if err := p.Update(a, func(k *config.Known) { k.Idle = &idle }); err != nil {
		t.Fatal(err)
	}
	next, err := New(p.agents, p.file)
	if err != nil {
		t.Fatal(err)
	}
	all := next.Containers()
	if len(all) != 2 || all[0].Idle == nil || *all[0].Idle != idle || all[1].Path != b {
		t.Errorf("the next start finds %+v", all)
	}
	if err := p.Forget(a); err != nil {
		t.Fatal(err)
	}
	if all := p.Containers(); len(all) != 1 || all[0].Path != b {
		t.Errorf("after taking one off the list: %+v", all)
	}
	if _, err := os.Stat(a); err != nil {
		t.Errorf("the file went with its line: %v", err)
	}
}

// TestOtherProcess: a list changed by another process shows, without an edit here.
func TestOtherProcess(t *testing.T) {
	p := start(t)
	a := p.image(t, "a.img")
	other, err := New(p.agents, p.file)
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Add(a); err != nil {
		t.Fatal(err)
	}
	told := 0
	defer p.Listen(func() { told++ })()
	p.look()
	if c := p.named(t, "a"); c.State != Locked || c.ID == "" {
		t.Errorf("%+v", c)
	}
	if told == 0 {
		t.Error("nobody was told")
	}
}

// TestDamagedList: a list that cannot be read is never replaced by an empty one.
func TestDamagedList(t *testing.T) {
	file := filepath.Join(t.TempDir(), "containers.json")
	if err := os.WriteFile(file, []byte("[{"), 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := New(&agents{}, file)
	if err == nil || !strings.Contains(err.Error(), file) {
		t.Fatalf("a damaged list is read without a word that names it: %v", err)
	}
	if err := m.Add("/x.img"); err == nil {
		t.Error("a damaged list is changed")
	}
	m.Look(context.Background())
	if raw, _ := os.ReadFile(file); string(raw) != "[{" {
		t.Errorf("the damaged list is now %q", raw)
	}
}

func TestSamples(t *testing.T) {
	p := start(t)
	s := unlocked(t, p.image(t, "a.img"))
	at := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	see := func(after time.Duration, read, wrote int64) bool {
		s.FileSystem.BytesRead, s.FileSystem.BytesWritten = read, wrote
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.takeLocked([]protocol.Status{s}, nil, at.Add(after))
	}
	see(0, 1000, 0)
	if got := p.History(s.ID); len(got) != 0 {
		t.Errorf("what passed before the first look is shown: %v", got)
	}
	if see(500*time.Millisecond, 1000, 0) {
		t.Error("a drive at rest tells of changes")
	}
	if !see(time.Second, 3000, 500) {
		t.Error("traffic is not told")
	}
	got := p.History(s.ID)
	if len(got) != 2 || got[1].Read != 4000 || got[1].Write != 1000 || got[0].Read != 0 {
		t.Errorf("samples %+v", got)
	}
	if !see(2*time.Second, 3000, 500) {
		t.Error("the traffic of a second ago moves through the chart, untold")
	}
	see(2050*time.Millisecond, 3000, 200_500)
	if see(2500*time.Millisecond, 3000, 200_500); p.History(s.ID)[3].Write != 400_000 {
		t.Errorf("after two answers soon after one another: %+v", p.History(s.ID))
	}
	see(61500*time.Millisecond, 3000, 200_500)
	for _, one := range p.History(s.ID) {
		if one.Read > 0 {
			t.Errorf("older than a minute: %+v", one)
		}
	}
	if see(63*time.Second, 3000, 200_500); see(63500*time.Millisecond, 3000, 200_500) {
		t.Error("a drive at rest again tells of changes")
	}
	if see(64*time.Second, 100, 0); p.History(s.ID)[len(p.History(s.ID))-1].Read < 0 {
		t.Error("counters that begin anew make a negative rate")
	}
	p.mu.Lock()
	p.takeLocked(nil, nil, at.Add(65*time.Second))
	p.mu.Unlock()
	if got := p.History(s.ID); len(got) != 0 {
		t.Errorf("the history of what is locked stays: %v", got)
	}
}

// TestQuiet: listeners hear of what a person can see, and of nothing else: each call may draw the window.
func TestQuiet(t *testing.T) {
	p := start(t)
	s := unlocked(t, p.image(t, "a.img"))
	p.agents.set(nil, s)
	p.look()
	told := 0
	stop := p.Listen(func() { told++ })
	for i, change := range []struct {
		do   func()
		tell bool
	}{
		{func() {}, false},
		{func() { s.IdleSeconds++; s.Busy.Crypto++; s.Backing.BytesRead++ }, false},
		{func() { s.LocksIn = 600 }, true},
		{func() { s.LocksIn = 599.5 }, false},
		{func() { s.LocksIn = 59.8 }, true},
		{func() { s.LocksIn = 59.6 }, false},
		{func() { s.LocksIn = 58.9 }, true},
		{func() { s.Problem = "disk full" }, true},
		{func() { s.FreeBytes = 1 }, true},
		{func() { p.agents.set(errors.New("no agents")) }, true},
		{func() { p.agents.set(errors.New("no agents")) }, false},
	} {
		before := told
		p.agents.set(nil, s)
		change.do()
		if _, err := p.agents.Drives(context.Background()); err == nil {
			p.agents.set(nil, s)
		}
		p.look()
		if (told > before) != change.tell {
			t.Errorf("change %d: told %v, want %v", i, told > before, change.tell)
		}
	}
	if p.Failure() == nil {
		t.Error("a failure is not kept")
	}
	if len(p.Containers()) != 1 {
		t.Error("with agents that cannot be asked, what is known is forgotten")
	}
	stop()
	before := told
	p.agents.set(nil)
	p.look()
	if told != before {
		t.Error("told after the end")
	}
}

// TestRun: a change of the agents is told within a second, and the model ends with its context.
func TestRun(t *testing.T) {
	p := start(t)
	a := p.image(t, "a.img")
	ctx, cancel := context.WithCancel(context.Background())
	told, ended := make(chan struct{}, 100), make(chan struct{})
	defer p.Listen(func() { told <- struct{}{} })()
	go func() { p.Run(ctx); close(ended) }()
	p.agents.set(nil, unlocked(t, a))
	p.Refresh()
	select {
	case <-told:
	case <-time.After(10 * time.Second):
		t.Error("an unlocked container was not told")
	}
	cancel()
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Error("the model does not end")
	}
}

func BenchmarkContainers1000(b *testing.B) {
	m, _ := New(&agents{}, "")
	for i := range 1000 {
		m.known = append(m.known, config.Known{Path: fmt.Sprintf("/somewhere/container %d.img", (i*7919)%1000)})
	}
	for b.Loop() {
		m.Containers()
	}
}
