package aesxts

import "encoding/binary"

// genericTweaks encrypts the blocks of buf in place.
func genericTweaks(keys *planes, rounds int, buf []byte) {
	for len(buf) > 0 {
		var q [8]uint64
		n := min(4, len(buf)/blockSize)
		for i := range n {
			v := loadNumber(buf[i*blockSize:])
			packBlock(&q, i, v.lo, v.hi)
		}
		transpose(&q)
		encryptPlanes(&q, keys, rounds)
		transpose(&q)
		for i := range n {
			lo, hi := unpackBlock(&q, i)
			number{lo, hi}.store(buf[i*blockSize:])
		}
		buf = buf[n*blockSize:]
	}
}

// genericUnits is the portable form of what the assembly does, see crypt. Four
// blocks are worked on at once, also across the border of units.
func genericUnits(keys *planes, rounds int, dst, src, tweaks []byte, blocks int, decrypt bool) {
	tweak, left := loadNumber(tweaks), blocks
	for len(src) > 0 {
		var q [8]uint64
		var mask [4]number
		n := min(4, len(src)/blockSize)
		for i := range n {
			mask[i] = tweak
			v := loadNumber(src[i*blockSize:])
			packBlock(&q, i, v.lo^tweak.lo, v.hi^tweak.hi)
			tweak = tweak.double()
			if left--; left == 0 {
				tweak.store(tweaks)
				if tweaks = tweaks[blockSize:]; len(tweaks) > 0 {
					tweak, left = loadNumber(tweaks), blocks
				}
			}
		}
		transpose(&q)
		if decrypt {
			decryptPlanes(&q, keys, rounds)
		} else {
			encryptPlanes(&q, keys, rounds)
		}
		transpose(&q)
		for i := range n {
			lo, hi := unpackBlock(&q, i)
			binary.LittleEndian.PutUint64(dst[i*blockSize:], lo^mask[i].lo)
			binary.LittleEndian.PutUint64(dst[i*blockSize+8:], hi^mask[i].hi)
		}
		dst, src = dst[n*blockSize:], src[n*blockSize:]
	}
}
