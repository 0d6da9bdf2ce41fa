package unlock

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"

	"coffer/app/client"
	"coffer/app/config"
	"coffer/app/protocol"
	"coffer/app/recovery"
	"coffer/app/window/backend/fake"
	"coffer/app/window/model"
	"coffer/app/window/ui"
	"coffer/app/window/ui/uitest"
)

const secret = "correct horse"

// desk is a window over one locked container.
func desk(t *testing.T) (*uitest.Desk, string, *fake.Container) {
	t.Helper()
	k := uitest.New(t, ui.ThemeLight)
	image := filepath.Join(k.Folder, "Photos.img")
	one := k.Coffer.Add(image, secret)
	t.Cleanup(func() {
		if current != nil {
			current.close()
		}
	})
	return k, image, one
}

// ask opens the dialog; got is the identity that then was called with.
func ask(k *uitest.Desk, image string) (got *string) {
	got = new(string)
	Show(k.Deps, image, func(id string) { *got = id })
	k.Until("the dialog is open", func() bool { return current != nil })
	return got
}

// nothingLeft says whether nothing of a secret is left in a dialog.
func nothingLeft(p *prompt) bool {
	return p.entry.Text == "" && p.recovery.Text == "" && p.held == nil
}

// try types a password and presses Enter, and waits for the end of the try.
func try(k *uitest.Desk, password string) {
	k.Type(password)
	k.Key(fyne.KeyReturn)
	k.Until("the try has ended", func() bool { return current == nil || current.stop == nil })
}

func TestRightPassword(t *testing.T) {
	k, image, one := desk(t)
	got := ask(k, image)
	p := current
	k.Picture("unlock-empty")
	try(k, secret)
	k.Until("it goes on", func() bool { return *got == one.ID })
	if current != nil || k.Dialogs() != 0 {
		t.Errorf("%d dialogs are open", k.Dialogs())
	}
	if !nothingLeft(p) {
		t.Error("something of the secret is left in the dialog")
	}
	k.Until("it is in the list", func() bool { return k.Deps.Model.Container(image).Listed })
	if c := k.Deps.Model.Container(image); c.ReadOnly || c.MountPoint != "" || c.Keyfiles != nil {
		t.Errorf("the list keeps %+v", c.Known)
	}
}

func TestAlreadyUnlocked(t *testing.T) {
	k, image, one := desk(t)
	one.Unlocked = true
	one.Status.ID, one.Status.Image, one.Status.Ready = one.ID, image, true
	k.Deps.Model.Look(context.Background())
	var got string
	Show(k.Deps, image, func(id string) { got = id })
	k.Until("then is called", func() bool { return got == one.ID })
	if k.Dialogs() != 0 || k.Coffer.Called("Unlock") != 0 {
		t.Error("it was asked for all the same")
	}
}

func TestWrongPassword(t *testing.T) {
	k, image, one := desk(t)
	got := ask(k, image)
	try(k, "wrong")
	k.MustSay("That is not the password")
	k.Picture("unlock-wrong")
	if !nothingLeft(current) || k.Deps.Shell.Window().Canvas().Focused() != fyne.Focusable(current.entry) {
		t.Error("the entry is not empty, or has lost the focus")
	}
	current.wrongKey(1300 * time.Millisecond)
	k.MustSay("Each try takes 1.3 s on purpose")
	try(k, secret)
	k.Until("the right password afterwards unlocks", func() bool { return *got == one.ID })
}

func TestNothingTyped(t *testing.T) {
	k, image, _ := desk(t)
	ask(k, image)
	k.Key(fyne.KeyReturn)
	k.MustSay("Type the password")
	if k.Coffer.Called("Unlock") != 0 {
		t.Error("Coffer was asked without a credential")
	}
}

func TestEscape(t *testing.T) {
	k, image, _ := desk(t)
	got := ask(k, image)
	p := current
	k.Type("half a passw")
	k.Key(fyne.KeyEscape)
	if current != nil || k.Dialogs() != 0 || !nothingLeft(p) || *got != "" {
		t.Error("Escape does not close and forget")
	}
	if k.Deps.Shell.Window().Canvas().OnTypedKey() != nil {
		t.Error("the keys of the window were not given back")
	}
}

