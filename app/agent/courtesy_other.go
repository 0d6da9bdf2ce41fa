//go:build !linux

package agent

// setSessionNice does nothing: these systems rank processes only, and an unprivileged one cannot raise itself again.
func setSessionNice(int) (later bool) { return false }
