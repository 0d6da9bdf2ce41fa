package fat32

import "math/bits"

// bitset is a set of small integers. It does not grow by itself.
type bitset []uint64

func newBitset(n int) bitset    { return make(bitset, (n+63)/64) }
func (b bitset) has(i int) bool { return b[i>>6]>>(uint(i)&63)&1 == 1 }
func (b bitset) set(i int)      { b[i>>6] |= 1 << (uint(i) & 63) }
func (b bitset) clear(i int)    { b[i>>6] &^= 1 << (uint(i) & 63) }
func (b bitset) grow(n int) bitset {
	for len(b)*64 < n {
		b = append(b, 0)
	}
	return b
}

// next returns the first member at or after i and below n, or n.
func (b bitset) next(i, n int) int {
	for i < n {
		if w := b[i>>6] >> (uint(i) & 63); w != 0 {
			return min(i+bits.TrailingZeros64(w), n)
		}
		i = (i | 63) + 1
	}
	return n
}

// nextClear returns the first non-member at or after i and below n, or n.
func (b bitset) nextClear(i, n int) int {
	for i < n {
		if w := ^b[i>>6] >> (uint(i) & 63); w != 0 {
			return min(i+bits.TrailingZeros64(w), n)
		}
		i = (i | 63) + 1
	}
	return n
}

// setRange adds from..to-1 and returns how many were new.
func (b bitset) setRange(from, to int) (added int) {
	return b.apply(from, to, true)
}

// clearRange removes from..to-1 and returns how many were there.
func (b bitset) clearRange(from, to int) (removed int) {
	return b.apply(from, to, false)
}

func (b bitset) apply(from, to int, set bool) (changed int) {
	for from < to {
		w, bit := from>>6, uint(from)&63
		n := min(64-int(bit), to-from)
		mask := ^uint64(0) >> (64 - uint(n)) << bit
		if set {
			changed += bits.OnesCount64(mask &^ b[w])
			b[w] |= mask
		} else {
			changed += bits.OnesCount64(mask & b[w])
			b[w] &^= mask
		}
		from += n
	}
	return changed
}
