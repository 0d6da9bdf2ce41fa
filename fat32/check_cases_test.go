package fat32

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"coffer/container/block/blocktest"
)

// craft builds small damaged volumes slot by slot, independently of the code
// that writes volumes.
type craft struct {
	t testing.TB
	m *blocktest.Mem
	b *bootSector
}

// newCraft makes an empty FAT volume by hand: one sector per cluster (FAT32:
// tiny, which is legal to read), two FATs.
func newCraft(t testing.TB, typ Type, clusters int) *craft {
	t.Helper()
	le := binary.LittleEndian
	boot := make([]byte, 512)
	copy(boot, []byte{0xEB, 0x58, 0x90})
	copy(boot[3:], "CRAFTED ")
	le.PutUint16(boot[11:], 512)
	boot[13], boot[16], boot[21] = 1, 2, 0xF8
	fat := uint32((typ.fatBytes(uint32(clusters+2)) + 511) / 512)
	reserved, total, tail := uint32(1), uint32(0), 38
	if typ == FAT32 {
		reserved, tail = 32, 66
		le.PutUint32(boot[36:], fat)
		le.PutUint32(boot[44:], 2)
		le.PutUint16(boot[48:], 1)
		le.PutUint16(boot[50:], 6)
		total = reserved + 2*fat + uint32(clusters)
		le.PutUint32(boot[32:], total)
	} else {
		le.PutUint16(boot[17:], 64)
		le.PutUint16(boot[22:], uint16(fat))
		total = reserved + 2*fat + 4 + uint32(clusters)
		le.PutUint16(boot[19:], uint16(total))
	}
	le.PutUint16(boot[14:], uint16(reserved))
	boot[tail] = 0x29
	copy(boot[tail+5:], "NO NAME    ")
	boot[510], boot[511] = 0x55, 0xAA
	c := &craft{t: t, m: blocktest.NewMem(int64(total) * 512)}
	c.put(0, boot)
	if typ == FAT32 {
		c.put(6*512, boot)
	}
	b, err := parseBoot(c.m)
	if err != nil {
		t.Fatal(err)
	}
	c.b = b
	c.entry(0, entryEnd&^0xFF|0xF8)
	c.entry(1, entryEnd)
	if typ == FAT32 {
		c.entry(2, entryEnd)
	}
	c.fsinfo()
	return c
}

func (c *craft) put(off int64, p []byte) {
	c.t.Helper()
	if _, err := c.m.WriteAt(p, off); err != nil {
		c.t.Fatal(err)
	}
}

// entry sets a FAT entry in both copies.
func (c *craft) entry(cluster, v uint32) {
	for k := range int64(c.b.FATCount) {
		off, n := c.b.Type.entryRange(cluster)
		p := make([]byte, n)
		_, _ = c.m.ReadAt(p, c.b.FATOffset+k*c.b.FATSize+off)
		c.b.Type.putEntry(p, off, cluster, v)
		c.put(c.b.FATOffset+k*c.b.FATSize+off, p)
	}
}

// chain links clusters.
func (c *craft) chain(clusters ...uint32) {
	for i, n := range clusters {
		v := entryEnd
		if i+1 < len(clusters) {
			v = clusters[i+1]
		}
		c.entry(n, v)
	}
}

// fsinfo sets the free count to what the FAT says, as on a sound volume.
func (c *craft) fsinfo() {
	if c.b.Type != FAT32 {
		return
	}
	free := uint32(0)
	for n := uint32(2); n < c.b.limit(); n++ {
		if c.get(n) == entryFree {
			free++
		}
	}
	c.put(512, encodeFSInfo(free, fsInfoNoIdea))
}

func (c *craft) get(cluster uint32) uint32 {
	off, n := c.b.Type.entryRange(cluster)
	p := make([]byte, n)
	_, _ = c.m.ReadAt(p, c.b.FATOffset+off)
	return c.b.Type.getEntry(p, off, cluster)
}

// fill puts a recognisable pattern into a cluster.
func (c *craft) fill(clusters ...uint32) {
	for _, n := range clusters {
		c.put(c.b.clusterOffset(n), bytes.Repeat([]byte{byte(n), 'x'}, c.b.ClusterSize/2))
	}
}

