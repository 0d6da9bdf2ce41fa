package container_test

import (
	"crypto/sha256"
	"strings"
	"testing"

	"coffer/container/block/blocktest"
)

// fillJSON replaces the JSON of both 4 MiB header copies by prefix and as many
// repetitions of text as fit, with right checksums.
func fillJSON(t *testing.T, dev *blocktest.Mem, prefix, text string) {
	t.Helper()
	const size = 4 << 20
	json := prefix + strings.Repeat(text, (size-4096-len(prefix)-1)/len(text))
	for _, off := range []int64{0, size} {
		b := make([]byte, size)
		if _, err := dev.ReadAt(b[:4096], off); err != nil {
			t.Fatal(err)
		}
		clear(b[448:512])
		copy(b[4096:], json)
		sum := sha256.Sum256(b)
		copy(b[448:], sum[:])
		if _, err := dev.WriteAt(b, off); err != nil {
			t.Fatal(err)
		}
	}
}
