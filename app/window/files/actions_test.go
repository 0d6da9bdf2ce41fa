package files

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"

	"coffer/app/protocol"
	"coffer/app/window/backend/fake"
	"coffer/app/window/ui"
)

func TestNewFolder(t *testing.T) {
	w := newWorld(t, true)
	w.put("New folder/", "b")
	w.show()
	w.shortcut(&desktop.CustomShortcut{KeyName: fyne.KeyN, Modifier: fyne.KeyModifierShortcutDefault | fyne.KeyModifierShift})
	entry := w.shell.window.Canvas().Focused().(*ui.KeyEntry)
	if entry.Text != "New folder 2" || entry.SelectedText() != entry.Text {
		t.Errorf("it proposes %q with %q selected", entry.Text, entry.SelectedText())
	}
	for name, fault := range map[string]string{"a?": "cannot hold", "B": "already", "": "Type a name", "c.": "dot"} {
		entry.SetText(name)
		entry.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
		if w.overlay() == nil || !strings.Contains(says(w.overlay()), fault) || !w.button("Create").Disabled() {
			t.Fatalf("%q is taken, or it does not say %q", name, fault)
		}
	}
	entry.SetText("Zoo")
	entry.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	w.until("the folder is there and chosen", func() bool { return w.chosen() == "Zoo" })
	if got := w.calls("Mkdir"); got != "/Zoo" {
		t.Errorf("made %s", got)
	}
	if w.shell.window.Canvas().Focused() != w.screen.table {
		t.Error("the list has not the keyboard again")
	}
}

func TestCancelledNameDoesNothing(t *testing.T) {
	w := newWorld(t, true)
	w.put("a")
	w.show()
	w.screen.perform(actNewFolder)
	w.key(fyne.KeyEscape)
	if w.overlay() != nil || w.calls("Mkdir") != "" {
		t.Error("escape does not cancel")
	}
}

func TestRename(t *testing.T) {
	w := newWorld(t, true)
	w.put("photo.old.jpg", "b")
	w.show()
	w.press(1, 0)
	w.key(fyne.KeyF2)
	entry := w.shell.window.Canvas().Focused().(*ui.KeyEntry)
	if entry.Text != "photo.old.jpg" || entry.SelectedText() != "photo.old" {
		t.Errorf("%q with %q selected", entry.Text, entry.SelectedText())
	}
	entry.SetText("PHOTO.OLD.JPG") // only the spelling
	entry.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	w.until("it is renamed", func() bool { return w.chosen() == "PHOTO.OLD.JPG" })
	if got := w.calls("Rename"); got != "/photo.old.jpg /PHOTO.OLD.JPG" {
		t.Errorf("renamed %s", got)
	}
}

func TestRenameRefusedTellsWhy(t *testing.T) {
	w := newWorld(t, true)
	w.put("a")
	w.show()
	w.press(0, 0)
	w.coffer.Fail["Rename"] = fake.Problem(protocol.InUse, "rename /a: it is open through the drive", "close it first")
	w.key(fyne.KeyF2)
	entry := w.shell.window.Canvas().Focused().(*ui.KeyEntry)
	entry.SetText("c")
	entry.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	w.until("it is told", func() bool { return w.overlay() != nil })
	if said := says(w.overlay()); !strings.Contains(said, "open through the drive") || !strings.Contains(said, "Close it first") {
		t.Errorf("it says %q", said)
	}
}

func TestDelete(t *testing.T) {
	w := newWorld(t, true)
	w.put("a", "b", "folder/", "folder/c")
	w.show()
	w.shortcut(&fyne.ShortcutSelectAll{})
	w.press(1, fyne.KeyModifierShortcutDefault) // not a
	w.key(fyne.KeyDelete)
	if said := says(w.overlay()); !strings.Contains(said, "1 file and 1 folder with everything inside") {
		t.Errorf("it asks %q", said)
	}
	w.key(fyne.KeyReturn) // cancel is the default
	if w.overlay() != nil || w.calls("Remove") != "" {
		t.Fatal("enter deletes")
	}
	w.key(fyne.KeyDelete)
	test.Tap(w.button("Delete"))
	w.until("they are gone", func() bool { return w.names() == "a" })
	gone := strings.Split(w.calls("Remove"), "; ")
	slices.Sort(gone)
	if !slices.Equal(gone, []string{"/b", "/folder"}) {
		t.Errorf("removed %q", gone)
	}
}

