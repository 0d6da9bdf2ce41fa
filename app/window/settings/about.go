package settings

import (
	"context"
	"net/url"
	"path/filepath"
	"runtime"
	"runtime/debug"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"coffer/app/client"
	"coffer/app/window/text"
	"coffer/app/window/ui"
	"coffer/assets"
)

// version is set by the build (-ldflags -X).
var version string

// Version is the version of the window: what the build set, else the revision that the Go tool recorded.
func Version() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, setting := range info.Settings {
			if setting.Key == "vcs.revision" && len(setting.Value) >= 12 {
				return setting.Value[:12]
			}
		}
	}
	return "unknown"
}

// known says whether a version is one: builds for a try have none.
func known(version string) bool { return version != "unknown" }

// toolkit is the version of Fyne that is built in.
func toolkit() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, module := range info.Deps {
			if module.Path == "fyne.io/fyne/v2" {
				return module.Version
			}
		}
	}
	return ""
}

// aboutPart says what this program is.
type aboutPart struct {
	screen  *Screen
	object  fyne.CanvasObject
	facts   *fyne.Container
	differs *ui.Message
	tests   *fyne.Container
	test    *ui.KeyButton
	cancel  context.CancelFunc // of a self-test under way
	asked   bool
}

func (s *Screen) newAbout() fyne.CanvasObject {
	p := &aboutPart{screen: s, facts: container.New(layout.NewFormLayout()), differs: ui.NewMessage(), tests: container.NewVBox()}
	s.about = p
	var keys *ui.Keys
	p.test = keys.NewButton(text.T("Test this program"), p.runTest)
	picture := canvas.NewImageFromResource(programIcon())
	picture.FillMode = canvas.ImageFillContain
	picture.SetMinSize(fyne.NewSize(72, 72))
	head := container.NewBorder(nil, nil, picture, nil, container.NewVBox(ui.Heading("Coffer"),
		ui.Paragraph(text.T("Encrypted drives in a file. This program never talks to the network.")),
		wrapped(text.T("Free software under the MIT licence. It comes without any warranty."))))
	p.object = page(ui.Card(head),
		group(text.T("Versions"), container.NewVBox(p.facts, p.differs)),
		group(text.T("Self-test"), container.NewVBox(
			wrapped(text.T("Checks every cipher on this processor against known results, and makes, fills and reads a small container.")),
			container.NewHBox(p.test), p.tests)),
		group(text.T("Where things are"), p.place(text.T("Settings"), s.deps.Paths.Config), p.place(text.T("Reports of copies"), s.deps.Paths.RecordsFolder()),
			p.place(text.T("Log and reports of crashes"), s.deps.Paths.State)))
	p.showVersions(client.Version{}, nil)
	return p.object
}

// programIcon is the drawing of the program.
func programIcon() fyne.Resource {
	raw, err := assets.Icons.ReadFile("icons/coffer-256.png")
	if err != nil {
		return theme.StorageIcon()
	}
	return fyne.NewStaticResource("coffer-256.png", raw)
}

// place is a folder, with a button that shows it.
func (p *aboutPart) place(name, path string) fyne.CanvasObject {
	if path == "" {
		return row(name, text.T("Nowhere: this user has no home folder."), widget.NewLabel(""), nil)
	}
	var keys *ui.Keys
	show := keys.NewButton(text.T("Show folder"), func() { p.open(path) })
	show.Icon = theme.FolderOpenIcon()
	return row(name, ui.Clean(path), container.NewHBox(layout.NewSpacer(), show), nil)
}

// open shows a folder in the file manager. It may not be there yet: it is made by the first thing kept in it.
func (p *aboutPart) open(path string) {
	p.screen.deps.Work(func(context.Context) error {
		if err := checkFolder(path); err != nil {
			return err
		}
		return fyne.CurrentApp().OpenURL(&url.URL{Scheme: "file", Path: filepath.ToSlash(path)})
	}, func(err error) { ui.ShowError(p.screen.deps.Shell.Window(), err) })
}

// look asks the program coffer for its version, once.
func (p *aboutPart) look() {
	if p.asked {
		return
	}
	p.asked = true
	var found client.Version
	p.screen.deps.Work(func(ctx context.Context) (err error) {
		found, err = p.screen.deps.Backend.Lab.Version(ctx)
		return err
	}, func(err error) {
		p.asked = err == nil
		p.showVersions(found, err)
	})
}

// showVersions shows what is known, and warns if the two programs are of different versions.
func (p *aboutPart) showVersions(v client.Version, err error) {
	p.facts.RemoveAll()
	fact := func(name, value string) {
		if value != "" {
			p.facts.Add(ui.Caption(name))
			p.facts.Add(widget.NewLabel(value))
		}
	}
	fact(text.T("Window"), Version())
	fact(text.T("Program coffer"), v.Version)
	fact(text.T("Cipher engine"), v.Engine)
	fact(text.T("Go"), runtime.Version())
	fact(text.T("Fyne"), toolkit())
	fact(text.T("System"), runtime.GOOS+"/"+runtime.GOARCH)
	p.screen.fit()
	switch {
	case err != nil:
		p.screen.say(p.differs, widget.DangerImportance, ui.Sentence(client.Explain(err).Sentence))
	case v.Version != Version() && v.Version != "" && known(v.Version) && known(Version()):
		p.screen.say(p.differs, widget.WarningImportance, text.T("The window and the program coffer are of different versions. Install both from the same package."))
	default:
		p.screen.say(p.differs, widget.MediumImportance, "")
	}
}

// runTest runs the self-test, or ends the one that runs.
func (p *aboutPart) runTest() {
	if p.cancel != nil {
		p.cancel()
		return
	}
	ctx, cancel := context.WithCancel(p.screen.deps.Context)
	p.cancel = cancel
	p.test.SetText(text.T("Cancel"))
	p.tests.RemoveAll()
	running := ui.NewWaiting()
	p.tests.Add(running)
	running.Start()
	p.screen.fit()
	var found []client.Test
	p.screen.deps.Work(func(context.Context) (err error) {
		found, err = p.screen.deps.Backend.Lab.SelfTest(ctx)
		return err
	}, func(err error) {
		running.Stop()
		cancelled := ctx.Err() != nil
		cancel()
		p.cancel = nil
		p.test.SetText(text.T("Test this program"))
		p.tests.RemoveAll()
		if !cancelled {
			p.showTests(found, err)
		}
	})
}

// showTests shows what a self-test found: failures each, what passed as a number.
func (p *aboutPart) showTests(found []client.Test, err error) {
	say := func(importance widget.Importance, words string) {
		m := ui.NewMessage()
		m.Say(importance, words)
		p.tests.Add(m)
	}
	passed := int64(0)
	for _, one := range found {
		if one.Error == "" {
			passed++
			continue
		}
		say(widget.DangerImportance, ui.Clean(one.Name)+": "+ui.Sentence(one.Error))
	}
	switch {
	case err != nil && int(passed) == len(found):
		say(widget.DangerImportance, ui.Sentence(client.Explain(err).Sentence))
	case int(passed) < len(found):
		say(widget.DangerImportance, text.T("Do not trust this program on this computer."))
	default:
		say(widget.SuccessImportance, text.N(passed, "The one part is sound.", "All %d parts are sound."))
	}
	p.screen.fit()
}
