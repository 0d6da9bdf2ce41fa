package conformance

import (
	"testing"
	"time"
)

func accessed(path string, t *testing.T) time.Time {
	t.Helper()
	st := stat(t, path)
	return time.Unix(st.Atim.Unix())
}
