//go:build unix

package conformance

import (
	"runtime"
	"testing"
	"time"
)

// insensitive: the system asks for names without regard to case.
const insensitive = runtime.GOOS == "darwin"

// eventually fails unless ok becomes true within two seconds.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Errorf("not within 2 s: %s", what)
			return
		}
	}
}
