package unlock

import (
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"coffer/app/agent/registry"
	"coffer/app/client"
	"coffer/app/config"
	"coffer/app/protocol"
	"coffer/app/recovery"
	"coffer/app/window/model"
	"coffer/app/window/password"
	"coffer/app/window/text"
	"coffer/app/window/ui"
)

// prompt is the dialog.
type prompt struct {
	d         *ui.Deps
	container model.Container
	then      func(id string)
	left      func() // called once when the dialog is gone; may be nil
	panel     *ui.Panel
	keys      *ui.Keys

	form     *fyne.Container // what is asked
	secret   *fyne.Container // of it, what an unencrypted image does not need
	entry    *password.Entry
	recovery *ui.KeyEntry
	useKey   *ui.KeyButton // turns to a recovery key and back
	caps     *ui.Message
	files    *fyne.Container // key files chosen
	addFile  *ui.KeyButton
	keyfiles []string
	remember *ui.KeyCheck
	readOnly *ui.KeyCheck
	more     *fyne.Container
	moreLink *ui.KeyButton
	place    *ui.KeySelect
	point    string // mount point chosen, "" for one that is chosen for the person
	message  *ui.Message
	wayOn    *fyne.Container // what can be done about a failure
	waits    *fyne.Container
	stage    *widget.Label
	bar      *ui.Waiting
	cancel   *ui.KeyButton
	primary  *ui.KeyButton

	raw     bool               // a bare file system, not encrypted
	noDrive bool               // after it was found that there can be none
	held    *client.Credential // of the last try, while another needs it: not after a wrong password
	stop    context.CancelFunc // while unlocking
}

// The choices of where the drive is.
func placeAuto() string  { return text.T("Chosen for me") }
func placeNone() string  { return text.T("No drive: use its files in this window only") }
func placeOther() string { return text.T("A folder of mine…") }

func newPrompt(d *ui.Deps, c model.Container, then func(string)) *prompt {
	p := &prompt{d: d, container: c, then: then, raw: c.Format == "raw", point: c.MountPoint}
	body := container.NewVBox()
	p.panel = ui.NewPanel(d.Shell.Window(), text.T("Unlock %s", ui.Clean(c.Title())), 520, body)
	p.keys = &p.panel.Keys
	p.keys.Enter, p.keys.Escape = p.start, p.back

	p.entry = password.NewEntry(p.keys)
	p.entry.SetPlaceHolder(text.T("Password"))
	p.caps = ui.NewMessage()
	p.entry.OnCaps = func(on bool) {
		p.caps.Say(widget.WarningImportance, "")
		if on {
			p.caps.Say(widget.WarningImportance, text.T("Caps Lock seems to be on."))
		}
		p.panel.Fit()
	}
	p.recovery = p.keys.NewEntry()
	p.recovery.TextStyle.Monospace = true
	p.recovery.SetPlaceHolder(text.T("Recovery key: 7 groups of 5 characters"))
	p.recovery.OnChanged = func(string) { p.checkRecovery(false) }
	p.recovery.Hide()

	p.files = container.NewVBox()
	p.remember = p.keys.NewCheck(text.T("Remember where the key files are"), nil)
	p.remember.Hide()
	p.addFile = p.keys.NewLink(text.T("Add a key file…"), theme.ContentAddIcon(), func() {
		chooseFile(d, "", func(path string) { p.addKeyfiles([]string{path}) })
	})
	p.useKey = p.keys.NewLink(text.T("Use a recovery key"), theme.DocumentIcon(), func() { p.useRecovery(!p.recovery.Visible()) })
	p.secret = container.NewVBox(p.entry, p.recovery, p.caps, p.files, p.remember, container.NewHBox(p.addFile, p.useKey))

	p.readOnly = p.keys.NewCheck(text.T("Read only: nothing in it can be changed"), nil)
	p.readOnly.SetChecked(c.ReadOnly)
	p.place = p.keys.NewSelect(nil, p.placed)
	p.showPlaces()
	p.more = container.NewVBox(p.readOnly, container.NewBorder(nil, nil, widget.NewLabel(text.T("Drive")), nil, p.place))
	p.more.Hide()
	p.moreLink = p.keys.NewLink(text.T("More"), theme.MenuExpandIcon(), p.toggleMore)
	p.form = container.NewVBox(p.secret, p.moreLink, p.more)

	p.message, p.wayOn = ui.NewMessage(), container.NewVBox()
	p.stage, p.bar = ui.Paragraph(""), ui.NewWaiting()
	p.bar.Stop()
	p.waits = container.NewVBox(p.stage, p.bar)
	p.waits.Hide()
	path := ui.NewCaptionLine(ui.Clean(c.Path))
	body.Objects = []fyne.CanvasObject{path, p.form, p.waits, p.message, p.wayOn, ui.Space(1, theme.Padding())}

	p.cancel = p.keys.NewButton(text.T("Cancel"), p.back)
	p.primary = p.keys.NewPrimary(text.T("Unlock"), p.start)
	p.panel.SetButtons(p.cancel, p.primary)
	p.addKeyfiles(c.Keyfiles)
	p.remember.SetChecked(len(c.Keyfiles) > 0)
	if c.ReadOnly || c.MountPoint != "" {
		p.toggleMore()
	}
	p.useRaw(p.raw)
	return p
}

