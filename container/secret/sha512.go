package secret

import (
	"crypto/sha512"
	"encoding"
	"encoding/binary"
	"errors"
	"hash"
)

// The hashes of the standard library keep the last, incomplete block of what they are given in ordinary memory and copy
// it once more for the sum: after HMAC over a password, the password stayed readable there for as long as the process
// lived. Whole blocks they read where they are. So here the message is cut into whole blocks, with the padding of
// FIPS 180-4 section 5.1.2, in memory of this package, and the sum is taken from the state of the hash.

const (
	hashBlocks = 4096 // bytes handed to the hash at once, a multiple of its block of 128
	lengthSize = 16   // of the message's length at its end
)

// stateBefore and stateSize describe sha512's AppendBinary: the sum begins after a mark of four bytes.
const (
	stateBefore = 4
	stateSize   = stateBefore + sha512.Size + sha512.BlockSize + 8
)

// SHA512 puts the SHA-512 of the concatenated parts into out, which must have 64 bytes. Parts of any length are taken.
func SHA512(out []byte, parts ...[]byte) error {
	if len(out) != sha512.Size {
		return errors.New("SHA-512 needs 64 bytes of room")
	}
	buffer, err := New(hashBlocks)
	if err != nil {
		return err
	}
	defer buffer.Destroy()
	state, err := New(stateSize)
	if err != nil {
		return err
	}
	defer state.Destroy()
	growStack()
	defer wipeStack()

	h := sha512.New()
	defer h.Reset() // what it holds is the sum
	block := buffer.Bytes()
	fill, total := 0, uint64(0)
	add := func(p []byte) {
		for len(p) > 0 {
			n := copy(block[fill:], p)
			fill, p = fill+n, p[n:]
			if fill == len(block) {
				_, _ = h.Write(block)
				fill = 0
			}
		}
	}
	for _, p := range parts {
		total += uint64(len(p))
		add(p)
	}
	add([]byte{0x80})
	end := (fill + lengthSize + sha512.BlockSize - 1) / sha512.BlockSize * sha512.BlockSize
	if end > len(block) { // no room for the length: it goes into one more block
		add(make([]byte, len(block)-fill))
		end = sha512.BlockSize
	}
	clear(block[fill:end])
	binary.BigEndian.PutUint64(block[end-8:], total<<3)
	_, _ = h.Write(block[:end])
	return sum(h, state.Bytes(), out)
}

// sum takes the sum of whole blocks out of the state of h.
func sum(h hash.Hash, room, out []byte) error {
	appender, ok := h.(encoding.BinaryAppender)
	if !ok {
		return errors.New("SHA-512 of this build does not give its state")
	}
	state, err := appender.AppendBinary(room[:0])
	if err != nil {
		return err
	}
	if len(state) != stateSize {
		return errors.New("SHA-512 of this build has another state")
	}
	copy(out, state[stateBefore:])
	return nil
}

// HMACSHA512 puts HMAC-SHA-512 (RFC 2104) of the concatenated message into out, which must have 64 bytes. Neither key nor
// message nor anything between stays in memory outside the caller's.
func HMACSHA512(out, key []byte, message ...[]byte) error {
	work, err := New(sha512.BlockSize + sha512.Size)
	if err != nil {
		return err
	}
	defer work.Destroy()
	pad, inner := work.Bytes()[:sha512.BlockSize], work.Bytes()[sha512.BlockSize:]
	if len(key) > len(pad) {
		if err := SHA512(pad[:sha512.Size], key); err != nil {
			return err
		}
	} else {
		copy(pad, key)
	}
	for i := range pad {
		pad[i] ^= 0x36
	}
	if err := SHA512(inner, append([][]byte{pad}, message...)...); err != nil {
		return err
	}
	for i := range pad {
		pad[i] ^= 0x36 ^ 0x5c
	}
	return SHA512(out, pad, inner)
}

// stackRoom is more than the frames of a hash take.
const stackRoom = 8 << 10

// growStack makes the stack deep enough beforehand: it would move, and leave a copy, while it holds parts of the message.
//
//go:noinline
func growStack() { var room [2 * stackRoom]byte; Wipe(room[:]) }

// wipeStack overwrites what the frames of finished calls have left below: the hash keeps a block's message schedule there.
//
//go:noinline
func wipeStack() { var room [stackRoom]byte; Wipe(room[:]) }
