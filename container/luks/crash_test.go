package luks

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"coffer/container/block/blocktest"
	"coffer/container/kdf"
)

// cheap is the least a keyslot can cost: these tests are about the format.
var cheap = kdf.Params{Kind: kdf.Argon2id, MemoryKiB: 64, Iterations: 1, Threads: 1}

// smallOptions make a container with room for three keyslots.
func smallOptions() FormatOptions {
	return FormatOptions{HeaderSize: 16 << 10, KeyslotsBytes: 1<<20 - 32<<10, PayloadOffset: 1 << 20, SectorBytes: 512, KeyBytes: 64, KDF: cheap, digestRounds: 1000}
}

// makeContainer formats a device in memory that opens with "pass 0".
func makeContainer(t testing.TB, o FormatOptions) (dev *blocktest.Mem, key []byte) {
	t.Helper()
	dev = blocktest.NewMem(o.PayloadOffset + 64<<10)
	_, k, err := Format(context.Background(), dev, kdf.InProcess{}, o, []byte("pass 0"))
	if err != nil {
		t.Fatal(err)
	}
	defer k.Destroy()
	return dev, bytes.Clone(k.Bytes())
}

// opens tells whether a passphrase gives the key, and fails on errors other
// than a wrong key.
func opens(h *Header, dev *blocktest.Mem, passphrase string, key []byte) (bool, error) {
	k, _, err := h.Unlock(context.Background(), dev, kdf.InProcess{}, kdf.DefaultLimits(), []byte(passphrase), AnySlot)
	if err != nil {
		return false, nil
	}
	defer k.Destroy()
	if !bytes.Equal(k.Bytes(), key) {
		return false, fmt.Errorf("%q gives another key", passphrase)
	}
	return true, nil
}

// TestCrash cuts the power at every event of every key operation, with every
// kind of loss of what was not synced, and asks: does the header read, does a
// password that must work work, does a repair succeed and change nothing?
func TestCrash(t *testing.T) {
	ctx, d := context.Background(), kdf.InProcess{}
	read := func(dev *blocktest.Crash) *Header {
		h, err := Read(dev)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	add := func(dev *blocktest.Crash, key []byte, pass string) error {
		_, err := read(dev).AddKey(ctx, dev, d, key, cheap, []byte(pass), AnySlot)
		return err
	}
	for _, c := range []struct {
		name    string
		prepare func(dev *blocktest.Crash, key []byte) error
		run     func(dev *blocktest.Crash, key []byte, backup []byte) error
		before  []string // what works before; one of before and after must always work
		after   []string
		always  []string // works at every cut
		gone    string   // must not work after the end
	}{
		{
			name:   "add",
			run:    func(dev *blocktest.Crash, key, _ []byte) error { return add(dev, key, "pass 1") },
			before: []string{"pass 0"}, after: []string{"pass 0", "pass 1"}, always: []string{"pass 0"},
		},
		{
			name:    "remove",
			prepare: func(dev *blocktest.Crash, key []byte) error { return add(dev, key, "pass 1") },
			run:     func(dev *blocktest.Crash, _, _ []byte) error { return read(dev).RemoveKey(dev, 0, false) },
			before:  []string{"pass 0", "pass 1"}, after: []string{"pass 1"}, always: []string{"pass 1"}, gone: "pass 0",
		},
		{
			name: "change",
			run: func(dev *blocktest.Crash, key, _ []byte) error {
				return read(dev).ChangeKey(ctx, dev, d, key, cheap, []byte("pass 2"), 0)
			},
			before: []string{"pass 0"}, after: []string{"pass 2"}, gone: "pass 0",
		},
		{
			name: "restore",
			run: func(dev *blocktest.Crash, key, backup []byte) error {
				// The backup was made when only "pass 0" existed.
				b, err := ReadBackup(bytes.NewReader(backup), int64(len(backup)))
				if err != nil {
					return err
				}
				return b.Restore(dev, bytes.NewReader(backup), false)
			},
			prepare: func(dev *blocktest.Crash, key []byte) error {
				return read(dev).ChangeKey(ctx, dev, d, key, cheap, []byte("pass 3"), 0)
			},
			before: []string{"pass 3"}, after: []string{"pass 0"}, gone: "pass 3",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			mem, key := makeContainer(t, smallOptions())
			var backup bytes.Buffer
			if h, err := Read(mem); err != nil || h.Backup(mem, &backup) != nil {
				t.Fatal("backup", err)
			}
			if c.prepare != nil {
				if err := c.prepare(blocktest.NewCrash(mem), key); err != nil {
					t.Fatal(err)
				}
			}
			dev := blocktest.NewCrash(mem)
			if err := c.run(dev, key, backup.Bytes()); err != nil {
				t.Fatal(err)
			}
			states := 0
			for cut, m := range dev.States(blocktest.StateOptions{Subsets: 4, Torn: true}) {
				// Every 16th torn state is enough: sectors in the middle of
				// an area or of JSON padding are alike.
				if cut.Mode >= blocktest.TornLast && cut.Sectors%16 != 1 {
					continue
				}
				states++
				checkCut(t, cut, m, key, c.before, c.after, c.always)
			}
			t.Logf("%d states", states)
			if states < 10 {
				t.Errorf("only %d states", states)
			}
			h := read(dev)
			for _, p := range c.after {
				if ok, err := opens(h, dev.Live, p, key); !ok || err != nil {
					t.Errorf("after all: %q does not open (%v)", p, err)
				}
			}
			if c.gone != "" {
				if ok, _ := opens(h, dev.Live, c.gone, key); ok {
					t.Errorf("after all: %q still opens", c.gone)
				}
			}
		})
	}
}

// checkCut checks the image of one power cut.
func checkCut(t *testing.T, cut blocktest.Cut, m *blocktest.Mem, key []byte, before, after, always []string) {
	t.Helper()
	h, err := Read(m)
	if err != nil {
		t.Fatalf("%v: %v", cut, err)
	}
	working := func() map[string]bool {
		w := map[string]bool{}
		for _, p := range append(append([]string{}, before...), after...) {
			ok, err := opens(h, m, p, key)
			if err != nil {
				t.Fatalf("%v: %v", cut, err)
			}
			w[p] = w[p] || ok
		}
		return w
	}
	all := func(w map[string]bool, list []string) bool {
		for _, p := range list {
			if !w[p] {
				return false
			}
		}
		return true
	}
	any := func(w map[string]bool) bool {
		for _, ok := range w {
			if ok {
				return true
			}
		}
		return false
	}
	w := working()
	if !any(w) || !all(w, always) {
		t.Fatalf("%v: working %v, must always: %v", cut, w, always)
	}
	if err := h.Repair(m); err != nil {
		t.Fatalf("%v: repair: %v", cut, err)
	}
	if h, err = Read(m); err != nil || h.NeedsRepair() {
		t.Fatalf("%v: after repair: %v, needs repair %v", cut, err, err == nil && h.NeedsRepair())
	}
	if again := working(); fmt.Sprint(again) != fmt.Sprint(w) {
		t.Fatalf("%v: repair changed what works from %v to %v", cut, w, again)
	}
}
