package session

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"coffer/container"
	"coffer/container/block/blocktest"
	"coffer/container/kdf"
	"coffer/container/luks"
	"coffer/fat32"
)

// run is what drives one recording.
type run struct {
	t        *testing.T
	k        shape
	r        *recorder
	w        *workload
	s        *Session
	interval time.Duration
	password string
	keys     int
}

// recordWorkload makes a container, fills it a little, and records a workload on it.
func recordWorkload(t *testing.T, k shape, seed uint64) *powercut {
	path := makeImage(t, k, "first")
	base := fillBase(t, k, path, seed)
	r := record(t, path)
	h := newHistory(base)
	w := &workload{t: t, r: rand.New(rand.NewPCG(seed, 7)), h: h, log: r.Log, ids: 1000}
	d := &run{t: t, k: k, r: r, w: w, password: "first", interval: -1}
	if seed%2 == 0 {
		d.interval = 3 * time.Millisecond // flushes at any moment, beside those asked for
	}
	d.mount()
	d.mixed(45)
	w.copyIn(d.s)
	d.mixed(15)
	d.remount()
	d.mixed(25)
	if k.fill {
		w.fill("/filler")
		w.full()
		d.mixed(10)
		d.remount()
		w.full()
	}
	w.copyIn(d.s)
	d.mixed(10)
	d.unmount()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	r.complete(t)
	t.Logf("%d events, %d states of the oracle", r.Len(), len(h.states))
	return &powercut{shape: k, seed: seed, path: path, events: r.Events(), start: r.Start(), h: h, done: w.done}
}

// fillBase puts files and folders into a new volume, durably.
func fillBase(t *testing.T, k shape, path string, seed uint64) tree {
	c, err := passphrase("first")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Password.Destroy()
	v, err := container.Open(context.Background(), path, container.OpenOptions{Deriver: kdf.InProcess{}}, c)
	if err != nil {
		t.Fatal(err)
	}
	fs, err := fat32.Mount(v, fat32.MountOptions{CommitInterval: -1})
	if err != nil {
		t.Fatal(err)
	}
	w := &workload{t: t, r: rand.New(rand.NewPCG(seed, 1)), h: newHistory(tree{}), log: blocktest.NewLog(blocktest.NewMem(0)), v: fs}
	for _, folder := range []string{"/one", "/two", "/one/inner", "/a folder with a longer name"} {
		w.mkdir(folder)
	}
	for i := range 14 {
		folder := []string{"", "/one", "/two", "/one/inner", "/a folder with a longer name"}[i%5]
		w.create(w.name(folder), w.unique(w.size()), false)
	}
	if err := errors.Join(fs.Close(), v.Close()); err != nil {
		t.Fatal(err)
	}
	return w.h.now()
}

// mount opens the container over the recorder, and the volume.
func (d *run) mount() {
	d.t.Helper()
	v, err := openImage(d.r, d.password, d.k.discard)
	if err != nil {
		d.t.Fatal(err)
	}
	fs, err := fat32.Mount(v, fat32.MountOptions{CommitInterval: d.interval})
	if err != nil {
		d.t.Fatal(err)
	}
	if fs.WasDirty() {
		d.t.Fatal("the volume is dirty after a clean unmount")
	}
	d.s = &Session{Device: Device{target: Target{Path: d.r.file.Path()}, container: v}, Volume: fs}
	d.w.v = fs
}

// unmount closes everything cleanly, which acknowledges everything, and looks whether the volume is sound.
func (d *run) unmount() {
	d.t.Helper()
	found, err := readTree(d.s.Volume)
	if err != nil {
		d.t.Fatal(err)
	}
	if text := differ(found, d.w.h.now()); text != "" {
		d.t.Fatalf("without any cut: %s", text)
	}
	if err := d.s.Volume.Close(); err != nil {
		d.t.Fatal(err)
	}
	d.w.acknowledge(len(d.w.h.states) - 1)
	report, err := fat32.Check(context.Background(), d.s.container, fat32.CheckOptions{})
	if err != nil || !report.Clean() {
		d.t.Fatalf("check after a clean unmount: %v, %+v", err, report)
	}
	if err := d.s.Device.Close(); err != nil {
		d.t.Fatal(err)
	}
}

// remount closes the container, changes its keys and opens it again.
func (d *run) remount() {
	d.unmount()
	d.keys++
	added := fmt.Sprintf("added%d", d.keys)
	d.edit("maybe "+added, func(h *luks.Header, key []byte, _ int, params kdf.Params) error {
		_, err := h.AddKey(context.Background(), d.r, kdf.InProcess{}, key, params, []byte(added), luks.AnySlot)
		return err
	}, "sure "+added)
	d.mount()
	d.mixed(3)
	d.unmount()
	changed := fmt.Sprintf("changed%d", d.keys)
	d.edit("either "+d.password+" "+changed, func(h *luks.Header, key []byte, slot int, params kdf.Params) error {
		return h.ChangeKey(context.Background(), d.r, kdf.InProcess{}, key, params, []byte(changed), slot)
	}, "sure "+changed, "gone "+d.password)
	d.password = changed
	d.mount()
}

func (d *run) edit(before string, edit func(h *luks.Header, key []byte, slot int, params kdf.Params) error, after ...string) {
	d.t.Helper()
	d.r.Mark("key " + before)
	if err := editKeys(d.r, d.password, edit); err != nil {
		d.t.Fatal(err)
	}
	for _, mark := range after {
		d.r.Mark("key " + mark)
	}
}

// mixed does n operations, with a sync now and then.
func (d *run) mixed(n int) {
	for range n {
		d.w.operation()
		if d.w.r.IntN(5) == 0 {
			_ = d.w.sync() // fails the test by itself
		}
	}
}
