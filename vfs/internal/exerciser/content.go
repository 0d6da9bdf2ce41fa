package exerciser

import (
	"bytes"
	"fmt"
)

// fill writes into p what the operation numbered step writes at byte off of a file. Every eight bytes depend on both,
// so wrong bytes can be traced to the operation they came from. No eight of them are all zero, which holes are.
func fill(p []byte, off int64, step int) {
	for i := range p {
		at := uint64(off) + uint64(i)
		p[i] = byte(mix(uint64(step)<<40|at>>3) >> (8 * (at & 7)))
	}
}

// mix is a bijection on 64 bits that spreads every bit (the finaliser of SplitMix64). It maps only 0 to 0.
func mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}

// difference describes the first bytes in which got is not want, both from byte off of a file; empty if there are none.
func difference(got, want []byte, off int64, steps int) string {
	if bytes.Equal(got, want) {
		return ""
	}
	if len(got) != len(want) {
		return fmt.Sprintf("%d bytes instead of %d from byte %d", len(got), len(want), off)
	}
	first, last, count := -1, 0, 0
	for i := range got {
		if got[i] != want[i] {
			if first < 0 {
				first = i
			}
			last = i
			count++
		}
	}
	end := min(first+16, len(got))
	at := off + int64(first)
	return fmt.Sprintf("%d wrong bytes from byte %d to %d: got %x (%s), want %x (%s)", count, at, off+int64(last),
		got[first:end], origin(got[first:end], at, steps), want[first:end], origin(want[first:end], at, steps))
}

// origin tells which operation wrote the bytes p at byte off.
func origin(p []byte, off int64, steps int) string {
	if len(bytes.Trim(p, "\x00")) == 0 {
		return "zeros"
	}
	try := make([]byte, min(len(p), 6))
	for step := steps; step >= 0; step-- {
		if fill(try, off, step); bytes.Equal(try, p[:len(try)]) {
			return fmt.Sprintf("of operation %d", step)
		}
	}
	return "of nobody"
}
