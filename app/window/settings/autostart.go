package settings

import (
	"os"
	"path/filepath"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"coffer/app/window/text"
	"coffer/app/window/ui"
)

// autostart is the system's own list of what begins with the session; the truth is there, not in the settings file. Each system
// has a file that makes one.
type autostart interface {
	// enabled says whether the window begins with the session.
	enabled() (bool, error)
	// enable makes the program at path begin with it, in the tray.
	enable(path string) error
	disable() error
}

// hiddenFlag starts the window in the tray.
const hiddenFlag = "--hidden"

// ownProgram is the path of this program; "" if the system does not tell.
func ownProgram() string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		return resolved
	}
	return path
}

// startField is the switch "Start with the session".
type startField struct {
	screen  *Screen
	box     *ui.KeyCheck
	message *ui.Message
	list    autostart
	turn    int // of looks and changes: only the last is shown
}

// newStart makes the switch.
func (s *Screen) newStart() fyne.CanvasObject {
	var keys *ui.Keys
	f := &startField{screen: s, message: ui.NewMessage(), list: systemAutostart()}
	f.box = keys.NewCheck(text.T("On"), f.change)
	s.start = f
	help := text.T("In the tray, ready to unlock. See also “At login”.")
	if s.deps.Paths.Portable {
		help = text.T("Not with a memory stick: the next computer knows nothing of it.")
		f.box.Disable()
	}
	return container.NewVBox(row(text.T("Start with the session"), help, f.box, nil), f.message)
}

// look shows what the system has.
func (f *startField) look() { f.run(func() error { return nil }) }

// change does what the person wants.
func (f *startField) change(on bool) {
	f.run(func() error {
		if on {
			return f.list.enable(ownProgram())
		}
		return f.list.disable()
	})
}

// run changes the system's list, in the order of the person's choices, and shows what is in it then.
func (f *startField) run(change func() error) {
	f.turn++
	mine := f.turn
	f.screen.store.do(func() {
		err := change()
		on, lookErr := f.list.enabled()
		if err == nil {
			err = lookErr
		}
		f.screen.store.post(func() {
			if mine != f.turn {
				return
			}
			words := ""
			if err != nil {
				words = ui.Sentence(err.Error())
			}
			f.screen.say(f.message, widget.DangerImportance, words)
			setCheck(&f.box.Check, on)
		})
	})
}
