package fat32

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"coffer/container/block/blocktest"
	"coffer/fat32/fattest"
)

// populated is a kind of volume the damage tests start from.
type populated struct {
	name    string
	sizeKiB int
	mkfs    []string
}

var populatedVolumes = []populated{
	{"fat12", 2 << 10, []string{"-F", "12", "-s", "2", "-n", "SMALL"}},
	{"fat16", 16 << 10, []string{"-F", "16", "-s", "4", "-n", "MIDDLE"}},
	{"fat32", 34 << 10, []string{"-F", "32", "-s", "1", "-n", "LARGE"}},
	{"fat32-4k", 300 << 10, []string{"-F", "32", "-S", "4096", "-s", "1"}},
}

// makePopulated formats a volume with mkfs.vfat and fills it with mtools.
func makePopulated(t testing.TB, p populated) *blocktest.Mem {
	t.Helper()
	dir := t.TempDir()
	image := filepath.Join(dir, "volume.img")
	run := func(name, debian string, args ...string) {
		t.Helper()
		cmd := exec.Command(fattest.Tool(t, name, debian), args...)
		cmd.Env = append(os.Environ(), "MTOOLS_SKIP_CHECK=1", "LC_ALL=C.UTF-8")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s %q: %v\n%s", name, args, err, out)
		}
	}
	run("mkfs.vfat", "dosfstools", append(p.mkfs, "-C", image, fmt.Sprint(p.sizeKiB))...)
	tree := filepath.Join(dir, "tree")
	r := rand.New(rand.NewPCG(7, 7))
	for _, d := range []string{"docs", "docs/A longer name of a folder", "docs/deep/er/still", "PLAIN", "empty"} {
		if err := os.MkdirAll(filepath.Join(tree, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for i, name := range []string{
		"README.TXT", "docs/a long file name that takes several slots.text", "docs/Ünïcödé näme.txt",
		"docs/A longer name of a folder/x.y.z", "docs/deep/er/still/bottom.bin", "PLAIN/ONE.DAT", "PLAIN/TWO.DAT",
		"PLAIN/three.dat", "zero.bin",
	} {
		data := make([]byte, []int{7000, 300, 20000, 1, 40000, 512, 4096, 9000, 0}[i])
		for k := range data {
			data[k] = byte(r.Uint32())
		}
		if err := os.WriteFile(filepath.Join(tree, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 60 { // a directory of several clusters
		name := filepath.Join(tree, "docs", fmt.Sprintf("numbered file %03d of many.dat", i))
		if err := os.WriteFile(name, make([]byte, r.IntN(3000)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, d := range []string{"docs", "PLAIN", "empty", "README.TXT", "zero.bin"} {
		run("mcopy", "mtools", "-s", "-i", image, filepath.Join(tree, d), "::/")
	}
	run("mdel", "mtools", "-i", image, "::/docs/numbered file 005 of many.dat")
	m, err := blocktest.Load(image)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// damage changes one structure of a volume at random.
func damage(r *rand.Rand, m *blocktest.Mem, b *bootSector) string {
	le := func(v uint32) []byte { return []byte{byte(v), byte(v >> 8), byte(v >> 16), byte(v >> 24)} }
	put := func(p []byte, off int64) { _, _ = m.WriteAt(p, off) }
	fat := b.FATOffset + int64(r.IntN(b.FATCount))*b.FATSize
	// Most of a FAT is free: stay where something is.
	entry := int64(r.IntN(int(min(b.ClusterCount, 300)) + 2))
	dirs := directoryOffsets(m, b)
	slot := dirs[r.IntN(len(dirs))]
	switch r.IntN(12) {
	case 0: // one entry of one FAT
		off, n := b.Type.entryRange(uint32(entry))
		put(le(r.Uint32())[:n], fat+off)
		return "fat entry garbled"
	case 1, 2: // one entry of all FATs, to something near
		v := []uint32{0, 1, uint32(entry), uint32(r.IntN(300)), entryBad, b.limit(), entryEnd}[r.IntN(7)]
		for k := range b.FATCount {
			off, n := b.Type.entryRange(uint32(entry))
			p := make([]byte, n)
			base := b.FATOffset + int64(k)*b.FATSize + off
			_, _ = m.ReadAt(p, base)
			b.Type.putEntry(p, off, uint32(entry), v)
			put(p, base)
		}
		return fmt.Sprintf("entry %d of all FATs becomes %#x", entry, v)
	case 3: // a sector of one FAT
		p := make([]byte, 512)
		if fill := r.IntN(3); fill > 0 {
			for i := range p {
				p[i] = []byte{0, 0xFF, byte(r.Uint32())}[fill]
			}
		}
		put(p, fat+int64(r.IntN(3))*512)
		return "fat sector garbled"
	case 4: // a byte of a slot
		put([]byte{byte(r.Uint32())}, slot+int64(r.IntN(32)))
		return "byte of a slot"
	case 5: // a whole slot
		p := make([]byte, 32)
		for i := range p {
			p[i] = byte(r.Uint32())
		}
		put(p, slot)
		return "slot garbled"
	case 6: // one slot copied over another
		p := make([]byte, 32)
		_, _ = m.ReadAt(p, dirs[r.IntN(len(dirs))])
		put(p, slot)
		return "slot copied"
	case 7: // start or size
		if r.IntN(2) == 0 {
			put(le(uint32(r.IntN(300)))[:2], slot+26)
			return "start"
		}
		put(le(r.Uint32N(200000)), slot+28)
		return "size"
	case 8: // attribute, first byte, case byte
		put([]byte{[]byte{0x08, 0x10, 0x0F, 0x20, 0xFF, 0x28}[r.IntN(6)]}, slot+11)
		return "attribute"
	case 9:
		put([]byte{[]byte{0, 0xE5, ' ', '.', '/', 5}[r.IntN(6)]}, slot)
		return "first byte"
	case 10: // a directory sector
		p := make([]byte, 512)
		if r.IntN(2) == 0 {
			for i := range p {
				p[i] = byte(r.Uint32())
			}
		}
		put(p, slot&^511)
		return "directory sector"
	default: // boot sector, FSInfo, backup: keep the geometry fields of the first
		off := []int64{65, 37, 66, 71, 43, 488, 492, 512, 512 + 484, 512 + 488, 512 + 508, 6 * 512, 6*512 + 13, 6*512 + 90, 400}[r.IntN(15)]
		put([]byte{byte(r.Uint32())}, off)
		return fmt.Sprintf("reserved area at %d", off)
	}
}

// directoryOffsets finds the slots in use of all directories, as mkfs.vfat and
// mtools have laid them out.
func directoryOffsets(m *blocktest.Mem, b *bootSector) []int64 {
	var slots []int64
	scan := func(off int64, n int) {
		p := make([]byte, n)
		_, _ = m.ReadAt(p, off)
		for i := 0; i < n; i += 32 {
			if p[i] != 0 {
				slots = append(slots, off+int64(i))
			}
		}
	}
	if b.RootEntries > 0 {
		scan(b.RootOffset, b.RootEntries*32)
	}
	for c := uint32(2); c < min(b.limit(), 300); c++ {
		p := make([]byte, 64)
		off := b.clusterOffset(c)
		_, _ = m.ReadAt(p, off)
		if c == b.RootCluster || string(p[:2]) == ". " && string(p[32:35]) == ".. " || isLongSlot(p) && p[0] < 0x60 && p[12] == 0 {
			scan(off, b.ClusterSize)
		}
	}
	if len(slots) == 0 {
		slots = append(slots, b.DataOffset)
	}
	return slots
}

// TestCheckDamage damages populated volumes at random; after one repair
// fsck.vfat is silent and a second check finds nothing. A volume whose boot
// sector was hit so that it cannot be opened must be refused with an error.
func TestCheckDamage(t *testing.T) {
	rounds := 150 * damageFactor()
	if testing.Short() {
		rounds = 20
	}
	for _, p := range populatedVolumes {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			start := makePopulated(t, p)
			b, err := parseBoot(start)
			if err != nil {
				t.Fatal(err)
			}
			wantSound(t, start, "undamaged")
			start.Freeze()
			failed := 0
			for seed := range rounds {
				r := rand.New(rand.NewPCG(uint64(seed), uint64(p.sizeKiB)))
				m := start.Clone()
				var done []string
				for range 1 + r.IntN(6) {
					done = append(done, damage(r, m, b))
				}
				if !repairDamage(t, m, fmt.Sprintf("seed %d: %s", seed, strings.Join(done, ", ")), r.IntN(2) == 0) {
					if failed++; failed > 5 {
						t.Fatal("too many failures")
					}
				}
			}
		})
	}
}

func repairDamage(t *testing.T, m *blocktest.Mem, what string, keep bool) bool {
	before := m.Clone()
	look := checkMem(t, m, CheckOptions{})
	if err := blocktest.Diff(before, m); err != nil {
		t.Fatal("a look wrote:", err)
	}
	r := checkMem(t, m, CheckOptions{Repair: true, KeepLost: keep})
	if !keep && codes(look) != codes(r) {
		// A look cannot copy shared clusters, which may show as more or less
		// lost ones; the rest is the same.
		if !strings.Contains(codes(r), CodeCrossLink) {
			t.Errorf("%s: the look found %q, repair %q", what, codes(look), codes(r))
		}
	}
	for _, f := range r.Findings {
		if !f.Fixed && !(keep && f.Code == CodeLostChain) {
			t.Errorf("%s: not fixed: %+v", what, f)
		}
	}
	if r.Omitted > 0 || !allFixed(r) { // a fixed root directory took no more recovered files
		checkMem(t, m, CheckOptions{Repair: true})
	}
	second := checkMem(t, m, CheckOptions{})
	ok, out := fsck(t, m)
	if second.Clean() && ok {
		return true
	}
	t.Errorf("%s (keep %v)\nrepair:%s\nsecond check:%s\nfsck.vfat: %s", what, keep, findings(r), findings(second), out)
	return false
}

// damageFactor multiplies the rounds of the damage test: COFFER_DAMAGE=20 for a
// long run by hand.
func damageFactor() int {
	n := 1
	_, _ = fmt.Sscan(os.Getenv("COFFER_DAMAGE"), &n)
	return max(n, 1)
}

func allFixed(r *CheckReport) bool {
	for _, f := range r.Findings {
		if !f.Fixed {
			return false
		}
	}
	return true
}

func newRand(seed int) *rand.Rand { return rand.New(rand.NewPCG(uint64(seed), 99)) }
