package fat32

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
)

// guesser finds the layout of a FAT12 or FAT16 volume whose boot sector, which
// has no backup, is damaged: every combination of what the sector still says and what
// is usual is judged by how well FATs, root directory and folders fit it.
type guesser struct {
	read  func([]byte, int64) error
	size  int64  // of the device
	raw   []byte // the sector as it is
	cache map[[2]int64][]byte
	links map[linksKey]int
}

// linksKey is a FAT and how it is read.
type linksKey struct {
	offset, size int64
	t            Type
}

// Bounds of the search, and how much better than a usable boot sector a guess must be.
const (
	guessReach  = 1 << 20 // bytes searched for the first FAT
	guessStarts = 6       // places that may be the start of a FAT
	guessBetter = 6
	guessLeast  = 5                       // points if it is not usable
	guessFAT    = 2 * (maxClusters16 + 2) // longest FAT
)

// guessBoot returns a better boot sector than first, which may be nil, or nil.
func guessBoot(read func([]byte, int64) error, size int64, raw []byte, first *bootSector) *bootSector {
	g := &guesser{read: read, size: size, raw: raw, cache: map[[2]int64][]byte{}, links: map[linksKey]int{}}
	best, top := (*bootSector)(nil), guessLeast
	if first != nil {
		if first.Type == FAT32 {
			return nil
		}
		if top = g.score(first) + guessBetter; top >= g.perfect(first)+guessBetter {
			return nil
		}
	}
	starts := g.fatStarts()
	for i, from := range starts {
		for _, next := range append(slices.Clone(starts[i+1:]), 0) {
			for _, sector := range []int{512, 1024, 2048, 4096} {
				for _, b := range g.layouts(from, next-from, sector) {
					if s := g.score(b); s > top {
						best, top = b, s
					}
				}
			}
		}
	}
	return best
}

// fatStarts lists sectors that begin like a FAT.
func (g *guesser) fatStarts() (starts []int64) {
	p := make([]byte, 512)
	// The copies of a FAT follow the first one.
	for at := int64(512); at < min(g.size, guessReach+4*guessFAT) && len(starts) < guessStarts; at += 512 {
		if g.read(p, at) == nil && (looksLikeFAT(FAT12, p) || looksLikeFAT(FAT16, p)) {
			starts = append(starts, at)
		}
	}
	return starts
}

// looksLikeFAT judges entries 0 and 1.
func looksLikeFAT(t Type, p []byte) bool {
	if p[0] < 0xF8 && p[0] != 0xF0 || p[1] != 0xFF || p[2] != 0xFF {
		return false
	}
	if t == FAT16 {
		return p[3]|0xC0 == 0xFF // with the marks of an unclean volume
	}
	return p[3] != 0x0F || p[4] != 0xFF || p[5] != 0xFF // else it is of FAT32
}

// layouts makes all boot sectors for a FAT at byte from, its copy distance bytes
// behind it (not positive: there is none).
func (g *guesser) layouts(from, distance int64, sector int) (out []*bootSector) {
	le, ss := binary.LittleEndian, int64(sector)
	if from%ss != 0 || from/ss > math.MaxUint16 || distance > 0 && (distance%ss != 0 || distance > guessFAT+ss) {
		return nil
	}
	totals := []int64{int64(le.Uint16(g.raw[19:])), int64(le.Uint32(g.raw[32:])), g.size / ss}
	roots := []int{int(le.Uint16(g.raw[17:])), 512, 224, 112, 240, 64, 128, 256, 1024, 2048}
	for _, total := range totals {
		if total <= 0 || total > g.size/ss || total > math.MaxUint32 {
			continue
		}
		for perCluster := 1; perCluster <= 128; perCluster *= 2 {
			for i, root := range roots {
				if i > 0 && root == roots[0] {
					continue
				}
				raw := slices.Clone(g.raw)
				le.PutUint16(raw[11:], uint16(sector))
				raw[13] = byte(perCluster)
				le.PutUint16(raw[14:], uint16(from/ss))
				le.PutUint16(raw[17:], uint16(root))
				le.PutUint16(raw[19:], 0)
				le.PutUint32(raw[32:], uint32(total))
				raw[510], raw[511] = 0x55, 0xAA
				if b := g.withFATs(raw, distance, total, perCluster, ss); b != nil {
					out = append(out, b)
				}
			}
		}
	}
	return out
}

// withFATs completes a layout with number and length of the FATs.
func (g *guesser) withFATs(raw []byte, distance, total int64, perCluster int, ss int64) *bootSector {
	raw[16] = 2
	length := distance
	if distance <= 0 { // one FAT: as long as it was, or as it needs to be
		raw[16] = 1
		if length = int64(binary.LittleEndian.Uint16(g.raw[22:])) * ss; length == 0 || length > guessFAT+ss {
			clusters := total / int64(perCluster)
			t := FAT16
			if clusters <= maxClusters12 {
				t = FAT12
			}
			length = (t.fatBytes(uint32(min(clusters, maxClusters16)+firstCluster)) + ss - 1) / ss * ss
		}
	}
	binary.LittleEndian.PutUint16(raw[22:], uint16(length/ss))
	var media [1]byte
	if length == 0 || g.read(media[:], int64(binary.LittleEndian.Uint16(raw[14:]))*ss) != nil {
		return nil
	}
	raw[21] = media[0]
	b, err := decodeBoot(raw, math.MaxInt64)
	if err != nil || b.Type == FAT32 {
		return nil
	}
	return b
}

