//go:build unix && !linux

package conformance

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func accessed(path string, t *testing.T) time.Time {
	t.Helper()
	var st unix.Stat_t
	must(t, unix.Lstat(path, &st))
	return time.Unix(st.Atim.Unix())
}
