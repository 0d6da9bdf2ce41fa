package container

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"golang.org/x/crypto/xts"

	"crypto/aes"

	"coffer/container/block"
	"coffer/container/block/blocktest"
)

// testKey is an AES-256-XTS key that is not all alike.
func testKey() []byte {
	key := make([]byte, 64)
	rand.NewChaCha8([32]byte{7}).Read(key)
	return key
}

// memVolume is an encrypted volume of size bytes over a device in memory with
// a payload that does not begin at 0.
func memVolume(t testing.TB, dev block.Device, unit int) *Volume {
	t.Helper()
	v, err := newVolume(dev, layout{base: 8192, size: dev.Size() - 8192, unit: unit, tweak: 5}, testKey())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = v.Close() })
	return v
}

// TestVolumeCiphertext compares what reaches the device with an independent
// implementation of XTS, numbered as LUKS2 demands.
func TestVolumeCiphertext(t *testing.T) {
	for _, unit := range []int{512, 1024, 2048, 4096} {
		dev := blocktest.NewMem(64 << 10)
		v := memVolume(t, dev, unit)
		plain := make([]byte, v.Size())
		rand.NewChaCha8([32]byte{1}).Read(plain)
		if n, err := v.WriteAt(plain, 0); n != len(plain) || err != nil {
			t.Fatal(n, err)
		}
		oracle, err := xts.NewCipher(aes.NewCipher, testKey())
		if err != nil {
			t.Fatal(err)
		}
		want := make([]byte, unit)
		for off := 0; off < len(plain); off += unit {
			oracle.Encrypt(want, plain[off:off+unit], 5+uint64(off)/512)
			got := make([]byte, unit)
			if _, err := dev.ReadAt(got, 8192+int64(off)); (err != nil && err != io.EOF) || !bytes.Equal(got, want) {
				t.Fatalf("unit size %d, payload byte %d: ciphertext differs (%v)", unit, off, err)
			}
		}
		if before := make([]byte, 8192); func() bool { _, _ = dev.ReadAt(before, 0); return !bytes.Equal(before, make([]byte, 8192)) }() {
			t.Error("wrote before the payload")
		}
	}
}

// TestVolumeModel does random reads and writes of every alignment and length,
// across the chunk and parallel thresholds, against a plain byte slice.
func TestVolumeModel(t *testing.T) {
	rounds := 1500
	if testing.Short() {
		rounds = 300
	}
	for _, unit := range []int{512, 4096} {
		const size = 3 << 20
		v := memVolume(t, blocktest.NewMem(size+8192), unit)
		model := make([]byte, size)
		if _, err := v.WriteAt(model, 0); err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(1, uint64(unit)))
		source := rand.NewChaCha8([32]byte{2})
		for i := range rounds {
			n := r.IntN([]int{16, 600, 5000, 300_000, 2 << 20}[r.IntN(5)]) + 1
			off := r.Int64N(size - int64(n) + 1)
			if r.IntN(3) == 0 {
				off -= off % 512
			}
			if r.IntN(2) == 0 {
				p := model[off : off+int64(n)]
				source.Read(p)
				if got, err := v.WriteAt(bytes.Clone(p), off); got != n || err != nil {
					t.Fatalf("round %d: write %d at %d: %d %v", i, n, off, got, err)
				}
				continue
			}
			p := make([]byte, n)
			if got, err := v.ReadAt(p, off); got != n || (err != nil && err != io.EOF) || !bytes.Equal(p, model[off:off+int64(n)]) {
				t.Fatalf("round %d, unit %d: read %d at %d: %d %v", i, unit, n, off, got, err)
			}
		}
		all := make([]byte, size)
		if _, err := v.ReadAt(all, 0); err != nil && err != io.EOF || !bytes.Equal(all, model) {
			t.Fatalf("unit %d: content differs at the end (%v)", unit, err)
		}
	}
}