func TestDeleteGoesOnAfterAFailure(t *testing.T) {
	w := newWorld(t, true)
	w.fill(30)
	w.show()
	w.coffer.Fail["Remove"] = fake.Problem(protocol.InUse, "remove: in use", "")
	w.screen.selectAll()
	w.key(fyne.KeyDelete)
	test.Tap(w.button("Delete"))
	w.until("it is told", func() bool {
		return w.overlay() != nil && strings.Contains(says(w.overlay()), "1 of 30 could not be deleted")
	})
	w.until("the others are gone", func() bool { return len(w.screen.items) == 1 && w.screen.load == nil })
}

func TestLongDeleteCanBeCancelled(t *testing.T) {
	w := newWorld(t, true)
	w.fill(30)
	w.show()
	w.coffer.Wait["Remove"] = make(chan struct{})
	w.screen.selectAll()
	w.key(fyne.KeyDelete)
	test.Tap(w.button("Delete"))
	w.until("as many as may are being removed", func() bool { return w.coffer.Called("Remove") == removers })
	w.ring() // the bar comes
	test.Tap(w.button("Cancel"))
	w.until("it has ended", func() bool { return w.overlay() == nil && w.screen.load == nil })
	if got := len(w.screen.items); got != 30 || w.coffer.Called("Remove") != removers {
		t.Errorf("%d items after cancelling, %d tried", got, w.coffer.Called("Remove"))
	}
}

func TestAdd(t *testing.T) {
	w := newWorld(t, true)
	w.put("in/")
	w.show()
	w.screen.enter("/in")
	w.listed()
	w.answer = []string{"/home/me/x", "/home/me/y"}
	w.screen.action(actAddFiles).buttons[0].OnTapped()
	w.screen.action(actAddFolder).buttons[0].OnTapped()
	if got := fmt.Sprint(w.shell.copied, w.asked); got != "[photos.img <- [/home/me/x /home/me/y] -> /in photos.img <- [/home/me/x /home/me/y] -> /in] [1 3]" {
		t.Errorf("copied %s", got)
	}
}

func TestExport(t *testing.T) {
	w := newWorld(t, true)
	w.put("a", "b/", "b/c")
	w.show()
	w.screen.selectAll()
	w.screen.perform(actExport) // and cancelled
	w.answer = []string{"/home/me/out"}
	w.shortcut(&desktop.CustomShortcut{KeyName: fyne.KeyE, Modifier: fyne.KeyModifierShortcutDefault})
	w.until("the copy is queued", func() bool { return len(w.jobs()) == 1 })
	job := w.jobs()[0].Copy
	if !job.FromInside || job.ToInside || job.Destination != "/home/me/out" || !slices.Equal(job.Sources, []string{"/b", "/a"}) || job.Existing != "" || job.WindowMillis != 1000 || job.Records == "" {
		t.Errorf("the job is %+v", job)
	}
}

func TestCutAndPaste(t *testing.T) {
	w := newWorld(t, true)
	w.put("a", "b", "in/")
	w.show()
	w.press(1, 0)
	w.shortcut(&fyne.ShortcutCut{})
	if !w.screen.table.slotOf(1).dim {
		t.Error("what is cut does not look so")
	}
	w.shortcut(&fyne.ShortcutPaste{}) // where it is: nothing
	w.press(1, 0)
	w.shortcut(&fyne.ShortcutCut{})
	w.screen.enter("/in")
	w.listed()
	w.shortcut(&fyne.ShortcutPaste{})
	w.until("it is moved and chosen", func() bool { return w.chosen() == "a" })
	if got := w.calls("Rename"); got != "/a /in/a" || w.screen.action(actPaste).can() {
		t.Errorf("moved %q; paste again: %v", got, w.screen.action(actPaste).can())
	}
}

func TestCopyAndPaste(t *testing.T) {
	w := newWorld(t, true)
	w.put("a", "in/")
	w.show()
	w.press(1, 0)
	w.shortcut(&fyne.ShortcutCopy{})
	w.screen.enter("/in")
	w.listed()
	w.shortcut(&fyne.ShortcutPaste{})
	w.until("the copy is queued", func() bool { return len(w.jobs()) == 1 })
	if job := w.jobs()[0].Copy; !job.FromInside || !job.ToInside || job.Destination != "/in" || job.Move || job.Peer != "" {
		t.Errorf("the job is %+v", job)
	}
}