// show opens the dialog.
func (p *prompt) show() {
	current = p
	p.panel.Show()
	p.focus()
}

// focus puts the cursor where the person types next.
func (p *prompt) focus() {
	switch {
	case p.raw:
		p.panel.Focus(p.primary)
	case p.recovery.Visible():
		p.panel.Focus(p.recovery)
	default:
		p.panel.Focus(p.entry)
	}
}

// asking says whether it is the person's turn.
func (p *prompt) asking() bool { return p.panel.Open() && p.stop == nil }

// useRecovery turns between password and recovery key.
func (p *prompt) useRecovery(on bool) {
	p.forget()
	ui.Show(p.entry, !on)
	ui.Show(p.recovery, on)
	p.useKey.SetText(text.T("Use a recovery key"))
	if on {
		p.useKey.SetText(text.T("Use the password"))
		p.caps.Say(0, "")
	}
	ui.Show(p.files, !on)
	ui.Show(p.addFile, !on)
	ui.Show(p.remember, !on && len(p.keyfiles) > 0)
	p.say(0, "")
	p.panel.Fit()
	p.focus()
}

// useRaw turns to an image that is not encrypted.
func (p *prompt) useRaw(on bool) {
	p.raw = on
	ui.Show(p.secret, !on)
	if on {
		p.primary.SetText(text.T("Open"))
		p.say(widget.WarningImportance, text.T("This file is a plain disk image. It is not encrypted: everybody who has the file can read it."))
	}
}

// checkRecovery says which group of the recovery key is mistyped; whole also that it is not complete.
func (p *prompt) checkRecovery(whole bool) bool {
	typed := []byte(p.recovery.Text)
	defer clear(typed)
	err := recovery.Check(typed)
	if err == nil {
		p.say(widget.SuccessImportance, text.T("The recovery key is complete."))
		return true
	}
	var group *recovery.GroupError
	switch {
	case errors.As(err, &group):
		p.say(widget.DangerImportance, text.T("Group %d is mistyped.", group.Group))
	case errors.Is(err, recovery.ErrCharacter):
		p.say(widget.DangerImportance, text.T("A recovery key has letters and digits only."))
	case whole:
		p.say(widget.DangerImportance, text.T("A recovery key has %d groups of %d characters.", recovery.Groups, recovery.GroupLength))
	default:
		p.say(0, "")
	}
	return false
}

// addKeyfiles adds key files to those chosen.
func (p *prompt) addKeyfiles(paths []string) {
	for _, path := range paths {
		if !slices.Contains(p.keyfiles, path) {
			p.keyfiles = append(p.keyfiles, path)
		}
	}
	p.showKeyfiles()
}

