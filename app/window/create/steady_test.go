package create

import (
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"coffer/app/window/text"
)

func TestSizeStays(t *testing.T) {
	before := text.Language()
	t.Cleanup(func() { text.Use(before) })
	for _, language := range []string{"en", "de", "es"} {
		t.Run(language, func(t *testing.T) {
			k := desk(t)
			text.Use(language)
			w := start(k)
			place := func() (fyne.Position, fyne.Size) {
				content := k.Window().Canvas().Overlays().Top().(*widget.PopUp).Content
				return content.Position(), content.Size()
			}
			at, size := place()
			if edge := k.Window().Canvas().Size(); size.Height > edge.Height-20 || size.Width > edge.Width-20 {
				t.Errorf("%v does not fit into %v", size, edge)
			}
			stays := func(step string) {
				t.Helper()
				if nowAt, now := place(); now != size || nowAt != at {
					t.Errorf("%s: %v at %v, before %v at %v", step, now, nowAt, size, at)
				}
			}
			enter(k, w, pageSize)
			stays("size")
			enter(k, w, pageSecret)
			stays("password")
			k.Type("correct horse battery")
			k.Key(fyne.KeyReturn)
			k.Type("correct horse batter")
			k.Key(fyne.KeyReturn)
			stays("two passwords")
			k.Type("y")
			enter(k, w, pageSheet)
			stays("sheet")
			k.Type("wrong")
			stays("hidden key, wrong group")
			w.turn(pageSecret)
			stays("back")
		})
	}
}

func TestLowWindow(t *testing.T) {
	k := desk(t)
	k.Size(1024, 500)
	w := start(k)
	if size := k.Window().Canvas().Overlays().Top().(*widget.PopUp).Content.Size(); size.Height > 500 {
		t.Errorf("%v does not fit into the window", size)
	}
	toSecret(k, w)
	enter(k, w, pageSheet)
	k.TabThrough(w.scroll)
}
