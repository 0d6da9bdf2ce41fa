package fat32

import (
	"context"
	"fmt"
	"io"
	"math"
	"time"
)

// SalvageSink takes what Salvage reads. Paths are lists of names from the top
// of the target; the names are safe on a host: no separators, controls or NUL,
// never empty, "." or "..", unique (without regard to case) in their folder.
// Calls come from one goroutine. An error of a sink ends the salvage of that
// file or folder, not the whole, unless it wraps ErrSalvageStop.
type SalvageSink interface {
	Mkdir(path []string) error
	// Create opens a file for writing. size is what the volume says, or the
	// length of the chain for lost chains; fewer bytes may follow. If the file
	// has a method Abort() error, that is called instead of Close when not all
	// that could be read was written: nothing may be left under path then.
	Create(path []string, info Salvaged) (io.WriteCloser, error)
}

// ErrSalvageStop wrapped in an error of a sink ends the whole salvage, as when
// the target is full.
var ErrSalvageStop error = &fsError{"salvage stopped by the target", nil}

// Salvaged describes a file handed to a sink.
type Salvaged struct {
	SizeBytes int64
	Attr      Attr
	// Times; zero where the volume has none.
	ModTime, CreateTime, AccessTime time.Time
	Lost                            bool // from a lost chain, without a name
}

// SalvageOptions adjusts Salvage.
type SalvageOptions struct {
	// SkipLost leaves lost chains out.
	SkipLost bool
	// Progress, if not nil, is called now and then with the bytes written.
	Progress func(done int64)
	// Location is the zone of the times in the volume; nil: time.Local.
	Location *time.Location
}

// SalvageReport says what came out.
type SalvageReport struct {
	Files, Dirs int64 // delivered, whole or as far as they could be read
	LostChains  int64 // of Files
	Bytes       int64
	// Damaged lists files and folders that are not whole: with unreadable
	// parts (written as zeros), cut short, or refused by the sink (these are not in Files).
	Damaged []Finding
	Omitted int // findings beyond the first 10,000
}

// Codes of findings of Salvage, beside those of Check.
const (
	CodeReadError = "read-error" // parts could not be read; zeros stand in their place
	CodeSink      = "target"     // the target refused a file
)

// salvager is one run of Salvage.
type salvager struct {
	ctx    context.Context
	o      SalvageOptions
	dev    *lenientDevice
	g      Geometry
	fat    *checkFAT
	sink   SalvageSink
	seen   bitmap // clusters that belong to something read so far
	dirs   bitmap // first clusters of directories read
	top    *level // the root, whose names LOST must not take
	report *SalvageReport
	shared int64 // bytes written again because files share clusters
	buf    []byte
}

// Salvage copies every file and folder it can read from the volume on dev into
// sink, and lost chains into a folder LOST (another name if that is taken). It writes nothing to dev and goes
// on past read errors: what cannot be read comes out as zeros and is listed.
// The boot sector's backup is used if the first is unusable; FAT12 and FAT16
// have none, there a layout is guessed from FATs and folders. Another copy of
// the FAT where one cannot be read. Damaged chains are followed as far as they
// make sense; clusters shared by files come out in each of them, up to the length of
// the volume in all. A device shorter than the volume loses only what lies
// beyond its end.
//
// Memory is bounded by two bits per cluster plus one directory (2 MiB) per
// level; time by the size of the volume plus that of what is written.
func Salvage(ctx context.Context, dev Device, sink SalvageSink, o SalvageOptions) (*SalvageReport, error) {
	if o.Location == nil {
		o.Location = time.Local
	}
	s := &salvager{ctx: ctx, o: o, sink: sink, report: &SalvageReport{}, dev: &lenientDevice{dev: dev}}
	if err := s.open(); err != nil {
		return s.report, fmt.Errorf("salvage: %w", err)
	}
	s.seen, s.dirs = newBitmap(s.g.limit()), newBitmap(s.g.limit())
	s.buf = make([]byte, max(s.g.ClusterSize, 256<<10))
	err := s.tree(nil, s.g.RootCluster)
	if err == nil && !o.SkipLost {
		err = s.lost()
	}
	if err != nil {
		return s.report, fmt.Errorf("salvage: %w", err)
	}
	return s.report, nil
}

