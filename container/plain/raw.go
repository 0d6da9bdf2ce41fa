// Package plain describes containers without a header: raw ones, bare volumes
// without encryption, the baseline of experiments. (dm-crypt's plain mode will
// join them.) There is nothing to recognise, so they must be named.
package plain

import (
	"errors"
	"fmt"
)

// SectorBytes is the unit of raw images, in bytes.
const SectorBytes = 512

// ErrEmpty: not even one sector.
var ErrEmpty = errors.New("smaller than one sector")

// RawSize is the size of the volume in a raw image of imageBytes: whole
// sectors. ErrEmpty if that is none.
func RawSize(imageBytes int64) (int64, error) {
	size := imageBytes - imageBytes%SectorBytes
	if size < SectorBytes {
		return 0, fmt.Errorf("raw image of %d bytes: %w", imageBytes, ErrEmpty)
	}
	return size, nil
}
