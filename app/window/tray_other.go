//go:build !linux

package window

import (
	"context"
	"runtime"
)

// hasTray says whether the desktop has a notification area: Windows and macOS always do.
func hasTray() bool { return runtime.GOOS == "windows" || runtime.GOOS == "darwin" }

// awaitTray waits for the notification area of a desktop that is just starting.
func awaitTray(context.Context) bool { return hasTray() }
