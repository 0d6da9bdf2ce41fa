package jobs_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"coffer/app/client"
	"coffer/app/protocol"
	"coffer/transfer/report"
)

// helperVariable makes this test executable a client that starts a job and is killed.
const helperVariable = "COFFER_JOBS_HELPER"

func TestMain(m *testing.M) {
	if id, source, ok := strings.Cut(os.Getenv(helperVariable), "\n"); ok {
		os.Exit(startAndStay(id, source))
	}
	os.Exit(buildAndRun(m))
}

// program is the real executable, built once.
var program string

func buildAndRun(m *testing.M) int {
	folder, err := os.MkdirTemp("", "coffer-jobs-test-*")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(folder)
	program = filepath.Join(folder, "coffer")
	build := exec.Command("go", "build", "-o", program, "coffer/app/coffer")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build the program: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// startAndStay starts a job and waits to be killed.
func startAndStay(id, source string) int {
	c, err := client.New("/nothing/coffer")
	if err == nil {
		_, err = c.StartCopy(context.Background(), id, protocol.CopyJob{Sources: []string{source}, Destination: "/orphan", ToInside: true})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println("started")
	select {}
}

// world is unlocked containers of real agents, and a client.
type world struct {
	*testing.T
	folder string
	client *client.Client
	ctx    context.Context
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, folder: t.TempDir()}
	run := filepath.Join(w.folder, "run")
	w.must(os.Mkdir(run, 0o700))
	for name, value := range map[string]string{"XDG_RUNTIME_DIR": run, "HOME": w.folder, "XDG_STATE_HOME": w.folder, "XDG_CONFIG_HOME": w.folder, "XDG_DATA_HOME": w.folder} {
		t.Setenv(name, value)
	}
	var err error
	if w.client, err = client.New(program); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	w.ctx = ctx
	t.Cleanup(func() {
		if out, err := exec.Command(program, "lock", "--all", "--force").CombinedOutput(); err != nil {
			t.Errorf("lock all: %v\n%s", err, out)
		}
		cancel()
	})
	return w
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) path(name string) string { return filepath.Join(w.folder, name) }

// unlocked makes a container and unlocks it without a drive.
func (w *world) unlocked(name string, mebibytes int64) (id string) {
	w.Helper()
	_, err := w.client.Create(w.ctx, client.CreateRequest{Image: w.path(name), SizeBytes: mebibytes << 20, Label: "UNSEEN",
		KDFMemory: 64 << 10, KDFTime: time.Millisecond, Credential: client.Credential{Password: client.Secret("correct horse")}}, nil)
	w.must(err)
	id = w.unlock(name)
	drives, err := w.client.Drives(w.ctx)
	w.must(err)
	if !slices.ContainsFunc(drives, func(s protocol.Status) bool { return s.ID == id && s.Label == "UNSEEN" }) {
		w.Fatalf("no %s with its label in %+v", id, drives)
	}
	return id
}

func (w *world) unlock(name string) (id string) {
	w.Helper()
	entry, err := w.client.Unlock(w.ctx, client.UnlockRequest{Image: w.path(name), Credential: client.Credential{Password: client.Secret("correct horse")}, NoMount: true}, nil)
	w.must(err)
	return entry.ID
}

// file makes a file of random bytes on the host.
func (w *world) file(name string, size int) []byte {
	w.Helper()
	content := make([]byte, size)
	rand.NewChaCha8([32]byte{byte(size), byte(len(name))}).Read(content)
	w.must(os.MkdirAll(filepath.Dir(w.path(name)), 0o700))
	w.must(os.WriteFile(w.path(name), content, 0o600))
	return content
}

// start starts a job.
func (w *world) start(id string, job protocol.CopyJob) uint64 {
	w.Helper()
	j, err := w.client.StartCopy(w.ctx, id, job)
	w.must(err)
	return j.ID
}

// until asks for a job until it is as wanted.
func (w *world) until(id string, job uint64, what string, fits func(*protocol.Job) bool) *protocol.Job {
	w.Helper()
	for deadline := time.Now().Add(60 * time.Second); ; time.Sleep(2 * time.Millisecond) {
		j, err := w.client.Job(w.ctx, id, job, 0)
		w.must(err)
		if fits(j) {
			return j
		}
		if j.State.Ended() || time.Now().After(deadline) {
			w.Fatalf("job %d never was %s: it is %s, %d of %d bytes, %+v, problems %v", job, what, j.State, j.Bytes, j.TotalBytes, j.Problem, j.Problems)
		}
	}
}

func is(state protocol.JobState) func(*protocol.Job) bool {
	return func(j *protocol.Job) bool { return j.State == state }
}

// done waits for a job to be done.
func (w *world) done(id string, job uint64) *protocol.Job {
	w.Helper()
	return w.until(id, job, "done", is(protocol.JobDone))
}

// names lists a folder inside.
func (w *world) names(id, folder string) string {
	w.Helper()
	var names []string
	w.must(w.client.List(w.ctx, id, folder, false, func(e protocol.Entry) error {
		names = append(names, e.Path)
		return nil
	}))
	slices.Sort(names)
	return strings.Join(names, " ")
}

// still is a paused job once what was under way when it was paused, a sync for one, has come to its end.
func (w *world) still(id string, before *protocol.Job) *protocol.Job {
	w.Helper()
	for range 50 {
		time.Sleep(100 * time.Millisecond)
		j, err := w.client.Job(w.ctx, id, before.ID, 0)
		w.must(err)
		if j.Average == before.Average {
			return j
		}
		before = j
	}
	w.Fatalf("job %d does not come to a stand: %+v", before.ID, before)
	return nil
}

// paused starts a copy of a big file that is on its way, and pauses it there.
func (w *world) paused(id string, job protocol.CopyJob) *protocol.Job {
	w.Helper()
	for try := range 10 {
		job.Existing = protocol.ExistingReplace
		number := w.start(id, job)
		for {
			j, err := w.client.Job(w.ctx, id, number, 0)
			w.must(err)
			if j.State.Ended() { // it was faster
				break
			}
			if j.State == protocol.JobRunning {
				if j, err = w.client.PauseJob(w.ctx, id, number); err == nil && j.State == protocol.JobPaused && j.Average > 0 {
					return w.still(id, j)
				}
				if err == nil && j.State == protocol.JobPaused { // too early
					_, err = w.client.ResumeJob(w.ctx, id, number)
					w.must(err)
				}
			}
		}
		w.Logf("try %d: the copy ended before it was paused", try)
	}
	w.Fatal("no copy could be paused")
	return nil
}

// stands waits until the agent's session has the rank that is wanted among the sessions of the computer.
func (w *world) stands(id, nice string) {
	w.Helper()
	if _, err := os.Stat("/proc/self/autogroup"); err != nil {
		w.Log("this kernel does not rank sessions: ", err)
		return
	}
	drives, err := w.client.Drives(w.ctx)
	w.must(err)
	at := slices.IndexFunc(drives, func(s protocol.Status) bool { return s.ID == id })
	place, rank := fmt.Sprintf("/proc/%d/autogroup", drives[at].PID), []byte(nil)
	for start := time.Now(); time.Since(start) < 10*time.Second; time.Sleep(20 * time.Millisecond) {
		rank, err = os.ReadFile(place)
		w.must(err)
		if strings.HasSuffix(strings.TrimSpace(string(rank)), " nice "+nice) {
			return
		}
	}
	w.Errorf("%s is %q, wanted nice %s", place, rank, nice)
}

// TestCopyInAndOut through a real agent: what arrives is what was sent, with a record, and private on the host.
func TestCopyInAndOut(t *testing.T) {
	w := newWorld(t)
	id := w.unlocked("a.img", 192)
	want := w.file("src/big", 40<<20)
	w.file("src/sub/small", 1000)
	records := w.path("records")
	in := w.done(id, w.start(id, protocol.CopyJob{Sources: []string{w.path("src")}, Destination: "/", ToInside: true, Verify: true,
		Records: records, Label: "holiday", WindowMillis: 50, Program: "test 1"}))
	r := in.Record
	if r == nil || r.Outcome != report.Done || r.Files != 2 || r.Verified != 2 || r.Label != "holiday" || r.Program != "test 1" || r.Destination.Format != "luks2" ||
		in.Files != 2 || in.TotalFiles != 2 || in.Bytes != in.TotalBytes || in.Bytes != 40<<20+1000 {
		t.Fatalf("%+v\n%+v", in, r)
	}
	stored, damaged, err := report.NewStore(records).List()
	if err != nil || len(damaged) > 0 || len(stored) != 1 || stored[0].ID != r.ID {
		t.Errorf("records: %v, %v, %v", stored, damaged, err)
	}
	if !slices.Equal(in.Windows, r.Rates.Series) || in.Average != r.Rates.Average || in.Average <= 0 {
		t.Errorf("windows %v, average %v; the record has %v, %v", in.Windows, in.Average, r.Rates.Series, r.Rates.Average)
	}
	w.must(os.Mkdir(w.path("out"), 0o700))
	w.done(id, w.start(id, protocol.CopyJob{Sources: []string{"/src"}, FromInside: true, Destination: w.path("out")}))
	got, err := os.ReadFile(w.path("out/src/big"))
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes came back, %v", len(got), err)
	}
	for name, mode := range map[string]os.FileMode{"out/src/big": 0o600, "out/src/sub/small": 0o600, "out/src/sub": 0o700 | os.ModeDir} {
		if st, err := os.Stat(w.path(name)); err != nil || st.Mode() != mode {
			t.Errorf("%s: %v, %v", name, st.Mode(), err)
		}
	}
	// Inside, as with cp.
	w.done(id, w.start(id, protocol.CopyJob{Sources: []string{"/src/sub"}, FromInside: true, Destination: "/copy", ToInside: true}))
	if got := w.names(id, "/copy"); got != "/copy/small" {
		t.Error(got)
	}
	// From another container.
	other := w.unlocked("b.img", 64)
	w.done(other, w.start(other, protocol.CopyJob{Sources: []string{"/src/sub/small"}, FromInside: true, Peer: id, Destination: "/", ToInside: true}))
	if got := w.names(other, "/"); got != "/small" {
		t.Error(got)
	}
	if jobs, err := w.client.Jobs(w.ctx, id); err != nil || len(jobs) != 3 || jobs[0].ID != in.ID || jobs[0].Windows != nil {
		t.Errorf("%v: %+v", err, jobs)
	}
	w.must(w.client.ForgetJob(w.ctx, id, in.ID))
	if _, err := w.client.Job(w.ctx, id, in.ID, 0); err == nil {
		t.Error("a forgotten job is there")
	}
}

