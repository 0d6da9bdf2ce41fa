// Package create is the steps to a new container.
package create

import (
	"context"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"

	"coffer/app/client"
	"coffer/app/window/text"
	"coffer/app/window/ui"
)

// current is the wizard that is open; Fyne's goroutine only.
var current *wizard

// Show opens the steps over the window. files and folders of the host, if any, size the new container and are copied in.
func Show(d *ui.Deps, files []string) {
	if current != nil {
		current.size.add(files)
		return
	}
	var start beginning
	d.Work(func(context.Context) error {
		start = begin(files)
		return nil
	}, func(error) {
		if current != nil {
			return
		}
		current = newWizard(d, start)
		current.size.add(files)
		current.panel.Show()
		current.turn(0)
	})
}

// Dropped takes files from the desktop if the wizard is open, to be copied into the new container, and says whether it did.
func Dropped(paths []string) bool {
	if current == nil || current.making != nil {
		return false
	}
	current.size.add(paths)
	return true
}

// Numbers of the pages. The sheet belongs to the third step.
const (
	pagePlace = iota
	pageSize
	pageSecret
	pageSheet
	pageMake
)

// page is one page of the wizard.
type page interface {
	object() fyne.CanvasObject
	// shown is called when the person comes to it.
	shown()
	// leave answers whether the person may go on, perhaps later, and says why not.
	leave(answer func(ok bool))
}

// wizard is the dialog.
type wizard struct {
	d      *ui.Deps
	panel  *ui.Panel
	keys   *ui.Keys
	steps  *steps
	scroll *container.Scroll
	pages  []page
	at     int
	busy   bool // a page makes up its mind whether the person may go on

	place  *placePage
	size   *sizePage
	secret *secretPage
	sheet  *sheetPage
	make   *makePage
	more   options
	moreOn *ui.KeyButton
	next   *ui.KeyButton
	back   *ui.KeyButton
	cancel *ui.KeyButton

	making context.CancelFunc // while the container is made
}

// Size of the dialogs of this package: it stays whatever page is shown, and all pages fit.
const (
	wizardWidth  = 660
	wizardHeight = 380 // of a page
	wizardFrame  = 200 // the height of what is above and below it
)

// pages gives pages one place of one size; in a low window they are scrolled.
func pages(d *ui.Deps, stack fyne.CanvasObject) *container.Scroll {
	scroll := container.NewVScroll(stack)
	scroll.SetMinSize(fyne.NewSize(0, min(wizardHeight, d.Shell.Window().Canvas().Size().Height-wizardFrame)))
	return scroll
}

func newWizard(d *ui.Deps, start beginning) *wizard {
	w := &wizard{d: d}
	body := container.NewVBox()
	w.panel = ui.NewPanel(d.Shell.Window(), text.T("New container"), wizardWidth, body)
	w.keys = &w.panel.Keys
	w.keys.Enter, w.keys.Escape = w.forward, w.cancelled
	w.steps = newSteps(text.T("Name and place"), text.T("Size"), text.T("Password"))
	w.place, w.size, w.secret = newPlacePage(w, start), newSizePage(w), newSecretPage(w)
	w.sheet, w.make = newSheetPage(d, w.panel, func() string { return w.place.title() }), newMakePage(w)
	w.sheet.without = func() {
		w.secret.recovery.SetChecked(false)
		w.turn(pageMake)
	}
	w.pages = []page{w.place, w.size, w.secret, w.sheet, w.make}
	stack := container.NewStack()
	for _, p := range w.pages {
		p.object().Hide()
		stack.Add(p.object())
	}
	w.scroll = pages(d, stack)
	w.moreOn = w.keys.NewLink(text.T("More options…"), theme.SettingsIcon(), w.showMore)
	w.next, w.back = w.keys.NewPrimary(text.T("Next"), w.forward), w.keys.NewButton(text.T("Back"), w.backward)
	w.cancel = w.keys.NewButton(text.T("Cancel"), w.cancelled)
	body.Objects = []fyne.CanvasObject{w.steps, ui.Space(1, 2*theme.Padding()), ui.Follow(d, w.scroll), container.NewStack(ui.Space(1, w.moreOn.MinSize().Height), container.NewHBox(w.moreOn))}
	return w
}

// turn shows a page.
func (w *wizard) turn(at int) {
	w.at = at
	for i, p := range w.pages {
		ui.Show(p.object(), i == at)
	}
	w.steps.set(min(at, pageSecret))
	ui.Show(w.moreOn, at <= pageSecret)
	ui.Enable(w.back, at > 0)
	w.next.SetText(text.T("Next"))
	if at == pageSheet || at == pageSecret && !w.secret.recovery.Checked {
		w.next.SetText(text.T("Create"))
	}
	if at == pageMake {
		w.panel.SetButtons(w.cancel)
	} else {
		w.panel.SetButtons(w.cancel, w.back, w.next)
	}
	w.scroll.ScrollToTop()
	w.panel.Fit()
	w.pages[at].shown()
}

// forward goes to the next page if this one is complete.
func (w *wizard) forward() {
	if w.busy || w.at == pageMake {
		return
	}
	w.busy = true
	at := w.at
	w.pages[at].leave(func(ok bool) {
		w.busy = false
		if ok && current == w && w.at == at {
			w.turn(w.after(at))
		}
	})
}

// after is the page after one: the sheet is left out if there is no recovery key.
func (w *wizard) after(at int) int {
	if at == pageSecret && !w.secret.recovery.Checked {
		return pageMake
	}
	return at + 1
}

// backward goes to the page before.
func (w *wizard) backward() {
	if w.at > 0 && w.at != pageMake {
		w.turn(w.at - 1)
	}
}

// cancelled stops making, or else closes.
func (w *wizard) cancelled() {
	if w.making != nil {
		w.make.stop()
		return
	}
	w.close()
}

// close takes the wizard away and forgets everything secret.
func (w *wizard) close() {
	if w.making != nil {
		w.making()
	}
	w.size.stop()
	w.secret.forget()
	w.sheet.forget()
	w.make.bar.Stop()
	w.panel.Close()
	if current == w {
		current = nil
	}
}

// request is the container to be made.
func (w *wizard) request(c client.Credential) client.CreateRequest {
	r := client.CreateRequest{Image: w.place.path(), SizeBytes: w.size.bytes, Credential: c}
	w.more.into(&r)
	return r
}
