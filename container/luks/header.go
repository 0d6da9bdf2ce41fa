package luks

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"coffer/container/block"
)

// CopyState says what one of the two header copies is worth.
type CopyState string

// States of a header copy.
const (
	CopyGood    CopyState = "good"
	CopyStale   CopyState = "stale"   // good, but older than the other
	CopyDamaged CopyState = "damaged" // recognisable, but unusable
	CopyMissing CopyState = "missing" // nothing recognisable
)

// Header is the metadata of one container: what the better of the two copies
// says.
type Header struct {
	bin  binaryHeader
	root *value
	text []byte // the JSON as read or last written
	meta *metadata

	// Primary and Secondary describe the copies as Read found them.
	Primary, Secondary CopyState

	foreignStart bool // the primary's place holds another kind of data
}

// headerCopy is one copy read from a device.
type headerCopy struct {
	bin  binaryHeader
	root *value
	text []byte
	meta *metadata
	err  error // why the copy is unusable; errNoMagic if nothing is there
}

func (c *headerCopy) state() CopyState {
	switch {
	case c.err == nil:
		return CopyGood
	case errors.Is(c.err, errNoMagic):
		return CopyMissing
	}
	return CopyDamaged
}

// Detect tells cheaply whether dev begins with a LUKS magic or has a second
// LUKS2 copy at one of its places, and the version of the first (0 if lost).
func Detect(dev io.ReaderAt) (version int, found bool) {
	var b [8]byte
	if _, err := dev.ReadAt(b[:], 0); err == nil && bytes.Equal(b[:6], primaryMagic) {
		return int(b[6])<<8 | int(b[7]), true
	}
	for _, off := range headerSizes() {
		if _, err := dev.ReadAt(b[:], off); err == nil && bytes.Equal(b[:6], secondaryMagic) {
			return 0, true
		}
	}
	return 0, false
}

// Read finds and checks both header copies of dev and returns the better one.
// It never writes. ErrNotLUKS2 if there is none, ErrDamaged if none is usable,
// ErrUnsupported for other LUKS versions. Memory is bounded by the two copies
// (at most 4 MiB each) and 100,000 JSON values.
func Read(dev io.ReaderAt) (*Header, error) {
	first := readCopy(dev, 0)
	if first.bin.version == 1 {
		return nil, first.err // LUKS1 has no second copy; one found would be a leftover
	}
	var second *headerCopy
	if first.err == nil {
		second = readCopy(dev, first.bin.headerSize)
	} else {
		second = searchSecond(dev)
	}
	h := &Header{Primary: first.state(), Secondary: second.state()}
	best := first
	switch {
	case first.err != nil && second.err != nil:
		if h.Primary == CopyMissing && h.Secondary == CopyMissing {
			return nil, ErrNotLUKS2
		}
		if errors.Is(first.err, ErrUnsupported) {
			return nil, first.err
		}
		return nil, fmt.Errorf("first copy: %w; second copy: %w", first.err, second.err)
	case first.err != nil:
		best = second
		h.foreignStart = h.Primary == CopyMissing && looksForeign(dev)
	case second.err != nil:
	case second.bin.seqID > first.bin.seqID && second.bin.uuid == first.bin.uuid:
		best, h.Primary = second, CopyStale
	case second.bin.seqID != first.bin.seqID || !bytes.Equal(first.text, second.text) || second.bin.uuid != first.bin.uuid:
		h.Secondary = CopyStale
	}
	h.bin, h.root, h.text, h.meta = best.bin, best.root, best.text, best.meta
	return h, nil
}

// searchSecond looks for a usable second copy at every place it can have. The
// first usable one wins; else the most recognisable one is returned.
func searchSecond(dev io.ReaderAt) *headerCopy {
	best := &headerCopy{err: errNoMagic}
	for _, off := range headerSizes() {
		c := readCopy(dev, off)
		if c.err == nil {
			return c
		}
		if errors.Is(best.err, errNoMagic) {
			best = c
		}
	}
	return best
}

// readCopy reads and checks the copy at off.
func readCopy(dev io.ReaderAt, off int64) *headerCopy {
	c := &headerCopy{}
	c.err = c.read(dev, off)
	return c
}

