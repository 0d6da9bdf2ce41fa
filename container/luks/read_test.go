package luks

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"coffer/container/block/blocktest"
	"coffer/container/kdf"
)

// unlock tries a passphrase on an image in memory.
func unlock(t testing.TB, img []byte, passphrase string, slot int) error {
	t.Helper()
	h, err := Read(bytes.NewReader(img))
	if err != nil {
		t.Fatal(err)
	}
	k, _, err := h.Unlock(context.Background(), bytes.NewReader(img), kdf.InProcess{}, kdf.DefaultLimits(), []byte(passphrase), slot)
	k.Destroy()
	return err
}

// TestImages opens the images of the cryptsetup project, or refuses them for
// the right reason.
func TestImages(t *testing.T) {
	const pass = "Qx3qn46vq0v"
	for _, c := range []struct {
		image, passphrase string
		slot              int
		unlock            error // of Unlock
		supported         string
	}{
		{"mda/test_image_32.gz", pass, AnySlot, nil, ""},
		{"mda/test_image_256.gz", pass, AnySlot, nil, ""},
		{"mda/test_image_1024.gz", pass, AnySlot, nil, ""},
		{"mda/test_image_1024.gz", pass + "x", AnySlot, ErrWrongKey, ""},
		{"luks2_header_requirements_free.gz", "blablabl", AnySlot, nil, ""},
		{"luks2_header_requirements.gz", "blablabl", AnySlot, nil, `requires "req0"`},
		{"luks2_invalid_cipher.img.gz", "93R4P4pIqAH8", AnySlot, nil, `cipher "capi:xts(ecb(aes-generic))-plain64"`},
		{"luks2_keyslot_unassigned.img.gz", "compatkey", AnySlot, nil, ""},
		{"luks2_keyslot_unassigned.img.gz", "93R4P4pIqAH8", AnySlot, ErrWrongKey, ""},
		{"luks2_keyslot_unassigned.img.gz", "93R4P4pIqAH8", 1, ErrNoSlot, ""},
		{"compatimage2.img.gz", "compatkey", AnySlot, ErrUnsupported, `cipher "aes-cbc-essiv:sha256"`},
	} {
		img := unpack(t, c.image)
		if err := unlock(t, img, c.passphrase, c.slot); !errors.Is(err, c.unlock) {
			t.Errorf("%s, %q: %v, want %v", c.image, c.passphrase, err, c.unlock)
		}
		h, err := Read(bytes.NewReader(img))
		if err != nil {
			t.Fatal(err)
		}
		err = h.Supported()
		if (err == nil) != (c.supported == "") || (err != nil && (!strings.Contains(err.Error(), c.supported) || !errors.Is(err, ErrUnsupported))) {
			t.Errorf("%s: supported %v, want %q", c.image, err, c.supported)
		}
	}
}