// TestVolumeSharedUnits has goroutines write disjoint ranges that share data
// units, at the same time: none may lose another's bytes.
func TestVolumeSharedUnits(t *testing.T) {
	const writers, size = 8, 256 << 10
	v := memVolume(t, blocktest.NewMem(size+8192), 4096)
	if _, err := v.WriteAt(make([]byte, size), 0); err != nil {
		t.Fatal(err)
	}
	// Pieces of 100 bytes, dealt out in turn: every unit has all the writers.
	const piece = 100
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := w; (i+1)*piece <= size; i += writers {
				if _, err := v.WriteAt(bytes.Repeat([]byte{byte(w + 1)}, piece), int64(i*piece)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	got := make([]byte, size)
	if _, err := v.ReadAt(got, 0); err != nil && err != io.EOF {
		t.Fatal(err)
	}
	for i := range size / piece {
		for _, b := range got[i*piece : (i+1)*piece] {
			if b != byte(i%writers+1) {
				t.Fatalf("piece %d of writer %d was lost: %d", i, i%writers+1, b)
			}
		}
	}
}

func TestVolumeRanges(t *testing.T) {
	v := memVolume(t, blocktest.NewMem(16<<10), 4096)
	for _, c := range []struct {
		off int64
		n   int
	}{{-1, 10}, {8192, 1}, {8191, 2}, {1 << 62, 1}, {0, 8193}} {
		if n, err := v.WriteAt(make([]byte, c.n), c.off); n != 0 || !errors.Is(err, block.ErrOutOfRange) {
			t.Errorf("write %d at %d: %d %v", c.n, c.off, n, err)
		}
	}
	if n, err := v.ReadAt(make([]byte, 10), 8190); n != 2 || err != io.EOF {
		t.Errorf("read over the end: %d %v", n, err)
	}
	if n, err := v.ReadAt(make([]byte, 10), 8192); n != 0 || err != io.EOF {
		t.Errorf("read at the end: %d %v", n, err)
	}
	if _, err := v.ReadAt(make([]byte, 10), -1); !errors.Is(err, block.ErrOutOfRange) {
		t.Errorf("read before the start: %v", err)
	}
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"write": second(v.WriteAt([]byte{1}, 0)), "read": second(v.ReadAt([]byte{1}, 0)), "sync": v.Sync(),
		"discard": v.Discard(0, 1), "prefetch": v.Prefetch(0, 1),
	} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("%s after close: %v", name, err)
		}
	}
}

func second(_ int, err error) error { return err }

// TestVolumeFaults fails every read and write of the device in turn: the
// operation must say so, count only whole work, and touch nothing else.
func TestVolumeFaults(t *testing.T) {
	const size = 3 << 20
	for _, op := range []blocktest.Op{blocktest.OpRead, blocktest.OpWrite} {
		for nth := range 16 {
			mem := blocktest.NewMem(size + 8192)
			fault := blocktest.NewFault(mem)
			v := memVolume(t, fault, 4096)
			base := bytes.Repeat([]byte("0123456789abcdef"), size/16)
			if _, err := v.WriteAt(base, 0); err != nil {
				t.Fatal(err)
			}
			const off, n = 4000, 2<<20 + 300
			fault.Inject(blocktest.Injection{Op: op, Nth: nth, Err: syscall.EIO})
			var got int
			var err error
			p := bytes.Repeat([]byte{'x'}, n)
			if op == blocktest.OpWrite {
				got, err = v.WriteAt(p, off)
			} else {
				got, err = v.ReadAt(p, off)
			}
			if fault.Fired() == 0 {
				if err != nil || got != n {
					t.Fatalf("%v %d: no fault, but %d %v", op, nth, got, err)
				}
				continue
			}
			if !errors.Is(err, syscall.EIO) || got < 0 || got >= n {
				t.Fatalf("%v %d: %d %v", op, nth, got, err)
			}
			if op == blocktest.OpRead {
				if !bytes.Equal(p[:got], base[off:off+got]) {
					t.Fatalf("read %d: the %d bytes reported are wrong", nth, got)
				}
				continue
			}
			fault.Heal()
			all := make([]byte, size)
			if _, err := v.ReadAt(all, 0); err != nil && err != io.EOF {
				t.Fatal(err)
			}
			if !bytes.Equal(all[:off], base[:off]) || !bytes.Equal(all[off+n:], base[off+n:]) || !bytes.Equal(all[off:off+got], p[:got]) {
				t.Fatalf("write %d: bytes outside the request changed, or reported ones are missing", nth)
			}
		}
	}
}

// TestVolumeSync: a failed sync is told to everyone and sticks; a full host
// does not; reads go on.
func TestVolumeSync(t *testing.T) {
	fault := blocktest.NewFault(blocktest.NewMem(64 << 10))
	v := memVolume(t, fault, 512)
	if _, err := v.WriteAt([]byte("data"), 3); err != nil {
		t.Fatal(err)
	}
	fault.Inject(blocktest.Injection{Op: blocktest.OpSync, Err: syscall.ENOSPC})
	if err := v.Sync(); !errors.Is(err, ErrNoSpace) && !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("sync on a full host: %v", err)
	}
	if err := v.Sync(); err != nil {
		t.Fatalf("sync after space was freed: %v", err)
	}
	fault.Inject(blocktest.Injection{Op: blocktest.OpSync, Err: syscall.EIO})
	var failed atomic.Int32
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if errors.Is(v.Sync(), syscall.EIO) {
				failed.Add(1)
			}
		})
	}
	wg.Wait()
	if failed.Load() != 4 {
		t.Errorf("%d of 4 syncs failed", failed.Load())
	}
	fault.Heal()
	if _, err := v.WriteAt([]byte{1}, 0); !errors.Is(err, syscall.EIO) {
		t.Errorf("write after a failed sync: %v", err)
	}
	if err := v.Sync(); !errors.Is(err, syscall.EIO) {
		t.Errorf("sync after a failed sync: %v", err)
	}
	if v.Err() == nil {
		t.Error("no sticky error")
	}
	got := make([]byte, 4)
	if _, err := v.ReadAt(got, 3); err != nil || string(got) != "data" {
		t.Errorf("read after a failed sync: %q %v", got, err)
	}
}