// TestPauseInAgent: a paused job stands still, the container answers meanwhile, and lock waits for it.
func TestPauseInAgent(t *testing.T) {
	w := newWorld(t)
	id := w.unlocked("a.img", 700)
	want := w.file("big", 250<<20)
	w.file("note", 100)
	job := protocol.CopyJob{Sources: []string{w.path("big")}, Destination: "/big", ToInside: true, WindowMillis: 50}
	w.stands(id, "0")
	before := w.paused(id, job)
	w.stands(id, "10")
	if got := w.names(id, "/"); strings.Contains(got, "/big") {
		t.Errorf("half a file stands under its name: %s", got)
	}
	w.must(w.client.Mkdir(w.ctx, id, "/made meanwhile"))
	queued := w.start(id, protocol.CopyJob{Sources: []string{w.path("note")}, Destination: "/", ToInside: true})
	err := w.client.Lock(w.ctx, id, false)
	if p := client.Explain(err); p.Code != protocol.InUse || !strings.Contains(p.Sentence, "a copy job is running") || !strings.Contains(p.Hint, "--force") {
		t.Errorf("a lock while a job is paused: %+v", p)
	}
	after, err := w.client.Job(w.ctx, id, before.ID, 0)
	w.must(err)
	if after.Average != before.Average || after.State != protocol.JobPaused || after.Current != 0 || after.Stage != "copy" {
		t.Errorf("it moves while it is paused: %+v\nthen %+v", before, after)
	}
	if j, err := w.client.Job(w.ctx, id, queued, 0); err != nil || j.State != protocol.JobWaiting {
		t.Errorf("another job overtakes: %v, %+v", err, j)
	}
	_, err = w.client.ResumeJob(w.ctx, id, before.ID)
	w.must(err)
	j := w.done(id, before.ID)
	if j.Record.PausedSeconds <= 0 { // windows there may be none: a fast disk takes less than one of them
		t.Errorf("paused for %v s", j.Record.PausedSeconds)
	}
	w.done(id, queued)
	w.done(id, w.start(id, protocol.CopyJob{Sources: []string{"/big"}, FromInside: true, Destination: w.path("back")}))
	if got, err := os.ReadFile(w.path("back")); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes came back, %v", len(got), err)
	}
	w.stands(id, "0")
	// What is cancelled leaves nothing under its name.
	job.Destination = "/second"
	paused := w.paused(id, job)
	j, err = w.client.CancelJob(w.ctx, id, paused.ID)
	w.must(err)
	if j = w.until(id, j.ID, "cancelled", is(protocol.JobCancelled)); j.Record == nil || j.Record.Outcome != report.Cancelled {
		t.Errorf("%+v", j)
	}
	if got := w.names(id, "/"); strings.Contains(got, "/second") {
		t.Error(got)
	}
	w.must(w.client.Lock(w.ctx, id, false))
}

