package plain

import (
	"errors"
	"testing"
)

func TestRawSize(t *testing.T) {
	for image, want := range map[int64]int64{512: 512, 1023: 512, 1_474_560: 1_474_560, 1<<40 + 511: 1 << 40} {
		if got, err := RawSize(image); got != want || err != nil {
			t.Errorf("%d: %d %v, want %d", image, got, err, want)
		}
	}
	for _, image := range []int64{-1, 0, 511} {
		if _, err := RawSize(image); !errors.Is(err, ErrEmpty) {
			t.Errorf("%d: %v", image, err)
		}
	}
}
