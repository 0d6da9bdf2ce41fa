// Package ui is what the screens of the window share: what they are given, dialogs, and small pieces.
//
// # Goroutines
//
// Widgets are touched on Fyne's own goroutine only. A screen's Shown, Hidden and everything it does for an event run there and
// must not wait: what takes time goes through Work, or a goroutine of its own that comes back by fyne.Do.
package ui

import (
	"context"
	"sync"

	"fyne.io/fyne/v2"

	"coffer/app/client"
	"coffer/app/config"
	"coffer/app/window/backend"
	"coffer/app/window/model"
)

// Page is a screen of the window.
type Page int

// The pages, in the order of the navigation.
const (
	PageHome Page = iota
	PageFiles
	PageTransfers
	PageLab
	PageHealth
	PageSettings
)

// Screen is one page. Its methods are called on Fyne's goroutine.
type Screen interface {
	// Object is what the screen shows, always the same.
	Object() fyne.CanvasObject
	// Shown is called when the person comes to the screen; image is the container chosen, "" for none.
	Shown(image string)
	// Hidden is called when the person leaves it: nothing is drawn or polled until Shown.
	Hidden()
}

// Dropper is a screen that takes files from the desktop. Dropped is called on Fyne's goroutine with the place in the window
// where the person let go and absolute paths, and says whether the screen took them; else the window looks what to do.
type Dropper interface {
	Dropped(at fyne.Position, paths []string) bool
}

// Shell is the window as the screens see it. Its methods are called on Fyne's goroutine.
type Shell interface {
	Window() fyne.Window
	// Show turns to a page, for the container at path image; "" keeps the one chosen.
	Show(page Page, image string)
	// Chosen is the path of the container that the person works with, "" for none.
	Chosen() string
	// Unlock asks for what unlocks the container at path image, and calls then (which may be nil) with its identity once it is
	// unlocked. If it is unlocked already, then is called at once.
	Unlock(image string, then func(id string))
	// NewContainer opens the steps to a new container; files and folders, if any, size it and are copied in.
	NewContainer(files []string)
	// CopyIn copies files and folders of the host into a folder inside the container at path image, unlocking it first if need
	// be, and turns to nothing: the copy shows under transfers and as a line at the bottom of the window.
	CopyIn(image string, files []string, folder string)
	// Notify shows a notification of the desktop, and a line in the window.
	Notify(title, text string)
}

// Deps is what a screen is given.
type Deps struct {
	Shell   Shell
	Model   *model.Model
	Backend backend.Backend
	Paths   config.Paths
	// Context ends when the window does. What must go on without the window is not bound to it: agents and their jobs are not.
	Context context.Context
	// Post runs something on Fyne's goroutine, later, and wakes it if it rests; nil is fyne.Do. Tests give one that they empty
	// themselves.
	Post func(func())

	working sync.WaitGroup
}

// Do runs something on Fyne's goroutine, later: for other goroutines.
func (d *Deps) Do(something func()) {
	if d.Post != nil {
		d.Post(something)
		return
	}
	fyne.Do(something)
}

// Settings are the person's settings as they are on the disk now; the defaults with an error.
func (d *Deps) Settings() (config.Settings, error) { return config.Load(d.Paths.SettingsFile()) }

// Work runs work in a goroutine of its own and then done with its error on Fyne's. The context ends with the window.
func (d *Deps) Work(work func(ctx context.Context) error, done func(error)) {
	d.working.Go(func() {
		err := work(d.Context)
		if d.Context.Err() != nil {
			return
		}
		d.Do(func() { done(err) })
	})
}

// Wait waits until all work has ended, such as saving the list: after the end of the context.
func (d *Deps) Wait() { d.working.Wait() }

// IsCode says whether an error of the backend stands for an exit code.
func IsCode(err error, codes ...int) bool {
	for _, code := range codes {
		if err != nil && int(client.Code(err)) == code {
			return true
		}
	}
	return false
}
