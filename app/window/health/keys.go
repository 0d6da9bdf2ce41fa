package health

import (
	"context"
	"slices"
	"strings"

	"fyne.io/fyne/v2"

	"coffer/app/client"
	"coffer/app/window/text"
	"coffer/app/window/ui"
)

// addKey adds a key; file, if not "", is a key file that was just made for it.
func (s *Screen) addKey(file string) {
	s.locked(text.T("A key can be added only while the container is locked."), func() {
		t := s.newTask(text.T("Add a key to %s", ui.Clean(s.name())), text.T("Add key"), false)
		present := t.addSecret(text.T("What opens it now"), false)
		added := t.addSecret(text.T("The new key"), true)
		if file != "" {
			added.addFile(file)
		}
		s.runKey(t, present, added, s.deps.Backend.Keys.AddKey, func(slot int) {
			t.result(text.T("The key was added"), text.T("It is key %d, and opens the container from now on, as those before it do.", keyNumber(slot)))
		})
	})
}

// changeKey replaces one key by another.
func (s *Screen) changeKey() {
	s.locked(text.T("A password can be changed only while the container is locked."), func() {
		t := s.newTask(text.T("Change a password of %s", ui.Clean(s.name())), text.T("Change"), false)
		present := t.addSecret(text.T("The old one"), false)
		added := t.addSecret(text.T("The new one"), true)
		s.runKey(t, present, added, s.deps.Backend.Keys.ChangeKey, func(slot int) {
			t.result(text.T("The password was changed"), text.T("The new one is key %d; the old one does not open the container any more. Backups of the header and copies of the file still open with it.", keyNumber(slot)))
		})
	})
}

// runKey adds or changes a key. At whatever moment that is cut short, what opened the container before or the new key opens it.
func (s *Screen) runKey(t *task, present, added *secretField, change func(ctx context.Context, image string, present, added client.Credential) (int, error), done func(slot int)) {
	image := s.image
	var now, next client.Credential
	slot := 0
	t.begin = func() (work, string) {
		for _, f := range []*secretField{present, added} {
			if wrong := f.wrong(); wrong != "" {
				t.focus = f.entry
				return nil, wrong
			}
		}
		now, next = present.take(), added.take()
		t.stage.SetText(text.T("Working out the keys. This takes a second or two on purpose: it keeps guessers out."))
		return func(ctx context.Context, _ client.Reporter) (err error) {
			slot, err = change(ctx, image, now, next)
			return err
		}, ""
	}
	t.cancelled = func() {
		present.hold(now)
		added.hold(next)
	}
	t.end = func(err error) bool {
		if err == nil {
			now.Wipe()
			next.Wipe()
			done(slot)
			return true
		}
		added.hold(next)
		t.focus = present.entry
		if isWrongKey(err) {
			now.Wipe()
		} else {
			present.hold(now)
		}
		t.fail(err)
		return false
	}
	t.open()
}

// removeKey removes the key in a slot. The last one goes only once the name was typed.
func (s *Screen) removeKey(slot int) {
	s.locked(text.T("A key can be removed only while the container is locked."), func() {
		image := s.image
		var slots []client.Slot
		if s.info != nil {
			slots = s.info.Container.Slots
		}
		others := slices.ContainsFunc(slots, func(one client.Slot) bool { return one.Number != slot && one.Bound })
		t := s.newTask(text.T("Remove key %d?", keyNumber(slot)), text.T("Remove"), true)
		if others {
			t.say(text.T("Whoever uses this key cannot open %s any more. A container does not tell which password belongs to which key: make sure that another one works, by unlocking the container with it, before you remove this one.", ui.Clean(s.name())))
		} else {
			t.say(text.T("This is the last key. Without it nobody can ever open %s again, you neither: everything in it is lost.", ui.Clean(s.name())))
		}
		t.say(text.T("Backups of the header and copies of the file still open with it."))
		if !others {
			t.needName(s.fileName())
		}
		t.begin = func() (work, string) {
			t.stage.SetText(text.T("Removing the key…"))
			return func(ctx context.Context, _ client.Reporter) error {
				return s.deps.Backend.Keys.RemoveKey(ctx, image, slot, !others)
			}, ""
		}
		t.open()
	})
}

// newKeyfile makes a key file, and offers to add it as a key.
func (s *Screen) newKeyfile() {
	t := s.newTask(text.T("New key file"), text.T("Make"), false)
	t.say(text.T("A file of random bytes. Added as a key, it opens the container without a password, or together with one: keep it apart from the container, on a memory stick for example, and a copy of it elsewhere."))
	place := t.addNewPath(text.T("Save as"), s.name()+".key")
	path := ""
	t.begin = func() (work, string) {
		if wrong := wrongPath(place.Text); wrong != "" {
			return nil, wrong
		}
		path = strings.TrimSpace(place.Text)
		t.stage.SetText(text.T("Making the key file…"))
		return func(ctx context.Context, _ client.Reporter) error {
			if err := mustBeNew(path); err != nil {
				return err
			}
			return s.deps.Backend.Keys.NewKeyfile(ctx, path)
		}, ""
	}
	t.end = func(err error) bool {
		if err != nil {
			t.fail(err)
			return false
		}
		t.result(text.T("The key file is made"), text.T("It is %s. It opens nothing until it is added as a key.", ui.Clean(path)), func(p *ui.Panel) fyne.CanvasObject {
			return p.Keys.NewButton(text.T("Add it as a key…"), func() {
				p.Close()
				s.addKey(path)
			})
		})
		return true
	}
	t.open()
}