func TestTheWaitCanBeCancelled(t *testing.T) {
	k, image, _ := desk(t)
	got := ask(k, image)
	p := current
	k.Coffer.Wait["Unlock"] = make(chan struct{})
	k.Type(secret)
	k.Key(fyne.KeyReturn)
	k.Until("Coffer is at it", func() bool { return k.Coffer.Called("Unlock") == 1 })
	k.MustSay("about a second on purpose")
	k.Picture("unlock-wait")
	if p.entry.Text != "" {
		t.Error("the entry is not empty while the key is derived")
	}
	k.Key(fyne.KeyReturn) // must not start a second one, only press Cancel, which has the focus
	k.Until("it is cancelled", func() bool { return p.stop == nil })
	if current != p || !p.form.Visible() || !nothingLeft(p) || *got != "" {
		t.Error("after cancelling the dialog does not ask again")
	}
	if k.Coffer.Called("Unlock") != 1 {
		t.Error("there was a second try")
	}
	k.Key(fyne.KeyEscape)
	if current != nil {
		t.Error("Escape does not close it then")
	}
}

func TestClosedWhileUnlocking(t *testing.T) {
	k, image, _ := desk(t)
	got := ask(k, image)
	p := current
	k.Coffer.Wait["Unlock"] = make(chan struct{})
	k.Type(secret)
	k.Key(fyne.KeyReturn)
	p.close()
	k.Until("the try has ended", func() bool { return p.stop == nil })
	if *got != "" || k.Dialogs() != 0 || !nothingLeft(p) {
		t.Error("a closed dialog goes on")
	}
}

func TestFailuresHaveTheirWayOn(t *testing.T) {
	for name, one := range map[string]struct {
		code  protocol.ExitCode
		says  string
		tap   string
		wants string
	}{
		"damaged":       {protocol.Damaged, "The container is damaged", "Restore or rescue…", "Show health"},
		"integrity":     {protocol.Integrity, "not as this computer knows it", "Look at its health…", "Show health"},
		"no container":  {protocol.Unsupported, "no container that Coffer can open", "Restore a header backup…", "Show health"},
		"in use":        {protocol.InUse, "Somebody else is using it", "", ""},
		"no drive here": {protocol.NoMount, "cannot show drives yet", "Open without a drive", "Show files"},
		"another":       {protocol.Failed, "The disk is on fire. Leave the room.", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			k, image, container := desk(t)
			got := ask(k, image)
			p := current
			k.Coffer.Fail["Unlock"] = fake.Problem(one.code, "the disk is on fire", "leave the room")
			try(k, secret)
			k.MustSay(one.says)
			k.Picture("unlock-" + strings.ReplaceAll(name, " ", "-"))
			if p.entry.Text != "" {
				t.Error("the entry is not empty")
			}
			if one.tap == "" { // the same again, without typing
				k.Key(fyne.KeyReturn)
				k.Until("it is unlocked", func() bool { return *got == container.ID })
				return
			}
			k.Tap(one.tap)
			k.Until("the way on is taken", func() bool { return k.AskedFor(one.wants + " " + image) })
			if current != nil || !nothingLeft(p) {
				t.Error("the dialog stays, or keeps something")
			}
			if one.code == protocol.NoMount {
				k.Until("it is unlocked", func() bool { return *got == container.ID })
				if container.Status.MountPoint != "" {
					t.Error("there is a drive")
				}
			}
		})
	}
}

func TestOursAlready(t *testing.T) {
	k, image, one := desk(t)
	got := ask(k, image)
	k.Coffer.Fail["Unlock"] = fake.Problem(protocol.InUse, "open it: in use", "")
	k.Coffer.Mu.Lock()
	one.Unlocked, one.Status.ID, one.Status.Image, one.Status.Ready = true, one.ID, image, true // from the command line, just now
	k.Coffer.Mu.Unlock()
	try(k, secret)
	k.Until("it goes on", func() bool { return *got == one.ID })
	if current != nil {
		t.Error("the dialog is still open")
	}
}