// TestDriveWhilePaused: what programs do through the drive goes on beside a job that stands still.
func TestDriveWhilePaused(t *testing.T) {
	w := newWorld(t)
	id := w.unlocked("a.img", 700)
	w.must(w.client.Lock(w.ctx, id, false))
	entry, err := w.client.Unlock(w.ctx, client.UnlockRequest{Image: w.path("a.img"), Credential: client.Credential{Password: client.Secret("correct horse")}}, nil)
	w.must(err)
	w.file("big", 250<<20)
	paused := w.paused(id, protocol.CopyJob{Sources: []string{w.path("big")}, Destination: "/big", ToInside: true})
	content := bytes.Repeat([]byte("through the drive\n"), 100_000)
	f, err := os.Create(filepath.Join(entry.MountPoint, "beside"))
	w.must(err)
	_, err = f.Write(content)
	w.must(err)
	w.must(f.Sync())
	w.must(f.Close())
	w.must(os.Rename(f.Name(), f.Name()+" renamed"))
	if got, err := os.ReadFile(f.Name() + " renamed"); err != nil || !bytes.Equal(got, content) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if j, err := w.client.Job(w.ctx, id, paused.ID, 0); err != nil || j.State != protocol.JobPaused || j.Average != paused.Average {
		t.Errorf("%v, %+v", err, j)
	}
	_, err = w.client.ResumeJob(w.ctx, id, paused.ID)
	w.must(err)
	w.done(id, paused.ID)
	if st, err := os.Stat(filepath.Join(entry.MountPoint, "big")); err != nil || st.Size() != 250<<20 {
		t.Errorf("the drive does not show what was copied: %v", err)
	}
	w.must(w.client.Lock(w.ctx, id, false))
}

