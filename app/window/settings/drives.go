package settings

import (
	"runtime"
	"time"

	"fyne.io/fyne/v2"

	"coffer/app/config"
	"coffer/app/window/text"
)

// newDrives is where drives appear and how copies are made.
func (s *Screen) newDrives() fyne.CanvasObject {
	var drives []fyne.CanvasObject
	if runtime.GOOS != "windows" { // there they have letters
		drives = append(drives, s.folder(text.T("Folder for drives"), text.T("Drives appear in it, each with a folder of its own. Empty: Coffer chooses."),
			text.T("Chosen by Coffer"), func(c config.Settings) string { return c.Drives }, func(c *config.Settings, path string) { c.Drives = path }))
	}
	drives = append(drives, s.check(text.T("Keep clutter away"),
		text.T("Files like Thumbs.db, .DS_Store and trash stay in memory and are gone when the drive is locked."),
		func(c config.Settings) bool { return c.Litter == config.LitterMemory }, func(c *config.Settings, on bool) {
			c.Litter = config.LitterKeep
			if on {
				c.Litter = config.LitterMemory
			}
		}))
	return page(
		group(text.T("Drives"), drives...),
		group(text.T("Copies"),
			s.check(text.T("Verify copies"), text.T("Every file is read again and compared. It takes about as long again."),
				func(c config.Settings) bool { return c.Verify }, func(c *config.Settings, on bool) { c.Verify = on }),
			s.span(text.T("Length of a rate window"), text.T("The highest and lowest rate of a copy are those of windows this long."), "",
				[]time.Duration{100 * time.Millisecond, 500 * time.Millisecond, time.Second, 5 * time.Second, 10 * time.Second}, windowLimits,
				func(c config.Settings) config.Duration { return c.Window }, func(c *config.Settings, d config.Duration) { c.Window = d }),
			s.folder(text.T("Folder for reports"), text.T("A record of every copy, without names from inside containers. A change holds from the next start of the window."),
				text.T("Chosen by Coffer"), func(c config.Settings) string { return c.Records }, func(c *config.Settings, path string) { c.Records = path })),
	)
}

func windowLimits(d time.Duration) string {
	if config.CheckWindow(d) != nil {
		return text.T("Choose a time from %s to %s, in steps of %s.", spanText(config.MinWindow, ""), spanText(config.MaxWindow, ""), spanText(config.WindowStep, ""))
	}
	return ""
}
