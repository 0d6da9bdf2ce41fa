package ui

import (
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"
)

// TestLine: where a line has no room for a path, its end is to be seen all the same.
func TestLine(t *testing.T) {
	UseTheme(test.NewTempApp(t), ThemeLight)
	l := NewLine("Unlocked at /media/somebody/a folder with a long name/holidays")
	shown := test.WidgetRenderer(l).Objects()[0].(*canvas.Text)
	l.Resize(fyne.NewSize(2000, 40))
	if shown.Text != l.Text {
		t.Errorf("with room for all it shows %q", shown.Text)
	}
	l.Resize(fyne.NewSize(220, 40))
	if !strings.HasPrefix(shown.Text, "Unlocked") || !strings.HasSuffix(shown.Text, "holidays") || shown.MinSize().Width > 220 {
		t.Errorf("without it shows %q", shown.Text)
	}
	l.Say(widget.WarningImportance, "Locked")
	if shown.Text != "Locked" {
		t.Errorf("a new text shows as %q", shown.Text)
	}
}