// TestForcedLockInAgent cancels what runs; what was copied before is there.
func TestForcedLockInAgent(t *testing.T) {
	w := newWorld(t)
	id := w.unlocked("a.img", 700)
	w.file("big", 250<<20)
	w.file("note", 100)
	w.done(id, w.start(id, protocol.CopyJob{Sources: []string{w.path("note")}, Destination: "/", ToInside: true}))
	records := w.path("records")
	w.paused(id, protocol.CopyJob{Sources: []string{w.path("big")}, Destination: "/big", ToInside: true, Records: records})
	w.start(id, protocol.CopyJob{Sources: []string{w.path("note")}, Destination: "/never", ToInside: true})
	begin := time.Now()
	w.must(w.client.Lock(w.ctx, id, true))
	t.Logf("locked by force in %v", time.Since(begin))
	stored, _, err := report.NewStore(records).List()
	if err != nil || len(stored) == 0 || stored[len(stored)-1].Outcome != report.Cancelled {
		t.Errorf("records %+v, %v", stored, err)
	}
	id = w.unlock("a.img")
	if got := w.names(id, "/"); !strings.Contains(got, "/note") || strings.Contains(got, "/never") {
		t.Error(got)
	}
}

// TestQuestionsInAgent: nothing is written before the answers.
func TestQuestionsInAgent(t *testing.T) {
	w := newWorld(t)
	id := w.unlocked("a.img", 64)
	w.file("src/old", 1000)
	job := protocol.CopyJob{Sources: []string{w.path("src")}, Destination: "/", ToInside: true}
	w.done(id, w.start(id, job))
	want := w.file("src/old", 2000)
	w.file("src/new", 10)
	number := w.start(id, job)
	j := w.until(id, number, "asking", is(protocol.JobAsking))
	if len(j.Questions) != 1 || j.Questions[0].Kind != protocol.QuestionExists || j.Questions[0].Files != 1 || !slices.Equal(j.Questions[0].Examples, []string{"src/old"}) {
		t.Fatalf("%+v", j.Questions)
	}
	if got := w.names(id, "/src"); got != "/src/old" {
		t.Errorf("written before the answer: %s", got)
	}
	for name, err := range map[string]error{
		"an unknown answer": func() error {
			_, err := w.client.AnswerJob(w.ctx, id, protocol.JobAnswer{ID: number, Answers: map[string]string{"exists": "burn"}})
			return err
		}(),
		"an unknown question": func() error {
			_, err := w.client.AnswerJob(w.ctx, id, protocol.JobAnswer{ID: number, Answers: map[string]string{"x": "y"}})
			return err
		}(),
		"an unknown job":    func() error { _, err := w.client.AnswerJob(w.ctx, id, protocol.JobAnswer{ID: 99}); return err }(),
		"a pause of asking": func() error { _, err := w.client.PauseJob(w.ctx, id, number); return err }(),
		"forgetting asking": w.client.ForgetJob(w.ctx, id, number),
		"a relative path": func() error {
			_, err := w.client.StartCopy(w.ctx, id, protocol.CopyJob{Sources: []string{"x"}, Destination: "/", ToInside: true})
			return err
		}(),
	} {
		if err == nil || client.Explain(err).Sentence == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := w.client.AnswerJob(w.ctx, id, protocol.JobAnswer{ID: number, Answers: map[string]string{"exists": "replace"}})
	w.must(err)
	w.done(id, number)
	w.done(id, w.start(id, protocol.CopyJob{Sources: []string{"/src/old"}, FromInside: true, Destination: w.path("back")}))
	if got, err := os.ReadFile(w.path("back")); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes came back, %v", len(got), err)
	}
	// What is not there, and a container as a target.
	for _, bad := range []protocol.CopyJob{
		{Sources: []string{w.path("nothing")}, Destination: "/", ToInside: true},
		{Sources: []string{"/nothing"}, FromInside: true, Destination: w.path("back2")},
		{Sources: []string{"/src/old"}, FromInside: true, Destination: w.path("a.img"), Existing: protocol.ExistingReplace},
		{Sources: []string{"/src/old"}, FromInside: true, Peer: "0-0", Destination: "/", ToInside: true},
	} {
		if j := w.until(id, w.start(id, bad), "failed", is(protocol.JobFailed)); j.Problem == nil || j.Problem.Sentence == "" {
			t.Errorf("%+v", j)
		}
	}
	// A file FAT cannot hold; a hole costs nothing.
	huge := w.path("huge")
	w.must(os.WriteFile(huge, nil, 0o600))
	w.must(os.Truncate(huge, 5<<30))
	number = w.start(id, protocol.CopyJob{Sources: []string{huge, w.path("src/new")}, Destination: "/", ToInside: true})
	j = w.until(id, number, "asking", is(protocol.JobAsking))
	if len(j.Questions) != 1 || j.Questions[0].Kind != protocol.QuestionTooBig || !slices.Equal(j.Questions[0].Answers, []string{"split", "skip"}) {
		t.Fatalf("%+v", j.Questions)
	}
	w.must(w.client.Lock(w.ctx, id, false)) // who asks is in nobody's way
	id = w.unlock("a.img")
	number = w.start(id, protocol.CopyJob{Sources: []string{huge, w.path("src/new")}, Destination: "/", ToInside: true})
	w.until(id, number, "asking", is(protocol.JobAsking))
	_, err = w.client.AnswerJob(w.ctx, id, protocol.JobAnswer{ID: number, Answers: map[string]string{"too-big": "skip"}})
	w.must(err)
	if j := w.until(id, number, "partly done", is(protocol.JobPartly)); len(j.Problems) != 1 || j.Problems[0].Reason != "too-big" || j.Record.Files != 1 {
		t.Errorf("%+v", j)
	}
}

