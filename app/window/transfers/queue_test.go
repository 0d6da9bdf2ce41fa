package transfers

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"

	"coffer/app/protocol"
	"coffer/app/window/backend/fake"
	"coffer/app/window/ui"
	"coffer/transfer/report"
)

var allStates = []protocol.JobState{protocol.JobWaiting, protocol.JobPlanning, protocol.JobAsking, protocol.JobRunning, protocol.JobPaused,
	protocol.JobDone, protocol.JobPartly, protocol.JobFailed, protocol.JobCancelled}

func TestActionsByState(t *testing.T) {
	failed := []report.Problem{{Name: "a", Failed: true}}
	want := map[protocol.JobState]Actions{
		protocol.JobWaiting:   {Cancel: true},
		protocol.JobPlanning:  {Pause: true, Cancel: true},
		protocol.JobAsking:    {Answer: true, Cancel: true},
		protocol.JobRunning:   {Pause: true, Cancel: true},
		protocol.JobPaused:    {Resume: true, Cancel: true},
		protocol.JobDone:      {Remove: true},
		protocol.JobPartly:    {Remove: true, Retry: true},
		protocol.JobFailed:    {Remove: true, Retry: true},
		protocol.JobCancelled: {Remove: true, Retry: true},
	}
	for _, state := range allStates {
		j := Job{Job: protocol.Job{State: state, Problems: failed, Copy: protocol.CopyJob{Sources: []string{"/x"}}}}
		if got := ActionsOf(j); got != want[state] {
			t.Errorf("%s: got %+v, want %+v", state, got, want[state])
		}
	}
	left := Job{Job: protocol.Job{State: protocol.JobPartly, Problems: []report.Problem{{Name: "link"}}}}
	if ActionsOf(left).Retry {
		t.Error("what was left out would be left out again")
	}
	if ActionsOf(Job{Job: protocol.Job{State: "of a later version"}}) != (Actions{}) {
		t.Error("nothing is known to be possible in a state that is not known")
	}
}

// TestButtonsByState: the buttons shown are those for what can be done, and every state has words and a picture.
func TestButtonsByState(t *testing.T) {
	labels := map[string]func(Actions) bool{"Answer…": func(a Actions) bool { return a.Answer }, "Pause": func(a Actions) bool { return a.Pause },
		"Go on": func(a Actions) bool { return a.Resume }, "Stop…": func(a Actions) bool { return a.Cancel },
		"Remove from list": func(a Actions) bool { return a.Remove }, "Try again": func(a Actions) bool { return a.Retry }}
	for _, state := range allStates {
		s := newStand(t)
		s.show()
		s.job(s.photos, state, "/home/ann/Pictures")
		s.look()
		can := ActionsOf(s.watcher.Jobs()[0])
		for label, may := range labels {
			if got := slices.Contains(s.Texts(), "["+label+"]"); got != may(can) {
				t.Errorf("%s: button %s shown: %v; can %+v", state, label, got, can)
			}
		}
		if StateText(s.watcher.Jobs()[0]) == string(state) || stateIcon(state) == nil {
			t.Errorf("%s: has no words", state)
		}
		s.MustSay("Pictures")
		s.MustSay("From /home/ann to photos")
	}
}

func TestPauseResumeRemove(t *testing.T) {
	s := newStand(t)
	s.show()
	s.MustSay("Nothing is being copied")
	j := s.job(s.photos, protocol.JobRunning, "/home/ann/Pictures")
	s.look()
	s.Tap("Pause")
	s.Until("it is paused", func() bool { return s.Says("Paused") })
	s.Tap("Go on")
	s.Until("it goes on", func() bool { return s.Says("Copying") })
	s.set(j, func(j *protocol.Job) { j.State = protocol.JobDone })
	s.look()
	s.Tap("Remove from list")
	s.Until("the list is empty", func() bool { return s.Says("Nothing is being copied") })
	s.job(s.photos, protocol.JobDone, "/a")
	s.job(s.vault, protocol.JobFailed, "/b")
	s.job(s.vault, protocol.JobRunning, "/c")
	s.look()
	s.Tap("Remove finished")
	s.Until("only the running one is left", func() bool { return len(s.watcher.Jobs()) == 1 })
	if s.watcher.Jobs()[0].State != protocol.JobRunning {
		t.Errorf("left: %+v", s.watcher.Jobs()[0])
	}
}

