package lab

import (
	"os"
	"path/filepath"
	"testing"
)

// TestMemoryLimit: the lowest limit of a control group and all above it counts; "max", and more than there is, do not.
func TestMemoryLimit(t *testing.T) {
	top := t.TempDir()
	for path, limit := range map[string]string{"": "9223372036854771712", "a": "1000000\n", "a/b": "max\n", "a/b/c": "2000000\n", "d": "max", "e": "nonsense"} {
		if err := os.MkdirAll(filepath.Join(top, path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(top, path, "memory.max"), []byte(limit), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for group, want := range map[string]memoryLimit{"/a/b/c": {1_000_000, true}, "/a": {1_000_000, true}, "/d": {5_000_000, false}, "/e": {5_000_000, false},
		"/": {5_000_000, false}, "/../../a": {1_000_000, true}, "/gone": {5_000_000, false}} {
		got := memoryLimit{bytes: 5_000_000}
		got.lower(top, group, "memory.max")
		if got != want {
			t.Errorf("%s: %+v, not %+v", group, got, want)
		}
	}
	if got := readMemoryLimit(); got.bytes < 16<<20 {
		t.Errorf("this machine has %+v", got)
	}
}