// TestClientGoesAway: a job whose client is killed ends done.
func TestClientGoesAway(t *testing.T) {
	w := newWorld(t)
	id := w.unlocked("a.img", 256)
	w.file("big", 100<<20)
	helper := exec.Command(os.Args[0])
	helper.Env = append(os.Environ(), helperVariable+"="+id+"\n"+w.path("big"))
	out, err := helper.StdoutPipe()
	w.must(err)
	helper.Stderr = os.Stderr
	w.must(helper.Start())
	word := make([]byte, len("started"))
	if _, err := out.Read(word); err != nil || string(word) != "started" {
		t.Fatalf("%q, %v", word, err)
	}
	w.must(helper.Process.Kill())
	_ = helper.Wait()
	jobs, err := w.client.Jobs(w.ctx, id)
	w.must(err)
	if len(jobs) != 1 {
		t.Fatalf("%+v", jobs)
	}
	if j := w.done(id, jobs[0].ID); j.Record.Bytes != 100<<20 {
		t.Errorf("%+v", j)
	}
	if got := w.names(id, "/"); got != "/orphan" {
		t.Error(got)
	}
}

// kill kills the only agent, and waits until a front end can tell.
func (w *world) kill(id string) {
	w.Helper()
	drives, err := w.client.Drives(w.ctx)
	w.must(err)
	w.must(syscall.Kill(drives[0].PID, syscall.SIGKILL))
	for deadline := time.Now().Add(10 * time.Second); !w.client.Died(id); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			w.Fatal("nobody can tell that it was killed")
		}
	}
}

