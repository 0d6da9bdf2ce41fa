// Package create is the steps to a new container.
package create

import "coffer/app/window/ui"

// Show shows it over the window.
func Show(d *ui.Deps, files []string) {}