// TestRefusals: features that are not supported are named, wherever they
// appear, and hostile parameters are refused before they cost anything.
func TestRefusals(t *testing.T) {
	dev, _ := makeContainer(t, smallOptions())
	img := contents(dev)
	argon := `{"type":"argon2id","time":%d,"memory":%d,"cpus":%d,"salt":"QUJDREVGR0hJSktM"}`
	for _, c := range []struct {
		edits []string
		want  string
	}{
		{[]string{"segments.0.integrity", `{"type":"hmac(sha256)","journal_encryption":"none","journal_integrity":"none"}`}, "hmac(sha256)"},
		{[]string{"segments.0.encryption", `"serpent-xts-plain64"`}, "serpent-xts-plain64"},
		{[]string{"segments.0.flags", `["in-reencryption"]`}, "in-reencryption"},
		{[]string{"segments.0.type", `"linear"`}, "linear"},
		{[]string{"segments.0.iv_tweak", `"18446744073709551615"`}, "iv_tweak"},
		{[]string{"segments.0.size", `"18446744073709551104"`}, "image cut short"},
		{[]string{"segments.0.offset", `"1152921504606846976"`}, "image cut short"},
		{[]string{"segments.1", `{"type":"linear","offset":"1052672","size":"512"}`, "segments.0.size", `"512"`}, "2 segments"},
		{[]string{"segments.1", `{"type":"linear","offset":"1048576","size":"512","flags":["backup-final"]}`}, "reencryption"},
		{[]string{"config.requirements", `{"mandatory":["opal","online-reencrypt-v2"]}`}, "opal"},
		{[]string{"keyslots.0.kdf", fmt.Sprintf(argon, 1, 2<<20, 1)}, `"memory"`},
		{[]string{"keyslots.0.kdf", fmt.Sprintf(argon, 2147483647, 1<<20, 1)}, `"time"`},
		{[]string{"keyslots.0.kdf", fmt.Sprintf(argon, 1, 1<<20, 200)}, `"cpus"`},
		{[]string{"keyslots.0.kdf", `{"type":"pbkdf2","hash":"sha256","iterations":2147483647,"salt":"QUJD"}`}, `"iterations"`},
		{[]string{"keyslots.0.kdf", `{"type":"pbkdf2","hash":"whirlpool","iterations":1000,"salt":"QUJD"}`}, "whirlpool"},
		{[]string{"keyslots.0.kdf", `{"type":"scrypt"}`}, "scrypt"},
		{[]string{"keyslots.0.af.stripes", `2147483647`}, "2147483647 stripes"},
		{[]string{"keyslots.0.key_size", `512`}, "4096 bits"},
		{[]string{"keyslots.0.area.encryption", `"aes-cbc-essiv:sha256"`}, "aes-cbc-essiv"},
		{[]string{"keyslots.0.area.size", `"4096"`}, "too small"},
		{[]string{"keyslots.0.area.key_size", `48`}, "384 bits"},
		{[]string{"digests.0.iterations", `2147483647`}, `"iterations"`},
		{[]string{"digests.0.type", `"sum"`}, `"sum"`},
	} {
		h, err := Read(bytes.NewReader(img))
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(c.edits); i += 2 {
			edit(t, h.root, c.edits[i], c.edits[i+1])
		}
		mutant := withJSON(t, img, h, h.root.appendJSON(nil))
		if h, err = Read(bytes.NewReader(mutant)); err != nil {
			t.Errorf("%v: %v", c.edits, err)
			continue
		}
		_, err = h.Payload(int64(len(mutant)))
		if err == nil {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			err = unlock(t, mutant, "pass 0", AnySlot)
			runtime.ReadMemStats(&after)
			if grown := after.TotalAlloc - before.TotalAlloc; grown > 8<<20 || time.Since(start) > time.Second {
				t.Errorf("%v: %d bytes allocated, %v", c.edits, grown, time.Since(start))
			}
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.edits, err, c.want)
		}
	}
}

// contents is a device as bytes.
func contents(dev *blocktest.Mem) []byte {
	b := make([]byte, dev.Size())
	if _, err := dev.ReadAt(b, 0); err != nil && err != io.EOF {
		panic(err)
	}
	return b
}

// TestFlips: no flipped byte of a header is ever taken for good: either the
// other copy serves, or nothing does.
func TestFlips(t *testing.T) {
	dev, key := makeContainer(t, smallOptions())
	img := contents(dev)
	r := mathrand.New(mathrand.NewPCG(1, 0))
	for i := range 400 {
		off := i % 600 // the binary header, densely
		if i >= 200 {
			off = r.IntN(16 << 10)
		}
		bit := byte(1) << r.IntN(8)
		for _, copies := range [][]int{{0}, {16 << 10}, {0, 16 << 10}} {
			bad := bytes.Clone(img)
			for _, start := range copies {
				bad[start+off] ^= bit
			}
			h, err := Read(bytes.NewReader(bad))
			if len(copies) == 2 {
				if err == nil {
					t.Fatalf("byte %d flipped in both copies was not noticed", off)
				}
				continue
			}
			if err != nil {
				t.Fatalf("byte %d of the copy at %d: %v", off, copies[0], err)
			}
			if !h.NeedsRepair() {
				t.Fatalf("byte %d of the copy at %d: not noticed", off, copies[0])
			}
			mem := load(t, bad)
			if err := h.Repair(mem); err != nil {
				t.Fatal(err)
			}
			if h, err = Read(mem); err != nil || h.NeedsRepair() {
				t.Fatalf("after repair: %v", err)
			}
			if i%50 == 0 {
				if ok, err := opens(h, mem, "pass 0", key); !ok || err != nil {
					t.Fatalf("byte %d: does not open after repair: %v", off, err)
				}
			}
		}
	}
}