// slotOffset is where slot i of a directory at a cluster (0: root) lies.
func (c *craft) slotOffset(dir uint32, i int) int64 {
	if dir == 0 && c.b.RootEntries > 0 {
		return c.b.RootOffset + int64(i)*32
	}
	if dir == 0 {
		dir = c.b.RootCluster
	}
	for ; i >= 16; i -= 16 {
		dir = c.get(dir)
	}
	return c.b.clusterOffset(dir) + int64(i)*32
}

// add writes a short entry into a slot of a directory.
func (c *craft) add(dir uint32, slot int, name string, attr Attr, start, size uint32) {
	e := dirEntry{attr: attr, cluster: start, size: size, modify: stamp{date: 0x5000, clock: 0x1000}}
	copy(e.name[:], name+strings.Repeat(" ", 11-len(name)))
	p := make([]byte, 32)
	e.encode(c.b.Type, p)
	c.put(c.slotOffset(dir, slot), p)
}

// long writes the long-name slots of a name before the short entry at slot.
func (c *craft) long(dir uint32, slot int, short, name string) {
	units := appendUnits(nil, name)
	n := longSlots(len(units))
	p := make([]byte, n*32)
	encodeLong(p, units, shortChecksum([]byte(short+strings.Repeat(" ", 11-len(short)))))
	for i := range n {
		c.put(c.slotOffset(dir, slot-n+i), p[i*32:(i+1)*32])
	}
}

// dir makes a directory of one cluster with its dots.
func (c *craft) dir(parent uint32, slot int, name string, start uint32) {
	c.add(parent, slot, name, AttrDirectory, start, 0)
	c.chain(start)
	c.add(start, 0, ".", AttrDirectory, start, 0)
	c.add(start, 1, "..", AttrDirectory, parent, 0)
}

// dirty marks the volume as a driver does that was cut off.
func (c *craft) dirty() {
	switch c.b.Type {
	case FAT32:
		c.entry(1, entryEnd&^cleanShutdown32)
	case FAT16:
		c.entry(1, 0x7FFF)
	}
	c.put(int64(c.b.dirtyByte), []byte{stateDirty})
}

// list reads a volume with Salvage: path to content.
func (c *craft) list() map[string]string {
	s := newMemorySink(c.t)
	r := salvage(c.t, c.m, s)
	for _, f := range r.Damaged {
		c.t.Errorf("after repair: %+v", f)
	}
	files := map[string]string{}
	for name, data := range s.files {
		files[name] = data.String()
	}
	for name := range s.dirs {
		if name != "" {
			files[name+"/"] = ""
		}
	}
	return files
}

// content is what fill put into clusters, cut to size.
func content(size int, clusters ...uint32) string {
	var b strings.Builder
	for _, n := range clusters {
		b.Write(bytes.Repeat([]byte{byte(n), 'x'}, 256))
	}
	return b.String()[:size]
}

// checkCase is one kind of damage.
type checkCase struct {
	name  string
	make  func(c *craft)
	codes string            // findings, in order of first appearance
	files map[string]string // what must be there afterwards; nil: not compared
}