func (p *prompt) showKeyfiles() {
	p.files.Objects = nil
	for _, path := range p.keyfiles {
		name := widget.NewLabel(ui.Clean(filepath.Base(path)))
		name.Truncation = fyne.TextTruncateEllipsis
		remove := p.keys.NewLink("", theme.CancelIcon(), func() {
			p.keyfiles = slices.DeleteFunc(p.keyfiles, func(one string) bool { return one == path })
			p.showKeyfiles()
			p.focus()
		})
		p.files.Add(container.NewBorder(nil, nil, widget.NewIcon(theme.FileIcon()), remove, name))
	}
	ui.Show(p.remember, len(p.keyfiles) > 0 && !p.recovery.Visible())
	p.files.Refresh()
	p.panel.Fit()
}

func (p *prompt) toggleMore() {
	ui.Show(p.more, !p.more.Visible())
	p.moreLink.SetIcon(theme.MenuExpandIcon())
	if p.more.Visible() {
		p.moreLink.SetIcon(theme.MenuDropDownIcon())
	}
	p.panel.Fit()
}

// showPlaces offers where the drive can be.
func (p *prompt) showPlaces() {
	p.place.Options = []string{placeAuto()}
	if p.point != "" {
		p.place.Options = append(p.place.Options, ui.Clean(p.point))
	}
	if runtime.GOOS == "windows" {
		for letter := 'D'; letter <= 'Z'; letter++ {
			if name := string(letter) + ":"; name != p.point {
				p.place.Options = append(p.place.Options, name)
			}
		}
	}
	p.place.Options = append(p.place.Options, placeOther(), placeNone())
	p.place.Selected = placeAuto()
	if p.point != "" {
		p.place.Selected = ui.Clean(p.point)
	}
	p.place.Refresh()
}

// placed is called when the person chooses where the drive is.
func (p *prompt) placed(choice string) {
	switch {
	case choice == placeOther():
		p.showPlaces() // as it was, should nothing be chosen
		chooseFolder(p.d, "", func(path string) {
			p.point = path
			p.showPlaces()
		})
	case choice == placeAuto():
		p.point = ""
	case choice != placeNone() && choice != ui.Clean(p.point):
		p.point = choice
	}
}

// back cancels what is being done, or else closes the dialog.
func (p *prompt) back() {
	if p.stop != nil {
		p.stage.SetText(text.T("Cancelling…"))
		p.cancel.Disable()
		p.stop()
		return
	}
	p.close()
}

// close takes the dialog away and forgets everything typed.
func (p *prompt) close() {
	if p.stop != nil {
		p.stop()
	}
	p.forget()
	p.bar.Stop()
	p.panel.Close()
	if current == p {
		current = nil
	}
	if left := p.left; left != nil {
		p.left = nil
		left()
	}
}

// forget empties the entries and wipes the credential of the last try.
func (p *prompt) forget() {
	p.entry.Take().Wipe()
	p.recovery.SetText("")
	if p.held != nil {
		p.held.Wipe()
		p.held = nil
	}
	p.entry.SetPlaceHolder(text.T("Password"))
}

// say shows what is to be said below the form; "" nothing.
func (p *prompt) say(importance widget.Importance, words string) {
	p.message.Say(importance, words)
	p.wayOn.Objects = nil
	p.wayOn.Refresh()
	p.panel.Fit()
}

// credential is what the person has given, nil if that is not enough.
func (p *prompt) credential() *client.Credential {
	switch {
	case p.raw:
		return &client.Credential{}
	case p.recovery.Visible() && p.recovery.Text != "":
		if !p.checkRecovery(true) {
			return nil
		}
		typed := []byte(p.recovery.Text)
		defer clear(typed)
		key, _ := recovery.Normalise(typed)
		p.recovery.SetText("")
		return &client.Credential{Password: key}
	case p.held != nil && p.entry.Empty():
		kept := *p.held
		p.held = nil
		if kept.Keyfiles != nil || len(p.keyfiles) > 0 {
			kept.Keyfiles = slices.Clone(p.keyfiles)
		}
		return &kept
	case p.recovery.Visible():
		p.checkRecovery(true)
		return nil
	case p.entry.Empty() && len(p.keyfiles) == 0:
		p.say(widget.DangerImportance, text.T("Type the password, or add a key file."))
		return nil
	}
	given := &client.Credential{Password: p.entry.Take(), Keyfiles: slices.Clone(p.keyfiles)}
	if key, err := recovery.Normalise(given.Password); err == nil { // a recovery key where the password belongs
		given.Wipe()
		given.Password, given.Keyfiles = key, nil
	}
	return given
}