func TestStopAsksFirst(t *testing.T) {
	s := newStand(t)
	s.show()
	s.job(s.photos, protocol.JobRunning, "/home/ann/Pictures")
	s.look()
	s.Tap("Stop…")
	s.MustSay("Files that are copied already stay.")
	s.Tap("Cancel")
	if s.Coffer.Called("CancelJob") != 0 {
		t.Fatal("stopped though the person did not want it")
	}
	s.Tap("Stop…")
	s.Tap("Stop copying")
	s.Until("it is stopped", func() bool { return s.Says("Stopped") })

	waiting := newStand(t)
	waiting.show()
	waiting.job(waiting.photos, protocol.JobWaiting, "/a")
	waiting.look()
	waiting.Tap("Stop…")
	waiting.Until("it is stopped", func() bool { return waiting.Coffer.Called("CancelJob") == 1 })
	if waiting.Dialogs() != 0 {
		t.Error("nothing is lost with a job that only waits: no question")
	}
}

func TestWhatFailsIsTold(t *testing.T) {
	s := newStand(t)
	s.show()
	s.job(s.photos, protocol.JobRunning, "/a")
	s.look()
	s.Coffer.Fail["PauseJob"] = fake.Problem(protocol.Failed, "it has just ended", "look again")
	s.Tap("Pause")
	s.Until("it is told", func() bool { return s.Says("It has just ended.") })
	s.MustSay("Look again.")
}

func TestRetryCopiesWhatFailed(t *testing.T) {
	base := protocol.CopyJob{Sources: []string{"/home/ann/Mail", "/home/ann/a.txt", "/home/ann/b.txt"}, Destination: "/backup", ToInside: true, Verify: true, Label: "mail", Existing: protocol.ExistingNewer, Records: "/r"}
	job := func(state protocol.JobState, dropped int64, problems ...report.Problem) Job {
		return Job{Job: protocol.Job{State: state, Copy: base, Problems: problems, Dropped: dropped}}
	}
	failed := func(name string) report.Problem { return report.Problem{Name: name, Reason: "busy", Failed: true} }
	for _, c := range []struct {
		what string
		job  Job
		want []string
	}{
		{"one file", job(protocol.JobPartly, 0, failed("a.txt")), []string{"/home/ann/a.txt"}},
		{"in a folder, and what was left out is not tried again", job(protocol.JobPartly, 0, failed("Mail/old/1999"), report.Problem{Name: "b.txt", Reason: "link"}), []string{"/home/ann/Mail"}},
		{"two", job(protocol.JobPartly, 0, failed("Mail/x"), failed("b.txt")), []string{"/home/ann/Mail", "/home/ann/b.txt"}},
		{"not all are known by name", job(protocol.JobPartly, 3, failed("a.txt")), base.Sources},
		{"a name nobody expects", job(protocol.JobPartly, 0, failed("elsewhere")), base.Sources},
		{"the whole job failed", job(protocol.JobFailed, 0, failed("a.txt")), base.Sources},
		{"stopped", job(protocol.JobCancelled, 0), base.Sources},
	} {
		got := Retry(c.job)
		want := base
		want.Sources, want.Resume = c.want, true
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n got %+v\nwant %+v", c.what, got, want)
		}
	}
	if base.Resume || len(base.Sources) != 3 {
		t.Error("the job itself was changed")
	}
	root := Job{Job: protocol.Job{State: protocol.JobPartly, Copy: protocol.CopyJob{Sources: []string{"/"}, FromInside: true}, Problems: []report.Problem{failed("deep/in/it")}}}
	if got := Retry(root).Sources; !slices.Equal(got, []string{"/"}) {
		t.Errorf("of a whole container: %q", got)
	}
}

