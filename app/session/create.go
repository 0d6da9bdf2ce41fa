package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
	"unicode/utf8"

	"coffer/container"
	"coffer/container/kdf"
	"coffer/fat32"
)

// KDFCost is what one guess of a password should cost. Zero values are calibrated on this computer.
type KDFCost struct {
	MemoryBytes int64
	Time        time.Duration // to calibrate to
	Passes      uint64        // exact number of passes; then Time is not used
}

func (c KDFCost) lower() kdf.Cost {
	return kdf.Cost{MemoryKiB: uint64(c.MemoryBytes / 1024), Iterations: c.Passes, Target: c.Time}
}

// CreateRequest says what container to make. Exactly one of SizeBytes, UsableBytes and From must be set (with From the
// others may be set too and win).
type CreateRequest struct {
	Target           Target
	SizeBytes        int64  // of the file
	UsableBytes      int64  // of the payload
	From             string // host folder to size for and to copy in
	Cipher           string
	Label            string
	ClusterSizeBytes int64
	SectorSizeBytes  int64
	Preallocate      bool
	KDF              KDFCost
	Records          string // folder of the records of the copy in
	Program          string // name and version, for the record
	Report           Reporter
}

// Created is what a create made.
type Created struct {
	Path             string   `json:"path"`
	Format           string   `json:"format"`
	Cipher           string   `json:"cipher,omitempty"`
	UUID             string   `json:"uuid,omitempty"`
	ImageBytes       int64    `json:"imageBytes"`
	UsableBytes      int64    `json:"usableBytes"`
	FreeBytes        int64    `json:"freeBytes"`
	FileSystem       string   `json:"fileSystem"`
	ClusterSizeBytes int      `json:"clusterSizeBytes"`
	SectorSizeBytes  int      `json:"sectorSizeBytes"`
	Record           *Record  `json:"record,omitempty"`
	Notes            []string `json:"notes,omitempty"` // and warnings, of the copy in
}

// Bounds of new containers.
const (
	minPayloadBytes      = 128 << 10 // a FAT12 volume with room for a file or two
	minHeaderBytes       = 1 << 20   // of the smallest LUKS2 container
	minLUKS2PayloadBytes = 256 << 10 // and what is behind it
	maxPayloadBytes      = 16 << 40  // FAT32 with 4 KiB sectors
	maxCluster           = 64 << 10  // the most every system reads
	maxLabel             = 11        // characters of a FAT label
	minKDFMemory         = 8 << 10   // RFC 9106: 8 KiB a lane
)

// CheckCreate refuses what cannot be made before a password is asked for.
func CheckCreate(r CreateRequest) error {
	usage := func(format string, values ...any) error {
		return &Error{What: "create " + r.Target.Path, Err: fmt.Errorf(format, values...), Code: Usage}
	}
	if _, err := os.Lstat(r.Target.Path); err == nil {
		return &Error{What: "create " + r.Target.Path, Err: fs.ErrExist, Hint: "a container is never overwritten; choose another name or remove the file yourself"}
	}
	if r.Target.Header != "" {
		return &Error{What: "create " + r.Target.Path, Err: errors.New("detached headers: not in this version"), Code: Unsupported}
	}
	if size := r.SectorSizeBytes; size != 0 && size != 512 && size != 1024 && size != 2048 && size != 4096 {
		return usage("sector size %d is none of 512, 1024, 2048, 4096", size)
	}
	if size := r.ClusterSizeBytes; size != 0 && (size < 512 || size > maxCluster || size&(size-1) != 0) {
		return usage("cluster size %d is no power of two from 512 B to 64 KiB", size)
	}
	if size := r.ClusterSizeBytes; size != 0 && size < r.SectorSizeBytes {
		return usage("cluster size %d is smaller than the sector size %d", size, r.SectorSizeBytes)
	}
	if n := utf8.RuneCountInString(r.Label); n > maxLabel {
		return usage("the label has %d characters, at most %d fit", n, maxLabel) // not quoted: a password may have been typed in its place
	}
	if r.KDF.MemoryBytes != 0 && r.KDF.MemoryBytes < minKDFMemory {
		return usage("--kdf-memory %d is below %d bytes", r.KDF.MemoryBytes, int64(minKDFMemory))
	}
	if r.Target.Format == FormatRaw && r.Cipher != "" {
		return usage("--cipher makes no sense with --format raw, which does not encrypt")
	}
	if err := r.bigEnough(); err != nil {
		return usage("%w", err)
	}
	if largest := max(r.SizeBytes, r.UsableBytes); largest > maxPayloadBytes {
		return usage("%d bytes are more than the 16 TiB a FAT volume can have", largest)
	}
	if r.From == "" {
		return nil
	}
	info, err := os.Stat(r.From)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is not a folder", r.From)
	}
	return wrap("create "+r.Target.Path, err)
}

