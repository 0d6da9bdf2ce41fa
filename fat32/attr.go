package fat32

import "strings"

// SetAttr sets the DOS attributes of the file or directory at path. Only
// read-only, hidden, system and archive count.
func (v *Volume) SetAttr(path string, a Attr) error {
	return pathError("set attributes", path, v.change(path, func(n *node) { n.setAttrLocked(a) }))
}

// SetTimes sets times of the file or directory at path; zero values are left.
// They are rounded down to what FAT can hold and clamped to 1980..2107.
func (v *Volume) SetTimes(path string, t Times) error {
	return pathError("set times", path, v.change(path, func(n *node) { v.setTimesLocked(n, t) }))
}

// change runs f on the node at path, with its mu held.
func (v *Volume) change(path string, f func(*node)) error {
	if err := v.writable(); err != nil {
		return err
	}
	n, err := v.walk(path)
	if err != nil {
		return err
	}
	defer n.unpin()
	if n == v.root {
		return nil // the root has no entry that could hold it
	}
	return v.changeNode(n, f)
}

// changeNode runs f on n as an operation.
func (v *Volume) changeNode(n *node, f func(*node)) error {
	return v.mutate(costEntry, func() error {
		n.mu.Lock()
		defer n.mu.Unlock()
		attr, create, access, modify := n.attr, n.create, n.access, n.modify
		f(n)
		if n.attr != attr || n.create != create || n.access != access || n.modify != modify {
			v.touchLocked(n)
		}
		return nil
	})
}

func (n *node) setAttrLocked(a Attr) { n.attr = n.attr&^attrSettable | a&attrSettable }

func (v *Volume) setTimesLocked(n *node, t Times) {
	if !t.Modify.IsZero() {
		n.modify = encodeStamp(t.Modify, v.loc).coarse()
	}
	if !t.Create.IsZero() {
		n.create = encodeStamp(t.Create, v.loc)
	}
	if !t.Access.IsZero() {
		n.access = encodeStamp(t.Access, v.loc).day()
	}
}

// Label returns the volume label: of the root directory, or if that has none,
// of the boot sector. An unlabelled volume gives "".
func (v *Volume) Label() string {
	v.ns.RLock()
	defer v.ns.RUnlock()
	if d := v.root.dir; d.label >= 0 {
		return labelString([11]byte(d.slot(int(d.label))[:11]))
	}
	if label := labelString(v.boot.label); label != "NO NAME" {
		return label
	}
	return ""
}

// labelString decodes a label.
func labelString(label [11]byte) string {
	var b strings.Builder
	for i, c := range label {
		if i == 0 && c == slotKanji {
			c = slotDeleted
		}
		if c == 0 {
			break
		}
		if r := oemRune(c); r >= 0x20 && r != 0x7F {
			b.WriteRune(r)
		} else {
			b.WriteByte('_')
		}
	}
	return strings.TrimRight(b.String(), " ")
}

// encodeLabel checks a label and encodes it in upper case, as DOS requires.
func encodeLabel(label string) (out [11]byte, err error) {
	for i := range out {
		out[i] = ' '
	}
	i := 0
	for _, r := range strings.TrimRight(label, " ") {
		if r < 0x10000 {
			r = rune(upcaseUnit(uint16(r)))
		}
		c, ok := oemByte(r)
		switch {
		case i == len(out):
			return out, labelError(label, "is longer than 11 characters")
		case !ok, c < 0x20, c == 0x7F, strings.IndexByte(`"*+,./:;<=>?[\]|`, c) >= 0:
			return out, labelError(label, "holds a character that labels cannot have")
		case i == 0 && c == ' ':
			return out, labelError(label, "begins with a blank")
		}
		out[i] = c
		i++
	}
	if out[0] == slotDeleted {
		out[0] = slotKanji
	}
	return out, nil
}

func labelError(label, why string) error {
	return &PathError{"label", label, &wrappedName{why}}
}

// wrappedName is an ErrName with a reason.
type wrappedName struct{ why string }

func (e *wrappedName) Error() string { return e.why }
func (e *wrappedName) Unwrap() error { return ErrName }

// SetLabel sets the volume label in the root directory and the boot sector; ""
// removes it. At most 11 characters of code page 437; stored in upper case.
func (v *Volume) SetLabel(label string) error {
	if err := v.writable(); err != nil {
		return err
	}
	enc, err := encodeLabel(label)
	if err != nil {
		return err
	}
	now := encodeStamp(v.now(), v.loc).coarse()
	err = v.mutate(2*costEntry+v.costGrow(), func() error {
		v.ns.Lock()
		defer v.ns.Unlock()
		return v.setLabelLocked(label, enc, now)
	})
	return pathError("set label", label, err)
}

func (v *Volume) setLabelLocked(label string, enc [11]byte, now stamp) error {
	d := v.root.dir
	boot := enc
	if strings.TrimRight(label, " ") == "" {
		boot = [11]byte([]byte("NO NAME    "))
		if d.label >= 0 {
			slot := int(d.label)
			d.slot(slot)[0] = slotDeleted
			d.freeSlots(slot, slot+1)
			d.touch(slot, slot+1)
			d.label = -1
		}
	} else {
		if d.label < 0 {
			slot, err := v.roomLocked(v.root, 1)
			if err != nil {
				return err
			}
			d.used.set(slot)
			d.label = int32(slot)
		}
		e := dirEntry{name: enc, attr: attrVolumeID, modify: now}
		p := d.slot(int(d.label))
		clear(p)
		e.encode(v.geo.Type, p)
		d.touch(int(d.label), int(d.label)+1)
	}
	v.touchDirLocked(v.root)
	if raw := v.setBootLabel(boot); raw != nil {
		v.dirty.mu.Lock()
		v.dirty.boot = raw
		v.dirty.mu.Unlock()
	}
	return nil
}