// open finds a boot sector; a volume longer than its device is let pass.
func (s *salvager) open() error {
	raw := make([]byte, bootBytes)
	s.dev.size = math.MaxInt64
	first, err := (*bootSector)(nil), s.dev.strict(raw, 0)
	if err == nil {
		first, err = decodeBootWith(s.dev.strict, raw, math.MaxInt64)
	}
	backup, _ := findBackup(s.dev.strict, s.dev.dev.Size(), first)
	if backup == nil {
		if guess := guessBoot(s.dev.strict, s.dev.dev.Size(), raw, first); guess != nil {
			first, err = guess, nil
			s.damaged(CodeBootSector, nil, "the boot sector is damaged; a layout that fits the rest is used: %v, clusters of %d bytes, data from byte %d",
				guess.Type, guess.ClusterSize, guess.DataOffset)
		}
	}
	switch {
	case err != nil && backup == nil:
		return err
	case err != nil:
		first = backup
	case backup != nil && !sameGeometry(first, backup) && plausibility(s.dev.strict, backup) > plausibility(s.dev.strict, first):
		first = backup
	}
	s.g = first.Geometry
	if err := s.clamp(); err != nil {
		return err
	}
	s.dev.size = s.g.TotalBytes
	s.fat = newCheckFAT(newCheckIO(s.dev, false), &s.g)
	s.fat.strict = s.dev.strict
	return nil
}

// clamp takes the clusters beyond the end of the device out of the volume: they
// hold nothing, and a forged length must not cost time or memory.
func (s *salvager) clamp() error {
	size := s.dev.dev.Size()
	if size <= s.g.DataOffset {
		return fmt.Errorf("device of %d bytes, data area from %d: %w", size, s.g.DataOffset, ErrCorrupt)
	}
	inside := (size - s.g.DataOffset + int64(s.g.ClusterSize) - 1) / int64(s.g.ClusterSize)
	s.g.ClusterCount = uint32(min(int64(s.g.ClusterCount), inside))
	if s.g.Type == FAT32 && !s.g.valid(s.g.RootCluster) {
		return fmt.Errorf("device of %d bytes ends before the root directory: %w", size, ErrCorrupt)
	}
	return nil
}

func (s *salvager) damaged(code string, path []string, format string, a ...any) {
	if len(s.report.Damaged) >= maxFindings {
		s.report.Omitted++
		return
	}
	s.report.Damaged = append(s.report.Damaged, Finding{Code: code, Path: joinPath(path), Detail: fmt.Sprintf(format, a...)})
}

func joinPath(path []string) string {
	p := ""
	for _, n := range path {
		p += "/" + n
	}
	if p == "" {
		return "/"
	}
	return p
}

// next follows a chain; ok is false at its end or where it makes no sense.
func (s *salvager) next(at uint32) (uint32, bool) {
	v, err := s.fat.get(at)
	if err != nil || !s.g.valid(v) {
		return v, false
	}
	return v, true
}

// lenientDevice reads past errors: a sector that cannot be read is zeros.
type lenientDevice struct {
	dev    Device
	size   int64
	failed int64 // bytes that could not be read so far
}

func (l *lenientDevice) Size() int64                        { return l.size }
func (l *lenientDevice) Sync() error                        { return nil }
func (l *lenientDevice) WriteAt([]byte, int64) (int, error) { return 0, ErrReadOnly }
func (l *lenientDevice) strict(p []byte, off int64) error   { return readFull(l.dev, p, off) }

// ReadAt reads in one go and, if that fails, sector by sector. It never fails.
func (l *lenientDevice) ReadAt(p []byte, off int64) (int, error) {
	if l.strict(p, off) == nil {
		return len(p), nil
	}
	for done := 0; done < len(p); {
		n := min(len(p)-done, 512-int((off+int64(done))%512))
		part := p[done : done+n]
		if l.strict(part, off+int64(done)) != nil {
			clear(part)
			l.failed += int64(n)
		}
		done += n
	}
	return len(p), nil
}
