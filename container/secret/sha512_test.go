package secret

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha512"
	"testing"
)

// TestSHA512AsTheStandardLibrary compares every length around the edges of a block and of the buffer.
func TestSHA512AsTheStandardLibrary(t *testing.T) {
	message := make([]byte, 3*hashBlocks)
	for i := range message {
		message[i] = byte(i * 7 / 3)
	}
	lengths := []int{len(message)}
	for n := range 3 * sha512.BlockSize {
		lengths = append(lengths, n, hashBlocks-sha512.BlockSize+n, 2*hashBlocks-sha512.BlockSize+n)
	}
	var got [sha512.Size]byte
	for _, n := range lengths {
		m := message[:n]
		if err := SHA512(got[:], m[:n/3], nil, m[n/3:]); err != nil {
			t.Fatal(err)
		}
		if want := sha512.Sum512(m); got != want {
			t.Fatalf("SHA-512 of %d bytes: %x, want %x", n, got, want)
		}
	}
	for _, k := range []int{0, 1, 64, 127, 128, 129, 192, 5000} {
		mac := hmac.New(sha512.New, message[:k])
		mac.Write([]byte("label"))
		mac.Write(message[:77])
		if err := HMACSHA512(got[:], message[:k], []byte("label"), message[:77]); err != nil {
			t.Fatal(err)
		}
		if want := mac.Sum(nil); !bytes.Equal(got[:], want) {
			t.Fatalf("HMAC with a key of %d bytes: %x, want %x", k, got, want)
		}
	}
	if SHA512(got[:20]) == nil || HMACSHA512(got[:20], nil) == nil {
		t.Error("too little room is not refused")
	}
}
