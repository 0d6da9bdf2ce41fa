package vfs

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"coffer/fat32"
)

// memoryDevice is a device in memory that counts what reaches it and fails when told to.
type memoryDevice struct {
	mu                           sync.Mutex
	content                      []byte
	syncs                        int
	biggestRead, biggestWrite    int
	readErr, writeErr, syncErr   error
	panicOnRead                  bool
	beforeSync                   func() // called without the lock
	writesSinceSync, writesTotal int
}

func (d *memoryDevice) ReadAt(p []byte, off int64) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.panicOnRead {
		panic("secret-name.txt cannot be read")
	}
	if d.readErr != nil {
		return 0, d.readErr
	}
	d.biggestRead = max(d.biggestRead, len(p))
	n := copy(p, d.content[off:])
	if off+int64(n) == int64(len(d.content)) {
		return n, io.EOF // as io.ReaderAt allows
	}
	return n, nil
}

func (d *memoryDevice) WriteAt(p []byte, off int64) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.writeErr != nil {
		return 0, d.writeErr
	}
	if off < 0 || off+int64(len(p)) > int64(len(d.content)) {
		return 0, errors.New("outside")
	}
	d.biggestWrite = max(d.biggestWrite, len(p))
	d.writesSinceSync++
	d.writesTotal++
	return copy(d.content[off:], p), nil
}

