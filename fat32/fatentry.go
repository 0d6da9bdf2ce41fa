package fat32

import "encoding/binary"

// Values of FAT entries, widened to 28 bits so that one set of constants
// serves FAT12, FAT16 and FAT32 (Microsoft FAT specification 1.03, "FAT Data
// Structure"). decodeEntry and encodeEntry translate.
const (
	entryFree uint32 = 0
	entryBad  uint32 = 0x0FFFFFF7
	entryEnd  uint32 = 0x0FFFFFFF
	// entryEndMin and larger all mean end of chain.
	entryEndMin uint32 = 0x0FFFFFF8
	// entryReservedMin and larger are no cluster numbers.
	entryReservedMin uint32 = 0x0FFFFFF0

	firstCluster = 2 // number of the first data cluster
)

// entryRange returns where the entry of cluster lies in a FAT: byte offset and
// number of bytes touched. A FAT12 entry shares one of its two bytes with its
// neighbour and may straddle sectors.
func (t Type) entryRange(cluster uint32) (off int64, size int) {
	switch t {
	case FAT12:
		return int64(cluster) + int64(cluster)/2, 2
	case FAT16:
		return int64(cluster) * 2, 2
	default:
		return int64(cluster) * 4, 4
	}
}

// fatBytes returns the length in bytes of a FAT that has entries for the
// clusters below limit.
func (t Type) fatBytes(limit uint32) int64 {
	switch t {
	case FAT12:
		return (int64(limit)*3 + 1) / 2
	case FAT16:
		return int64(limit) * 2
	default:
		return int64(limit) * 4
	}
}

// widen maps a 12- or 16-bit entry value to its 28-bit meaning.
func (t Type) widen(v uint32) uint32 {
	switch t {
	case FAT12:
		if v >= 0xFF0 {
			v |= 0x0FFFF000
		}
	case FAT16:
		if v >= 0xFFF0 {
			v |= 0x0FFF0000
		}
	default:
		v &= 0x0FFFFFFF
	}
	return v
}

// getEntry decodes the entry of cluster out of p, which holds a FAT's bytes
// from byte offset base on. The range of the entry must lie in p.
func (t Type) getEntry(p []byte, base int64, cluster uint32) uint32 {
	off, _ := t.entryRange(cluster)
	i := int(off - base)
	switch t {
	case FAT12:
		v := uint32(p[i]) | uint32(p[i+1])<<8
		if cluster&1 == 1 {
			v >>= 4
		}
		return t.widen(v & 0xFFF)
	case FAT16:
		return t.widen(uint32(binary.LittleEndian.Uint16(p[i:])))
	default:
		return binary.LittleEndian.Uint32(p[i:]) & 0x0FFFFFFF
	}
}

// putEntry encodes v (28-bit meaning) as the entry of cluster. It keeps the
// neighbour's half byte on FAT12 and the four reserved top bits on FAT32.
func (t Type) putEntry(p []byte, base int64, cluster, v uint32) {
	off, _ := t.entryRange(cluster)
	i := int(off - base)
	switch t {
	case FAT12:
		if cluster&1 == 1 {
			p[i] = p[i]&0x0F | byte(v<<4)
			p[i+1] = byte(v >> 4)
		} else {
			p[i] = byte(v)
			p[i+1] = p[i+1]&0xF0 | byte(v>>8)&0x0F
		}
	case FAT16:
		binary.LittleEndian.PutUint16(p[i:], uint16(v))
	default:
		old := binary.LittleEndian.Uint32(p[i:])
		binary.LittleEndian.PutUint32(p[i:], old&0xF0000000|v&0x0FFFFFFF)
	}
}

// Marks in FAT entry 1 (bits are set while the volume is sound). FAT12 has none.
const (
	cleanShutdown32 uint32 = 1 << 27
	noHardError32   uint32 = 1 << 26
	cleanShutdown16 uint32 = 1 << 15
	noHardError16   uint32 = 1 << 14
)