func TestRetryInTheWindow(t *testing.T) {
	s := newStand(t)
	s.show()
	j := s.job(s.photos, protocol.JobPartly, "/home/ann/Mail", "/home/ann/a.txt")
	j.Problems = []report.Problem{{Name: "Mail/in\u202ebox", Reason: "busy", Failed: true}, {Name: "Mail/link", Reason: "link"}}
	s.look()
	s.MustSay("2 files were not copied")
	s.MustSay("Mail/in\ufffdbox")
	s.MustSay("another program has it open")
	s.Tap("Retry the failed file")
	s.Until("a new job waits", func() bool { return len(s.watcher.Jobs()) == 2 })
	again := s.watcher.Jobs()[0]
	if !slices.Equal(again.Copy.Sources, []string{"/home/ann/Mail"}) || !again.Copy.Resume || again.State != protocol.JobWaiting {
		t.Errorf("got %+v", again)
	}
	s.Until("it is the one shown", func() bool { return s.screen.queue.detail.job.Key() == again.Key() })
}

func asking(s *stand) *protocol.Job {
	j := s.job(s.photos, protocol.JobAsking, "/home/ann/Pictures")
	j.Queued = time.Now()
	j.Questions = []protocol.Question{
		{Kind: protocol.QuestionExists, Files: 12, Examples: []string{"Pictures/a.jpg", "Pictures/\x07b.jpg"}, Answers: []string{protocol.ExistingReplace, protocol.ExistingNewer, protocol.ExistingSkip}},
		{Kind: protocol.QuestionTooBig, Files: 1, Examples: []string{"Pictures/film.mkv"}, Answers: []string{"split", "skip"}},
		{Kind: "of a later version", Files: 2, Answers: []string{"this", "that"}}}
	return j
}

func TestQuestionsAreAskedAndAnswered(t *testing.T) {
	s := newStand(t)
	asking(s)
	s.look() // the screen is hidden: it was begun in this window, so the person is asked all the same
	for _, words := range []string{"12 files are there already", "• Pictures/a.jpg", "• Pictures/\ufffdb.jpg", "and 10 more", "1 file is larger than 4 GB", "2 files need a decision"} {
		s.MustSay(words)
	}
	if got, want := s.screen.open.answers(), map[string]string{protocol.QuestionExists: protocol.ExistingSkip, protocol.QuestionTooBig: "split", "of a later version": "this"}; !reflect.DeepEqual(got, want) {
		t.Errorf("at first %v is chosen, want what loses nothing: %v", got, want)
	}
	s.screen.open.choices[0].SetSelected("Replace only what is older")
	s.screen.open.choices[1].SetSelected("Leave out")
	s.Key(fyne.KeyReturn)
	s.Until("it is answered", func() bool { return s.Coffer.Called("AnswerJob") == 1 })
	want := []protocol.JobAnswer{{ID: 1, Answers: map[string]string{protocol.QuestionExists: protocol.ExistingNewer, protocol.QuestionTooBig: "skip", "of a later version": "this"}}}
	if !reflect.DeepEqual(s.Coffer.Answers, want) {
		t.Errorf("answered %+v, want %+v", s.Coffer.Answers, want)
	}
	if s.Dialogs() != 0 {
		t.Error("the dialog stays")
	}
}

func TestQuestionsCanWait(t *testing.T) {
	s := newStand(t)
	s.show()
	j := asking(s)
	s.look()
	s.Key(fyne.KeyEscape)
	s.look()
	if s.Dialogs() != 0 || s.Coffer.Called("AnswerJob")+s.Coffer.Called("CancelJob") != 0 {
		t.Fatalf("decided later: %d dialogs, calls %q", s.Dialogs(), s.Coffer.Calls)
	}
	s.MustSay("Nothing is written before you have answered.")
	s.Tap("Answer…")
	s.MustSay("12 files are there already")
	s.set(j, func(j *protocol.Job) { j.State = protocol.JobRunning }) // answered by another window
	s.look()
	s.Until("the dialog goes", func() bool { return s.Dialogs() == 0 })
	s.set(j, func(j *protocol.Job) { j.State = protocol.JobAsking })
	s.look()
	s.Tap("Answer…")
	s.Tap("Do not copy")
	s.Until("it is cancelled", func() bool { return s.Coffer.Called("CancelJob") == 1 })
}

