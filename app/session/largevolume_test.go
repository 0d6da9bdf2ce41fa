package session

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"coffer/container"
	"coffer/container/kdf"
	"coffer/container/secret"
	"coffer/fat32"
)

// TestFullLargeVolume opens a 100 GB container whose FAT has not one free cluster left: opening must neither take long
// nor much memory, the free space must be exact, and a write must say that there is no room. The times are logged, not
// asserted: they belong to the benchmark below.
func TestFullLargeVolume(t *testing.T) {
	path := fullContainer(t, 100e9)
	c := container.Credential{Password: testPassword(t), Slot: -1}
	began := time.Now()
	volume, err := container.Open(context.Background(), path, container.OpenOptions{Deriver: kdf.InProcess{}}, c)
	if err != nil {
		t.Fatal(err)
	}
	defer volume.Close()
	unlocked := time.Now()
	fs, err := fat32.Mount(volume, fat32.MountOptions{CommitInterval: -1})
	if err != nil {
		t.Fatal(err)
	}
	info, err := fs.Stat("/F0000.BIN")
	if err != nil || info.Size != fat32.MaxFileSize {
		t.Fatalf("first file: %v, %v", info, err)
	}
	t.Logf("open with the KDF %v, mount and first look-up %v", unlocked.Sub(began), time.Since(unlocked))
	if free := fs.StatFS().FreeBytes; free != 0 {
		t.Errorf("a full volume reports %d free bytes", free)
	}
	file, err := fs.OpenFile("/more", fat32.OpenFlag(os.O_RDWR|os.O_CREATE))
	if err == nil {
		_, err = file.WriteAt([]byte("x"), 0)
		_ = file.Close()
	}
	if !errors.Is(err, fat32.ErrNoSpace) {
		t.Errorf("writing to a full volume: %v", err)
	}
	if err := fs.Close(); err != nil {
		t.Fatal(err)
	}
	report, err := fat32.Check(context.Background(), volume, fat32.CheckOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if !report.Clean() || report.ClustersFree != 0 {
		t.Errorf("check: %d free, findings %v", report.ClustersFree, report.Findings)
	}
}

// BenchmarkMountFullLargeVolume is the time between the key and the first look-up in a full 100 GB volume.
func BenchmarkMountFullLargeVolume(b *testing.B) {
	path := fullContainer(b, 100e9)
	c := container.Credential{Password: testPassword(b), Slot: -1}
	volume, err := container.Open(context.Background(), path, container.OpenOptions{Deriver: kdf.InProcess{}}, c)
	if err != nil {
		b.Fatal(err)
	}
	defer volume.Close()
	for b.Loop() {
		fs, err := fat32.Mount(volume, fat32.MountOptions{CommitInterval: -1})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := fs.Stat("/F0000.BIN"); err != nil {
			b.Fatal(err)
		}
		if free := fs.StatFS().FreeBytes; free != 0 {
			b.Fatal(free)
		}
		if err := fs.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func testPassword(t testing.TB) *secret.Buffer {
	t.Helper()
	p, err := secret.Copy([]byte("large volume"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Destroy)
	return p
}

// fullContainer makes a sparse LUKS2 container of sizeBytes and fills its FAT with files of the largest size. The data
// is never written, so this takes no space; the FAT and the root directory are written behind the file system's back.
func fullContainer(t testing.TB, sizeBytes int64) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "full.img")
	ctx := context.Background()
	volume, err := container.Create(ctx, path, container.CreateOptions{
		Format: FormatLUKS2, SizeBytes: sizeBytes, Deriver: kdf.InProcess{}, KDF: kdf.Cost{MemoryKiB: 64 << 10, Iterations: 3},
	}, container.Credential{Password: testPassword(t), Slot: -1})
	if err != nil {
		t.Fatal(err)
	}
	g, err := fat32.Format(ctx, volume, fat32.FormatOptions{SectorSize: 4096})
	if err != nil {
		t.Fatal(err)
	}
	fat := make([]byte, g.FATSize)
	put := func(cluster, value uint32) { binary.LittleEndian.PutUint32(fat[4*cluster:], value) }
	const end = 0x0FFFFFF8
	put(0, 0x0FFFFFF8)
	put(1, 0x0FFFFFFF)
	put(g.RootCluster, end)
	root := make([]byte, g.ClusterSize)
	perFile := uint32((fat32.MaxFileSize + int64(g.ClusterSize) - 1) / int64(g.ClusterSize))
	last := g.ClusterCount + 1
	for n, start := 0, g.RootCluster+1; start <= last; n++ {
		stop, size := start+perFile-1, uint32(fat32.MaxFileSize)
		if stop > last {
			stop = last
			size = (last - start + 1) * uint32(g.ClusterSize)
		}
		for c := start; c < stop; c++ {
			put(c, c+1)
		}
		put(stop, end)
		entry := root[32*n : 32*n+32]
		copy(entry, fmt.Sprintf("F%04d   BIN", n))
		entry[11] = 0x20
		binary.LittleEndian.PutUint16(entry[16:], 0x5821)
		binary.LittleEndian.PutUint16(entry[18:], 0x5821)
		binary.LittleEndian.PutUint16(entry[24:], 0x5821)
		binary.LittleEndian.PutUint16(entry[20:], uint16(start>>16))
		binary.LittleEndian.PutUint16(entry[26:], uint16(start))
		binary.LittleEndian.PutUint32(entry[28:], size)
		start = stop + 1
	}
	write := func(p []byte, off int64) {
		if _, err := volume.WriteAt(p, off); err != nil {
			t.Fatal(err)
		}
	}
	for i := range g.FATCount {
		write(fat, g.FATOffset+int64(i)*g.FATSize)
	}
	write(root, g.DataOffset+int64(g.RootCluster-2)*int64(g.ClusterSize))
	// Both FSInfo sectors: no free cluster, no hint.
	info := make([]byte, 8)
	binary.LittleEndian.PutUint32(info[4:], 0xFFFFFFFF)
	write(info, 4096+488)
	write(info, 7*4096+488)
	if err := errors.Join(volume.Sync(), volume.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}
