package fat32

import (
	"errors"
	"fmt"
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"
)

// MountOptions say how a volume is used.
type MountOptions struct {
	ReadOnly bool             // never write a byte
	Location *time.Location   // zone of the times in entries; nil is time.Local
	Now      func() time.Time // nil is time.Now
	// CommitInterval is how long a change may stay in memory only; 0 is 5 s,
	// negative means until Sync, Close or too much dirty.
	CommitInterval time.Duration
}

const defaultCommitInterval = 5 * time.Second

// Volume is a mounted FAT volume. All methods are safe for concurrent use.
type Volume struct {
	dev      Device
	behind   *behind       // is dev then; nil on transactional devices and if read-only
	txn      Transactional // nil on plain devices
	loose    looseSet
	discard  Discarder // nil if the device has no use for it
	geo      Geometry
	boot     *bootSector
	shift    uint // log2 of the cluster size
	loc      *time.Location
	now      func() time.Time
	readOnly bool
	wasDirty bool
	interval time.Duration

	gate    sync.RWMutex
	gen     atomic.Uint64 // flush generation that takes new changes; changes under the exclusive gate
	durable atomic.Uint64 // last generation that is durable

	ns    sync.RWMutex
	root  *node
	table nodeTable
	ids   idTable
	// dirMoveGen is the last generation in which a directory on the disk changed its parent.
	dirMoveGen uint64
	seed       maphash.Seed

	alloc allocator
	fat   fatCache
	dirty dirtySet
	scan  scanner
	fl    flusher

	traffic traffic

	markMu sync.Mutex
	marked atomic.Bool                   // the disk says "in use"
	frozen atomic.Pointer[chan struct{}] // not nil: no operation begins until the channel is closed
	closed atomic.Bool
	failed atomic.Pointer[error]
	stop   chan struct{}
	kick   chan struct{}
	done   sync.WaitGroup
}

// Mount opens the FAT volume that begins at offset 0 of dev. The device stays
// the caller's and must outlive the volume. It reads little; the
// FAT is scanned for free clusters in the background.
func Mount(dev Device, o MountOptions) (*Volume, error) {
	boot, err := parseBoot(dev)
	if err != nil {
		return nil, fmt.Errorf("mount: %w", err)
	}
	v := &Volume{dev: dev, boot: boot, geo: boot.Geometry, loc: o.Location, now: o.Now, readOnly: o.ReadOnly, interval: o.CommitInterval}
	if v.loc == nil {
		v.loc = time.Local
	}
	if v.now == nil {
		v.now = time.Now
	}
	if v.interval == 0 {
		v.interval = defaultCommitInterval
	}
	if !o.ReadOnly {
		v.txn, _ = dev.(Transactional)
		v.discard, _ = dev.(Discarder)
	}
	if !o.ReadOnly && v.txn == nil {
		v.behind = newBehind(dev, v.fail)
		v.dev = v.behind
	}
	v.shift = v.geo.clusterShift()
	v.seed = maphash.MakeSeed()
	v.gen.Store(1)
	v.ids.init()
	v.fat.init(dev, &v.geo)
	v.fl.init()
	v.stop, v.kick = make(chan struct{}), make(chan struct{}, 1)
	v.root = &node{id: rootID, isDir: true, attr: AttrDirectory, start: v.geo.RootCluster, onDisk: true}
	v.root.pins.Store(1)
	v.addNodeLocked(v.root, nil, -1)
	if v.wasDirty, err = v.readDirty(); err != nil {
		return nil, fmt.Errorf("mount: %w", err)
	}
	if err := v.loadDir(v.root); err != nil {
		return nil, fmt.Errorf("mount: root directory: %w", err)
	}
	if !v.readOnly {
		v.startScan()
		if v.interval > 0 {
			v.done.Go(v.background)
		}
	}
	return v, nil
}

// Geometry returns type, sizes and places of the volume.
func (v *Volume) Geometry() Geometry { return v.geo }

// SerialNumber returns the volume's serial number, 0 if it has none.
func (v *Volume) SerialNumber() uint32 { return v.boot.serial }

// WasDirty reports whether the volume was not unmounted cleanly before this mount.
func (v *Volume) WasDirty() bool { return v.wasDirty }

// Err returns the error that turned the volume read-only, nil if none did.
func (v *Volume) Err() error {
	if p := v.failed.Load(); p != nil {
		return *p
	}
	return nil
}

// fail turns the volume read-only for good.
func (v *Volume) fail(err error) {
	v.failed.CompareAndSwap(nil, &err)
}

// writable tells why nothing can be changed, if so.
func (v *Volume) writable() error {
	if v.closed.Load() {
		return fmt.Errorf("volume: %w", ErrClosed)
	}
	if v.readOnly {
		return ErrReadOnly
	}
	if err := v.Err(); err != nil {
		return fmt.Errorf("%w since an earlier error: %w", ErrReadOnly, err)
	}
	return nil
}

// StatFS tells sizes of a volume.
type StatFS struct {
	TotalBytes  int64 // data clusters
	FreeBytes   int64 // what new files can take
	ClusterSize int   // bytes
}

// StatFS returns exact figures; just after mounting a large volume it waits for the scan of the FAT.
func (v *Volume) StatFS() StatFS {
	if v.readOnly {
		v.startScan()
	}
	v.scan.wait()
	return StatFS{
		TotalBytes:  int64(v.geo.ClusterCount) << v.shift,
		FreeBytes:   v.alloc.available() << v.shift,
		ClusterSize: v.geo.ClusterSize,
	}
}

// Close writes everything out, marks the volume clean and ends its use. Open
// files become invalid. The error, if any, is the one that lost data.
func (v *Volume) Close() error {
	v.gate.Lock()
	if v.closed.Load() {
		v.gate.Unlock()
		return fmt.Errorf("close: volume: %w", ErrClosed)
	}
	v.closed.Store(true)
	v.gate.Unlock()
	close(v.stop)
	var err error
	if !v.readOnly {
		if err = v.Err(); err == nil {
			v.discardLoose()
			err = v.flush()
		}
		if err == nil {
			err = v.markClean()
		}
	}
	v.scan.cancel()
	v.done.Wait()
	if v.behind != nil {
		v.behind.stop()
	}
	if err != nil {
		return fmt.Errorf("close: %w", err)
	}
	return nil
}

// Sync returns nil when everything done before the call is durable.
func (v *Volume) Sync() error {
	if v.closed.Load() {
		return fmt.Errorf("sync: volume: %w", ErrClosed)
	}
	if v.readOnly {
		return nil
	}
	if err := v.flush(); err != nil {
		return fmt.Errorf("sync: %w", err)
	}
	return nil
}

// background flushes what has been dirty for the commit interval.
func (v *Volume) background() {
	for {
		select {
		case <-v.stop:
			return
		case <-v.kick:
		}
		t := time.NewTimer(v.interval)
		select {
		case <-v.stop:
			t.Stop()
			return
		case <-t.C:
		}
		// The error is kept by the volume if it matters, and told by the next Sync.
		_ = v.flush()
	}
}

func isCorrupt(err error) bool { return errors.Is(err, ErrCorrupt) }
