// Package unlock is the dialog that unlocks a container.
package unlock

import "coffer/app/window/ui"

// Show shows it over the window.
func Show(d *ui.Deps, image string, then func(id string)) {}
