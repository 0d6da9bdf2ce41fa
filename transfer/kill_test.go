//go:build unix

package transfer

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"coffer/fat32"
	"coffer/transfer/report"
)

var killRounds = flag.Int("transfer.kills", 12, "rounds of the kill -9 tests")

// childEnv makes the test binary copy instead of testing: FROM, TO, IMAGE ("": the host).
const childEnv = "COFFER_TRANSFER_TEST_CHILD"

func TestMain(m *testing.M) {
	if spec := os.Getenv(childEnv); spec != "" {
		childMain(spec)
		return
	}
	os.Exit(m.Run())
}

type childSpec struct {
	From, To, Image string
	Resume, Report  bool
	// Named copies the folder itself, to the path To on the host or /newp in the
	// image; KillAt ends the process at that step, counted from 1: changes of the
	// target tree on the host, writes of the device in an image.
	Named  bool
	KillAt int64
}

// childMain copies and prints each durable path as it is announced.
func childMain(spec string) {
	var c childSpec
	fail := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	fail(json.Unmarshal([]byte(spec), &c))
	to := host(c.To)
	if c.Image != "" {
		file, err := openFileDevice(c.Image)
		fail(err)
		dev := &mortalDevice{fileDevice: file, left: c.KillAt}
		v, err := fat32.Mount(dev, fat32.MountOptions{Location: time.UTC, CommitInterval: 20 * time.Millisecond})
		fail(err)
		to = Place{Volume: v, Path: "/", SizeBytes: dev.Size()}
	}
	j := Job{Sources: []Place{{Path: c.From, Contents: true}}, Destination: to, Resume: c.Resume, Overwrite: OverwriteReplace,
		tune: tuning{resumableBytes: 2 * blockBytes, batchBytes: 2 * blockBytes, batchInterval: 30 * time.Millisecond},
		OnEvent: func(e Event) {
			for _, p := range e.Safe {
				fmt.Println(p)
			}
		}}
	if c.Named {
		j.Sources[0].Contents, j.Overwrite = false, OverwriteFail
		if c.Image != "" {
			j.Destination.Path = "/newp"
		}
	}
	p, err := j.Plan(context.Background())
	fail(err)
	if c.KillAt > 0 && c.Image == "" {
		p.target = &mortalTree{tree: p.target, left: c.KillAt}
	}
	rec, err := Run(context.Background(), p)
	fail(err)
	if c.Report {
		fmt.Println(rec.Outcome, rec.Files, rec.Failed, rec.Problems)
		out, err := json.Marshal(rec)
		fail(err)
		fmt.Println("RECORD" + string(out))
	}
	if to.Volume != nil {
		fail(to.Volume.Close())
	}
	fmt.Println("FINISHED")
}

// fileDevice is a plain file as a device.
type fileDevice struct {
	*os.File
	size int64
}

func (d *fileDevice) Size() int64 { return d.size }

func openFileDevice(path string) (*fileDevice, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return &fileDevice{f, st.Size()}, nil
}

// moment is when a child is killed: after a time, or once so many paths were
// announced (0: never for that reason).
type moment struct {
	after     time.Duration
	announced int
}

// momentOf draws a moment within a run that takes whole. Every other one waits for an
// announcement instead of the clock, so that some kills hit the middle on any machine.
func momentOf(i int, whole time.Duration) moment {
	r := rand.New(rand.NewPCG(uint64(i), 4))
	if i%2 == 1 {
		return moment{time.Minute, 1 + r.IntN(5)}
	}
	return moment{time.Duration(r.Int64N(int64(whole))), 0}
}

// killed runs a child and kills it at that moment; it returns what was announced
// and whether it finished.
func killed(t *testing.T, c childSpec, at moment) (safe []string, finished bool) {
	t.Helper()
	spec, _ := json.Marshal(c)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+string(spec))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(at.after, func() { cmd.Process.Kill() })
	defer timer.Stop()
	sc := bufio.NewScanner(out)
	for sc.Scan() {
		if sc.Text() == "FINISHED" {
			finished = true
			continue
		}
		safe = append(safe, sc.Text())
		if len(safe) == at.announced {
			cmd.Process.Kill()
		}
	}
	err = cmd.Wait()
	if err != nil && !strings.Contains(err.Error(), "killed") {
		t.Fatalf("child: %v", err)
	}
	return safe, finished
}

func killTree(t *testing.T) (string, map[string]entry) {
	src := filepath.Join(t.TempDir(), "src")
	sampleTree(t, src)
	write(t, filepath.Join(src, "huge"), fill(5, 20*blockBytes+17))
	for i := range 300 {
		write(t, filepath.Join(src, fmt.Sprintf("f/%02d/a longer file name %03d", i%7, i)), fill(uint64(i), 3000+i*11))
	}
	return src, snapshot(t, src)
}

// demand checks a tree after a kill: no file but those of the source, each whole;
// everything announced is there.
func demand(t *testing.T, round int, want, got map[string]entry, safe []string) {
	t.Helper()
	for name, g := range got {
		if isLeftover(filepath.Base(name)) || g.dir {
			continue
		}
		if w, ok := want[name]; !ok || w.size != g.size || w.sum != g.sum {
			t.Fatalf("round %d: %s stands under its final name with %d bytes, the source has %d", round, name, g.size, w.size)
		}
	}
	for _, name := range safe {
		if g, ok := got[name]; !ok || g.sum != want[name].sum {
			var parts []string
			for p, v := range got {
				if v.size == want[name].size && v.sum == want[name].sum || isLeftover(filepath.Base(p)) {
					parts = append(parts, fmt.Sprintf("%s (%d bytes)", p, v.size))
				}
			}
			t.Fatalf("round %d: %s was announced as durable and is not there or wrong: %v, %+v of %+v; also there: %v", round, name, ok, g, want[name], parts)
		}
	}
}

