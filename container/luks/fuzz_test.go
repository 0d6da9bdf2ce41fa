package luks

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"testing"

	"coffer/container/block/blocktest"
	"coffer/container/kdf"
)

// fuzzLimits keep what a mutant asks of the key derivation cheap.
var fuzzLimits = kdf.Limits{MemoryKiB: 64, WorkKiB: 128, Threads: 2, Iterations: 20, SaltBytes: 64}

// FuzzLUKS2Header feeds arbitrary bytes as an image (asJSON false) or as the
// JSON of two otherwise good header copies (true), and uses whatever reads in
// every way there is. Nothing may panic, hang or write outside the header.
func FuzzLUKS2Header(f *testing.F) {
	images, err := filepath.Glob("testdata/validation/*.gz")
	if err != nil || len(images) == 0 {
		f.Fatal("no seeds", err)
	}
	for _, name := range append([]string{"luks2_valid_hdr.img.gz"}, "validation/"+filepath.Base(images[0]), "validation/"+filepath.Base(images[len(images)-1])) {
		img := unpack(f, name)
		f.Add(false, img[:32<<10])
		if text, _, ok := bytes.Cut(img[4096:16<<10], []byte{0}); ok {
			f.Add(true, text)
		}
	}
	dev, _ := makeContainer(f, smallOptions())
	img := contents(dev)
	f.Add(false, img[:32<<10])
	text, _, _ := bytes.Cut(img[4096:], []byte{0})
	f.Add(true, text)
	h, err := Read(bytes.NewReader(img))
	if err != nil {
		f.Fatal(err)
	}
	for _, v := range verdicts {
		root := h.root.clone()
		if len(v.edits) == 2 && root.get("keyslots").get("7") == nil && !bytes.Contains([]byte(v.edits[0]), []byte("keyslots.")) {
			edit(f, root, v.edits[0], v.edits[1])
			f.Add(true, root.appendJSON(nil))
		}
	}
	f.Fuzz(func(t *testing.T, asJSON bool, data []byte) {
		if len(data) > 64<<10 {
			return
		}
		mem := blocktest.NewMem(1<<20 + 64<<10)
		if asJSON {
			bin := h.bin
			for bin.headerSize = minHeaderSize; int64(len(data)) >= bin.headerSize-binarySize; bin.headerSize *= 2 {
			}
			for _, off := range []int64{0, bin.headerSize} {
				b, err := encodeCopy(bin, off, data)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := mem.WriteAt(b, off); err != nil {
					t.Fatal(err)
				}
			}
		} else if _, err := mem.WriteAt(data, 0); err != nil {
			t.Fatal(err)
		}
		useHeader(t, mem)
	})
}

// useHeader calls everything on what a device holds.
func useHeader(t *testing.T, mem *blocktest.Mem) {
	ctx := context.Background()
	h, err := Read(mem)
	if err != nil {
		return
	}
	_ = h.Supported()
	p, err := h.Payload(mem.Size())
	if err == nil && (p.Offset < 0 || p.Size <= 0 || p.Offset+p.Size > mem.Size() || p.Size%int64(p.SectorBytes) != 0) {
		t.Fatalf("payload %+v outside a device of %d bytes", p, mem.Size())
	}
	_, _, _, _ = h.Slots(), h.UUID(), h.Label(), h.Requirements()
	k, _, _ := h.Unlock(ctx, mem, kdf.InProcess{}, fuzzLimits, []byte("pass 0"), AnySlot)
	k.Destroy()
	_ = h.Backup(mem, io.Discard)
	_ = h.Repair(mem)
	tail := make([]byte, mem.Size()-min(mem.Size(), int64(h.regionEnd())))
	_, _ = mem.ReadAt(tail, mem.Size()-int64(len(tail)))
	if id, err := h.AddKey(ctx, mem, kdf.InProcess{}, make([]byte, 64), cheap, []byte("new"), AnySlot); err == nil {
		again, err := Read(mem)
		if err != nil {
			t.Fatalf("what we wrote does not read: %v", err)
		}
		if err := again.RemoveKey(mem, id, true); err != nil {
			t.Fatal(err)
		}
		if again, err = Read(mem); err != nil || again.NeedsRepair() {
			t.Fatalf("after removing the key: %v", err)
		}
	}
	after := make([]byte, len(tail))
	_, _ = mem.ReadAt(after, mem.Size()-int64(len(after)))
	if !bytes.Equal(tail, after) {
		t.Fatal("wrote behind the keyslots region")
	}
}

// FuzzJSON: what parses is written back to something that parses to the same.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{`{}`, `[1,-0.5e+3,"\u00e4\ud83d\ude00\\\"/",null,true,{"a":{"a":[]}}]`, `"\ud800"`, `{"a":1,"a":2}`, `[[[[`, "1e", `"` + "\xff" + `"`, "{}\x00"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := parseJSON(text)
		if err != nil {
			return
		}
		out := v.appendJSON(nil)
		again, err := parseJSON(out)
		if err != nil {
			t.Fatalf("%q was written as %q: %v", text, out, err)
		}
		if twice := again.appendJSON(nil); !bytes.Equal(out, twice) {
			t.Fatalf("%q, then %q", out, twice)
		}
	})
}