// load makes a device with the given content.
func load(t testing.TB, img []byte) *blocktest.Mem {
	t.Helper()
	m := blocktest.NewMem(int64(len(img)))
	if _, err := m.WriteAt(img, 0); err != nil {
		t.Fatal(err)
	}
	return m
}

// TestKeyslotDamage: a damaged area is a wrong key, other slots go on working.
func TestKeyslotDamage(t *testing.T) {
	dev, key := makeContainer(t, smallOptions())
	h, err := Read(dev)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.AddKey(context.Background(), dev, kdf.InProcess{}, key, cheap, []byte("pass 1"), AnySlot); err != nil {
		t.Fatal(err)
	}
	if _, err := dev.WriteAt([]byte{1, 2, 3}, int64(h.meta.keyslots[0].area.offset)+100_000); err != nil {
		t.Fatal(err)
	}
	if ok, _ := opens(h, dev, "pass 0", key); ok {
		t.Error("a slot with damaged material opens")
	}
	if ok, err := opens(h, dev, "pass 1", key); !ok || err != nil {
		t.Error("the other slot does not open", err)
	}
}

// TestStale: of two good copies the newer one wins, and the older is mended.
func TestStale(t *testing.T) {
	dev, key := makeContainer(t, smallOptions())
	old := contents(dev)[:32<<10]
	h, err := Read(dev)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.AddKey(context.Background(), dev, kdf.InProcess{}, key, cheap, []byte("pass 1"), AnySlot); err != nil {
		t.Fatal(err)
	}
	for _, off := range []int64{0, 16 << 10} {
		if _, err := dev.WriteAt(old[off:off+16<<10], off); err != nil {
			t.Fatal(err)
		}
		h, err := Read(dev)
		if err != nil {
			t.Fatal(err)
		}
		if got := []CopyState{h.Primary, h.Secondary}[off/(16<<10)]; got != CopyStale {
			t.Errorf("old copy at %d is %s", off, got)
		}
		if len(h.Slots()) != 2 {
			t.Errorf("the old copy at %d won", off)
		}
		if err := h.Repair(dev); err != nil {
			t.Fatal(err)
		}
	}
}

// TestForeignStart: a first copy that was overwritten by a boot sector is not
// "repaired" over whatever is there now.
func TestForeignStart(t *testing.T) {
	dev, _ := makeContainer(t, smallOptions())
	sector := make([]byte, 512)
	copy(sector, "\xebX\x90MSDOS5.0")
	sector[510], sector[511] = 0x55, 0xaa
	if _, err := dev.WriteAt(sector, 0); err != nil {
		t.Fatal(err)
	}
	h, err := Read(dev)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Repair(dev); !errors.Is(err, ErrForeignStart) {
		t.Errorf("repair: %v", err)
	}
	if err := h.RemoveKey(dev, 0, true); !errors.Is(err, ErrForeignStart) {
		t.Errorf("remove: %v", err)
	}
	if got := contents(dev)[:512]; !bytes.Equal(got, sector) {
		t.Error("the boot sector was overwritten")
	}
}

