package files

import (
	"testing"

	"fyne.io/fyne/v2"
)

// BenchmarkGoroutine is what the list costs on Fyne's goroutine with 20,000 files in it.
func BenchmarkGoroutine(b *testing.B) {
	setUp := func(b *testing.B) *world {
		w := newWorld(b, true)
		w.shell.window.Resize(fyne.NewSize(1100, 760))
		w.fill(20000)
		w.show()
		return w
	}
	b.Run("jump", func(b *testing.B) {
		w := setUp(b)
		for i := 0; b.Loop(); i++ {
			w.screen.table.reveal(i % 2 * 19999)
		}
	})
	b.Run("step", func(b *testing.B) {
		w := setUp(b)
		for b.Loop() {
			w.key(fyne.KeyDown)
		}
	})
	b.Run("list", func(b *testing.B) {
		w := setUp(b)
		w.press(3, 0)
		items := w.screen.items
		for b.Loop() {
			w.screen.setItems(items)
			w.screen.showState()
		}
	})
	b.Run("all", func(b *testing.B) {
		w := setUp(b)
		for b.Loop() {
			w.screen.selectAll()
		}
	})
}
