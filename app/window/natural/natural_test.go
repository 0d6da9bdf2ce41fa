package natural

import "testing"

func TestCompare(t *testing.T) {
	in := []string{"", "a", "a1", "a2", "a02b", "a10", "a10b", "a99999999999999999999999", "b", "page 9", "page 10"}
	for i, a := range in {
		for j, b := range in {
			if got, want := Compare(a, b), i-j; got < 0 != (want < 0) || got > 0 != (want > 0) {
				t.Errorf("%q to %q: %d", a, b, got)
			}
		}
	}
}