func (d *memoryDevice) Sync() error {
	if d.beforeSync != nil {
		d.beforeSync()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.syncs++
	if d.syncErr == nil {
		d.writesSinceSync = 0
	}
	return d.syncErr
}

// state tells how many syncs there were and how many writes since the last good one.
func (d *memoryDevice) state() (syncs, writes int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.syncs, d.writesSinceSync
}

// failSync makes syncs fail from now on; nil ends that.
func (d *memoryDevice) failSync(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.syncErr = err
}

func (d *memoryDevice) Size() int64 { return int64(len(d.content)) }

func newTestRaw(t *testing.T, device fat32.Device, o Options) *rawDevice {
	t.Helper()
	r, err := newRawDevice(device, "disk", o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRawNames(t *testing.T) {
	for _, name := range []string{"", ".", "..", "a/b", `a\b`, "a:b", "a\nb", "a\x00", strings.Repeat("x", 256)} {
		if _, err := newRawDevice(&memoryDevice{}, name, Options{}); !errors.Is(err, fat32.ErrName) {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range []string{"disk", "Über.img", strings.Repeat("x", 255)} {
		if _, err := newRawDevice(&memoryDevice{}, name, Options{}); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// TestRawAgainstModel compares random reads and writes, many across the end, with a slice.
func TestRawAgainstModel(t *testing.T) {
	const size = 100_003
	device := &memoryDevice{content: make([]byte, size)}
	r, model := newTestRaw(t, device, Options{}), make([]byte, size)
	random := rand.New(rand.NewPCG(3, 4))
	for i := range 5000 {
		off, p := random.Int64N(size+2000), make([]byte, random.IntN(5000))
		if random.IntN(2) == 0 {
			n, err := r.readAt(p, off)
			want := model[min(off, size):min(off+int64(len(p)), size)]
			if err != nil || !bytes.Equal(p[:n], want) {
				t.Fatalf("%d: read of %d at %d: %d bytes, %v; want %d", i, len(p), off, n, err, len(want))
			}
			continue
		}
		for j := range p {
			p[j] = byte(random.Uint32())
		}
		n, err := r.writeAt(p, off)
		switch want := int(max(0, min(int64(len(p)), size-off))); {
		case len(p) > 0 && off >= size:
			if n != 0 || !errors.Is(err, fat32.ErrNoSpace) {
				t.Fatalf("%d: write at %d, beyond the end: %d, %v", i, off, n, err)
			}
		case n != want || err != nil:
			t.Fatalf("%d: write of %d at %d: %d, %v; want %d", i, len(p), off, n, err, want)
		default:
			copy(model[min(off, size):], p[:n])
		}
	}
	if !bytes.Equal(device.content, model) {
		t.Error("the device differs")
	}
}

func TestRawSyncKnowsWhatIsDurable(t *testing.T) {
	device := &memoryDevice{content: make([]byte, 4096)}
	r := newTestRaw(t, device, Options{})
	if err := r.sync(); err != nil || device.syncs != 0 {
		t.Errorf("without a write: %v, %d syncs", err, device.syncs)
	}
	write := func() {
		if _, err := r.writeAt([]byte{1}, 0); err != nil {
			t.Fatal(err)
		}
	}
	write()
	// A write that returns while a sync runs is not covered by it.
	device.beforeSync = func() { device.beforeSync = nil; write() }
	if err := r.sync(); err != nil || device.syncs != 1 {
		t.Fatalf("first: %v, %d syncs", err, device.syncs)
	}
	if err := r.sync(); err != nil || device.syncs != 2 {
		t.Errorf("the write beside the first sync: %v, %d syncs", err, device.syncs)
	}
	if err := r.sync(); err != nil || device.syncs != 2 {
		t.Errorf("nothing new: %v, %d syncs", err, device.syncs)
	}
	// A second sync beside a running one must not return before the bytes are durable.
	write()
	device.beforeSync = func() {
		device.beforeSync = nil
		if err := r.sync(); err != nil || device.syncs != 3 {
			t.Errorf("beside another: %v, %d syncs: it claims what is not durable yet", err, device.syncs)
		}
	}
	if err := r.sync(); err != nil {
		t.Error(err)
	}
	write()
	device.syncErr = errors.New("no")
	for range 2 { // never "nothing new" after a failure
		if err := r.sync(); !errors.Is(err, device.syncErr) {
			t.Errorf("failed sync: %v", err)
		}
	}
}

func TestRawFailures(t *testing.T) {
	device := &memoryDevice{content: make([]byte, 4096), readErr: errors.New("bad sector"), writeErr: errors.New("bad sector")}
	r := newTestRaw(t, device, Options{})
	if n, err := r.readAt(make([]byte, 10), 4090); n != 0 || !errors.Is(err, device.readErr) {
		t.Errorf("read: %d, %v", n, err)
	}
	if n, err := r.writeAt(make([]byte, 10), 4090); n != 0 || !errors.Is(err, device.writeErr) {
		t.Errorf("write: %d, %v", n, err)
	}
	if err := r.resize(4096); err != nil {
		t.Errorf("the size it has: %v", err)
	}
	for _, size := range []int64{0, 4095, 4097, -1} {
		if err := r.resize(size); !errors.Is(err, fat32.ErrPermission) {
			t.Errorf("size %d: %v", size, err)
		}
	}
}

func TestRawReadOnly(t *testing.T) {
	device := &memoryDevice{content: make([]byte, 4096)}
	r := newTestRaw(t, device, Options{ReadOnly: true})
	if _, err := r.writeAt([]byte{1}, 0); !errors.Is(err, fat32.ErrReadOnly) {
		t.Errorf("write: %v", err)
	}
	if err := r.resize(0); !errors.Is(err, fat32.ErrReadOnly) {
		t.Errorf("resize: %v", err)
	}
	if err := r.sync(); err != nil || device.syncs != 0 || device.writesTotal != 0 {
		t.Errorf("sync: %v, %d syncs, %d writes", err, device.syncs, device.writesTotal)
	}
}

// TestRawPanic: after a panic nothing is written any more, reads go on, and the report does not say what was asked for.
func TestRawPanic(t *testing.T) {
	var reports [][]byte
	device := &memoryDevice{content: make([]byte, 4096), panicOnRead: true}
	r := newTestRaw(t, device, Options{OnPanic: func(report []byte) { reports = append(reports, report) }})
	if _, err := r.readAt(make([]byte, 10), 0); err == nil {
		t.Fatal("no error from a panic")
	}
	if len(reports) != 1 || bytes.Contains(reports[0], []byte("secret-name")) || !bytes.Contains(reports[0], []byte("readAt")) {
		t.Errorf("reports: %q", reports)
	}
	device.panicOnRead = false
	if _, err := r.readAt(make([]byte, 10), 0); err != nil {
		t.Errorf("a read afterwards: %v", err)
	}
	if _, err := r.writeAt([]byte{1}, 0); !errors.Is(err, fat32.ErrReadOnly) {
		t.Errorf("a write afterwards: %v", err)
	}
}
