package unlock

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"coffer/app/client"
	"coffer/app/protocol"
	"coffer/app/window/model"
	"coffer/app/window/text"
	"coffer/app/window/ui"
)

// progressAfter is how long a lock may take before it is shown.
var progressAfter = 300 * time.Millisecond

// maxShown bounds the programs that are listed.
const maxShown = 8

// Lock locks a container. When programs or copies are in the way it says who they are and asks what to do. done, which may be
// nil, is called once the container is locked.
func Lock(d *ui.Deps, c model.Container, done func()) {
	lockAll(d, []held{{id: c.ID, title: c.Title()}}, false, done)
}

// LockAll locks every container that is unlocked. done, which may be nil, is called once all of them are locked.
func LockAll(d *ui.Deps, done func()) {
	var all []held
	d.Work(func(ctx context.Context) error {
		statuses, err := d.Backend.Drives.Drives(ctx)
		// The last first: a container that lies on another's drive is in the way of that one.
		for _, s := range slices.Backward(statuses) {
			all = append(all, held{id: s.ID, title: d.Model.Container(s.Image).Title()})
		}
		return err
	}, func(err error) {
		if err != nil {
			ui.ShowError(d.Shell.Window(), err)
			return
		}
		lockAll(d, all, false, done)
	})
}

// held is a container that is unlocked.
type held struct {
	id, title string
	users     []protocol.User // in the way
	jobs      []protocol.Job  // in the way
	err       error           // why it was not locked, if not for these
}

// lockAll locks containers one after the other; one that cannot be locked does not keep the others open.
func lockAll(d *ui.Deps, all []held, force bool, done func()) {
	w := d.Shell.Window()
	bar := ui.NewWaiting()
	bar.Stop()
	p := ui.NewPanel(w, text.T("Locking…"), 420, container.NewVBox(ui.Paragraph(text.T("Everything is being written down. This may take a while if much was copied.")), bar))
	hide := p.Keys.NewButton(text.T("Go on in the background"), p.Close)
	p.Keys.Escape, p.Keys.Enter = p.Close, p.Close
	p.SetButtons(hide)
	ended := false
	timer := time.AfterFunc(progressAfter, func() {
		d.Do(func() {
			if !ended {
				bar.Start()
				p.Show()
				p.Focus(hide)
			}
		})
	})
	var left []held
	d.Work(func(ctx context.Context) error {
		for _, one := range all {
			if err := lockOne(ctx, d, &one, force); err != nil {
				left = append(left, one)
			}
		}
		return nil
	}, func(error) {
		ended = true
		timer.Stop()
		bar.Stop()
		p.Close()
		d.Model.Refresh()
		switch {
		case len(left) > 0:
			showLeft(d, left, done)
		case done != nil:
			done()
		}
	})
}

// Jobs is who knows the copies of containers: backend.Jobs.
type Jobs interface {
	Jobs(ctx context.Context, id string) ([]protocol.Job, error)
}

// Asks says whether a copy of a container waits for an answer. Locking would end it without a word, for it has written nothing
// yet and is in nobody's way.
func Asks(ctx context.Context, jobs Jobs, id string) bool {
	all, _ := jobs.Jobs(ctx, id) // who does not answer does not lock either, and says why
	return slices.ContainsFunc(all, asks)
}

func asks(j protocol.Job) bool { return j.State == protocol.JobAsking }

// errAsks is why a container was not locked of which Asks is true.
var errAsks = &client.Error{Problem: protocol.Problem{Sentence: "a copy waits for an answer", Code: protocol.InUse}}

// Quietly locks a container unless something is in the way, a copy that waits for an answer too: the error is protocol.InUse.
func Quietly(ctx context.Context, d *ui.Deps, id string) error {
	if Asks(ctx, d.Backend.Jobs, id) {
		return errAsks
	}
	return d.Backend.Drives.Lock(ctx, id, false)
}

// lockOne locks a container, and finds out who is in the way if that fails.
func lockOne(ctx context.Context, d *ui.Deps, one *held, force bool) error {
	lock := func() error { return Quietly(ctx, d, one.id) }
	if force {
		lock = func() error { return d.Backend.Drives.Lock(ctx, one.id, true) }
	}
	err := lock()
	if client.Code(err) == protocol.NoCredential { // locked meanwhile is what was asked for
		return nil
	}
	if err == nil || client.Code(err) != protocol.InUse {
		one.err = err
		return err
	}
	users, usersErr := d.Backend.Drives.Users(ctx, one.id)
	jobs, jobsErr := d.Backend.Jobs.Jobs(ctx, one.id)
	one.users = users
	one.jobs = slices.DeleteFunc(jobs, func(j protocol.Job) bool { return j.State.Ended() })
	if len(one.users) == 0 && len(one.jobs) == 0 {
		one.err = err // its own words say more than nothing
	}
	if usersErr != nil && jobsErr != nil {
		one.err = errors.Join(err, usersErr)
	}
	return err
}

