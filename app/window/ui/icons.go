package ui

import (
	"sync"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"
)

// Icons of our own, in the colour of the text.
var (
	IconDrive     = drawn("drive", "M5 4h14l3 8v6a2 2 0 0 1-2 2H4a2 2 0 0 1-2-2v-6zM6.4 6 4.5 11h15L17.6 6zM4 13v5h16v-5zM16 14.5h2v2h-2z")
	IconFiles     = drawn("files", "M4 4h6l2 2h8a2 2 0 0 1 2 2v10a2 2 0 0 1-2 2H4a2 2 0 0 1-2-2V6a2 2 0 0 1 2-2zM4 10v8h16v-8z")
	IconTransfers = drawn("transfers", "M7 3 11.5 7.5 10.1 8.9 8 6.8V17H6V6.8L3.9 8.9 2.5 7.5zM16 7h2v10.2l2.1-2.1 1.4 1.4L17 21l-4.5-4.5 1.4-1.4 2.1 2.100z")
	IconLab       = drawn("lab", "M3 3h2v16h16v2H3zM8 11h3v6H8zM13 6h3v11h-3zM18 9h3v8h-3z")
	IconHealth    = drawn("health", "M8 7a5 5 0 0 1 4.9 4H22v4h-2v3h-4v-3h-3.100A5 5 0 1 1 8 7zM8 10.500a1.5 1.5 0 0 0 0 3a1.5 1.5 0 0 0 0-3z")
	IconLocked    = drawn("locked", "M7 10V7a5 5 0 0 1 10 0v3h1a2 2 0 0 1 2 2v8a2 2 0 0 1-2 2H6a2 2 0 0 1-2-2v-8a2 2 0 0 1 2-2zM9 10h6V7a3 3 0 0 0-6 0zM12 14a1.5 1.5 0 0 0-0.75 2.800V19h1.500v-2.200A1.5 1.5 0 0 0 12 14z")
	IconUnlocked  = drawn("unlocked", "M15 10V6.500a4.5 4.5 0 0 1 9 0V8h-2V6.500a2.5 2.5 0 0 0-5 0V10h1a2 2 0 0 1 2 2v8a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2v-8a2 2 0 0 1 2-2zM11.5 14a1.5 1.5 0 0 0-0.75 2.800V19h1.500v-2.200A1.5 1.5 0 0 0 11.5 14z")
	IconMissing   = drawn("missing", "M12 2a10 10 0 0 1 0 20a10 10 0 0 1 0-20zM11 6v8h2V6zM11 16v2h2v-2z")
	IconBusy      = drawn("busy", "M6 2h12v2l-4.5 8 4.5 8v2H6v-2l4.5-8L6 4zM8.3 4 12 10.5 15.7 4z")
	IconStar      = drawn("star", "M12 2 14.94 8.26 21.8 9.11 16.75 13.83 18.06 20.61 12 17.27 5.94 20.61 7.25 13.83 2.2 9.11 9.06 8.260z")
	IconStarEmpty = drawn("star-empty", "M12 2 14.94 8.26 21.8 9.11 16.75 13.83 18.06 20.61 12 17.27 5.94 20.61 7.25 13.83 2.2 9.11 9.06 8.260zM12 6.5 10.35 10 6.5 10.45 9.35 13.1 8.6 16.9 12 15 15.4 16.9 14.65 13.1 17.5 10.45 13.65 10z")
)

// drawn is an icon from one path in a square of 24. Holes turn against what is around them.
func drawn(name, path string) fyne.Resource {
	return theme.NewThemedResource(fyne.NewStaticResource("coffer-"+name+".svg", []byte(`<svg xmlns="http://www.w3.org/2000/svg" width="24" height="24" viewBox="0 0 24 24"><path d="`+path+`"/></svg>`)))
}

// tints are the icons that Tinted has made: the same one is drawn once only.
var tints sync.Map

type tint struct {
	icon  fyne.Resource
	color fyne.ThemeColorName
}

// Tinted is an icon in a colour of the theme.
func Tinted(icon fyne.Resource, color fyne.ThemeColorName) fyne.Resource {
	key := tint{icon, color}
	if made, ok := tints.Load(key); ok {
		return made.(fyne.Resource)
	}
	made, _ := tints.LoadOrStore(key, fyne.Resource(theme.NewColoredResource(icon, color)))
	return made.(fyne.Resource)
}
