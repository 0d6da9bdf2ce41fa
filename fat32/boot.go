package fat32

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
)

// Type is the width of FAT entries.
type Type uint8

// The FAT types. Auto is only an argument of Format.
const (
	Auto  Type = 0
	FAT12 Type = 12
	FAT16 Type = 16
	FAT32 Type = 32
)

func (t Type) String() string {
	switch t {
	case FAT12, FAT16, FAT32:
		return fmt.Sprintf("FAT%d", uint8(t))
	}
	return "auto"
}

// Most clusters of each type: the type of a volume *is* its cluster count
// (Microsoft FAT specification 1.03, "FAT Type Determination").
const (
	maxClusters12 = 4084
	maxClusters16 = 65524
	maxClusters32 = 0x0FFFFFF5 - firstCluster
)

// Geometry tells where everything lies in a volume. Offsets and lengths are
// bytes from the start of the device.
type Geometry struct {
	Type         Type
	SectorSize   int    // bytes, 512 to 4096
	ClusterSize  int    // bytes, a power of two
	ClusterCount uint32 // data clusters; valid numbers are 2 to ClusterCount+1
	TotalBytes   int64  // length of the volume
	FATCount     int    // copies, 1 to 4
	FATOffset    int64  // first FAT
	FATSize      int64  // length of one FAT
	ActiveFAT    int    // the copy that counts
	Mirrored     bool   // every copy is written
	RootOffset   int64  // fixed root directory (FAT12 and FAT16), else 0
	RootEntries  int    // its slots, else 0
	RootCluster  uint32 // first cluster of the root directory (FAT32), else 0
	DataOffset   int64  // cluster 2
	Hidden       uint32 // sectors before the volume
	Media        byte
}

// limit is the first number that is not a cluster.
func (g *Geometry) limit() uint32 { return g.ClusterCount + firstCluster }

// valid reports whether c is the number of a data cluster.
func (g *Geometry) valid(c uint32) bool { return c >= firstCluster && c < g.limit() }

// clusterOffset returns where cluster c, which must be valid, begins.
func (g *Geometry) clusterOffset(c uint32) int64 {
	return g.DataOffset + int64(c-firstCluster)*int64(g.ClusterSize)
}

// clusterShift returns log2 of the cluster size.
func (g *Geometry) clusterShift() uint { return uint(bits.TrailingZeros32(uint32(g.ClusterSize))) }

// bootSector is a parsed boot sector.
type bootSector struct {
	Geometry
	raw          []byte // the first sector as read
	serial       uint32
	label        [11]byte // OEM bytes, blank padded; zero if the record has none
	hasLabel     bool
	fsInfoOffset int64 // 0: none
	backupOffset int64 // backup boot sector, 0: none
	dirtyByte    int   // offset of the state byte in the boot sector
}

// State bits of the byte at dirtyByte.
const (
	stateDirty   = 1
	stateIOError = 2
)

// parseBoot reads and checks the boot sector of dev. Every field is bounded
// before it is used; ErrNotFAT if this is no FAT volume, ErrCorrupt if it is one
// that cannot be used.
func parseBoot(dev Device) (*bootSector, error) {
	raw := make([]byte, 512)
	if dev.Size() < int64(len(raw)) {
		return nil, fmt.Errorf("boot sector: device of %d bytes: %w", dev.Size(), ErrNotFAT)
	}
	if err := readFull(dev, raw, 0); err != nil {
		return nil, fmt.Errorf("boot sector: %w", err)
	}
	return decodeBootWith(func(p []byte, off int64) error { return readFull(dev, p, off) }, raw, dev.Size())
}

// decodeBootWith is decodeBoot that also takes boot sectors without the
// signature, as on volumes of Atari and some old formatters. The rest must be
// beyond doubt then: legal media byte, repeated in the FAT, which read gives.
func decodeBootWith(read func(p []byte, off int64) error, raw []byte, size int64) (*bootSector, error) {
	b, err := decodeBoot(raw, size)
	if !errors.Is(err, errUnsigned) {
		return b, err
	}
	signed := append([]byte(nil), raw...)
	signed[510], signed[511] = 0x55, 0xAA
	b, second := decodeBoot(signed, size)
	if second != nil || b.Media < 0xF8 && b.Media != 0xF0 {
		return nil, err
	}
	var head [1]byte
	if read(head[:], b.FATOffset) != nil || head[0] != b.Media {
		return nil, err
	}
	b.raw = raw
	return b, nil
}