// showLeft says which containers were not locked and why, and asks what to do.
func showLeft(d *ui.Deps, left []held, done func()) {
	w := d.Shell.Window()
	forcible := slices.ContainsFunc(left, func(one held) bool { return one.err == nil || client.Code(one.err) == protocol.InUse })
	body := container.NewVBox()
	for _, one := range left {
		if len(left) > 1 {
			body.Add(ui.Subheading(ui.Clean(one.title)))
		}
		for _, words := range one.words() {
			line := ui.Paragraph(words)
			body.Add(container.NewBorder(nil, nil, container.NewVBox(container.NewPadded(widget.NewIcon(theme.WarningIcon()))), nil, line))
		}
	}
	title := text.T("%s is still in use", ui.Clean(left[0].title))
	if len(left) > 1 {
		title = text.N(int64(len(left)), "One container is still unlocked", "%d containers are still unlocked")
	}
	var list fyne.CanvasObject = body
	if body.MinSize().Height > w.Canvas().Size().Height/2 {
		scroll := container.NewVScroll(body)
		scroll.SetMinSize(fyne.NewSize(0, w.Canvas().Size().Height/2))
		list = scroll
	}
	content := container.NewVBox(list)
	if forcible {
		content.Add(widget.NewSeparator())
		content.Add(ui.Paragraph(text.T("Close these programs and try again. If you lock anyway, what they have written is kept; what they write afterwards fails, and copies under way stop.")))
	} else {
		if len(left) == 1 {
			title = text.T("%s was not locked cleanly", ui.Clean(left[0].title))
		}
		content.Add(widget.NewSeparator())
		content.Add(ui.Paragraph(text.T("If you lock anyway, what could not be written down is lost; all that was written down before is kept.")))
	}
	p := ui.NewPanel(w, title, 560, content)
	again := func(force bool) func() {
		return func() {
			p.Close()
			lockAll(d, left, force, done)
		}
	}
	try := p.Keys.NewPrimary(text.T("Try again"), again(false))
	p.Keys.Escape, p.Keys.Enter = p.Close, try.OnTapped
	force := p.Keys.NewButton(text.T("Lock anyway"), again(true))
	force.Importance = widget.DangerImportance
	buttons := []fyne.CanvasObject{p.Keys.NewButton(text.T("Leave it unlocked"), p.Close), force, try}
	if slices.ContainsFunc(left, func(one held) bool { return slices.ContainsFunc(one.jobs, asks) }) {
		buttons = slices.Insert(buttons, 1, fyne.CanvasObject(p.Keys.NewButton(text.T("Answer first"), func() {
			p.Close()
			d.Shell.Show(ui.PageTransfers, "")
		})))
	}
	p.SetButtons(buttons...)
	p.Show()
	p.Focus(try)
}

// words say who is in the way.
func (one *held) words() []string {
	var all []string
	if one.err != nil {
		problem := client.Explain(one.err)
		words := ui.Sentence(problem.Sentence)
		if problem.Code != protocol.InUse && !strings.Contains(problem.Hint, "--force") { // there is a button for that
			words += " " + ui.Hint(problem)
		}
		all = append(all, strings.TrimSpace(words))
	}
	for _, j := range one.jobs {
		all = append(all, jobWords(j))
	}
	users := slices.Clone(one.users)
	slices.SortStableFunc(users, func(a, b protocol.User) int { // who writes comes first: there is something to lose
		switch {
		case a.Write == b.Write:
			return 0
		case a.Write:
			return -1
		}
		return 1
	})
	for i, u := range users {
		if i == maxShown {
			all = append(all, text.N(int64(len(users)-i), "And one more", "And %d more"))
			break
		}
		all = append(all, userWords(u))
	}
	return all
}

// jobWords names a copy that has not ended.
func jobWords(j protocol.Job) string {
	if j.State == protocol.JobWaiting || j.State == protocol.JobPlanning || j.TotalBytes == 0 {
		return text.T("A copy is waiting.")
	}
	if j.State == protocol.JobAsking {
		return text.T("A copy waits for your answer under Transfers.")
	}
	return text.T("A copy is under way: %s of %s.", text.Size(j.Bytes), text.Size(j.TotalBytes))
}

// userWords names a program and what it does.
func userWords(u protocol.User) string {
	who := ui.Clean(u.Program)
	if who == "" {
		who = text.T("A program")
	}
	if u.PID != 0 {
		who = text.T("%s (process %s)", who, fmt.Sprint(u.PID)) // no grouping: it is a number to look for
	}
	path := ui.Clean(u.Path)
	switch {
	case u.WorksIn:
		return text.T("%s works in the folder %s", who, path)
	case u.Write:
		return text.T("%s writes to %s", who, path)
	}
	return text.T("%s has %s open", who, path)
}