func TestJustBeingUnlocked(t *testing.T) {
	k, image, one := desk(t)
	ask(k, image)
	k.Coffer.Fail["Unlock"] = fake.Problem(protocol.InUse, "open it: in use", "")
	k.Coffer.Mu.Lock()
	one.Unlocked, one.Status.ID, one.Status.Image = true, one.ID, image // not ready
	k.Coffer.Mu.Unlock()
	try(k, secret)
	k.Until("it says so", func() bool { return k.Says("just being unlocked") })
}

func TestPlainImage(t *testing.T) {
	k, image, one := desk(t)
	one.Format, one.Password = "raw", ""
	got := ask(k, image)
	try(k, "anything")
	k.Tap("Open it as a plain disk image, not encrypted")
	k.MustSay("It is not encrypted")
	k.Picture("unlock-raw")
	k.Tap("Open")
	k.Until("it is open", func() bool { return *got == one.ID })
	k.Until("the list knows its format", func() bool { return k.Deps.Model.Container(image).Format == "raw" })
	one.Unlocked = false
	k.Deps.Model.Look(context.Background())
	*got = ""
	got = ask(k, image)
	k.Key(fyne.KeyReturn) // no password is asked for
	k.Until("it is open again", func() bool { return *got == one.ID })
}

func TestMissing(t *testing.T) {
	k, image, _ := desk(t)
	if err := k.Deps.Model.Update(image, func(c *config.Known) { c.Favourite = true }); err != nil {
		t.Fatal(err)
	}
	elsewhere := filepath.Join(k.Folder, "Moved.img")
	if err := os.Rename(image, elsewhere); err != nil {
		t.Fatal(err)
	}
	k.Deps.Model.Look(context.Background())
	Show(k.Deps, image, nil)
	k.Until("it says so", func() bool { return k.Says("There is no file at") })
	k.Picture("unlock-missing")
	chooseFile = func(_ *ui.Deps, _ string, chosen func(string)) { chosen(elsewhere) }
	k.Tap("Look for it…")
	k.Until("it asks for the password", func() bool { return current != nil })
	if current.container.Path != elsewhere || !current.container.Favourite {
		t.Errorf("it asks for %+v", current.container.Known)
	}
	if slices.ContainsFunc(k.Deps.Model.Containers(), func(c model.Container) bool { return c.Path == image }) {
		t.Error("the old path is still in the list")
	}
}

func TestMissingIsForgotten(t *testing.T) {
	k, image, _ := desk(t)
	if err := k.Deps.Model.Add(image); err != nil {
		t.Fatal(err)
	}
	_ = os.Remove(image)
	k.Deps.Model.Look(context.Background())
	Show(k.Deps, image, nil)
	k.Until("it says so", func() bool { return k.Says("There is no file at") })
	k.Tap("Remove from the list")
	k.Until("it is gone", func() bool { return len(k.Deps.Model.Containers()) == 0 })
}

func TestKeyFiles(t *testing.T) {
	k, image, one := desk(t)
	got := ask(k, image)
	p := current
	if !Dropped([]string{"/keys/usb.key", "/keys/usb.key", "/keys/other.key"}) {
		t.Fatal("a dropped file is not taken")
	}
	k.MustSay("usb.key")
	k.MustSay("Remember where the key files are")
	k.Picture("unlock-keyfiles")
	if want := []string{"/keys/usb.key", "/keys/other.key"}; !slices.Equal(p.keyfiles, want) {
		t.Fatalf("key files %q, want %q", p.keyfiles, want)
	}
	p.remember.SetChecked(true)
	try(k, secret)
	k.Until("it is unlocked", func() bool { return *got == one.ID })
	k.Until("the list keeps them", func() bool { return len(k.Deps.Model.Container(image).Keyfiles) == 2 })
	if Dropped([]string{"/x"}) {
		t.Error("a file is taken while no dialog is open")
	}
}

