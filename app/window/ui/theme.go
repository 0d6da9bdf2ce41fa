package ui

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"
)

// Colours of our own, beside those that Fyne names.
const (
	ColorNameSurface fyne.ThemeColorName = "coffer.surface" // of cards, on the background
	ColorNameRail    fyne.ThemeColorName = "coffer.rail"    // of the navigation and the bottom line
	ColorNameMuted   fyne.ThemeColorName = "coffer.muted"   // of captions and what is less important
	ColorNameSeries1 fyne.ThemeColorName = "coffer.series1" // of charts
	ColorNameSeries2 fyne.ThemeColorName = "coffer.series2"
	ColorNameGrid    fyne.ThemeColorName = "coffer.grid"
)

// Names of themes, as the settings have them.
const (
	ThemeSystem = "system"
	ThemeLight  = "light"
	ThemeDark   = "dark"
)

// UseTheme gives the application our looks: ThemeLight, ThemeDark, or, for everything else, what the system prefers.
func UseTheme(app fyne.App, name string) { app.Settings().SetTheme(Theme(name)) }

// Theme is our looks.
func Theme(name string) fyne.Theme {
	switch name {
	case ThemeLight:
		return &looks{Theme: theme.DefaultTheme(), fixed: light}
	case ThemeDark:
		return &looks{Theme: theme.DefaultTheme(), fixed: dark}
	}
	return &looks{Theme: theme.DefaultTheme()}
}

// Color is a colour of the theme in use, one of ours too; where the theme is not ours, that of our light one.
func Color(name fyne.ThemeColorName) color.Color {
	if own, isOurs := light[name]; isOurs {
		if _, used := fyne.CurrentApp().Settings().Theme().(*looks); !used {
			return own
		}
	}
	return theme.Color(name)
}

// looks is the theme: fonts and icons are Fyne's, colours and some sizes ours.
type looks struct {
	fyne.Theme
	fixed palette // nil: what the system prefers
}

type palette map[fyne.ThemeColorName]color.Color

// Color implements fyne.Theme.
func (l *looks) Color(name fyne.ThemeColorName, variant fyne.ThemeVariant) color.Color {
	p := l.fixed
	if p == nil {
		p = light
		if variant == theme.VariantDark {
			p = dark
		}
	}
	if c, ok := p[name]; ok {
		return c
	}
	return l.Theme.Color(name, variant)
}

// Size implements fyne.Theme.
func (l *looks) Size(name fyne.ThemeSizeName) float32 {
	switch name {
	case theme.SizeNamePadding:
		return 5
	case theme.SizeNameInputRadius:
		return 6
	case theme.SizeNameSelectionRadius:
		return 6
	case theme.SizeNameCaptionText:
		return 12
	case theme.SizeNameSubHeadingText:
		return 17
	case theme.SizeNameHeadingText:
		return 22
	case theme.SizeNameScrollBarSmall:
		return 4
	}
	return l.Theme.Size(name)
}

func rgb(hex uint32) color.Color { return rgba(hex, 0xff) }

func rgba(hex uint32, alpha uint8) color.Color {
	return color.NRGBA{R: uint8(hex >> 16), G: uint8(hex >> 8), B: uint8(hex), A: alpha}
}

