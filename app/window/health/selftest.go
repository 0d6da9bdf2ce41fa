package health

import (
	"context"
	"errors"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"coffer/app/client"
	"coffer/app/window/text"
	"coffer/app/window/ui"
)

// selfTest is the card about the program on this computer.
type selfTest struct {
	deps    *ui.Deps
	object  fyne.CanvasObject
	run     *widget.Button
	results *fyne.Container
	stop    context.CancelFunc // of a test under way; nil: none
}

func newSelfTest(d *ui.Deps) *selfTest {
	t := &selfTest{deps: d, results: container.NewVBox()}
	t.run = widget.NewButtonWithIcon(text.T("Run self-test"), theme.MediaPlayIcon(), t.tapped)
	t.object = section(text.T("This computer"),
		action(text.T("Self-test"), text.T("Checks that encryption works on this computer as its standards say, and fills, reads and checks a small container. Your containers are not touched."), t.run),
		t.results)
	return t
}

// tapped runs it, or stops it.
func (t *selfTest) tapped() {
	if t.stop != nil {
		t.run.Disable()
		t.stop()
		return
	}
	ctx, stop := context.WithCancel(t.deps.Context)
	t.stop = stop
	t.run.SetText(text.T("Cancel"))
	t.run.SetIcon(theme.CancelIcon())
	t.show(fact(neutral, text.T("Testing…"), ""))
	var parts []client.Test
	t.deps.Work(func(context.Context) (err error) {
		defer stop()
		parts, err = t.deps.Backend.Lab.SelfTest(ctx)
		return err
	}, func(err error) {
		t.stop = nil
		t.run.Enable()
		t.run.SetText(text.T("Run self-test"))
		t.run.SetIcon(theme.MediaPlayIcon())
		t.show(testResults(parts, err)...)
	})
}

func (t *selfTest) show(lines ...fyne.CanvasObject) {
	t.results.Objects = lines
	t.results.Refresh()
}

// testResults are the parts of a self-test in words.
func testResults(parts []client.Test, err error) []fyne.CanvasObject {
	failed := int64(0)
	var lines []fyne.CanvasObject
	for _, p := range parts {
		if p.Error != "" {
			failed++
			lines = append(lines, fact(bad, ui.Clean(p.Name), ui.Sentence(p.Error)))
		} else {
			lines = append(lines, fact(good, ui.Clean(p.Name), ""))
		}
	}
	switch {
	case errors.Is(err, context.Canceled):
		return []fyne.CanvasObject{fact(neutral, text.T("Cancelled."), "")}
	case failed > 0:
		return append([]fyne.CanvasObject{fact(bad, text.N(failed, "One part failed.", "%d parts failed."), text.T("Do not keep anything in containers on this computer until it is known why."))}, lines...)
	case err != nil:
		return []fyne.CanvasObject{fact(bad, text.T("The test could not be run"), explain(err))}
	}
	return append([]fyne.CanvasObject{fact(good, text.N(int64(len(parts)), "The one part passed.", "All %d parts passed."), "")}, lines...)
}