// errUnsigned: the boot sector does not end in 55 AA.
var errUnsigned = fmt.Errorf("boot sector: no signature 55 AA: %w", ErrNotFAT)

// decodeBoot is parseBoot on the first 512 bytes of a device of size bytes.
func decodeBoot(raw []byte, size int64) (*bootSector, error) {
	if raw[510] != 0x55 || raw[511] != 0xAA {
		return nil, errUnsigned
	}
	le := binary.LittleEndian
	b := &bootSector{raw: raw}
	b.SectorSize = int(le.Uint16(raw[11:]))
	perCluster := int(raw[13])
	reserved := int64(le.Uint16(raw[14:]))
	b.FATCount = int(raw[16])
	b.RootEntries = int(le.Uint16(raw[17:]))
	total := int64(le.Uint16(raw[19:]))
	b.Media = raw[21]
	fatSectors := int64(le.Uint16(raw[22:]))
	b.Hidden = le.Uint32(raw[28:])
	if total == 0 {
		total = int64(le.Uint32(raw[32:]))
	}
	wide := fatSectors == 0
	if wide {
		fatSectors = int64(le.Uint32(raw[36:]))
	}
	switch {
	case b.SectorSize < 512 || b.SectorSize > 4096 || b.SectorSize&(b.SectorSize-1) != 0:
		return nil, fmt.Errorf("boot sector: %d bytes per sector: %w", b.SectorSize, ErrNotFAT)
	case perCluster == 0 || perCluster&(perCluster-1) != 0:
		return nil, fmt.Errorf("boot sector: %d sectors per cluster: %w", perCluster, ErrNotFAT)
	case reserved == 0:
		return nil, fmt.Errorf("boot sector: no reserved sectors: %w", ErrNotFAT)
	case b.FATCount < 1 || b.FATCount > 4:
		return nil, fmt.Errorf("boot sector: %d FATs: %w", b.FATCount, ErrNotFAT)
	case fatSectors <= 0 || total <= 0 || total > 1<<40:
		return nil, fmt.Errorf("boot sector: %d sectors, %d per FAT: %w", total, fatSectors, ErrNotFAT)
	}
	ss := int64(b.SectorSize)
	b.ClusterSize = perCluster * b.SectorSize
	b.TotalBytes = total * ss
	b.FATOffset = reserved * ss
	b.FATSize = fatSectors * ss
	fatsEnd := b.FATOffset + int64(b.FATCount)*b.FATSize
	rootBytes := (int64(b.RootEntries)*slotSize + ss - 1) / ss * ss
	b.DataOffset = fatsEnd + rootBytes
	if b.DataOffset >= b.TotalBytes {
		return nil, fmt.Errorf("boot sector: data area at %d in a volume of %d bytes: %w", b.DataOffset, b.TotalBytes, ErrNotFAT)
	}
	if b.TotalBytes > size {
		return nil, fmt.Errorf("boot sector: volume of %d bytes on a device of %d: %w", b.TotalBytes, size, ErrCorrupt)
	}
	if err := b.finish(wide, fatsEnd, rootBytes); err != nil {
		return nil, err
	}
	return b, nil
}