// light and dark are the two palettes; a test holds them to the contrast that text needs.
var light = palette{
	theme.ColorNameBackground:          rgb(0xf5f7fa),
	theme.ColorNameOverlayBackground:   rgb(0xffffff),
	theme.ColorNameMenuBackground:      rgb(0xffffff),
	theme.ColorNameHeaderBackground:    rgb(0xe9edf2),
	theme.ColorNameInputBackground:     rgb(0xeef1f6),
	theme.ColorNameInputBorder:         rgb(0x858f9f),
	theme.ColorNameButton:              rgb(0xe3e8ef),
	theme.ColorNameDisabledButton:      rgb(0xedf0f4),
	theme.ColorNameForeground:          rgb(0x1c2430),
	theme.ColorNamePlaceHolder:         rgb(0x546070),
	theme.ColorNameDisabled:            rgb(0x67717f),
	theme.ColorNamePrimary:             rgb(0x1a66a6),
	theme.ColorNameHyperlink:           rgb(0x1a66a6),
	theme.ColorNameForegroundOnPrimary: rgb(0xffffff),
	theme.ColorNameFocus:               rgba(0x1a66a6, 0x33),
	theme.ColorNameSelection:           rgba(0x1a66a6, 0x2b),
	theme.ColorNameHover:               rgba(0x000000, 0x0d),
	theme.ColorNamePressed:             rgba(0x000000, 0x1c),
	theme.ColorNameError:               rgb(0xb3261e),
	theme.ColorNameForegroundOnError:   rgb(0xffffff),
	theme.ColorNameSuccess:             rgb(0x1b7542),
	theme.ColorNameForegroundOnSuccess: rgb(0xffffff),
	theme.ColorNameWarning:             rgb(0x8a5300),
	theme.ColorNameForegroundOnWarning: rgb(0xffffff),
	theme.ColorNameScrollBar:           rgba(0x1c2430, 0x66),
	theme.ColorNameScrollBarBackground: rgba(0x1c2430, 0x10),
	theme.ColorNameSeparator:           rgb(0xdce1e8),
	theme.ColorNameShadow:              rgba(0x10182a, 0x30),
	ColorNameSurface:                   rgb(0xffffff),
	ColorNameRail:                      rgb(0xe9edf2),
	ColorNameMuted:                     rgb(0x546070),
	ColorNameSeries1:                   rgb(0x1a66a6),
	ColorNameSeries2:                   rgb(0xb4571b),
	ColorNameGrid:                      rgb(0xe1e6ec),
}

var dark = palette{
	theme.ColorNameBackground:          rgb(0x14181e),
	theme.ColorNameOverlayBackground:   rgb(0x1e242d),
	theme.ColorNameMenuBackground:      rgb(0x242b35),
	theme.ColorNameHeaderBackground:    rgb(0x1a1f27),
	theme.ColorNameInputBackground:     rgb(0x171c23),
	theme.ColorNameInputBorder:         rgb(0x6b778b),
	theme.ColorNameButton:              rgb(0x2c3440),
	theme.ColorNameDisabledButton:      rgb(0x222831),
	theme.ColorNameForeground:          rgb(0xe7ebf1),
	theme.ColorNamePlaceHolder:         rgb(0x9ea9b8),
	theme.ColorNameDisabled:            rgb(0x8d98a8),
	theme.ColorNamePrimary:             rgb(0x72b4ee),
	theme.ColorNameHyperlink:           rgb(0x72b4ee),
	theme.ColorNameForegroundOnPrimary: rgb(0x0a1826),
	theme.ColorNameFocus:               rgba(0x72b4ee, 0x40),
	theme.ColorNameSelection:           rgba(0x72b4ee, 0x33),
	theme.ColorNameHover:               rgba(0xffffff, 0x12),
	theme.ColorNamePressed:             rgba(0xffffff, 0x24),
	theme.ColorNameError:               rgb(0xff8a80),
	theme.ColorNameForegroundOnError:   rgb(0x2b0805),
	theme.ColorNameSuccess:             rgb(0x6fcf97),
	theme.ColorNameForegroundOnSuccess: rgb(0x06210f),
	theme.ColorNameWarning:             rgb(0xf2b457),
	theme.ColorNameForegroundOnWarning: rgb(0x2a1a00),
	theme.ColorNameScrollBar:           rgba(0xe7ebf1, 0x66),
	theme.ColorNameScrollBarBackground: rgba(0xe7ebf1, 0x10),
	theme.ColorNameSeparator:           rgb(0x2d3541),
	theme.ColorNameShadow:              rgba(0x000000, 0x80),
	ColorNameSurface:                   rgb(0x1c222b),
	ColorNameRail:                      rgb(0x1a1f27),
	ColorNameMuted:                     rgb(0x9ea9b8),
	ColorNameSeries1:                   rgb(0x72b4ee),
	ColorNameSeries2:                   rgb(0xf0a065),
	ColorNameGrid:                      rgb(0x2c3440),
}