func TestKillHostTarget(t *testing.T) {
	src, want := killTree(t)
	announced, finishes := 0, 0
	whole := wholeRun(t, childSpec{From: src, To: t.TempDir()})
	for i := range rounds() {
		dst := t.TempDir()
		safe, finished := killed(t, childSpec{From: src, To: dst}, momentOf(i, whole))
		demand(t, i, want, snapshot(t, dst), safe)
		announced += len(safe)
		if finished {
			finishes++
		}
		// A second kill during the resume, then the end.
		safe, _ = killed(t, childSpec{From: src, To: dst, Resume: true}, momentOf(i+1, whole))
		demand(t, i, want, snapshot(t, dst), safe)
		if _, finished := killed(t, childSpec{From: src, To: dst, Resume: true}, moment{after: time.Minute}); !finished {
			t.Fatalf("round %d: the resume did not finish", i)
		}
		if d := diff(want, snapshot(t, dst)); d != "" {
			t.Fatalf("round %d: %s", i, d)
		}
	}
	t.Logf("%d paths announced, %d of %d finished before the kill", announced, finishes, rounds())
	if announced == 0 || finishes == rounds() {
		t.Fatal("nothing was tested")
	}
}

func rounds() int {
	if testing.Short() {
		return 4
	}
	return *killRounds
}

// wholeRun is how long a copy takes that nobody kills.
func wholeRun(t *testing.T, c childSpec) time.Duration {
	t.Helper()
	began := time.Now()
	if _, finished := killed(t, c, moment{after: time.Minute}); !finished {
		t.Fatal("a copy that was not killed did not finish")
	}
	return time.Since(began)
}

// newImage makes a FAT volume in a file; the caller closes and removes it.
func newImage(t *testing.T) (string, *fileDevice) {
	t.Helper()
	image := filepath.Join(t.TempDir(), "image")
	f, err := os.Create(image)
	if err != nil {
		t.Fatal(err)
	}
	f.Truncate(128 << 20)
	f.Close()
	dev, err := openFileDevice(image)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fat32.Format(context.Background(), dev, fat32.FormatOptions{AssumeZero: true}); err != nil {
		t.Fatal(err)
	}
	return image, dev
}

func TestKillVolumeTarget(t *testing.T) {
	src, want := killTree(t)
	announced, finishes := 0, 0
	spare, spareDev := newImage(t)
	whole := wholeRun(t, childSpec{From: src, Image: spare})
	spareDev.Close()
	for i := range rounds() {
		image, dev := newImage(t)
		var earlier []string
		for k, resume := range []bool{false, true} {
			safe, finished := killed(t, childSpec{From: src, Image: image, Resume: resume}, momentOf(2*i+i%2+k, whole))
			if finished && k == 0 {
				finishes++
			}
			announced += len(safe)
			earlier = append(earlier, safe...)
			rep, err := fat32.Check(context.Background(), dev, fat32.CheckOptions{Repair: true, KeepLost: false})
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range rep.Findings {
				if x.Code == "cross-link" {
					t.Fatalf("round %d: %+v", i, x)
				}
			}
			if k == 1 {
				t.Logf("findings: %+v", rep.Findings)
			}
			demand(t, i, want, readBack(t, dev), earlier)
		}
		if _, finished := killed(t, childSpec{From: src, Image: image, Resume: true}, moment{after: time.Minute}); !finished {
			t.Fatalf("round %d: the resume did not finish", i)
		}
		if d := diff(want, readBack(t, dev)); d != "" {
			t.Fatalf("round %d: %s", i, d)
		}
		sound(t, dev)
		dev.Close()
		os.Remove(image)
	}
	t.Logf("%d paths announced, %d of %d finished before the kill", announced, finishes, rounds())
	if announced == 0 || finishes == rounds() {
		t.Fatal("nothing was tested")
	}
}

// readBack copies a volume out, past this package's engine as far as possible:
// through fat32 directly.
func readBack(t *testing.T, dev *fileDevice) map[string]entry {
	t.Helper()
	v, err := fat32.Mount(dev, fat32.MountOptions{ReadOnly: true, Location: time.UTC})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	out := map[string]entry{}
	readVolume(t, v, "/", out)
	return out
}

// A stopped process (SIGSTOP) hangs nothing and inflates no rate.
func TestStopAndContinue(t *testing.T) {
	src, want := killTree(t)
	dst := t.TempDir()
	spec, _ := json.Marshal(childSpec{From: src, To: dst, Report: true})
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+string(spec))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	const stopped = 1500 * time.Millisecond
	var rec report.Record
	done := false
	for sc := bufio.NewScanner(out); sc.Scan(); {
		if !done { // the first durable event: in the middle of the copy
			done = true
			cmd.Process.Signal(syscall.SIGSTOP)
			time.Sleep(stopped)
			cmd.Process.Signal(syscall.SIGCONT)
		}
		if raw, ok := strings.CutPrefix(sc.Text(), "RECORD"); ok {
			if err := json.Unmarshal([]byte(raw), &rec); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	r, seconds := rec.Rates, rec.Seconds.Copy+rec.Seconds.Sync
	if seconds < stopped.Seconds() || r.Minimum != 0 || r.Maximum <= 0 || r.Maximum*r.WindowSeconds > float64(rec.Bytes) {
		t.Fatalf("%v s, %+v", seconds, r)
	}
	if avg := float64(rec.Bytes) / seconds; r.Average < avg*0.98 || r.Average > avg*1.02 {
		t.Fatalf("average %v, bytes over wall time %v", r.Average, avg)
	}
	if d := diff(want, snapshot(t, dst)); d != "" {
		t.Fatal(d)
	}
}
