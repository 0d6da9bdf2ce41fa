package password

import (
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"

	"coffer/app/window/ui"
	"coffer/app/window/ui/uitest"
)

func TestStrength(t *testing.T) {
	for _, one := range []struct {
		typed  string
		level  int
		advice string
	}{
		{"", 0, ""},
		{"password", VeryWeak, "everybody tries first"},
		{"P@ssw0rd", VeryWeak, ""},
		{"qwertyuiop[", VeryWeak, "keyboard"},
		{"aaaaaaaaaaaa", VeryWeak, "Repeating"},
		{"2391995", VeryWeak, "Dates"},
		{"horse", VeryWeak, "Add a word or two"},
		{"correct horse battery staple", Strong, ""},
		{"zQ7#pL2!vX9&", Strong, ""},
		{"\xff\xfe\x01\x02\x03\x04\x05\x06", Strong, ""},
	} {
		s := Estimate(one.typed)
		if s.Level != one.level || !strings.Contains(s.Advice, one.advice) || s.Level == Strong && s.Advice != "" {
			t.Errorf("%q: %+v, want level %d with advice %q", one.typed, s, one.level, one.advice)
		}
	}
}

// The estimator's time grows with the square of the length.
func TestOnlyTheBeginningIsRated(t *testing.T) {
	long := strings.Repeat("lä", 50_000)
	if got, want := Estimate(long), Estimate(string([]rune(long)[:maxRatedRunes])); got != want || got.Level == 0 {
		t.Errorf("100,000 characters are rated %+v, their beginning %+v", got, want)
	}
}

func TestMeterShowsTheLastOne(t *testing.T) {
	k := uitest.New(t, ui.ThemeLight)
	m := NewMeter(k.Deps)
	k.Window().SetContent(m)
	k.MustSay("nothing to do with each other")
	m.Rate("password")
	m.Rate("password1")
	m.Rate("correct horse battery staple")
	k.Until("the last one is rated", func() bool { return m.Strength().Level == Strong })
	k.MustSay("Strong.")
	m.Rate("x")
	m.Rate("")
	k.Until("nothing is running", func() bool { return !m.running })
	if m.Strength().Level != 0 || m.wanted != "" {
		t.Errorf("an empty entry is rated %+v", m.Strength())
	}
}

func TestCapsLock(t *testing.T) {
	uitest.New(t, ui.ThemeLight)
	e := NewEntry(nil)
	var told []bool
	e.OnCaps = func(on bool) { told = append(told, on) }
	shift := &fyne.KeyEvent{Name: desktop.KeyShiftLeft}
	want := func(what string, now ...bool) {
		t.Helper()
		if len(told) != len(now) || len(now) > 0 && told[len(told)-1] != now[len(now)-1] {
			t.Errorf("%s: told %v, want %v", what, told, now)
		}
		told = nil
	}
	e.TypedRune('a')
	e.KeyDown(shift)
	e.TypedRune('A')
	e.TypedRune('!')
	e.KeyUp(shift)
	e.TypedRune('1')
	want("small letters, capitals with Shift, others")
	e.TypedRune('A')
	want("a capital without Shift", true)
	e.TypedRune('B')
	e.TypedRune('7')
	want("another one")
	e.TypedRune('b')
	want("a small letter without Shift", false)
	e.KeyDown(shift)
	e.TypedRune('ä')
	e.KeyUp(shift)
	want("a small letter with Shift", true)
	e.KeyDown(&fyne.KeyEvent{Name: desktop.KeyCapsLock})
	want("the key itself", false)
	e.KeyDown(shift)
	e.FocusLost() // and the key is released elsewhere
	e.TypedRune('a')
	want("Shift held while the focus went")
}

func TestTakeEmpties(t *testing.T) {
	k := uitest.New(t, ui.ThemeLight)
	e := NewEntry(nil)
	k.Window().SetContent(e)
	k.Window().Canvas().Focus(e)
	if e.Take() != nil {
		t.Error("nothing typed is a secret")
	}
	k.Type("secret")
	e.TypedShortcut(&desktop.CustomShortcut{KeyName: fyne.KeyR, Modifier: fyne.KeyModifierShortcutDefault})
	if e.Password {
		t.Error("Ctrl+R does not reveal it")
	}
	got := e.Take()
	if string(got) != "secret" || e.Text != "" || !e.Empty() || !e.Password {
		t.Errorf("took %q, left %q, concealed: %v", got, e.Text, e.Password)
	}
	e.Undo()
	if e.Text != "" {
		t.Error("undo brings it back")
	}
}

func TestKeysOfTheDialog(t *testing.T) {
	k := uitest.New(t, ui.ThemeLight)
	entered, escaped := 0, 0
	e := NewEntry(&ui.Keys{Enter: func() { entered++ }, Escape: func() { escaped++ }})
	k.Window().SetContent(e)
	e.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	e.TypedKey(&fyne.KeyEvent{Name: fyne.KeyEscape})
	if entered != 1 || escaped != 1 {
		t.Errorf("Enter %d, Escape %d", entered, escaped)
	}
	submitted := 0
	e.OnSubmitted = func(string) { submitted++ }
	e.TypedKey(&fyne.KeyEvent{Name: fyne.KeyEnter})
	e.TypedKey(&fyne.KeyEvent{Name: fyne.KeyEscape})
	if submitted != 1 || entered != 1 || escaped != 2 {
		t.Errorf("submitted %d, Enter %d, Escape %d", submitted, entered, escaped)
	}
}
