package unlock

import (
	"context"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"

	"coffer/app/protocol"
	"coffer/app/window/backend/fake"
	"coffer/app/window/model"
	"coffer/app/window/ui/uitest"
)

// open is a desk over one unlocked container.
func open(t *testing.T) (*uitest.Desk, *fake.Container, model.Container) {
	t.Helper()
	k, image, one := desk(t)
	one.Unlocked = true
	one.Status.ID, one.Status.Image, one.Status.Ready = one.ID, image, true
	k.Deps.Model.Look(context.Background())
	return k, one, k.Deps.Model.Container(image)
}

func lock(k *uitest.Desk, c model.Container) (done *bool) {
	done = new(bool)
	Lock(k.Deps, c, func() { *done = true })
	return done
}

func TestLock(t *testing.T) {
	k, one, c := open(t)
	done := lock(k, c)
	k.Until("it is locked", func() bool { return *done })
	if one.Unlocked || k.Dialogs() != 0 {
		t.Error("not locked, or a dialog is left")
	}
}

func TestLockedMeanwhile(t *testing.T) {
	k, _, c := open(t)
	k.Coffer.Fail["Lock"] = fake.Problem(protocol.NoCredential, "the container is not unlocked", "")
	done := lock(k, c)
	k.Until("that is as good as done", func() bool { return *done })
}

func TestLockShowsThatItTakesTime(t *testing.T) {
	before := progressAfter
	progressAfter = time.Millisecond
	t.Cleanup(func() { progressAfter = before })
	k, one, c := open(t)
	release := make(chan struct{})
	k.Coffer.Wait["Lock"] = release
	done := lock(k, c)
	k.Until("it shows", func() bool { return k.Says("being written down") })
	k.Picture("lock-wait")
	k.Key(fyne.KeyEscape)
	if k.Dialogs() != 0 {
		t.Error("the person cannot go on meanwhile")
	}
	close(release)
	k.Until("it is locked", func() bool { return *done })
	if one.Unlocked || k.Dialogs() != 0 {
		t.Error("not locked, or a dialog came back")
	}
}

// inTheWay puts programs and copies in the way of a lock.
func inTheWay(one *fake.Container) {
	one.Users = []protocol.User{
		{PID: 12, Program: "bash", Path: "/home/me/photos", WorksIn: true},
		{PID: 34567, Program: "edi\u202etor", Path: "/home/me/photos/a.txt", Write: true},
		{Path: "/home/me/photos/b.txt"},
	}
	one.Jobs = []*protocol.Job{{ID: 1, State: protocol.JobRunning, Bytes: 2e9, TotalBytes: 5e9}, {ID: 2, State: protocol.JobDone}, {ID: 3, State: protocol.JobAsking, TotalBytes: 1}}
}

func TestWhoIsInTheWay(t *testing.T) {
	k, one, c := open(t)
	inTheWay(one)
	done := lock(k, c)
	k.Until("it says who", func() bool { return k.Says("still in use") })
	k.Picture("lock-in-use")
	for _, words := range []string{"A copy is under way: 2.0 GB of 5.0 GB", "A copy waits for your answer", "bash (process 12) works in the folder /home/me/photos",
		"edi\ufffdtor (process 34567) writes to /home/me/photos/a.txt", "A program has /home/me/photos/b.txt open", "what they write afterwards fails"} {
		k.MustSay(words)
	}
	if said := strings.Join(k.Texts(), "\n"); strings.Index(said, "writes to") > strings.Index(said, "works in") {
		t.Error("who writes does not come first")
	}
	k.Tap("Leave it unlocked")
	if !one.Unlocked || k.Dialogs() != 0 || *done {
		t.Error("leaving it changes something")
	}
}

func TestTryAgain(t *testing.T) {
	k, one, c := open(t)
	inTheWay(one)
	done := lock(k, c)
	k.Until("it says who", func() bool { return k.Says("still in use") })
	k.Key(fyne.KeyReturn)
	k.Until("it was tried again", func() bool { return k.Coffer.Called("Jobs") >= 4 && k.Says("still in use") })
	one.Users, one.Jobs = nil, nil
	k.Key(fyne.KeyReturn)
	k.Until("it is locked", func() bool { return *done })
}