var checkCases = []checkCase{
	{"sound", func(c *craft) {
		c.dir(0, 0, "DIR", 10)
		c.add(10, 2, "FILE    TXT", 0, 11, 600)
		c.chain(11, 12)
		c.fill(11, 12)
	}, "", map[string]string{"DIR/": "", "DIR/FILE.TXT": content(600, 11, 12)}},
	{"loop", func(c *craft) {
		c.add(0, 0, "LOOP", 0, 10, 2000)
		c.chain(10, 11, 12)
		c.entry(12, 11)
		c.fill(10, 11, 12)
	}, CodeChainLoop, map[string]string{"LOOP": content(1536, 10, 11, 12)}},
	{"cross-link in the middle: both keep their data", func(c *craft) {
		c.add(0, 0, "A", 0, 10, 1500)
		c.add(0, 1, "B", 0, 20, 1400)
		c.chain(10, 11, 12)
		c.chain(20, 11)
		c.entry(11, 12)
		c.fill(10, 11, 12, 20)
	}, CodeCrossLink, map[string]string{"A": content(1500, 10, 11, 12), "B": content(1400, 20, 11, 12)}},
	{"cross-link from the start, other size", func(c *craft) {
		c.add(0, 0, "SHORT", 0, 10, 100)
		c.add(0, 1, "LONG", 0, 10, 1500)
		c.chain(10, 11, 12)
		c.fill(10, 11, 12)
	}, CodeChainLong + " " + CodeCrossLink, map[string]string{"SHORT": content(100, 10), "LONG": content(1500, 10, 11, 12)}},
	{"same start and size on a clean volume: two files", func(c *craft) {
		c.add(0, 0, "A", 0, 10, 1000)
		c.add(0, 1, "B", 0, 10, 1000)
		c.chain(10, 11)
		c.fill(10, 11)
	}, CodeCrossLink, map[string]string{"A": content(1000, 10, 11), "B": content(1000, 10, 11)}},
	{"two names on a dirty volume: one file", func(c *craft) {
		c.dir(0, 0, "D", 9)
		c.add(9, 2, "OLD", 0, 10, 1000)
		c.add(0, 1, "NEW", 0, 10, 1000)
		c.chain(10, 11)
		c.fill(10, 11)
		c.dirty()
	}, CodeTwoNames + " " + CodeDirty, nil},
	{"file over a directory's clusters: the directory wins, the file is copied", func(c *craft) {
		c.add(0, 0, "FILE", 0, 10, 512)
		c.dir(0, 1, "DIR", 10)
		c.add(10, 2, "INSIDE", 0, 11, 10)
		c.chain(11)
		c.fill(11)
	}, CodeCrossLink, nil},
	{"chain too short", func(c *craft) {
		c.add(0, 0, "F", 0, 10, 5000)
		c.chain(10, 11)
		c.fill(10, 11)
	}, CodeChainShort, map[string]string{"F": content(1024, 10, 11)}},
	{"chain too long", func(c *craft) {
		c.add(0, 0, "F", 0, 10, 600)
		c.chain(10, 11, 12, 13)
		c.fill(10, 11)
	}, CodeChainLong + " " + CodeLostChain, map[string]string{"F": content(600, 10, 11)}},
	{"chain into free, bad, beyond", func(c *craft) {
		c.add(0, 0, "FREE", 0, 10, 1000)
		c.entry(10, 11)
		c.add(0, 1, "BAD", 0, 20, 1000)
		c.entry(20, 21)
		c.entry(21, entryBad)
		c.add(0, 2, "BEYOND", 0, 30, 1000)
		c.entry(30, c.b.limit())
		c.add(0, 3, "ONE", 0, 40, 1000)
		c.entry(40, 1)
		c.fill(10, 20, 30, 40)
	}, CodeChainFree + " " + CodeChainBad + " " + CodeChainRange, map[string]string{
		"FREE": content(512, 10), "BAD": content(512, 20), "BEYOND": content(512, 30), "ONE": content(512, 40)}},
	{"impossible starts", func(c *craft) {
		c.add(0, 0, "BEYOND", 0, c.b.limit(), 10)
		c.add(0, 1, "ONE", 0, 1, 10)
		c.add(0, 2, "NONE", 0, 0, 10)
		c.add(0, 3, "FREE", 0, 10, 10)
	}, CodeStart + " " + CodeChainShort + " " + CodeChainFree, map[string]string{"BEYOND": "", "ONE": "", "NONE": "", "FREE": ""}},
	{"size 0 with a chain", func(c *craft) {
		c.add(0, 0, "ZERO", 0, 10, 0)
		c.chain(10, 11)
	}, CodeZeroSize + " " + CodeLostChain, map[string]string{"ZERO": ""}},
	{"directory with a size", func(c *craft) {
		c.dir(0, 0, "DIR", 10)
		c.add(0, 0, "DIR", AttrDirectory, 10, 77)
		c.add(10, 2, "F", 0, 0, 0)
	}, CodeDirSize, map[string]string{"DIR/": "", "DIR/F": ""}},
	{"cycle", func(c *craft) {
		c.dir(0, 0, "A", 10)
		c.dir(10, 2, "B", 11)
		c.add(11, 2, "AGAIN", AttrDirectory, 10, 0)
	}, CodeDirCycle, map[string]string{"A/": "", "A/B/": ""}},
	{"one directory under two names: .. tells", func(c *craft) {
		c.dir(0, 0, "A", 10)
		c.dir(0, 1, "B", 11)
		c.add(10, 2, "MOVED", AttrDirectory, 12, 0)
		c.dir(11, 2, "MOVED", 12) // .. says B
		c.add(12, 2, "F", 0, 0, 0)
	}, CodeDirCycle, map[string]string{"A/": "", "B/": "", "B/MOVED/": "", "B/MOVED/F": ""}},
	{"directories that share a tail", func(c *craft) {
		c.dir(0, 0, "A", 10)
		c.dir(0, 1, "B", 11)
		c.chain(10, 20)
		c.entry(11, 20)
		for i := range 14 {
			c.add(10, 2+i, fmt.Sprintf("F%d", i), 0, 0, 0)
			c.add(11, 2+i, fmt.Sprintf("G%d", i), 0, 0, 0)
		}
		c.add(20, 0, "TAIL", 0, 0, 0)
	}, CodeCrossLink, nil},
	{"dots missing, displaced, wrong", func(c *craft) {
		c.dir(0, 0, "A", 10)
		c.add(10, 0, "FIRST", 0, 0, 0)
		c.add(10, 1, "SECOND", 0, 0, 0)
		c.add(10, 2, "THIRD", 0, 0, 0)
		c.dir(0, 1, "B", 11)
		c.add(11, 0, ".", AttrDirectory, 99, 0)
		c.add(11, 1, "..", AttrDirectory, 10, 0)
		c.add(11, 5, "..", AttrDirectory, 0, 0)
		for i := 2; i < 5; i++ {
			c.add(11, i, fmt.Sprintf("F%d", i), 0, 0, 0)
		}
	}, CodeDirDots, map[string]string{"A/": "", "A/FIRST": "", "A/SECOND": "", "A/THIRD": "", "B/": "", "B/F2": "", "B/F3": "", "B/F4": ""}},
	{"dots missing in a full directory: it grows", func(c *craft) {
		c.add(0, 0, "A", AttrDirectory, 10, 0)
		c.chain(10)
		for i := range 16 {
			c.add(10, i, fmt.Sprintf("F%d", i), 0, 0, 0)
		}
	}, CodeDirDots, map[string]string{"A/": "", "A/F0": "", "A/F1": "", "A/F2": "", "A/F3": "", "A/F4": "", "A/F5": "", "A/F6": "", "A/F7": "",
		"A/F8": "", "A/F9": "", "A/F10": "", "A/F11": "", "A/F12": "", "A/F13": "", "A/F14": "", "A/F15": ""}},
	{"file marked as a directory", func(c *craft) {
		c.add(0, 0, "FILE", AttrDirectory, 10, 900)
		c.chain(10, 11)
		c.fill(10, 11)
	}, CodeNotDir, map[string]string{"FILE": content(900, 10, 11)}},
	{"directory whose first FAT entry is free", func(c *craft) {
		c.dir(0, 0, "DIR", 10)
		c.add(10, 2, "F", 0, 0, 0)
		c.entry(10, 0)
	}, CodeDirStart, map[string]string{"DIR/": "", "DIR/F": ""}},
	{"directory without a start", func(c *craft) {
		c.add(0, 0, "ZERO", AttrDirectory, 0, 0)
		c.add(0, 1, "FAR", AttrDirectory, c.b.limit(), 0)
		c.add(0, 2, "F", 0, 0, 0)
	}, CodeDirStart, map[string]string{"F": ""}},
	{"entries after the end mark: sound ones stay", func(c *craft) {
		c.add(0, 0, "A", 0, 0, 0)
		c.add(0, 2, "SOUND", 0, 10, 700)
		c.chain(10, 11)
		c.fill(10, 11)
		c.add(0, 3, "STALE", 0, 10, 100)
		c.dir(0, 5, "DIR", 12)
		c.add(12, 2, "F", 0, 0, 0)
	}, CodeAfterEnd, map[string]string{"A": "", "SOUND": content(700, 10, 11), "DIR/": "", "DIR/F": ""}},
	{"attribute bits", func(c *craft) {
		c.add(0, 0, "F", 0xC0|AttrArchive, 0, 0)
		c.add(0, 1, "V", attrVolumeID, 10, 5)
		c.chain(10)
		c.fill(10)
	}, CodeAttr, map[string]string{"F": "", "V": content(5, 10)}},
	{"names that would escape", func(c *craft) {
		c.long(0, 1, "A", "../../etc")
		c.add(0, 1, "A", 0, 0, 0)
		c.long(0, 3, "B", "..")
		c.add(0, 3, "B", 0, 0, 0)
		c.long(0, 5, "C", "x\x01y:z\\")
		c.add(0, 5, "C", 0, 0, 0)
	}, CodeBadLongName, map[string]string{".._.._etc": "", "__": "", "x_y_z_": ""}},
	{"bad 8.3 names", func(c *craft) {
		c.add(0, 0, "A/B", 0, 0, 0)
		c.add(0, 1, " LEAD", 0, 0, 0)
		c.add(0, 2, "", 0, 0, 0)
		c.add(0, 3, "A?B", 0, 0, 0)
		c.add(0, 4, "..", 0, 0, 0)
	}, CodeBadShortName, nil},
	{"bad 8.3 name under a good long one", func(c *craft) {
		c.long(0, 2, "A/B", "the long name.txt")
		c.add(0, 2, "A/B", 0, 0, 0)
	}, CodeBadShortName, map[string]string{"the long name.txt": ""}},
	{"damaged 8.3 name: the long one is kept", func(c *craft) {
		c.long(0, 2, "GOOD", "the long name.txt")
		c.add(0, 2, "GO\x01D", 0, 0, 0)
	}, CodeBadShortName, map[string]string{"the long name.txt": ""}},
	{"duplicate names", func(c *craft) {
		c.add(0, 0, "SAME", 0, 0, 0)
		c.add(0, 1, "SAME", 0, 0, 0)
		c.long(0, 4, "LONG~1", "Same Long Name")
		c.add(0, 4, "LONG~1", 0, 0, 0)
		c.long(0, 7, "LONG~2", "same long NAME")
		c.add(0, 7, "LONG~2", 0, 0, 0)
	}, CodeDuplicateName, map[string]string{"SAME": "", "SAME~1": "", "Same Long Name": "", "same long NAME~2": ""}},
	{"long name parts", func(c *craft) {
		c.long(0, 1, "OTHER", "no entry has this")
		c.add(0, 2, "F", 0, 0, 0)
		c.long(0, 4, "WRONG", "wrong sum")
		c.add(0, 4, "G", 0, 0, 0)
	}, CodeLongNameParts, nil},
	{"long name fields", func(c *craft) {
		c.long(0, 1, "F", "reserved")
		c.add(0, 1, "F", 0, 0, 0)
		c.put(c.slotOffset(0, 0)+12, []byte{1})
		c.put(c.slotOffset(0, 0)+26, []byte{2, 3})
	}, CodeLongNameField, map[string]string{"reserved": ""}},
	{"labels", func(c *craft) {
		c.add(0, 0, "ONE", attrVolumeID, 0, 0)
		c.add(0, 1, "TWO", attrVolumeID, 0, 0)
		c.dir(0, 2, "D", 10)
		c.add(10, 2, "THREE", attrVolumeID, 0, 0)
	}, CodeLabel + " " + CodeBootLabel, map[string]string{"D/": ""}},
	{"garbage slots", func(c *craft) {
		c.put(c.slotOffset(0, 0), bytes.Repeat([]byte{0xA7, 0xD2, 0xFA, 0xFF}, 8))
		c.add(0, 1, "F", 0, 0, 0)
	}, CodeGarbage, map[string]string{"F": ""}},
	{"lost chains", func(c *craft) {
		c.chain(10, 11, 12)
		c.chain(20, 21)
		c.entry(21, 20)
		c.entry(30, 1)
	}, CodeLostChain, map[string]string{}},
	{"FAT copies differ, first right", func(c *craft) {
		c.add(0, 0, "F", 0, 10, 600)
		c.chain(10, 11)
		c.fill(10, 11)
		off, n := c.b.Type.entryRange(10)
		c.put(c.b.FATOffset+c.b.FATSize+off, make([]byte, n))
	}, CodeFATDiffer, map[string]string{"F": content(600, 10, 11)}},
	{"FAT copies differ, first erased", func(c *craft) {
		c.add(0, 0, "F", 0, 10, 600)
		c.chain(10, 11)
		c.fill(10, 11)
		c.put(c.b.FATOffset, make([]byte, 512))
	}, CodeFATDiffer, map[string]string{"F": content(600, 10, 11)}},
	{"FAT head", func(c *craft) {
		c.entry(0, 0x123)
		c.entry(1, 7)
	}, CodeFATHead, map[string]string{}},
}
