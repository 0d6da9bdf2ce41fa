package fat32

import (
	"encoding/binary"
	"unicode/utf16"
)

// Sizes of directories.
const (
	slotSize    = 32    // bytes of one slot
	maxDirSlots = 65536 // slots of one directory: 2 MiB
	// MaxDirSlots is the number of 32-byte slots a directory can have. Two of a
	// subdirectory's are taken by . and ..
	MaxDirSlots = maxDirSlots
	lfnUnits    = 13                                  // UTF-16 units in a long-name slot
	maxName     = 255                                 // UTF-16 units of a long name
	maxLFNSlots = (maxName + lfnUnits - 1) / lfnUnits // 20
)

// First bytes of a slot with a meaning of their own.
const (
	slotEnd     = 0x00 // this slot and all after it were never used
	slotDeleted = 0xE5
	slotKanji   = 0x05 // stands for a first character 0xE5
)

// Attr is the set of DOS attributes of a file or directory.
type Attr uint8

// Attributes. Directory and volumeID cannot be changed with SetAttr.
const (
	AttrReadOnly  Attr = 0x01
	AttrHidden    Attr = 0x02
	AttrSystem    Attr = 0x04
	attrVolumeID  Attr = 0x08
	AttrDirectory Attr = 0x10
	AttrArchive   Attr = 0x20

	attrLongName     = AttrReadOnly | AttrHidden | AttrSystem | attrVolumeID
	attrLongNameMask = attrLongName | AttrDirectory | AttrArchive
	attrSettable     = AttrReadOnly | AttrHidden | AttrSystem | AttrArchive
)

// Case flags in byte 12 of a short entry (Windows NT): the part is lower case.
const (
	caseLowerBase = 0x08
	caseLowerExt  = 0x10
)

// dirEntry is a short directory entry (Microsoft FAT specification 1.03,
// "Directory Structure"), decoded.
type dirEntry struct {
	name    [11]byte // as on disk: blank padded, first byte 0x05 for 0xE5
	attr    Attr
	ntCase  byte
	create  stamp
	access  stamp
	modify  stamp
	cluster uint32 // first cluster, 0 if none
	size    uint32
}

// decodeEntry decodes a slot of slotSize bytes. On FAT12 and FAT16 the upper
// half of the first cluster is not a cluster number and is left out.
func (t Type) decodeEntry(p []byte) dirEntry {
	le := binary.LittleEndian
	e := dirEntry{attr: Attr(p[11]), ntCase: p[12]}
	copy(e.name[:], p)
	e.create = stamp{cents: p[13], clock: le.Uint16(p[14:]), date: le.Uint16(p[16:])}
	e.access = stamp{date: le.Uint16(p[18:])}
	e.modify = stamp{clock: le.Uint16(p[22:]), date: le.Uint16(p[24:])}
	e.cluster = uint32(le.Uint16(p[26:]))
	if t == FAT32 {
		e.cluster |= uint32(le.Uint16(p[20:])) << 16
		e.cluster &= 0x0FFFFFFF
	}
	e.size = le.Uint32(p[28:])
	return e
}

// encode writes e into a slot of slotSize bytes. On FAT12 and FAT16 bytes 20
// and 21 (an OS/2 handle there) are kept.
func (e *dirEntry) encode(t Type, p []byte) {
	le := binary.LittleEndian
	copy(p, e.name[:])
	p[11], p[12], p[13] = byte(e.attr), e.ntCase, e.create.cents
	le.PutUint16(p[14:], e.create.clock)
	le.PutUint16(p[16:], e.create.date)
	le.PutUint16(p[18:], e.access.date)
	if t == FAT32 {
		le.PutUint16(p[20:], uint16(e.cluster>>16))
	}
	le.PutUint16(p[22:], e.modify.clock)
	le.PutUint16(p[24:], e.modify.date)
	le.PutUint16(p[26:], uint16(e.cluster))
	le.PutUint32(p[28:], e.size)
}

// isLongSlot reports whether a used slot is a part of a long name.
func isLongSlot(p []byte) bool { return Attr(p[11])&attrLongNameMask == attrLongName }

// shortChecksum is the checksum of a short name that its long-name slots carry.
func shortChecksum(name []byte) byte {
	var sum byte
	for _, c := range name[:11] {
		sum = sum>>1 | sum<<7
		sum += c
	}
	return sum
}

// Long-name slots: order byte, units 1-5, attribute, type, checksum, units 6-11, zero cluster, units 12-13.
const lfnLast = 0x40 // flag in the order byte of the slot that comes first on disk

var lfnUnitOffsets = [lfnUnits]int{1, 3, 5, 7, 9, 14, 16, 18, 20, 22, 24, 28, 30}

// longSlots returns how many slots a long name of n UTF-16 units takes.
func longSlots(n int) int { return (n + lfnUnits - 1) / lfnUnits }

// encodeLong writes the long-name slots of name, in disk order, into p
// (longSlots(len(name))*slotSize bytes).
func encodeLong(p []byte, name []uint16, checksum byte) {
	slots := longSlots(len(name))
	for i := range slots {
		order := slots - i // the last part comes first
		s := p[i*slotSize : (i+1)*slotSize]
		clear(s)
		s[0] = byte(order)
		if i == 0 {
			s[0] |= lfnLast
		}
		s[11], s[13] = byte(attrLongName), checksum
		for k, at := range lfnUnitOffsets {
			unit := uint16(0xFFFF) // padding after the terminator
			switch j := (order-1)*lfnUnits + k; {
			case j < len(name):
				unit = name[j]
			case j == len(name):
				unit = 0
			}
			binary.LittleEndian.PutUint16(s[at:], unit)
		}
	}
}

// decodeLong decodes the long name of the short entry at slot (index into raw,
// which holds whole slots). It returns the number of slots before the short
// entry that belong to it and appends the UTF-16 units to buf. A set that is
// out of order, has a wrong checksum or an impossible length does not count: 0.
func decodeLong(raw []byte, slot int, buf []uint16) (units []uint16, slots int) {
	sum := shortChecksum(raw[slot*slotSize:])
	units = buf[:0]
	for n := 1; n <= maxLFNSlots && slot-n >= 0; n++ {
		s := raw[(slot-n)*slotSize : (slot-n+1)*slotSize]
		if s[0] == slotDeleted || !isLongSlot(s) || s[13] != sum || int(s[0]&^lfnLast) != n {
			return nil, 0
		}
		last := s[0]&lfnLast != 0
		ended := false
		for _, at := range lfnUnitOffsets {
			unit := binary.LittleEndian.Uint16(s[at:])
			if unit == 0 {
				ended = true
				break
			}
			units = append(units, unit)
		}
		if ended && !last {
			return nil, 0 // a terminator in the middle
		}
		if last {
			if len(units) == 0 || len(units) > maxName {
				return nil, 0
			}
			return units, n
		}
	}
	return nil, 0
}

// unitsToString turns UTF-16 into UTF-8; an unpaired surrogate becomes U+FFFD.
func unitsToString(units []uint16) string {
	plain := true
	for _, u := range units {
		if u >= 0x80 {
			plain = false
			break
		}
	}
	if !plain {
		return string(utf16.Decode(units))
	}
	var buf [maxName]byte
	b := buf[:0]
	for _, u := range units {
		b = append(b, byte(u))
	}
	return string(b)
}
