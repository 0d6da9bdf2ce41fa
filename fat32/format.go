package fat32

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"time"
)

// FormatOptions say what volume Format makes. The zero value is good.
type FormatOptions struct {
	Type        Type   // Auto takes FAT32 where it is legal, then FAT16, then FAT12
	SectorSize  int    // bytes, 512 to 4096; 0 is 512
	ClusterSize int    // bytes; 0 is by Microsoft's table
	Label       string // at most 11 characters of code page 437
	VolumeID    uint32 // serial number; 0 is random
	Hidden      uint32 // sectors before the volume
	Now         func() time.Time
	Align       int64 // of the data area, bytes; 0 is 4096, or 1 MiB from 512 MiB on
	// Progress is told how many bytes of the FATs have been zeroed.
	Progress func(done, total int64)
	// AssumeZero says that the device is known to read as zeros, so that only
	// what is not zero has to be written.
	AssumeZero bool
}

// formatMedia is the media byte of fixed disks.
const formatMedia = 0xF8

// Places of the FAT32 boot structures, in sectors.
const (
	fsInfoSector = 1
	backupSector = 6
)

// Format makes an empty FAT volume that fills dev. What was there is lost;
// until Format has returned, the device holds no volume.
func Format(ctx context.Context, dev Device, o FormatOptions) (Geometry, error) {
	g, err := format(ctx, dev, o)
	if err != nil {
		return Geometry{}, fmt.Errorf("format: %w", err)
	}
	return g, nil
}

func format(ctx context.Context, dev Device, o FormatOptions) (g Geometry, err error) {
	label, err := encodeLabel(o.Label)
	if err != nil {
		return g, err
	}
	if g, err = layout(dev.Size(), o); err != nil {
		return g, err
	}
	if o.VolumeID == 0 {
		var id [4]byte
		_, _ = rand.Read(id[:]) // never fails
		o.VolumeID = binary.LittleEndian.Uint32(id[:])
	}
	f := &formatter{ctx: ctx, dev: dev, o: o, g: g, label: label}
	return g, f.run()
}

// formatter writes a volume.
type formatter struct {
	ctx   context.Context
	dev   Device
	o     FormatOptions
	g     Geometry
	label [11]byte
}

func (f *formatter) run() error {
	sector := make([]byte, f.g.SectorSize)
	if !f.o.AssumeZero {
		if err := writeFull(f.dev.WriteAt, sector, 0); err != nil {
			return fmt.Errorf("boot sector: %w", err)
		}
		if err := f.dev.Sync(); err != nil {
			return err
		}
	}
	if err := f.zeroTables(); err != nil {
		return err
	}
	if err := f.root(); err != nil {
		return fmt.Errorf("root directory: %w", err)
	}
	for i := range f.g.FATCount {
		if err := writeFull(f.dev.WriteAt, f.fatHead(), f.g.FATOffset+int64(i)*f.g.FATSize); err != nil {
			return fmt.Errorf("FAT: %w", err)
		}
	}
	boot := f.bootSector()
	if f.g.Type == FAT32 {
		if err := f.extras(boot); err != nil {
			return fmt.Errorf("boot structures: %w", err)
		}
	}
	if err := f.dev.Sync(); err != nil {
		return err
	}
	if err := writeFull(f.dev.WriteAt, boot, 0); err != nil {
		return fmt.Errorf("boot sector: %w", err)
	}
	return f.dev.Sync()
}

// zeroTables zeroes everything from the second sector up to the data area.
func (f *formatter) zeroTables() error {
	if f.o.AssumeZero {
		return nil
	}
	for off := int64(f.g.SectorSize); off < f.g.DataOffset; {
		if err := f.ctx.Err(); err != nil {
			return err
		}
		n := min(int64(len(zeros)), f.g.DataOffset-off)
		if err := writeFull(f.dev.WriteAt, zeros[:n], off); err != nil {
			return fmt.Errorf("FAT: %w", err)
		}
		off += n
		if f.o.Progress != nil {
			f.o.Progress(off, f.g.DataOffset)
		}
	}
	return nil
}