func TestQuestionsWaitForOtherDialogs(t *testing.T) {
	s := newStand(t)
	s.show()
	s.job(s.vault, protocol.JobRunning, "/a")
	s.look()
	s.Tap("Stop…")
	asking(s)
	s.look()
	if s.Dialogs() != 1 || s.Says("12 files") {
		t.Fatal("a question over another dialog")
	}
	s.Tap("Cancel")
	s.look()
	s.MustSay("12 files are there already")
	if s.Dialogs() != 1 {
		t.Errorf("%d dialogs", s.Dialogs())
	}
}

func TestOldQuestionsWaitForTheScreen(t *testing.T) {
	s := newStand(t)
	j := asking(s)
	j.Queued = s.watcher.started.Add(-time.Minute)
	s.look()
	if s.Dialogs() != 0 {
		t.Fatal("the window has just been started: a question out of nowhere")
	}
	s.show()
	s.MustSay("12 files are there already")
}

func TestWords(t *testing.T) {
	titles := map[string]string{"id2": "vault"}
	job := func(c protocol.CopyJob) Job { return Job{Title: "photos", Job: protocol.Job{Copy: c}} }
	t.Setenv("HOME", "/home/ann")
	for _, c := range []struct{ got, want string }{
		{Title(protocol.CopyJob{Sources: []string{"/home/ann/Pictures"}}), "Pictures"},
		{Title(protocol.CopyJob{Sources: []string{"/a/x", "/a/y"}}), "x and 1 more"},
		{Title(protocol.CopyJob{Sources: []string{"/"}, FromInside: true}), "Everything"},
		{Title(protocol.CopyJob{Sources: []string{"/bad\u202ename"}, FromInside: true}), "bad\ufffdname"},
		{job(protocol.CopyJob{Sources: []string{"/home/ann/Pictures"}}).From(titles), "~"},
		{job(protocol.CopyJob{Sources: []string{"/home/annabel/x"}}).From(titles), "/home/annabel"},
		{job(protocol.CopyJob{Sources: []string{"/2019/a.jpg"}, FromInside: true}).From(titles), "photos › 2019"},
		{job(protocol.CopyJob{Sources: []string{"/a.jpg"}, FromInside: true, Peer: "id2"}).From(titles), "vault"},
		{job(protocol.CopyJob{Sources: []string{"/a.jpg"}, FromInside: true, Peer: "gone"}).From(titles), "another container"},
		{job(protocol.CopyJob{Destination: "/", ToInside: true}).To(), "photos"},
		{job(protocol.CopyJob{Destination: "/home/ann/Desktop"}).To(), "~/Desktop"},
		{left(Job{Job: protocol.Job{State: protocol.JobRunning, RemainingSeconds: 0.2}}), "1 s left"},
		{left(Job{Job: protocol.Job{State: protocol.JobPaused, RemainingSeconds: 20}}), ""},
		{amounts(Job{Job: protocol.Job{State: protocol.JobRunning, Files: 1, TotalFiles: 2000, Bytes: 1e6, TotalBytes: 2e6}}), "1 of 2,000 files · 1.0 MB of 2.0 MB"},
		{amounts(Job{Job: protocol.Job{State: protocol.JobDone, Files: 88, TotalFiles: 2, Bytes: 5e6, TotalBytes: 5e6}}), "88 files · 5.0 MB"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
	if words := Reason(report.Problem{Reason: "new-one", Detail: "said so\x1b"}); strings.Contains(words, "\x1b") || !strings.Contains(words, "said so") {
		t.Errorf("an unknown reason: %q", words)
	}
}

// TestLongNamesKeepTheirEnds: which file it is, and of what kind, is to be seen in a narrow list too.
func TestLongNamesKeepTheirEnds(t *testing.T) {
	s := newStandIn(t, ui.ThemeLight)
	s.Size(850, 620)
	s.show()
	s.job(s.photos, protocol.JobWaiting, "/home/ann/Videos/Holiday in the mountains with everybody we know, part 12.mkv")
	s.look()
	if !slices.ContainsFunc(s.Texts(), func(words string) bool {
		return strings.Contains(words, "…") && strings.HasSuffix(words, "part 12.mkv")
	}) {
		t.Errorf("shown: %q", s.Texts())
	}
}
