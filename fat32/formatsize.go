package fat32

import "fmt"

// sizeRow is a row of Microsoft's cluster-size tables: volumes up to bytes get
// clusters of cluster bytes.
type sizeRow struct {
	bytes   int64
	cluster int
}

// Microsoft FAT specification 1.03, "FAT Volume Initialization".
var (
	table16 = []sizeRow{{16 << 20, 1 << 10}, {128 << 20, 2 << 10}, {256 << 20, 4 << 10}, {512 << 20, 8 << 10}, {1 << 30, 16 << 10}, {2 << 30, 32 << 10}, {1 << 62, 64 << 10}}
	table32 = []sizeRow{{260 << 20, 512}, {8 << 30, 4 << 10}, {16 << 30, 8 << 10}, {32 << 30, 16 << 10}, {1 << 62, 32 << 10}}
)

// Cluster counts that Format stays within: the limits of the types, less the 16 in
// which careless implementations take one type for another.
const countMargin = 16

func countRange(t Type) (least, most int64) {
	switch t {
	case FAT12:
		return 1, maxClusters12 - countMargin
	case FAT16:
		return maxClusters12 + 1 + countMargin, maxClusters16 - countMargin
	default:
		return maxClusters16 + 1 + countMargin, maxClusters32
	}
}

// Limits on what a boot sector can say.
const (
	maxSectorsPerCluster = 128
	maxReservedSectors   = 65535
	maxVolumeSectors     = 1<<32 - 1
	formatFATs           = 2
)

// layout chooses the geometry of a volume of size bytes.
func layout(size int64, o FormatOptions) (g Geometry, err error) {
	ss := o.SectorSize
	if ss == 0 {
		ss = 512
	}
	if ss < 512 || ss > 4096 || ss&(ss-1) != 0 {
		return g, fmt.Errorf("%d bytes per sector: %w", ss, ErrInvalid)
	}
	total := size / int64(ss)
	if total == maxVolumeSectors+1 {
		total--
	}
	if total > maxVolumeSectors {
		return g, fmt.Errorf("%d sectors of %d bytes, FAT counts to 2^32 - 1; larger sectors hold more: %w", total, ss, ErrInvalid)
	}
	align := o.Align
	if align == 0 {
		align = 4096
		if size >= 512<<20 {
			align = 1 << 20
		}
	}
	if align < int64(ss) || align&(align-1) != 0 || align > int64(ss)*maxReservedSectors/2 {
		return g, fmt.Errorf("alignment to %d bytes: %w", align, ErrInvalid)
	}
	if c := o.ClusterSize; c != 0 && (c < ss || c&(c-1) != 0 || c > ss*maxSectorsPerCluster) {
		return g, fmt.Errorf("clusters of %d bytes with sectors of %d: %w", c, ss, ErrInvalid)
	}
	types := []Type{FAT32, FAT16, FAT12}
	if o.Type != Auto {
		types = []Type{o.Type}
	}
	g = Geometry{SectorSize: ss, TotalBytes: total * int64(ss), FATCount: formatFATs, Mirrored: true, Hidden: o.Hidden, Media: formatMedia}
	for _, t := range types {
		for _, c := range clusterSizes(t, size, ss, o.ClusterSize) {
			if fitted, ok := fit(g, t, c, align); ok {
				return fitted, nil
			}
		}
	}
	what := "FAT"
	if o.Type != Auto {
		what = o.Type.String()
	}
	return g, fmt.Errorf("no %s volume of %d bytes with sectors of %d and clusters of %d bytes is possible: %w", what, size, ss, o.ClusterSize, ErrInvalid)
}

// clusterSizes lists the cluster sizes to try, best first.
func clusterSizes(t Type, size int64, ss, wanted int) []int {
	if wanted != 0 {
		return []int{wanted}
	}
	best := ss
	table := map[Type][]sizeRow{FAT16: table16, FAT32: table32}[t]
	for _, row := range table {
		if size <= row.bytes {
			best = max(row.cluster, ss)
			break
		}
	}
	list := []int{best}
	for c := best / 2; c >= ss && t != FAT12; c /= 2 {
		list = append(list, c)
	}
	for c := best * 2; c <= ss*maxSectorsPerCluster; c *= 2 {
		list = append(list, c)
	}
	return list
}

// fit lays a volume of type t with clusters of c bytes out and reports whether
// the number of clusters is one of that type.
func fit(g Geometry, t Type, c int, align int64) (Geometry, bool) {
	ss := int64(g.SectorSize)
	g.Type, g.ClusterSize = t, c
	reserved := int64(1)
	if t == FAT32 {
		reserved = 32
		g.RootCluster = firstCluster
	} else {
		g.RootEntries = rootEntriesFor(g.TotalBytes)
	}
	rootBytes := int64(g.RootEntries) * slotSize
	unit := ss // FATs begin and end at blocks of 4 KiB, unless the volume is tiny
	if g.TotalBytes >= 16<<20 {
		unit = max(ss, metaBlock)
	}
	least, most := countRange(t)
	// The FAT takes room from the clusters it describes: begin with one that is long
	// enough for all and shrink it as long as that makes no new clusters.
	place := func(fatSize int64) int64 {
		g.FATSize = fatSize
		head := reserved*ss + int64(g.FATCount)*fatSize + rootBytes
		g.DataOffset = (head + align - 1) / align * align
		return (g.TotalBytes - g.DataOffset) / int64(c)
	}
	sizeFor := func(count int64) int64 {
		return (t.fatBytes(uint32(count)+firstCluster) + unit - 1) / unit * unit
	}
	count := min((g.TotalBytes-reserved*ss)/int64(c), 1<<30)
	if count < 1 {
		return g, false
	}
	count = place(sizeFor(count))
	for count >= 1 {
		before := g.FATSize
		if fits := place(sizeFor(count)); fits != count {
			count = place(before)
			break
		}
		if g.FATSize == before {
			break
		}
	}
	g.FATOffset = g.DataOffset - rootBytes - int64(g.FATCount)*g.FATSize
	if g.RootEntries > 0 {
		g.RootOffset = g.DataOffset - rootBytes
	}
	if count < least || count > most || g.FATOffset/ss > maxReservedSectors || t != FAT32 && g.FATSize/ss > 0xFFFF {
		return g, false
	}
	g.ClusterCount = uint32(count)
	return g, g.FATSize >= t.fatBytes(g.limit())
}

// rootEntriesFor is the length of a fixed root directory in a volume of so many bytes.
func rootEntriesFor(totalBytes int64) int {
	if totalBytes < 4<<20 {
		return 256
	}
	return 512
}
