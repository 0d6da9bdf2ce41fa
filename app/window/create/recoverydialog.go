package create

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"coffer/app/client"
	"coffer/app/protocol"
	"coffer/app/recovery"
	"coffer/app/window/password"
	"coffer/app/window/text"
	"coffer/app/window/ui"
)

// RecoveryDialog makes a recovery key for the container at path image, which must be locked: it shows the key, has two groups
// of it typed again, asks for a password that opens the container and adds the key. added, if given, is called then.
func RecoveryDialog(d *ui.Deps, image string, added ...func()) {
	r := &recoveryDialog{d: d, image: image, added: added}
	title := strings.TrimSuffix(filepath.Base(image), filepath.Ext(image))
	body := container.NewVBox()
	r.panel = ui.NewPanel(d.Shell.Window(), text.T("Recovery key for %s", ui.Clean(title)), wizardWidth, body)
	keys := &r.panel.Keys
	keys.Enter, keys.Escape = r.forward, r.cancelled
	r.sheet = newSheetPage(d, r.panel, func() string { return title })
	r.entry, r.message = password.NewEntry(keys), ui.NewMessage()
	r.entry.SetPlaceHolder(text.T("Password"))
	r.files = container.NewVBox()
	add := keys.NewLink(text.T("Add a key file…"), theme.ContentAddIcon(), func() { chooseFile(d, "", r.addKeyfile) })
	r.bar = ui.NewWaiting()
	r.bar.Stop()
	r.bar.Hide()
	r.ask = container.NewVBox(ui.Paragraph(text.T("Type a password that opens the container, so that the recovery key can be added.")), r.entry, r.files, container.NewHBox(add), r.bar, r.message)
	r.ask.Hide()
	body.Objects = []fyne.CanvasObject{ui.Follow(d, pages(d, container.NewStack(r.sheet.object(), r.ask)))}
	r.cancel, r.next = keys.NewButton(text.T("Cancel"), r.cancelled), keys.NewPrimary(text.T("Next"), r.forward)
	r.panel.SetButtons(r.cancel, r.next)
	r.panel.Show()
	r.sheet.shown()
}

type recoveryDialog struct {
	d        *ui.Deps
	image    string
	panel    *ui.Panel
	sheet    *sheetPage
	ask      *fyne.Container
	entry    *password.Entry
	files    *fyne.Container
	keyfiles []string
	bar      *ui.Waiting
	message  *ui.Message
	cancel   *ui.KeyButton
	next     *ui.KeyButton
	adding   context.CancelFunc
	added    []func()
}

func (r *recoveryDialog) addKeyfile(path string) {
	if slices.Contains(r.keyfiles, path) {
		return
	}
	r.keyfiles = append(r.keyfiles, path)
	r.files.Add(container.NewBorder(nil, nil, widget.NewIcon(theme.FileIcon()), nil, widget.NewLabel(ui.Clean(filepath.Base(path)))))
	r.panel.Fit()
}

func (r *recoveryDialog) forward() {
	switch {
	case r.adding != nil:
	case r.ask.Visible():
		r.add()
	default:
		r.sheet.leave(func(ok bool) {
			if !ok {
				return
			}
			r.sheet.object().Hide()
			r.ask.Show()
			r.next.SetText(text.T("Add the key"))
			r.panel.Fit()
			r.panel.Focus(r.entry)
		})
	}
}

// add adds the key.
func (r *recoveryDialog) add() {
	if r.entry.Empty() && len(r.keyfiles) == 0 {
		r.say(text.T("Type the password, or add a key file."))
		r.panel.Focus(r.entry)
		return
	}
	present := client.Credential{Password: r.entry.Take(), Keyfiles: r.keyfiles}
	if key, err := recovery.Normalise(present.Password); err == nil {
		present.Wipe()
		present = client.Credential{Password: key}
	}
	key := client.Secret(slices.Clone(r.sheet.key))
	ctx, cancel := context.WithCancel(r.d.Context)
	r.adding = cancel
	r.wait(true)
	r.d.Work(func(context.Context) error {
		_, err := r.d.Backend.Keys.AddKey(ctx, r.image, present, client.Credential{Password: key})
		return err
	}, func(err error) {
		cancel()
		present.Wipe()
		key.Wipe()
		r.adding = nil
		r.wait(false)
		switch {
		case err == nil:
			r.close()
			r.d.Shell.Notify(text.T("Recovery key added"), text.T("Keep the sheet where only you find it."))
			for _, added := range r.added {
				added()
			}
		case errors.Is(err, context.Canceled):
			r.panel.Focus(r.entry)
		case client.Code(err) == protocol.WrongKey:
			r.say(text.T("That is not the password of this container."))
			r.panel.Focus(r.entry)
		default:
			problem := client.Explain(err)
			r.say(strings.TrimSpace(ui.Sentence(problem.Sentence) + " " + ui.Sentence(problem.Hint)))
			r.panel.Focus(r.entry)
		}
	})
}

func (r *recoveryDialog) wait(on bool) {
	ui.Show(r.bar, on)
	ui.Enable(r.next, !on)
	ui.Enable(r.entry, !on)
	if on {
		r.say("")
		r.bar.Start()
		r.panel.Focus(r.cancel)
	} else {
		r.bar.Stop()
	}
	r.panel.Fit()
}

func (r *recoveryDialog) say(wrong string) {
	r.message.Say(widget.DangerImportance, wrong)
	r.panel.Fit()
}

// cancelled stops the adding, or else closes.
func (r *recoveryDialog) cancelled() {
	if r.adding != nil {
		r.adding()
		return
	}
	r.close()
}

func (r *recoveryDialog) close() {
	r.entry.Take().Wipe()
	r.sheet.forget()
	r.panel.Close()
}