// bigEnough refuses sizes that hold no volume.
func (r CreateRequest) bigEnough() error {
	payload, header, what := int64(minPayloadBytes), int64(0), "a FAT volume"
	if r.Target.Format != FormatRaw {
		payload, header, what = minLUKS2PayloadBytes, minHeaderBytes, "a LUKS2 container"
	}
	if r.UsableBytes > 0 && r.UsableBytes < payload {
		return fmt.Errorf("%d usable bytes are too few: %s needs at least %d", r.UsableBytes, what, payload)
	}
	if r.SizeBytes > 0 && r.SizeBytes < header+payload {
		return fmt.Errorf("a file of that size (%d) is too small: %s needs at least %d bytes", r.SizeBytes, what, header+payload)
	}
	return nil
}

// minSector is the sector size to use when the container's format would choose a larger one than the clusters allow; 0
// leaves the choice to the format.
func (r CreateRequest) minSector() int {
	if r.SectorSizeBytes == 0 && r.ClusterSizeBytes != 0 && r.ClusterSizeBytes < 4096 {
		return 512
	}
	return int(r.SectorSizeBytes)
}

// Create makes a container with an empty FAT volume, and fills it when r.From is set. It never overwrites anything; when
// it fails or is cancelled it leaves no file. With r.From a copy that left some files out still succeeds: its record says
// so. c is not used for the raw format.
func Create(ctx context.Context, r CreateRequest, c Credential) (*Created, error) {
	if r.From != "" && r.SizeBytes == 0 && r.UsableBytes == 0 {
		r.Report.send(Event{Kind: EventStage, Stage: "scan"})
		usable, err := sizeFor(ctx, r.From, r.ClusterSizeBytes)
		if err != nil {
			return nil, wrap("create "+r.Target.Path, err)
		}
		r.UsableBytes = usable
	}
	format := r.Target.Format
	if format == FormatAuto {
		format = FormatLUKS2
	}
	r.Report.send(Event{Kind: EventStage, Stage: "create"})
	// The label goes into the file system only: in the header everybody could read it.
	volume, err := container.Create(ctx, r.Target.Path, container.CreateOptions{
		Format: container.Format(format), SizeBytes: r.SizeBytes, UsableBytes: r.UsableBytes, Cipher: r.Cipher,
		SectorSizeBytes: r.minSector(), KDF: r.KDF.lower(), Preallocate: r.Preallocate, Deriver: deriver(),
	}, c.lower())
	if err != nil {
		return nil, wrap("create "+r.Target.Path, err)
	}
	made, statErr := os.Lstat(r.Target.Path) // the image is locked: this is ours
	created, err := fill(ctx, r, format, volume)
	if err != nil {
		if statErr == nil {
			err = errors.Join(err, removeCreated(r.Target.Path, made))
		}
		return nil, wrap("create "+r.Target.Path, err)
	}
	return created, nil
}

// removeCreated removes the image that this create made, unless another file has taken its name since.
func removeCreated(path string, made fs.FileInfo) error {
	if here, err := os.Lstat(path); err != nil || !os.SameFile(here, made) {
		return nil
	}
	return os.Remove(path)
}

// fill formats the new container and copies the folder in. It closes volume.
func fill(ctx context.Context, r CreateRequest, format string, volume *container.Volume) (created *Created, err error) {
	s := &Session{Device: Device{target: Target{Path: r.Target.Path, Format: format}, container: volume}}
	defer func() { err = errors.Join(err, volume.Close()) }()
	if volume.Size() < minPayloadBytes {
		return nil, &Error{Err: fmt.Errorf("%d bytes would be left for files; at least %d are needed", volume.Size(), int64(minPayloadBytes)), Code: Usage}
	}
	sector := volume.Info().SectorSizeBytes // one sector, one data unit
	if r.SectorSizeBytes != 0 {
		sector = int(r.SectorSizeBytes)
	}
	_, err = fat32.Format(ctx, volume, fat32.FormatOptions{
		SectorSize: sector, ClusterSize: int(r.ClusterSizeBytes), Label: r.Label,
		AssumeZero: volume.KnownZero(),
		Progress: func(done, total int64) {
			r.Report.send(Event{Kind: EventProgress, Stage: "format", Done: done, Total: total, Unit: UnitBytes})
		},
	})
	if err != nil {
		return nil, err
	}
	if s.Volume, err = fat32.Mount(volume, fat32.MountOptions{}); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Volume.Close()) }()
	created = s.created()
	if r.From != "" {
		created.Record, err = Copy(ctx, nil, s, CopyRequest{
			Sources: []Place{{Path: filepath.Join(r.From) + "/."}}, Destination: Place{Image: r.Target.Path, Path: "/", Folder: true},
			Label: "create --from", Window: time.Second, Records: r.Records, Program: r.Program, Report: r.Report, Split: true,
		})
		created.FreeBytes = s.Volume.StatFS().FreeBytes
	}
	return created, errors.Join(err, volume.Sync())
}

