package home

import (
	"context"
	"path/filepath"

	"coffer/app/client"
	"coffer/app/config"
	"coffer/app/protocol"
	"coffer/app/window/text"
	"coffer/app/window/ui"
)

// Add puts files that are containers into the list, and calls added, which may be nil, for each on Fyne's goroutine; sound says
// whether it can be opened at all. What is no container is not put there: the person is asked what it is.
func Add(d *ui.Deps, paths []string, added func(path string, sound bool)) {
	for _, path := range paths {
		addOne(d, path, added)
	}
}

func addOne(d *ui.Deps, path string, added func(path string, sound bool)) {
	sound := true
	d.Work(func(ctx context.Context) error {
		if c := d.Model.Container(path); c.Listed { // whatever it is, the person knows it
			path = c.Path
			return nil
		}
		_, err := d.Backend.Containers.Info(ctx, path)
		if ui.IsCode(err, int(protocol.Damaged)) { // its screen says what is wrong with it
			sound, err = false, nil
		}
		if err != nil {
			return err
		}
		return d.Model.Add(path)
	}, func(err error) {
		switch {
		case err == nil:
			added(path, sound)
		case ui.IsCode(err, int(protocol.Unsupported)):
			askWhatItIs(d, path, err, added)
		default:
			ui.ShowError(d.Shell.Window(), err)
		}
	})
}

// askWhatItIs is for a file that does not say it is a container.
func askWhatItIs(d *ui.Deps, path string, why error, added func(path string, sound bool)) {
	put := func(format string, then func()) func() {
		return func() {
			d.Work(func(context.Context) error {
				return d.Model.Update(path, func(k *config.Known) { k.Format = format })
			}, func(err error) {
				ui.ShowError(d.Shell.Window(), err)
				if err == nil {
					then()
				}
			})
		}
	}
	name := ui.Clean(filepath.Base(path))
	ui.Choose(d.Shell.Window(), text.T("What is %s?", name),
		text.T("This is no container that Coffer can open: %s", ui.Sentence(client.Explain(why).Sentence))+" "+
			text.T("If it was one, its header is destroyed and can be restored from a backup."),
		[]ui.Choice{
			{Label: text.T("A damaged container"), Do: put("", func() { d.Shell.Show(ui.PageHealth, path) })},
			{Label: text.T("A plain disk image, not encrypted"), Do: put("raw", func() { added(path, true) })},
		})
}
