package transfers

import (
	"context"
	"math"
	"path/filepath"
	"testing"
	"time"

	"coffer/app/client"
	"coffer/app/protocol"
	"coffer/app/window/backend/fake"
	"coffer/app/window/ui"
	"coffer/app/window/ui/uitest"
	"coffer/transfer/rate"
	"coffer/transfer/report"
)

// stand is a screen with two unlocked containers in a window of a test.
type stand struct {
	*uitest.Desk
	t       *testing.T
	screen  *Screen
	watcher *Watcher
	photos  *fake.Container
	vault   *fake.Container
}

func newStand(t *testing.T) *stand { return newStandIn(t, ui.ThemeLight) }

func newStandIn(t *testing.T, theme string) *stand {
	t.Helper()
	k := uitest.New(t, theme)
	s := &stand{Desk: k, t: t}
	s.photos = s.unlocked("photos.img")
	s.vault = s.unlocked("vault.img")
	k.Deps.Model.Look(k.Deps.Context)
	s.watcher = NewWatcher(k.Deps)
	s.watcher.started = time.Now().Add(-time.Hour)
	s.screen = New(k.Deps, s.watcher)
	k.Window().SetContent(s.screen.Object())
	return s
}

func (s *stand) unlocked(name string) *fake.Container {
	s.t.Helper()
	image := filepath.Join(s.Folder, name)
	added := s.Coffer.Add(image, "secret")
	if _, err := s.Coffer.Unlock(context.Background(), client.UnlockRequest{Image: image, Credential: client.Credential{Password: client.Secret("secret")}}, nil); err != nil {
		s.t.Fatal(err)
	}
	return added
}

// job puts a job into a container as it is, and returns it for changes under the mutex of the fake.
func (s *stand) job(c *fake.Container, state protocol.JobState, sources ...string) *protocol.Job {
	s.Coffer.Mu.Lock()
	defer s.Coffer.Mu.Unlock()
	j := &protocol.Job{ID: uint64(len(c.Jobs) + 1), State: state, Queued: time.Now().Add(time.Duration(len(c.Jobs)-100) * time.Second), WindowSeconds: 1,
		Copy: protocol.CopyJob{Sources: sources, Destination: "/", ToInside: true, Label: "my label"}}
	if state.Ended() {
		j.Ended = time.Now().Add(time.Duration(j.ID) * time.Millisecond)
	}
	c.Jobs = append(c.Jobs, j)
	if s.watcher != nil {
		s.watcher.Refresh() // as whoever starts a copy in the window does
	}
	return j
}

// look lets the watcher look, and what it posts run.
func (s *stand) look() {
	s.t.Helper()
	s.watcher.Look(context.Background())
	ran := false
	s.Deps.Do(func() { ran = true })
	s.Until("what was posted has run", func() bool { return ran })
}

// show comes to the screen.
func (s *stand) show() {
	s.t.Helper()
	s.screen.Shown("")
	s.look()
}

// wave is a series of rates around a value.
func wave(n int, around, swing float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		x := float64(i)
		out[i] = around * (1 + swing*math.Sin(x/3) + swing/2*math.Sin(x*1.7))
	}
	return out
}

// record is a transfer of so many windows around a rate.
func record(label string, day int, n int, around float64) *report.Record {
	start := time.Date(2026, 11, day, 14, 20, 0, 0, time.UTC)
	series := wave(n, around, 0.2)
	s := rate.Summary{WindowSeconds: 1, Series: series, Minimum: math.Inf(1)}
	for _, v := range series {
		s.Average += v / float64(n)
		s.Maximum, s.Minimum = max(s.Maximum, v), min(s.Minimum, v)
	}
	s.P5, s.P50, s.P95 = s.Minimum, s.Average, s.Maximum
	wall := float64(n)
	r := &report.Record{Schema: report.SchemaVersion, ID: report.NewID(start), Label: label, Start: start, End: start.Add(time.Duration(n) * time.Second), Outcome: report.Done,
		Source: report.Endpoint{Kind: "host", FileSystem: "ext4", Device: "nvme0n1", WriteCache: "write back"},
		Destination: report.Endpoint{Kind: "container", FileSystem: "FAT32", Format: "luks2", Cipher: "aes-256-xts", Engine: "vaes", Device: "nvme0n1",
			SectorBytes: 4096, ClusterBytes: 32768},
		Path: "direct", Files: 1024, Directories: 31, Bytes: int64(s.Average * wall), Skipped: map[string]int64{}, Failed: map[string]int64{},
		Seconds: report.Seconds{Total: wall + 0.4, Scan: 0.4, Copy: wall - 1, Sync: 1}, Rates: s, Program: "coffer 1.0.0", Cache: "warm",
		CPU:     report.CPU{Total: report.Usage{UserSeconds: 3.2, SystemSeconds: 1.1, Percent: 62}},
		Machine: report.Machine{CPUModel: "AMD Ryzen 7 PRO 5850U", Cores: 16, OS: "linux", OSName: "Debian GNU/Linux 13", Kernel: "6.12.48", Arch: "amd64", GovernorStart: "performance", ClockMHzStart: 3200, ClockMHzEnd: 4100}}
	r.Phases = report.SharePhases([]report.Phase{{Name: report.PhaseSourceRead, Seconds: wall * 0.3}, {Name: report.PhaseCrypto, Seconds: wall * 0.15},
		{Name: report.PhaseFileSystem, Seconds: wall * 0.05}, {Name: report.PhaseImageWrite, Seconds: wall * 0.35}, {Name: report.PhaseSync, Seconds: 1}}, wall)
	return r
}

// save puts records into the folder of records.
func (s *stand) save(records ...*report.Record) {
	s.t.Helper()
	for _, r := range records {
		if err := report.NewStore(s.Deps.Paths.RecordsFolder()).Save(r); err != nil {
			s.t.Fatal(err)
		}
	}
}

// history turns to the history and waits until it is read.
func (s *stand) history() *history {
	s.t.Helper()
	s.screen.Shown("")
	s.screen.turn(1)
	h := s.screen.history
	s.Until("the history is read", func() bool { return h.records != nil || h.damaged != nil || h.failure != nil })
	return h
}

// offered is the path that the dialog of exports offers.
func (s *stand) offered() string {
	return uitest.Find(s.Desk, "the path", func(*ui.KeyEntry) bool { return true }).Text
}