// bytesAt reads n bytes, of which the last ones may be beyond the device, once.
func (g *guesser) bytesAt(off, n int64) []byte {
	key := [2]int64{off, n}
	p, ok := g.cache[key]
	if !ok {
		p = make([]byte, n)
		for at := int64(0); at < n && off+at < g.size; at += 512 {
			_ = g.read(p[at:min(at+512, n)], off+at) // zeros where that fails
		}
		if len(g.cache) >= 64 {
			clear(g.cache)
		}
		g.cache[key] = p
	}
	return p
}

// Points of a guess.
const (
	pointsHead   = 8
	pointsCopy   = 4
	pointsTight  = 4
	pointsDots   = 6
	pointsChange = 3
	mostBroken   = 20
	pointsRoot   = 20
)

// perfect is the score of b if everything fits except that nothing is known of folders.
func (g *guesser) perfect(b *bootSector) int {
	return pointsHead + pointsCopy*(b.FATCount-1) + pointsTight
}

// score says how well b fits what is on the device.
func (g *guesser) score(b *bootSector) int {
	fat := g.bytesAt(b.FATOffset, min(b.FATSize, guessFAT))
	if len(fat) < 4 || !looksLikeFAT(b.Type, fat) {
		return -100
	}
	s := pointsHead - pointsChange*min(g.changes(b), 3)
	for k := range int64(b.FATCount - 1) {
		if bytes.Equal(g.bytesAt(b.FATOffset+(k+1)*b.FATSize, 512), fat[:min(512, len(fat))]) {
			s += pointsCopy
		} else {
			s -= 2 * pointsCopy
		}
	}
	need := b.Type.fatBytes(b.limit())
	if b.FATSize-need <= 4*int64(b.SectorSize) {
		s += pointsTight
	}
	if tail := fat[min(need+1, int64(len(fat))):]; len(bytes.Trim(tail, "\x00")) > 0 {
		s -= 2 * pointsTight // entries of clusters that would not exist
	}
	if b.RootEntries == rootEntriesFor(b.TotalBytes) && string(b.raw[3:11]) == oemName {
		s++ // the layout of Format; only where nothing else tells
	}
	return s - g.brokenLinks(b, fat) + g.scoreRoot(b, fat)
}

// brokenLinks counts entries that lead to a cluster marked free, up to a bound: a
// FAT read with the wrong width is full of them.
func (g *guesser) brokenLinks(b *bootSector, fat []byte) (n int) {
	key := linksKey{b.FATOffset, b.FATSize, b.Type}
	if n, ok := g.links[key]; ok {
		return n
	}
	limit := uint32(len(fat)) * 8 / uint32(b.Type)
	limit = min(limit, map[Type]uint32{FAT12: maxClusters12, FAT16: maxClusters16}[b.Type]+firstCluster)
	get := func(c uint32) uint32 {
		at, size := b.Type.entryRange(c)
		if at+int64(size) > int64(len(fat)) {
			return entryEnd
		}
		return b.Type.getEntry(fat[at:], at, c)
	}
	for c := uint32(firstCluster); c < limit && n < mostBroken; c++ {
		if v := get(c); v >= firstCluster && v < limit && get(v) == entryFree {
			n++
		}
	}
	g.links[key] = n
	return n
}

// changes counts the fields that differ from the sector as it is.
func (g *guesser) changes(b *bootSector) (n int) {
	le := binary.LittleEndian
	total := int64(le.Uint16(g.raw[19:]))
	if total == 0 {
		total = int64(le.Uint32(g.raw[32:]))
	}
	for _, same := range []bool{
		bytes.Equal(g.raw[11:13], b.raw[11:13]), g.raw[13] == b.raw[13], bytes.Equal(g.raw[14:16], b.raw[14:16]), g.raw[16] == b.raw[16],
		bytes.Equal(g.raw[17:19], b.raw[17:19]), total*int64(b.SectorSize) == b.TotalBytes, bytes.Equal(g.raw[22:24], b.raw[22:24]),
	} {
		if !same {
			n++
		}
	}
	return n
}

// scoreRoot judges the root directory and whether its folders are where they
// should be: their first slot names their own first cluster.
func (g *guesser) scoreRoot(b *bootSector, fat []byte) (s int) {
	root := g.bytesAt(b.RootOffset, int64(min(b.RootEntries, 512)*slotSize))
	j := b.judgeSlots(root, true)
	s -= min(2*j.bad, 30)
	if looksLikeFAT(b.Type, root) {
		s -= pointsRoot // one more copy
	}
	dot := make([]byte, slotSize)
	for i, looked := 0, 0; i < len(root)/slotSize && looked < 16 && root[i*slotSize] != slotEnd; i++ {
		p := root[i*slotSize : (i+1)*slotSize]
		e := b.Type.decodeEntry(p)
		if p[0] == slotDeleted || isLongSlot(p) || e.attr&attrVolumeID != 0 || !b.valid(e.cluster) {
			continue
		}
		looked++
		if at, n := b.Type.entryRange(e.cluster); at+int64(n) <= int64(len(fat)) && b.Type.getEntry(fat[at:at+int64(n)], at, e.cluster) == entryFree {
			s -= 2
		}
		if e.attr&AttrDirectory == 0 || g.read(dot, b.clusterOffset(e.cluster)) != nil {
			continue
		}
		if [11]byte(dot[:11]) == dotName && b.Type.decodeEntry(dot).cluster == e.cluster {
			s += pointsDots
		} else {
			s -= pointsDots
		}
	}
	return s
}
