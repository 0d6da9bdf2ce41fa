package uitest

import "fyne.io/fyne/v2"

// FindAll gives the visible objects of a type in the dialog on top that fit, in order.
func FindAll[T fyne.CanvasObject](k *Desk, fits func(T) bool) []T {
	var all []T
	for _, o := range k.shown() {
		if found, ok := o.(T); ok && fits(found) {
			all = append(all, found)
		}
	}
	return all
}