// created describes the container just made.
func (s *Session) created() *Created {
	info, geometry := s.container.Info(), s.Volume.Geometry()
	return &Created{
		Path: s.target.Path, Format: string(info.Format), Cipher: info.Cipher, UUID: info.UUID, ImageBytes: info.ImageBytes,
		UsableBytes: s.container.Size(), FreeBytes: s.Volume.StatFS().FreeBytes, FileSystem: geometry.Type.String(),
		ClusterSizeBytes: geometry.ClusterSize, SectorSizeBytes: geometry.SectorSize,
	}
}

// sizeFor is the payload, in bytes, that the folder needs on a FAT volume: files in whole clusters, folders with the
// slots their names take, both FATs, and a tenth on top (at least 4 MiB) for later changes.
func sizeFor(ctx context.Context, folder string, clusterBytes int64) (int64, error) {
	tally, err := tallyFolder(ctx, folder)
	if err != nil {
		return 0, err
	}
	payload := int64(minPayloadBytes)
	// The default cluster size grows with the volume, and the volume with the cluster size: a few rounds settle it.
	for range 4 {
		cluster := clusterBytes
		if cluster == 0 {
			cluster = clusterFor(payload)
		}
		data := tally.bytesIn(cluster)
		data += max(data/10, 4<<20)
		// Two FATs of four bytes a cluster, reserved sectors, and the alignment of the data area to 1 MiB.
		payload = data + data/cluster*8 + 2<<20
	}
	if tally.rootSlots > fixedRootSlots {
		cluster := max(clusterBytes, 512)
		payload = max(payload, fat32Clusters*cluster+fat32Clusters*8+4<<20)
	}
	return payload, nil
}

// clusterFor is an upper bound of the cluster size chosen for a volume: Microsoft's table for FAT32, and what FAT16 uses
// below it.
func clusterFor(payload int64) int64 {
	switch {
	case payload <= 8<<30:
		return 4 << 10
	case payload <= 16<<30:
		return 8 << 10
	case payload <= 32<<30:
		return 16 << 10
	}
	return 32 << 10
}

// Only FAT32 has a root folder that grows; FAT12 and FAT16 have room for 512 slots in it.
const (
	fixedRootSlots = 500
	fat32Clusters  = 65_600 // the fewest a FAT32 volume has are 65,525
)

// folderTally is what decides how big a folder is on FAT, whatever the cluster size.
type folderTally struct {
	fileSizes map[int64]int64 // size in bytes: how many files of it
	slots     []int64         // for each folder, the 32-byte slots of its entries
	rootSlots int64           // those of the folder itself, whose content goes into the root
}

func tallyFolder(ctx context.Context, folder string) (*folderTally, error) {
	folder = filepath.Clean(folder) // as its children name it
	t := &folderTally{fileSizes: map[int64]int64{}}
	slots := map[string]int64{}
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err != nil {
			if path == folder {
				return err
			}
			return nil // the copy lists it as unreadable
		}
		if path != folder {
			slots[filepath.Dir(path)] += int64(fat32.DirSlots(entry.Name()))
		}
		if entry.IsDir() {
			slots[path] += 2 // . and ..
		} else if info, err := entry.Info(); err == nil && info.Mode().IsRegular() {
			t.fileSizes[info.Size()]++
		}
		return nil
	})
	t.rootSlots = slots[folder]
	for _, n := range slots {
		t.slots = append(t.slots, n)
	}
	return t, err
}

// bytesIn is what the folder takes in clusters of this size.
func (t *folderTally) bytesIn(cluster int64) int64 {
	var clusters int64
	for size, count := range t.fileSizes {
		clusters += (size + cluster - 1) / cluster * count
	}
	for _, slots := range t.slots {
		clusters += (slots*32 + cluster - 1) / cluster
	}
	return clusters * cluster
}
