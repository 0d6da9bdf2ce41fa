package ui

import (
	"image/color"
	"math"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// luminance is the relative luminance of a colour, as WCAG defines it.
func luminance(c color.Color) float64 {
	n := color.NRGBAModel.Convert(c).(color.NRGBA)
	part := func(v uint8) float64 {
		x := float64(v) / 255
		if x <= 0.04045 {
			return x / 12.92
		}
		return math.Pow((x+0.055)/1.055, 2.4)
	}
	return 0.2126*part(n.R) + 0.7152*part(n.G) + 0.0722*part(n.B)
}

// contrast is the ratio of two colours, 1 to 21.
func contrast(a, b color.Color) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// on is a colour that lets some of the ground through.
func on(ground, above color.Color) color.Color {
	g, a := color.NRGBAModel.Convert(ground).(color.NRGBA), color.NRGBAModel.Convert(above).(color.NRGBA)
	mix := func(g, a8, alpha uint8) uint8 { return uint8((int(a8)*int(alpha) + int(g)*(255-int(alpha))) / 255) }
	return color.NRGBA{mix(g.R, a.R, a.A), mix(g.G, a.G, a.A), mix(g.B, a.B, a.A), 255}
}

// TestContrast holds both palettes to WCAG AA: 4.5 for text, 3 for what is drawn.
func TestContrast(t *testing.T) {
	for name, p := range map[string]palette{"light": light, "dark": dark} {
		grounds := []fyne.ThemeColorName{theme.ColorNameBackground, ColorNameSurface, ColorNameRail, theme.ColorNameOverlayBackground,
			theme.ColorNameMenuBackground, theme.ColorNameInputBackground, theme.ColorNameHeaderBackground}
		texts := []fyne.ThemeColorName{theme.ColorNameForeground, theme.ColorNamePlaceHolder, ColorNameMuted, theme.ColorNamePrimary, theme.ColorNameHyperlink,
			theme.ColorNameError, theme.ColorNameSuccess, theme.ColorNameWarning, theme.ColorNameDisabled}
		for _, ground := range grounds {
			for _, words := range texts {
				least := 4.5
				if words == theme.ColorNameDisabled {
					least = 4 // nothing that must be read, but captions have it too
				}
				if got := contrast(p[words], p[ground]); got < least {
					t.Errorf("%s: %s on %s has a contrast of %.2f", name, words, ground, got)
				}
			}
			for _, drawn := range []fyne.ThemeColorName{ColorNameSeries1, ColorNameSeries2} {
				if got := contrast(p[drawn], p[ground]); got < 3 {
					t.Errorf("%s: %s on %s has a contrast of %.2f", name, drawn, ground, got)
				}
			}
			if got := contrast(p[theme.ColorNameForeground], on(p[ground], p[theme.ColorNameSelection])); got < 4.5 {
				t.Errorf("%s: text selected on %s has a contrast of %.2f", name, ground, got)
			}
			if got := contrast(p[ColorNameMuted], on(p[ground], p[theme.ColorNameSelection])); got < 4 {
				t.Errorf("%s: captions selected on %s have a contrast of %.2f", name, ground, got)
			}
		}
		// An empty check box or radio button is its border and nothing else.
		for _, ground := range []fyne.ThemeColorName{theme.ColorNameBackground, ColorNameSurface, theme.ColorNameOverlayBackground} {
			if got := contrast(p[theme.ColorNameInputBorder], p[ground]); got < 3 {
				t.Errorf("%s: the border of a field on %s has a contrast of %.2f", name, ground, got)
			}
		}
		for words, ground := range map[fyne.ThemeColorName]fyne.ThemeColorName{theme.ColorNameForegroundOnPrimary: theme.ColorNamePrimary,
			theme.ColorNameForegroundOnError: theme.ColorNameError, theme.ColorNameForegroundOnSuccess: theme.ColorNameSuccess,
			theme.ColorNameForegroundOnWarning: theme.ColorNameWarning, theme.ColorNameForeground: theme.ColorNameButton} {
			if got := contrast(p[words], p[ground]); got < 4.5 {
				t.Errorf("%s: %s on %s has a contrast of %.2f", name, words, ground, got)
			}
		}
	}
}

// TestWhole: one palette has what the other has.
func TestWhole(t *testing.T) {
	for name := range light {
		if _, ok := dark[name]; !ok {
			t.Errorf("the dark palette lacks %s", name)
		}
	}
	if len(light) != len(dark) {
		t.Errorf("%d and %d colours", len(light), len(dark))
	}
}

func TestUseTheme(t *testing.T) {
	app := test.NewTempApp(t)
	UseTheme(app, ThemeDark)
	if Color(theme.ColorNameBackground) != dark[theme.ColorNameBackground] {
		t.Error("dark is not dark")
	}
	UseTheme(app, ThemeLight)
	if Color(ColorNameSurface) != light[ColorNameSurface] {
		t.Error("light is not light")
	}
	for variant, want := range map[fyne.ThemeVariant]palette{theme.VariantDark: dark, theme.VariantLight: light} {
		if got := Theme(ThemeSystem).Color(theme.ColorNameBackground, variant); got != want[theme.ColorNameBackground] {
			t.Errorf("the system's variant %d has the background %v", variant, got)
		}
		if got := Theme(ThemeLight).Color(theme.ColorNameBackground, variant); got != light[theme.ColorNameBackground] {
			t.Errorf("light asks the system: %v", got)
		}
	}
	app.Settings().SetTheme(test.Theme())
	if Color(ColorNameSurface) != light[ColorNameSurface] {
		t.Error("under a theme of others our colours are not there")
	}
}

func TestSurfaceFollowsTheme(t *testing.T) {
	app := test.NewTempApp(t)
	UseTheme(app, ThemeLight)
	s := Card(widget.NewLabel("x"))
	w := test.NewTempWindow(t, s)
	w.Resize(fyne.NewSize(80, 60))
	if got := w.Canvas().Capture().At(70, 30); contrast(got, light[ColorNameSurface]) > 1.01 {
		t.Errorf("a card in the light is %v", got)
	}
	UseTheme(app, ThemeDark)
	s.Refresh()
	if got := w.Canvas().Capture().At(70, 30); contrast(got, dark[ColorNameSurface]) > 1.01 {
		t.Errorf("a card in the dark is %v", got)
	}
}

func TestMiddle(t *testing.T) {
	test.NewTempApp(t)
	path := "/home/somebody/Documents/a folder/and another one/Photos.img"
	whole := fyne.MeasureText(path, 12, fyne.TextStyle{}).Width
	if got := Middle(path, whole+1, 12, fyne.TextStyle{}); got != path {
		t.Errorf("what fits is shortened: %q", got)
	}
	short := Middle(path, whole/2, 12, fyne.TextStyle{})
	if w := fyne.MeasureText(short, 12, fyne.TextStyle{}).Width; w > whole/2 || w < whole/2-20 {
		t.Errorf("%q is %v wide of %v", short, w, whole/2)
	}
	if short[:5] != "/home" || short[len(short)-10:] != "Photos.img" {
		t.Errorf("the ends are lost: %q", short)
	}
	if got := Middle(path, 3, 12, fyne.TextStyle{}); got != "…" {
		t.Errorf("without room: %q", got)
	}
}

func TestTinted(t *testing.T) {
	test.NewTempApp(t)
	if Tinted(IconStar, theme.ColorNameError) != Tinted(IconStar, theme.ColorNameError) {
		t.Error("the same icon is made twice")
	}
	if Tinted(IconStar, theme.ColorNameError) == Tinted(IconStar, theme.ColorNameSuccess) {
		t.Error("two colours are one icon")
	}
}