// TestSyncGroup: a caller never gets the result of a sync that began before
// its call, and callers do share.
func TestSyncGroup(t *testing.T) {
	var g syncGroup
	var runs atomic.Int64
	var started, finished atomic.Int64
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for range 50 {
				before := started.Load()
				_ = g.do(func() error {
					started.Add(1)
					runs.Add(1)
					finished.Add(1)
					return nil
				})
				if finished.Load() <= before {
					t.Error("no sync began and ended after the call")
				}
			}
		})
	}
	wg.Wait()
	if runs.Load() > 16*50 {
		t.Errorf("%d syncs", runs.Load())
	}
}

// settle waits until all hints have been given.
func settle(h *hints) {
	done := make(chan struct{})
	h.jobs <- func() { close(done) }
	<-done
}

// TestReadAhead: the host is asked to read ahead of a sequential reader, without gaps and not too far, and not of
// one that jumps.
func TestReadAhead(t *testing.T) {
	const base, step, length = 1 << 20, 64 << 10, 8 << 20
	r := new(recorder)
	h := newHints(r, base)
	for off := int64(0); off < length; off += step {
		before := len(r.ahead)
		h.read(off, step)
		h.read(off*7%(1<<30)+9<<30, 4096)
		settle(h)
		if next := base + off + step; len(r.ahead) > before {
			last := r.ahead[len(r.ahead)-1]
			if end := last[0] + last[1]; end != next+aheadBytes {
				t.Errorf("at %d the host reads up to %d", next, end)
			}
		}
	}
	h.stop()
	if len(r.ahead) < length/aheadBytes || r.ahead[0][0] != base+aheadAfter {
		t.Fatalf("%v", r.ahead)
	}
	for i, a := range r.ahead[1:] {
		if before := r.ahead[i]; a[0] != before[0]+before[1] {
			t.Errorf("%v then %v", before, a)
		}
	}
}

// TestFollow: streams are recognised among each other.
func TestFollow(t *testing.T) {
	var s []stream
	for i := range int64(3) {
		s = follow(s, i*100, 100)
		s = follow(s, 1000+i*10, 10)
	}
	if len(s) != 2 || s[0] != (stream{start: 0, next: 300}) || s[1] != (stream{start: 1000, next: 1030, done: 1000}) {
		t.Errorf("%+v", s)
	}
	for i := range int64(10) {
		s = follow(s, 5000*(i+1), 1)
	}
	if len(s) != maxStreams {
		t.Errorf("%d streams", len(s))
	}
}

// recorder notes the hints it is given.
type recorder struct{ dropped, ahead [][2]int64 }

func (r *recorder) StartWriteback(int64, int64) error { return nil }
func (r *recorder) Prefetch(off, n int64) error {
	r.ahead = append(r.ahead, [2]int64{off, n})
	return nil
}
func (r *recorder) DropCache(off, n int64) error {
	r.dropped = append(r.dropped, [2]int64{off, n})
	return nil
}

// TestDropBehind: only what lies well behind a long sequential reader is
// dropped, without gaps, and never what another reader is at.
func TestDropBehind(t *testing.T) {
	const base, step = 1 << 20, 1 << 20
	for _, length := range []int64{dropAfter - step, dropAfter + 40<<20} {
		r := new(recorder)
		h := newHints(r, base)
		for off := int64(0); off < length; off += step {
			h.read(5<<30+off, step)
			h.read(off*7%(1<<30)+9<<30, 4096) // somebody else, here and there
			settle(h)
		}
		h.stop()
		if length < dropAfter {
			if len(r.dropped) != 0 {
				t.Errorf("a short stream: dropped %v", r.dropped)
			}
			continue
		}
		if len(r.dropped) == 0 {
			t.Fatal("nothing was dropped")
		}
		next := int64(base + 5<<30 + dropAfter - step - dropBytes)
		for _, d := range r.dropped {
			if d[0] != next || d[1] < dropBytes {
				t.Fatalf("dropped %v, expected to go on at %d", r.dropped, next)
			}
			next += d[1]
		}
		if end := base + 5<<30 + length; next > end-dropBytes || next < end-3*dropBytes {
			t.Errorf("dropped up to %d of %d", next, end)
		}
	}
}
