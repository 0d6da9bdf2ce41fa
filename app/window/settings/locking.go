package settings

import (
	"time"

	"fyne.io/fyne/v2"

	"coffer/app/config"
	"coffer/app/window/text"
)

// newLocking is when drives lock by themselves.
func (s *Screen) newLocking() fyne.CanvasObject {
	never := text.T("Never")
	usual := []time.Duration{0, time.Minute, 5 * time.Minute, 10 * time.Minute, 30 * time.Minute, time.Hour, 4 * time.Hour, 8 * time.Hour}
	return page(
		group(text.T("Drives lock by themselves"),
			wrapped(text.T("This holds for everything unlocked from now on. A container can have times of its own, on its page under Containers.")),
			s.span(text.T("Without use"), text.T("After so long without anything read or written."), never, usual[:6], autoLockLimits,
				func(c config.Settings) config.Duration { return c.Idle }, func(c *config.Settings, d config.Duration) { c.Idle = d }),
			s.span(text.T("In any case"), text.T("After so long, whatever happens."), never, append([]time.Duration{0}, usual[5:]...), autoLockLimits,
				func(c config.Settings) config.Duration { return c.Lifetime }, func(c *config.Settings, d config.Duration) { c.Lifetime = d }),
			s.check(text.T("Before the computer sleeps"), "", func(c config.Settings) bool { suspend, _ := lockOn(c); return suspend },
				func(c *config.Settings, on bool) { _, screen := lockOn(*c); c.LockOn = lockOnText(on, screen) }),
			s.check(text.T("With the screen"), text.T("When the screen is locked."), func(c config.Settings) bool { _, screen := lockOn(c); return screen },
				func(c *config.Settings, on bool) { suspend, _ := lockOn(*c); c.LockOn = lockOnText(suspend, on) }),
			s.check(text.T("Even if programs use the drive"), text.T("On sleep and screen lock. Otherwise a drive in use only writes everything down and stays open."),
				func(c config.Settings) bool { return c.LockForce }, func(c *config.Settings, on bool) { c.LockForce = on })),
		group(text.T("New containers and keys"),
			s.span(text.T("Time for one password"), text.T("How long one try takes on this computer. Longer makes guessing harder, and unlocking slower."), "",
				[]time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second, 5 * time.Second}, kdfLimits,
				func(c config.Settings) config.Duration { return c.KDFTime }, func(c *config.Settings, d config.Duration) { c.KDFTime = d })),
	)
}

func autoLockLimits(d time.Duration) string {
	if config.CheckAutoLock("", d) != nil {
		return text.T("That is too short: at least %s, or never.", spanText(config.MinAutoLock, ""))
	}
	return ""
}

func kdfLimits(d time.Duration) string {
	if d < config.MinKDFTime || d > config.MaxKDFTime {
		return text.T("Choose a time from %s to %s.", spanText(config.MinKDFTime, ""), spanText(config.MaxKDFTime, ""))
	}
	return ""
}

// lockOn are the events of the settings; a file that has been read is valid.
func lockOn(c config.Settings) (suspend, screen bool) {
	suspend, screen, _ = config.ParseLockOn(c.LockOn)
	return suspend, screen
}

func lockOnText(suspend, screen bool) string {
	switch {
	case suspend && screen:
		return "suspend,screen"
	case suspend:
		return "suspend"
	case screen:
		return "screen"
	}
	return "none"
}