func (c *headerCopy) read(dev io.ReaderAt, off int64) error {
	head := make([]byte, binarySize)
	if err := block.ReadFull(dev, head, off); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return errNoMagic // the device ends before
		}
		return fmt.Errorf("read header at %d: %w", off, err)
	}
	var err error
	if c.bin, err = decodeBinary(head, off); err != nil {
		return err
	}
	whole := make([]byte, c.bin.headerSize)
	if err := block.ReadFull(dev, whole, off); err != nil {
		return fmt.Errorf("read header at %d: %w: %w", off, err, ErrDamaged)
	}
	if err := verifyChecksum(whole, c.bin.checksum); err != nil {
		return fmt.Errorf("header at %d: %w", off, err)
	}
	if err := c.parse(whole[binarySize:]); err != nil {
		return fmt.Errorf("header at %d: %w", off, err)
	}
	return nil
}

// parse reads the JSON area: text, a NUL, and only NULs after it.
func (c *headerCopy) parse(jsonArea []byte) error {
	text, rest, ended := bytes.Cut(jsonArea, []byte{0})
	if !ended {
		return fmt.Errorf("metadata has no end: %w", ErrDamaged)
	}
	if len(bytes.Trim(rest, "\x00")) != 0 {
		return fmt.Errorf("bytes after the end of the metadata: %w", ErrDamaged)
	}
	var err error
	if c.root, err = parseJSON(text); err != nil {
		return fmt.Errorf("%w: %w", err, ErrDamaged)
	}
	c.text = text
	c.meta, err = parseMetadata(c.root, c.bin.headerSize)
	return err
}

// looksForeign tells whether the first sector carries the signature of a boot
// sector or partition table: then the header was not damaged but replaced.
func looksForeign(dev io.ReaderAt) bool {
	var b [2]byte
	_, err := dev.ReadAt(b[:], 510)
	return err == nil && b == [2]byte{0x55, 0xaa}
}

// NeedsRepair tells whether a copy is damaged, missing or stale.
func (h *Header) NeedsRepair() bool { return h.Primary != CopyGood || h.Secondary != CopyGood }

// Repair rewrites a copy that is not good from the one that is, and syncs. The
// metadata stay the same byte by byte. ErrForeignStart if the place of the
// first copy now holds what looks like a boot sector of something else.
func (h *Header) Repair(dev block.Device) error {
	if !h.NeedsRepair() {
		return nil
	}
	if h.foreignStart {
		return ErrForeignStart
	}
	for _, c := range []struct {
		state  *CopyState
		offset int64
	}{{&h.Primary, 0}, {&h.Secondary, h.bin.headerSize}} {
		if *c.state == CopyGood {
			continue
		}
		if err := h.writeCopy(dev, c.offset, h.text); err != nil {
			return fmt.Errorf("repair header copy: %w", err)
		}
		*c.state = CopyGood
	}
	return nil
}

// writeCopy writes one copy and makes it durable.
func (h *Header) writeCopy(dev block.Device, offset int64, text []byte) error {
	b, err := encodeCopy(h.bin, offset, text)
	if err != nil {
		return err
	}
	if _, err := dev.WriteAt(b, offset); err != nil {
		return err
	}
	return dev.Sync()
}

// update makes root the metadata of the container: checked like a foreign
// header, with the next sequence number, first copy, sync, second copy, sync.
// After an error h must be read again.
func (h *Header) update(dev block.Device, root *value) error {
	if h.foreignStart {
		return ErrForeignStart
	}
	text := root.appendJSON(nil)
	meta, err := parseMetadata(root, h.bin.headerSize)
	if err != nil {
		return fmt.Errorf("refusing to write metadata that break the format's rules: %w", err)
	}
	h.bin.seqID++
	for _, off := range []int64{0, h.bin.headerSize} {
		if err := h.writeCopy(dev, off, text); err != nil {
			return fmt.Errorf("update header: %w", err)
		}
	}
	h.root, h.text, h.meta = root, text, meta
	h.Primary, h.Secondary = CopyGood, CopyGood
	return nil
}