// TestKeepsUnknown: a rewrite keeps members, tokens and numbers that this
// package does not understand, in their order.
func TestKeepsUnknown(t *testing.T) {
	dev, key := makeContainer(t, smallOptions())
	h, err := Read(dev)
	if err != nil {
		t.Fatal(err)
	}
	edit(t, h.root, "tokens.5", `{"type":"systemd-tpm2","keyslots":["0"],"blob":"\u00e4\\\/\n","n":[1.50,-0,1e3,null,true]}`)
	edit(t, h.root, "future", `{"z":1,"a":{"deep":[[["x"]]]}}`)
	edit(t, h.root, "keyslots.0.priority", `2`)
	edit(t, h.root, "segments.0.comment", `"kept"`)
	img := withJSON(t, contents(dev), h, h.root.appendJSON(nil))
	dev = load(t, img)
	if h, err = Read(dev); err != nil {
		t.Fatal(err)
	}
	if err := h.ChangeKey(context.Background(), dev, kdf.InProcess{}, key, cheap, []byte("pass 1"), 0); err != nil {
		t.Fatal(err)
	}
	if h, err = Read(dev); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"5":{"type":"systemd-tpm2","keyslots":["0"],"blob":"ä\\/\n","n":[1.50,-0,1e3,null,true]}`,
		`"future":{"z":1,"a":{"deep":[[["x"]]]}}`, `"comment":"kept"`, `"priority":2`} {
		if !bytes.Contains(h.text, []byte(want)) {
			t.Errorf("%s is not in\n%s", want, h.text)
		}
	}
}

// TestAF: split and merge are inverse for every hash, a single wrong bit gives
// another key, and the diffusion is the specification's.
func TestAF(t *testing.T) {
	for _, name := range []string{"sha1", "sha256", "sha512", "ripemd160"} {
		newHash, err := kdf.Hash(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{16, 32, 64} {
			key, got, material := make([]byte, n), make([]byte, n), make([]byte, n*afStripes)
			if _, err := rand.Read(key); err != nil {
				t.Fatal(err)
			}
			if err := afSplit(material, key, newHash); err != nil {
				t.Fatal(err)
			}
			if afMerge(got, material, newHash); !bytes.Equal(got, key) {
				t.Errorf("%s, %d bytes: merged to another key", name, n)
			}
			material[n*1234] ^= 1
			if afMerge(got, material, newHash); bytes.Equal(got, key) {
				t.Errorf("%s, %d bytes: a flipped bit does not matter", name, n)
			}
		}
	}
	// diffuse of 40 bytes with SHA-256: H(0 || first 32), then H(1 || last 8) cut to 8.
	in := []byte("0123456789abcdefghijklmnopqrstuvwxyzABCD")
	a, b := sha256.Sum256(append([]byte{0, 0, 0, 0}, in[:32]...)), sha256.Sum256(append([]byte{0, 0, 0, 1}, in[32:]...))
	diffuse(in, sha256.New(), nil)
	if !bytes.Equal(in, append(a[:], b[:8]...)) {
		t.Errorf("diffuse gives %x", in)
	}
}

// TestPlainText: nothing of the payload's key, the passphrase or the label
// beyond its field is in a new image, and no 16 bytes repeat between two.
func TestPlainText(t *testing.T) {
	o := smallOptions()
	o.Label = "a label 1234"
	a, key := makeContainer(t, o)
	b, _ := makeContainer(t, o)
	x, y := contents(a), contents(b)
	for name, secret := range map[string][]byte{"key": key[:16], "second half": key[48:], "passphrase": []byte("pass 0")} {
		if bytes.Contains(x, secret) {
			t.Errorf("%s is in the image", name)
		}
	}
	if n := bytes.Count(x, []byte(o.Label)); n != 2 {
		t.Errorf("label is there %d times", n)
	}
	// Key material: no 16-byte block in common.
	blocks := map[string]bool{}
	for off := 32 << 10; off < 32<<10+256_000; off += 16 {
		blocks[string(x[off:off+16])] = true
	}
	if len(blocks) != 16_000 {
		t.Errorf("key material has %d different blocks of 16000", len(blocks))
	}
	for off := 32 << 10; off < 32<<10+256_000; off += 16 {
		if blocks[string(y[off:off+16])] {
			t.Fatal("two images share a block")
		}
	}
}