// request is how the container is to be unlocked.
func (p *prompt) request(c client.Credential) client.UnlockRequest {
	k := p.container.Known
	r := client.UnlockRequest{Image: k.Path, Credential: c, ReadOnly: p.readOnly.Checked, LockOn: k.LockOn,
		Idle: (*time.Duration)(k.Idle), Lifetime: (*time.Duration)(k.Lifetime)}
	if p.raw {
		r.Format = "raw"
	}
	r.NoMount = p.noDrive || p.place.Selected == placeNone()
	if !r.NoMount {
		r.MountPoint = p.point
	}
	return r
}

// start unlocks.
func (p *prompt) start() {
	if !p.asking() {
		return
	}
	c := p.credential()
	if c == nil {
		p.focus()
		return
	}
	if p.held != nil {
		p.held.Wipe()
		p.held = nil
	}
	r := p.request(*c)
	ctx, stop := context.WithCancel(p.d.Context)
	p.stop = stop
	p.say(0, "")
	p.stage.SetText(text.T("Checking the password. This takes about a second on purpose: it keeps guessers out."))
	if p.raw {
		p.stage.SetText(text.T("Opening the drive…"))
	}
	p.wait(true)
	var entry *registry.Entry
	begun := time.Now()
	p.d.Work(func(context.Context) (err error) {
		entry, err = p.d.Backend.Drives.Unlock(ctx, r, p.heard)
		return err
	}, func(err error) {
		stop()
		p.stop = nil
		switch {
		case err == nil:
			c.Wipe()
			p.done(entry, r)
		case !p.panel.Open(): // closed meanwhile
			c.Wipe()
		case errors.Is(err, context.Canceled):
			c.Wipe()
			p.wait(false)
			p.focus()
		default:
			p.wait(false)
			p.failed(err, c, r, time.Since(begun))
		}
	})
}

// heard is called in another goroutine with signs of life.
func (p *prompt) heard(e protocol.Event) {
	if e.Kind != protocol.EventStage || e.Stage == "open" {
		return
	}
	p.d.Do(func() {
		if p.stop != nil && !p.cancel.Disabled() {
			ui.SetText(p.stage, text.T("Opening the drive…"))
		}
	})
}

// wait shows that something is being done.
func (p *prompt) wait(on bool) {
	ui.Show(p.form, !on)
	ui.Show(p.waits, on)
	ui.Enable(p.primary, !on)
	p.cancel.Enable()
	if on {
		p.bar.Start()
		p.panel.Fit()
		p.panel.Focus(p.cancel)
		return
	}
	p.bar.Stop()
	p.panel.Fit()
}

// done remembers how the container was unlocked, and goes on once the window knows that it is.
func (p *prompt) done(entry *registry.Entry, r client.UnlockRequest) {
	p.close()
	remembered := p.remembered(r)
	p.d.Work(func(ctx context.Context) error {
		err := p.d.Model.Update(r.Image, remembered)
		p.d.Model.Look(ctx)
		return err
	}, func(err error) {
		ui.ShowError(p.d.Shell.Window(), err)
		if p.noDrive {
			p.d.Shell.Show(ui.PageFiles, r.Image)
		}
		if p.then != nil {
			p.then(entry.ID)
		}
	})
}

// remembered is what the list keeps of an unlock.
func (p *prompt) remembered(r client.UnlockRequest) func(*config.Known) {
	byRecovery, remember := p.recovery.Visible(), p.remember.Checked
	return func(k *config.Known) {
		k.ReadOnly = r.ReadOnly
		if !r.NoMount {
			k.MountPoint = r.MountPoint
		}
		if r.Format != "" {
			k.Format = r.Format
		}
		if byRecovery {
			return
		}
		k.Keyfiles = nil
		if remember {
			k.Keyfiles = r.Credential.Keyfiles
		}
	}
}