func TestLockAnyway(t *testing.T) {
	k, one, c := open(t)
	inTheWay(one)
	done := lock(k, c)
	k.Until("it says who", func() bool { return k.Says("still in use") })
	k.Tap("Lock anyway")
	k.Until("it is locked", func() bool { return *done })
	if one.Unlocked || k.Coffer.Called("Lock") != 1 { // the question alone was in the way

		t.Errorf("calls: %q", k.Coffer.Calls)
	}
}

// TestQuestionIsNotLost: a copy that waits for an answer is in the way of a lock, though the agent would end it without a word.
func TestQuestionIsNotLost(t *testing.T) {
	k, one, c := open(t)
	one.Jobs = []*protocol.Job{{ID: 1, State: protocol.JobAsking, TotalBytes: 1}}
	lock(k, c)
	k.Until("it says so", func() bool { return k.Says("A copy waits for your answer") })
	if !one.Unlocked || k.Coffer.Called("Lock") != 0 {
		t.Error("it was locked before")
	}
	k.Tap("Answer first")
	if !k.AskedFor("Show transfers ") || k.Dialogs() != 0 {
		t.Errorf("asked for %q", k.Asked)
	}
	lock(k, c)
	k.Until("it asks again", func() bool { return k.Says("A copy waits for your answer") })
	k.Tap("Lock anyway")
	k.Until("who insists locks it", func() bool { return k.Coffer.Called("Lock") == 1 && k.Dialogs() == 0 })
}

func TestLockFails(t *testing.T) {
	k, _, c := open(t)
	k.Coffer.Fail["Lock"] = fake.Problem(protocol.NoSpace, "lock a.img: the disk is full", "free some space")
	done := lock(k, c)
	k.Until("it says so", func() bool { return k.Says("The disk is full") || k.Says("the disk is full") })
	k.MustSay("not locked cleanly")
	k.MustSay("Free some space.")
	k.MustSay("what could not be written down is lost")
	k.Tap("Try again")
	k.Until("it is locked", func() bool { return *done })
}

// TestLockFailsAndIsForced: a drive whose writes fail for good, as that of a container whose file was replaced, can be locked all
// the same, and nobody is told of flags of the command line.
func TestLockFailsAndIsForced(t *testing.T) {
	k, one, c := open(t)
	k.Coffer.Fail["Lock"] = fake.Problem(protocol.Failed, "lock a.img: it was replaced", "--force locks it all the same")
	done := lock(k, c)
	k.Until("it says so", func() bool { return k.Says("not locked cleanly") })
	if k.Says("--force") {
		t.Error("a flag of the command line is shown")
	}
	k.Tap("Lock anyway")
	k.Until("it is locked", func() bool { return *done })
	if one.Unlocked {
		t.Error("it is unlocked")
	}
}

func TestLockAll(t *testing.T) {
	k, one, _ := open(t)
	other := k.Coffer.Add(k.Folder+"/Other.img", "x")
	other.Unlocked = true
	other.Status.ID, other.Status.Image, other.Status.Ready = other.ID, k.Folder+"/Other.img", true
	inTheWay(one)
	done := false
	LockAll(k.Deps, func() { done = true })
	k.Until("it says who", func() bool { return k.Says("still in use") })
	if other.Unlocked {
		t.Error("one in the way keeps the others open")
	}
	k.Tap("Lock anyway")
	k.Until("all are locked", func() bool { return done })
	done = false
	LockAll(k.Deps, func() { done = true })
	k.Until("nothing to lock is done at once", func() bool { return done })
}

func TestManyInTheWay(t *testing.T) {
	k, one, c := open(t)
	for i := range 50 {
		one.Users = append(one.Users, protocol.User{PID: i + 1, Program: "viewer", Path: strings.Repeat("/a long folder", 10)})
	}
	lock(k, c)
	k.Until("it says who", func() bool { return k.Says("still in use") })
	k.MustSay("And 42 more")
	k.Picture("lock-many")
}