func TestRecoveryKey(t *testing.T) {
	for _, how := range []string{"by the link", "where the password belongs"} {
		t.Run(how, func(t *testing.T) {
			k, image, one := desk(t)
			key := string(recovery.Generate())
			one.Added = []string{key}
			got := ask(k, image)
			if how == "by the link" {
				k.Tap("Use a recovery key")
				k.Type(key[:4])
				k.Type("?")
				k.MustSay("letters and digits only")
				current.recovery.SetText("")
				wrong := map[bool]string{true: "1", false: "0"}[key[4] == '0']
				k.Type(key[:4] + wrong)
				k.MustSay("Group 1 is mistyped")
				k.Picture("unlock-recovery")
				k.Key(fyne.KeyReturn)
				if k.Coffer.Called("Unlock") != 0 {
					t.Error("a mistyped key costs a derivation")
				}
				current.recovery.SetText("")
				k.Key(fyne.KeyReturn)
				k.MustSay("7 groups of 5 characters")
			}
			p := current
			try(k, strings.ToLower(strings.ReplaceAll(key, "-", " ")))
			k.Until("it is unlocked", func() bool { return *got == one.ID })
			if !nothingLeft(p) {
				t.Error("something is left")
			}
		})
	}
}

func TestOptions(t *testing.T) {
	k, image, one := desk(t)
	got := ask(k, image)
	k.Tap("More")
	k.Picture("unlock-more")
	current.readOnly.SetChecked(true)
	chooseFolder = func(_ *ui.Deps, _ string, chosen func(string)) { chosen("/home/me/photos") }
	current.place.SetSelected(placeOther())
	current.focus()
	try(k, secret)
	k.Until("it is unlocked", func() bool { return *got == one.ID })
	if one.Status.MountPoint != "/home/me/photos" || !one.Status.ReadOnly {
		t.Errorf("unlocked as %+v", one.Status.Entry)
	}
	k.Until("the list keeps it", func() bool {
		c := k.Deps.Model.Container(image)
		return c.ReadOnly && c.MountPoint == "/home/me/photos"
	})
	one.Unlocked = false
	k.Deps.Model.Look(context.Background())
	got = ask(k, image)
	current.place.SetSelected(placeNone())
	current.focus()
	try(k, secret)
	k.Until("it is unlocked", func() bool { return *got == one.ID })
	if one.Status.MountPoint != "" {
		t.Errorf("with no drive: unlocked as %+v", one.Status.Entry)
	}
	if c := k.Deps.Model.Container(image); c.MountPoint != "/home/me/photos" {
		t.Error("the folder is forgotten because there was no drive once")
	}
}

func TestWithKnownCredential(t *testing.T) {
	k, image, one := desk(t)
	password := client.Secret(secret)
	var got string
	With(k.Deps, image, client.Credential{Password: password}, func(id string) { got = id })
	k.Until("it is unlocked", func() bool { return got == one.ID })
	if string(password) == secret {
		t.Error("the password is not wiped")
	}
}

func TestOneDialogAtATime(t *testing.T) {
	k, image, _ := desk(t)
	other := filepath.Join(k.Folder, "Other.img")
	k.Coffer.Add(other, "x")
	ask(k, image)
	first := current
	Show(k.Deps, image, nil)
	if current != first {
		t.Error("asking again for the same one opens another dialog")
	}
	Show(k.Deps, other, nil)
	k.Until("the other one is asked for", func() bool { return current != nil && current.container.Path == other })
	if k.Dialogs() != 1 {
		t.Errorf("%d dialogs are open", k.Dialogs())
	}
}

func TestAdviceNamesWhatToInstall(t *testing.T) {
	for system, want := range map[string]string{"linux": "fuse3", "windows": "WinFsp", "darwin": "macFUSE", "freebsd": "FUSE"} {
		if !strings.Contains(NoMountAdvice(system), want) {
			t.Errorf("%s: %s", system, NoMountAdvice(system))
		}
	}
}
