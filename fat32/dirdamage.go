package fat32

import (
	"encoding/binary"
	"fmt"
)

// dirJudge counts what the slots of a directory look like.
type dirJudge struct {
	good, bad int // slots that can and that cannot be entries
	hidden    int // of either: left out of listings although there is data behind, or no label
	noDots    bool
}

// fewBad is how many slots may be bad before a directory whose majority they
// are counts as destroyed.
const fewBad = 3

// judgeSlots looks at the slots of raw before the end mark. Deleted slots, labels,
// dot entries and parts of long names that belong to nothing are not held against
// it: all of them are found in sound directories.
func (g *Geometry) judgeSlots(raw []byte, isRoot bool) (j dirJudge) {
	if !isRoot && len(raw) > 0 && raw[0] == slotEnd {
		j.noDots = true
	}
	for i := 0; i < len(raw)/slotSize && raw[i*slotSize] != slotEnd; i++ {
		p := raw[i*slotSize : (i+1)*slotSize]
		switch {
		case p[0] == slotDeleted || isStrayDot(p, i, isRoot):
		case isLongSlot(p):
			if order := p[0] &^ lfnLast; order >= 1 && order <= maxLFNSlots && p[11]&0xC0 == 0 {
				j.good++
			} else {
				j.bad++
			}
		default:
			g.judgeShort(p, &j)
		}
	}
	return j
}

// judgeShort is judgeSlots for a short entry.
func (g *Geometry) judgeShort(p []byte, j *dirJudge) {
	e := g.Type.decodeEntry(p)
	outside := e.cluster != 0 && !g.valid(e.cluster)
	label := e.attr&attrVolumeID != 0
	// A label of a foreign system may hold a dot; some drivers mark names nobody is to see.
	named := label || e.ntCase&noShort != 0 || goodShort(&e.name)
	if e.attr&0xC0 == 0 && !outside && named {
		j.good++
	} else {
		j.bad++
	}
	if label && (outside && e.attr&0xC0 != 0 || g.valid(e.cluster) && (e.size != 0 || e.attr&AttrDirectory != 0)) {
		j.hidden++
	}
}

// destroyed: it is not a directory any more, as after something else was written over it.
func (j dirJudge) destroyed() error {
	if j.bad > fewBad && j.bad > j.good {
		return fmt.Errorf("%d of %d entries are no entries: %w", j.bad, j.bad+j.good, ErrCorrupt)
	}
	return nil
}

// incomplete: what listing it shows is not all that is or was in it.
func (j dirJudge) incomplete() error {
	switch {
	case j.hidden > 0:
		return fmt.Errorf("%d entries are damaged and cannot be shown: %w", j.hidden, ErrCorrupt)
	case j.noDots:
		return fmt.Errorf("what it held is gone, even its own . entry: %w", ErrCorrupt)
	}
	return nil
}

// isStrayDot reports whether the slot at i is a dot entry, in its place or at
// least a folder with nothing behind it. Any other is an entry of its own, with an
// impossible name.
func isStrayDot(p []byte, i int, isRoot bool) bool {
	if !isDotName(p) {
		return false
	}
	le := binary.LittleEndian
	return i < 2 && !isRoot || Attr(p[11])&AttrDirectory != 0 && le.Uint16(p[20:]) == 0 && le.Uint16(p[26:]) == 0 && le.Uint32(p[28:]) == 0
}