// remarks are what a command says besides its answer.
func (w *world) remarks() string {
	w.Helper()
	var told bytes.Buffer
	list := exec.Command(program, "list")
	list.Stderr = &told
	w.must(list.Run())
	return told.String()
}

// TestAgentIsKilled: a front end can tell an agent that died from one that was locked, and the copy goes on after it.
func TestAgentIsKilled(t *testing.T) {
	w := newWorld(t)
	id := w.unlocked("a.img", 700)
	want := w.file("big", 250<<20)
	job := protocol.CopyJob{Sources: []string{w.path("big")}, Destination: "/big", ToInside: true}
	w.paused(id, job)
	if w.client.Died(id) {
		t.Error("it lives")
	}
	w.kill(id)
	if _, err := w.client.Jobs(w.ctx, id); client.Code(err) != protocol.NoCredential {
		t.Errorf("asked for its jobs: %v", err)
	}
	if told := w.remarks(); !strings.Contains(told, "a copy was interrupted") || strings.Contains(told, "big") {
		t.Errorf("the next command says %q", told)
	}
	id = w.unlock("a.img")
	if w.client.Died(id) {
		t.Error("it was unlocked again")
	}
	job.Resume = true
	w.done(id, w.start(id, job))
	w.done(id, w.start(id, protocol.CopyJob{Sources: []string{"/big"}, FromInside: true, Destination: w.path("back")}))
	if got, err := os.ReadFile(w.path("back")); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes came back, %v", len(got), err)
	}
	w.kill(id)
	if told := w.remarks(); !strings.Contains(told, "ended without locking") || strings.Contains(told, "interrupted") {
		t.Errorf("the copies were done, and the next command says %q", told)
	}
	id = w.unlock("a.img")
	w.must(w.client.Lock(w.ctx, id, true))
	if w.client.Died(id) {
		t.Error("it was locked, and died of nothing")
	}
}
