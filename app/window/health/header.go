package health

import (
	"context"
	"path/filepath"
	"strings"

	"fyne.io/fyne/v2"

	"coffer/app/client"
	"coffer/app/protocol"
	"coffer/app/window/text"
	"coffer/app/window/ui"
)

func isWrongKey(err error) bool { return ui.IsCode(err, int(protocol.WrongKey)) }

// backupHeader saves the header to a new file.
func (s *Screen) backupHeader() {
	s.locked(text.T("The header can be backed up only while the container is locked."), func() {
		image, path := s.image, ""
		t := s.newTask(text.T("Back up the header of %s", ui.Clean(s.name())), text.T("Save"), false)
		t.say(text.T("Whoever has the backup and one of today's passwords can open the container, also after the password was changed. Keep it as safe as a password, on another disk than the container."))
		place := t.addNewPath(text.T("Save as"), s.name()+"-header.backup")
		t.begin = func() (work, string) {
			if wrong := wrongPath(place.Text); wrong != "" {
				return nil, wrong
			}
			path = strings.TrimSpace(place.Text)
			t.stage.SetText(text.T("Saving the header…"))
			return func(ctx context.Context, _ client.Reporter) error {
				if err := mustBeNew(path); err != nil {
					return err
				}
				return s.deps.Backend.Keys.BackupHeader(ctx, image, path)
			}, ""
		}
		t.end = func(err error) bool {
			if err != nil {
				t.fail(err)
				return false
			}
			t.result(text.T("The header is saved"), text.T("The backup is %s.", ui.Clean(path)), s.showFolder(filepath.Dir(path)))
			return true
		}
		t.open()
	})
}

// restoreHeader puts a saved header back.
func (s *Screen) restoreHeader() {
	s.locked(text.T("The header can be restored only while the container is locked."), func() {
		image := s.image
		t := s.newTask(text.T("Restore the header of %s", ui.Clean(s.name())), text.T("Restore"), true)
		t.say(text.T("The header and all keys in it are replaced by those of the backup, with the passwords of that time. Whoever knows only a newer password cannot open the container any more."))
		if s.failed == nil {
			t.say(text.T("The present header can be read. Back it up first if there is any doubt."))
		}
		from := t.addOldPath(text.T("Backup of the header"))
		from.OnChanged = func(string) { t.check() }
		other := t.panel.Keys.NewCheck(text.T("Also if it is the backup of another container"), nil)
		if s.failed == nil { // else nothing is there that could differ
			t.add(other)
		}
		t.needName(s.fileName())
		t.ready = func() bool { return strings.TrimSpace(from.Text) != "" }
		t.begin = func() (work, string) {
			if wrong := wrongPath(from.Text); wrong != "" {
				return nil, wrong
			}
			path, force := strings.TrimSpace(from.Text), other.Checked
			t.stage.SetText(text.T("Restoring the header…"))
			return func(ctx context.Context, _ client.Reporter) error {
				return s.deps.Backend.Keys.RestoreHeader(ctx, image, path, force)
			}, ""
		}
		t.end = func(err error) bool {
			if err != nil {
				t.fail(err)
				return false
			}
			delete(s.checks, image)
			t.result(text.T("The header is restored"), text.T("The passwords of that time open the container now."))
			return true
		}
		t.open()
	})
}

// destroy overwrites all keys.
func (s *Screen) destroy() {
	s.locked(text.T("A container can be destroyed only while it is locked."), func() {
		image := s.image
		t := s.newTask(text.T("Destroy %s?", ui.Clean(s.name())), text.T("Destroy"), true)
		t.say(text.T("All its keys are overwritten. Nobody can ever read it again, you neither: everything in it is lost. The file itself stays, and can be deleted."),
			text.T("What cannot be reached: copies of the file, snapshots and backups of the disk, backups of the header, and blocks that a solid-state disk has put aside. With those and a password it can still be opened."))
		t.needName(s.fileName())
		t.begin = func() (work, string) {
			t.stage.SetText(text.T("Overwriting the keys…"))
			return func(ctx context.Context, _ client.Reporter) error {
				return s.deps.Backend.Containers.Destroy(ctx, image)
			}, ""
		}
		t.end = func(err error) bool {
			if err != nil {
				t.fail(err)
				return false
			}
			delete(s.checks, image)
			t.result(text.T("It is destroyed"), text.T("Its keys are gone. The file %s is still there; it can be deleted.", ui.Clean(image)), func(p *ui.Panel) fyne.CanvasObject {
				return p.Keys.NewButton(text.T("Remove it from the list"), func() {
					p.Close()
					s.deps.Work(func(context.Context) error { return s.deps.Model.Forget(image) }, func(err error) {
						ui.ShowError(s.deps.Shell.Window(), err)
						s.deps.Shell.Show(ui.PageHome, "")
					})
				})
			})
			return true
		}
		t.open()
	})
}