// finish derives the type and what depends on it.
func (b *bootSector) finish(wide bool, fatsEnd, rootBytes int64) error {
	clusters := (b.TotalBytes - b.DataOffset) / int64(b.ClusterSize)
	switch {
	case clusters < 1:
		return fmt.Errorf("boot sector: no clusters: %w", ErrNotFAT)
	case wide:
		// Tiny FAT32 volumes exist; what tells them is the 32-bit FAT length.
		b.Type = FAT32
	case clusters <= maxClusters12:
		b.Type = FAT12
	default:
		b.Type = FAT16
	}
	limits := map[Type]int64{FAT12: maxClusters12, FAT16: maxClusters16, FAT32: maxClusters32}
	if clusters > limits[b.Type] {
		return fmt.Errorf("boot sector: %d clusters are too many for %v: %w", clusters, b.Type, ErrCorrupt)
	}
	b.ClusterCount = uint32(clusters)
	if need := b.Type.fatBytes(b.limit()); need > b.FATSize {
		return fmt.Errorf("boot sector: FAT of %d bytes for %d clusters, %d needed: %w", b.FATSize, clusters, need, ErrCorrupt)
	}
	b.Mirrored = true
	if b.Type == FAT32 {
		return b.finish32()
	}
	b.dirtyByte = 37
	if b.RootEntries == 0 {
		return fmt.Errorf("boot sector: %v without a root directory: %w", b.Type, ErrCorrupt)
	}
	b.RootOffset = fatsEnd
	if extra := int(rootBytes / slotSize); b.RootEntries > maxDirSlots || extra > maxDirSlots {
		return fmt.Errorf("boot sector: %d root entries: %w", b.RootEntries, ErrCorrupt)
	}
	b.tail(38)
	return nil
}

// finish32 reads the fields only FAT32 has.
func (b *bootSector) finish32() error {
	le := binary.LittleEndian
	if b.RootEntries != 0 {
		return fmt.Errorf("boot sector: FAT32 with a fixed root directory: %w", ErrCorrupt)
	}
	b.dirtyByte = 65
	if version := le.Uint16(b.raw[42:]); version != 0 {
		return fmt.Errorf("boot sector: FAT32 version %d.%d is unknown: %w", version>>8, version&255, ErrCorrupt)
	}
	if flags := le.Uint16(b.raw[40:]); flags&0x80 != 0 {
		b.Mirrored = false
		b.ActiveFAT = int(flags & 15)
		if b.ActiveFAT >= b.FATCount {
			return fmt.Errorf("boot sector: active FAT %d of %d: %w", b.ActiveFAT, b.FATCount, ErrCorrupt)
		}
	}
	b.RootCluster = le.Uint32(b.raw[44:]) & 0x0FFFFFFF
	if !b.valid(b.RootCluster) {
		return fmt.Errorf("boot sector: root directory at cluster %d: %w", b.RootCluster, ErrCorrupt)
	}
	ss := int64(b.SectorSize)
	if s := int64(le.Uint16(b.raw[48:])); s > 0 && s != 0xFFFF && (s+1)*ss <= b.FATOffset {
		b.fsInfoOffset = s * ss
	}
	if s := int64(le.Uint16(b.raw[50:])); s > 0 && s != 0xFFFF && (s+1)*ss <= b.FATOffset {
		b.backupOffset = s * ss
	}
	b.tail(66)
	return nil
}

// tail reads the extended boot record (serial number, label) at offset at.
func (b *bootSector) tail(at int) {
	switch b.raw[at] {
	case 0x29:
		b.hasLabel = true
		copy(b.label[:], b.raw[at+5:at+16])
		fallthrough
	case 0x28:
		b.serial = binary.LittleEndian.Uint32(b.raw[at+1:])
	}
}

// FSInfo sector (FAT32): offsets of its fields.
const (
	fsInfoLead   uint32 = 0x41615252
	fsInfoStruct uint32 = 0x61417272
	fsInfoFree          = 488
	fsInfoNext          = 492
	fsInfoBytes         = 512
	fsInfoNoIdea uint32 = 0xFFFFFFFF
)

// fsInfoValid checks the three signatures of an FSInfo sector.
func fsInfoValid(p []byte) bool {
	le := binary.LittleEndian
	return len(p) >= fsInfoBytes && le.Uint32(p) == fsInfoLead && le.Uint32(p[484:]) == fsInfoStruct && p[510] == 0x55 && p[511] == 0xAA
}

// encodeFSInfo returns an FSInfo sector of fsInfoBytes bytes.
func encodeFSInfo(free, next uint32) []byte {
	le := binary.LittleEndian
	p := make([]byte, fsInfoBytes)
	le.PutUint32(p, fsInfoLead)
	le.PutUint32(p[484:], fsInfoStruct)
	le.PutUint32(p[fsInfoFree:], free)
	le.PutUint32(p[fsInfoNext:], next)
	p[510], p[511] = 0x55, 0xAA
	return p
}