// fatHead is the first sector of a FAT.
func (f *formatter) fatHead() []byte {
	p, t := make([]byte, f.g.SectorSize), f.g.Type
	t.putEntry(p, 0, 0, 0x0FFFFF00|uint32(f.g.Media))
	t.putEntry(p, 0, 1, entryEnd)
	if t == FAT32 {
		t.putEntry(p, 0, f.g.RootCluster, entryEnd)
	}
	return p
}

// root writes the root directory: empty but for the label.
func (f *formatter) root() error {
	p, off := make([]byte, f.g.SectorSize), f.g.RootOffset
	if f.g.Type == FAT32 {
		p, off = make([]byte, f.g.ClusterSize), f.g.clusterOffset(f.g.RootCluster)
	}
	if f.label[0] != ' ' {
		now := f.o.Now
		if now == nil {
			now = time.Now
		}
		e := dirEntry{name: f.label, attr: attrVolumeID, modify: encodeStamp(now(), time.Local).coarse()}
		e.encode(f.g.Type, p)
	}
	return writeFull(f.dev.WriteAt, p, off)
}

// extras writes FSInfo and the copies of the boot structures.
func (f *formatter) extras(boot []byte) error {
	ss := int64(f.g.SectorSize)
	info := make([]byte, ss)
	copy(info, encodeFSInfo(f.g.ClusterCount-1, f.g.RootCluster+1))
	third := make([]byte, ss)
	third[510], third[511] = 0x55, 0xAA
	for _, base := range []int64{0, backupSector} {
		if base > 0 {
			if err := writeFull(f.dev.WriteAt, boot, base*ss); err != nil {
				return err
			}
		}
		if err := writeFull(f.dev.WriteAt, info, (base+fsInfoSector)*ss); err != nil {
			return err
		}
		if err := writeFull(f.dev.WriteAt, third, (base+2)*ss); err != nil {
			return err
		}
	}
	return nil
}

// bootSector encodes the boot sector.
func (f *formatter) bootSector() []byte {
	le, g := binary.LittleEndian, &f.g
	ss := int64(g.SectorSize)
	p := make([]byte, ss)
	code, tail, kind := 62, 38, fmt.Sprintf("%-8s", g.Type)
	if g.Type == FAT32 {
		code, tail = 90, 66
	}
	p[0], p[1], p[2] = 0xEB, byte(code-2), 0x90
	copy(p[3:], oemName) // what Microsoft's specification recommends for compatibility
	le.PutUint16(p[11:], uint16(ss))
	p[13] = byte(int64(g.ClusterSize) / ss)
	le.PutUint16(p[14:], uint16(g.FATOffset/ss))
	p[16] = byte(g.FATCount)
	le.PutUint16(p[17:], uint16(g.RootEntries))
	p[21] = g.Media
	le.PutUint16(p[24:], 63)
	le.PutUint16(p[26:], 255)
	le.PutUint32(p[28:], g.Hidden)
	total := g.TotalBytes / ss
	if g.Type != FAT32 && total < 1<<16 {
		le.PutUint16(p[19:], uint16(total))
	} else {
		le.PutUint32(p[32:], uint32(total))
	}
	if g.Type == FAT32 {
		le.PutUint32(p[36:], uint32(g.FATSize/ss))
		le.PutUint32(p[44:], g.RootCluster)
		le.PutUint16(p[48:], fsInfoSector)
		le.PutUint16(p[50:], backupSector)
	} else {
		le.PutUint16(p[22:], uint16(g.FATSize/ss))
	}
	p[tail-2] = 0x80 // drive number of a fixed disk
	label := f.label
	if label[0] == ' ' {
		label = [11]byte([]byte("NO NAME    "))
	}
	putTail(p, tail, f.o.VolumeID, label, kind)
	copy(p[code:], []byte{0xF4, 0xEB, 0xFD}) // not bootable: halt, for ever
	p[510], p[511] = 0x55, 0xAA
	return p
}

// oemName is what Format puts into the boot sector.
const oemName = "MSWIN4.1"
