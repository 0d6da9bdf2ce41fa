package unlock

import (
	"context"
	"runtime"
	"strings"
	"time"

	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"coffer/app/agent/registry"
	"coffer/app/client"
	"coffer/app/protocol"
	"coffer/app/window/text"
	"coffer/app/window/ui"
)

// failed says why a container was not unlocked, and offers the way on that this kind of failure has.
func (p *prompt) failed(err error, c *client.Credential, r client.UnlockRequest, took time.Duration) {
	problem := client.Explain(err)
	if problem.Code == protocol.WrongKey {
		c.Wipe()
		p.wrongKey(took)
		return
	}
	p.hold(c)
	switch problem.Code {
	case protocol.InUse:
		p.inUse(problem, r)
	case protocol.Damaged:
		p.say(widget.DangerImportance, text.T("The container is damaged: %s", ui.Sentence(problem.Sentence))+" "+
			text.T("With a backup of its header it can be restored; otherwise what can be read can be saved."))
		p.offer(text.T("Restore or rescue…"), func() { p.leave(ui.PageHealth) })
	case protocol.Unsupported:
		p.notContainer(problem)
	case protocol.Integrity:
		p.say(widget.DangerImportance, text.T("The container is not as this computer knows it: %s", ui.Sentence(problem.Sentence))+" "+
			text.T("It may be an old copy that was put back, or somebody has changed it. Use it only if you know why."))
		p.offer(text.T("Look at its health…"), func() { p.leave(ui.PageHealth) })
	case protocol.NoMount:
		p.say(widget.WarningImportance, NoMountAdvice(runtime.GOOS))
		p.offer(text.T("Open without a drive"), func() {
			p.noDrive = true
			p.start()
		})
	default:
		p.say(widget.DangerImportance, strings.TrimSpace(ui.Sentence(problem.Sentence)+" "+ui.Hint(problem)))
	}
	p.focus()
}

// hold keeps what the person has typed for the next try: it was not found wrong.
func (p *prompt) hold(c *client.Credential) {
	p.held = c
	if c.Password != nil {
		p.entry.SetPlaceHolder(text.T("Password as typed before"))
	}
}

// offer adds a way on.
func (p *prompt) offer(label string, do func()) {
	b := p.keys.NewButton(label, do)
	b.Icon = theme.NavigateNextIcon()
	p.wayOn.Add(b)
	p.panel.Fit()
}

// leave closes the dialog and turns to a page.
func (p *prompt) leave(page ui.Page) {
	p.close()
	p.d.Shell.Show(page, p.container.Path)
}

// wrongKey stays, with the cursor where the person tries again.
func (p *prompt) wrongKey(took time.Duration) {
	words := text.T("That is not the password of this container.")
	switch {
	case p.recovery.Visible():
		words = text.T("This recovery key does not open this container.")
	case len(p.keyfiles) > 0:
		words = text.T("Password and key files together do not open this container.")
	}
	words += " " + text.T("Check the keyboard layout, and whether Caps Lock is on.")
	if took >= 500*time.Millisecond {
		words += " " + text.T("Each try takes %.1f s on purpose: a guesser has to wait just as long.", took.Seconds())
	}
	p.say(widget.DangerImportance, words)
	p.focus()
}

// inUse goes on if the container turns out to be unlocked by this person already.
func (p *prompt) inUse(problem protocol.Problem, r client.UnlockRequest) {
	p.say(widget.WarningImportance, text.T("Somebody else is using it: %s", ui.Sentence(problem.Sentence)))
	var mine *registry.Entry
	unlocking := false
	p.d.Work(func(ctx context.Context) error {
		id, err := client.Identity(r.Image)
		if err != nil {
			return err
		}
		all, err := p.d.Backend.Drives.Drives(ctx)
		for _, s := range all {
			if s.ID == id {
				mine, unlocking = &s.Entry, !s.Ready
			}
		}
		return err
	}, func(error) {
		switch {
		case !p.asking():
		case mine != nil && !unlocking:
			p.done(mine, r)
		case mine != nil:
			p.say(widget.WarningImportance, text.T("It is just being unlocked or locked. Try again in a moment."))
		}
	})
}

// notContainer offers to open a file that is no container as what else it may be.
func (p *prompt) notContainer(problem protocol.Problem) {
	if p.raw {
		p.say(widget.DangerImportance, ui.Sentence(problem.Sentence))
		return
	}
	p.say(widget.DangerImportance, text.T("This is no container that Coffer can open: %s", ui.Sentence(problem.Sentence))+" "+
		text.T("If it was one, its header is destroyed and can be restored from a backup."))
	p.offer(text.T("Restore a header backup…"), func() { p.leave(ui.PageHealth) })
	p.offer(text.T("Open it as a plain disk image, not encrypted"), func() {
		p.forget()
		p.useRaw(true)
		p.focus()
	})
}

// NoMountAdvice says what to install so that containers become drives, on a system as Go names it.
func NoMountAdvice(system string) string {
	what := text.T("This computer cannot show drives yet.")
	switch system {
	case "linux":
		what += " " + text.T("Install the package fuse3: sudo apt install fuse3 on Debian and Ubuntu, sudo dnf install fuse3 on Fedora.")
	case "windows":
		what += " " + text.T("Install WinFsp from winfsp.dev.")
	case "darwin":
		what += " " + text.T("Install macFUSE from macfuse.io, or FUSE-T from fuse-t.org.")
	default:
		what += " " + text.T("Install FUSE.")
	}
	return what + " " + text.T("Without it the container opens in this window all the same: files go in and out under Files.")
}
