package luks

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// edit sets the member at a dotted path to a JSON text, or removes it ("-").
func edit(t testing.TB, root *value, path, text string) {
	t.Helper()
	steps := strings.Split(path, ".")
	at := root
	for _, s := range steps[:len(steps)-1] {
		if at = at.get(s); at == nil {
			t.Fatalf("no %q in the base header", path)
		}
	}
	last := steps[len(steps)-1]
	if text == "-" {
		at.remove(last)
		return
	}
	v, err := parseJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	at.set(last, v)
}

// verdicts are header mutations and what cryptsetup says to them: the mutants
// of its own test suite that are not in testdata, and more. ok is checked
// against the installed cryptsetup as well.
var verdicts = []struct {
	name  string
	edits []string // path, JSON, path, JSON, ...
	ok    bool
}{
	{"unchanged", nil, true},
	{"argon2-leftover-params", []string{"keyslots.0.kdf", `{"type":"argon2id","time":4,"memory":1024,"cpus":1,"salt":"QUJD","hash":"sha256","iterations":1000}`}, true},
	{"pbkdf2-leftover-params", []string{"keyslots.0.kdf", `{"type":"pbkdf2","hash":"sha256","iterations":1000,"salt":"QUJD","time":4,"memory":1024,"cpus":1}`}, true},
	{"pbkdf2-no-hash", []string{"keyslots.0.kdf", `{"type":"pbkdf2","iterations":1000,"salt":"QUJD"}`}, false},
	{"pbkdf2-text-iterations", []string{"keyslots.0.kdf", `{"type":"pbkdf2","hash":"sha256","iterations":"1000","salt":"QUJD"}`}, false},
	{"argon2-no-memory", []string{"keyslots.0.kdf", `{"type":"argon2id","time":4,"cpus":1,"salt":"QUJD"}`}, false},
	{"argon2-no-salt", []string{"keyslots.0.kdf", `{"type":"argon2id","time":4,"memory":1024,"cpus":1}`}, false},
	{"overlapping-areas-c0", []string{"keyslots.1.area.offset", `"32768"`}, false},
	{"area-overflow", []string{"keyslots.1.area.offset", `"18446744073709547520"`}, false},
	{"area-negative", []string{"keyslots.1.area.offset", `"-4096"`}, false},
	{"area-zero-size", []string{"keyslots.1.area.size", `"0"`}, false},
	{"area-behind-region", []string{"keyslots.7.area.offset", `"4194304"`}, false},
	{"missing-segment-referenced-in-digest", []string{"digests.0.segments", `["0","1"]`}, false},
	{"keyslot-missing-digest", []string{"digests.0.keyslots", `["0","1","2","3","4","5","6"]`}, false},
	{"keyslot-two-digests", []string{"digests.1", `{"type":"pbkdf2","keyslots":["0"],"segments":[],"hash":"sha256","iterations":1000,"salt":"QUJD","digest":"QUJDREVGR0hJSktMTU5PUA=="}`}, false},
	{"unbound-keyslot", []string{"digests.0.keyslots", `["1","2","3","4","5","6","7"]`, "digests.1", `{"type":"pbkdf2","keyslots":["0"],"segments":[],"hash":"sha256","iterations":1000,"salt":"QUJD","digest":"QUJDREVGR0hJSktMTU5PUA=="}`}, true},
	{"uint64-max-segment-size", []string{"segments.0.size", `"18446744073705357312"`, "segments.0.offset", `"4194304"`}, true},
	{"uint64-overflow-segment-size", []string{"segments.0.size", `"18446744073709551616"`}, false},
	{"segment-end-overflows", []string{"segments.0.size", `"18446744073709551104"`}, true}, // refused by Payload
	{"segment-wrong-type", []string{"segments.0.type", `42`}, false},
	{"segment-unknown-type", []string{"segments.0", `{"type":"some_type","offset":"4194304","size":"dynamic"}`}, true},
	{"segment-missing-offset", []string{"segments.0.offset", "-"}, false},
	{"segment-number-offset", []string{"segments.0.offset", "4194304"}, false},
	{"segment-missing-size", []string{"segments.0.size", "-"}, false},
	{"segment-wrong-size-0", []string{"segments.0.size", `4096`}, false},
	{"segment-wrong-size-1", []string{"segments.0.size", `"automatic"`}, false},
	{"segment-odd-size", []string{"segments.0.size", `"511"`}, false},
	{"segment-fixed-size", []string{"segments.0.size", `"1048576"`}, true},
	{"crypt-missing-ivoffset", []string{"segments.0.iv_tweak", "-"}, false},
	{"crypt-missing-sectorsize", []string{"segments.0.sector_size", "-"}, false},
	{"crypt-wrong-sectorsize-0", []string{"segments.0.sector_size", `1023`}, false},
	{"crypt-wrong-sectorsize-1", []string{"segments.0.sector_size", `"4096"`}, false},
	{"crypt-negative-sectorsize", []string{"segments.0.sector_size", `-1`}, false},
	{"crypt-sectorsize-4096", []string{"segments.0.sector_size", `4096`}, true},
	{"crypt-size-not-in-sectors", []string{"segments.0.sector_size", `4096`, "segments.0.size", `"512"`}, false},
	{"crypt-empty-encryption", []string{"segments.0.encryption", `""`}, false},
	{"segment-flags-ok", []string{"segments.0.flags", `["in-reencryption"]`}, true},
	{"segment-wrong-flags", []string{"segments.0.flags", `"hello"`}, false},
	{"segment-wrong-flags-element", []string{"segments.0.flags", `["hello",1]`}, false},
	{"segment-wrong-backup-key-0", []string{"segments.0.flags", `["backup-x","backup-y"]`}, false},
	{"segment-backup-last", []string{"segments.1", `{"type":"linear","offset":"4194304","size":"512","flags":["backup-x"]}`}, true},
	{"segment-after-backup", []string{"segments.1", `{"type":"linear","offset":"4194304","size":"512","flags":["backup-x"]}`, "segments.2", `{"type":"linear","offset":"4194816","size":"512"}`}, false},
	{"segment-gap", []string{"segments.2", `{"type":"linear","offset":"4194304","size":"512"}`}, false},
	{"segment-not-from-0", []string{"segments", `{"1":{"type":"linear","offset":"4194304","size":"dynamic"}}`, "digests.0.segments", `["1"]`}, false},
	{"segments-empty", []string{"segments", `{}`, "digests.0.segments", `[]`}, false},
	{"integrity-incomplete", []string{"segments.0.integrity", `{"type":"hmac(sha256)"}`}, false},
	{"integrity", []string{"segments.0.integrity", `{"type":"hmac(sha256)","journal_encryption":"none","journal_integrity":"none"}`}, true},
	{"invalid-keyslots-size-c0", []string{"config.keyslots_size", `"4161537"`}, false},
	{"keyslots-size-number", []string{"config.keyslots_size", `4161536`}, false},
	{"keyslots-size-over-payload", []string{"config.keyslots_size", `"4165632"`}, false},
	{"keyslots-size-huge", []string{"config.keyslots_size", `"18446744073709547520"`}, false},
	{"json-size-c2", []string{"config.json_size", `"16384"`}, false},
	{"json-size-number", []string{"config.json_size", `12288`}, false},
	{"config-missing", []string{"config", "-"}, false},
	{"config-flags", []string{"config.flags", `["allow-discards","something"]`}, true},
	{"config-wrong-flags", []string{"config.flags", `[1]`}, false},
	{"requirements", []string{"config.requirements", `{"mandatory":["a-new-feature"]}`}, true},
	{"requirements-no-array", []string{"config.requirements", `{"mandatory":"a-new-feature"}`}, false},
	{"requirements-numbers", []string{"config.requirements", `{"mandatory":[1]}`}, false},
	{"requirements-no-object", []string{"config.requirements", `[]`}, false},
	{"top-keyslots-array", []string{"keyslots", `[]`}, false},
	{"top-tokens-array", []string{"tokens", `[]`}, false},
	{"top-tokens-missing", []string{"tokens", "-"}, false},
	{"top-digests-missing", []string{"digests", "-"}, false},
	{"top-unknown", []string{"something", `{"a":[1,2.5e3,null,true]}`}, true},
	{"token", []string{"tokens.0", `{"type":"dummy","keyslots":["0"],"x":"y"}`}, true},
	{"token-no-keyslots", []string{"tokens.0", `{"type":"dummy"}`}, false},
	{"token-no-type", []string{"tokens.0", `{"keyslots":[]}`}, false},
	{"token-bad-name", []string{"tokens.x", `{"type":"dummy","keyslots":[]}`}, false},
	{"token-number-keyslot", []string{"tokens.0", `{"type":"dummy","keyslots":[0]}`}, false},
	{"keyslot-invalid-area", []string{"keyslots.0.area", `[1,2]`}, false},
	{"keyslot-no-area", []string{"keyslots.0.area", "-"}, false},
	{"keyslot-invalid-area-size", []string{"keyslots.0.area.size", `131072`}, false},
	{"keyslot-invalid-objects", []string{"keyslots", `{"0":[]}`, "digests.0.keyslots", `["0"]`}, false},
	{"keyslot-invalid-af", []string{"keyslots.0.af", `[]`}, false},
	{"keyslot-no-af-hash", []string{"keyslots.0.af", `{"type":"luks1","stripes":4000}`}, false},
	{"keyslot-no-kdf", []string{"keyslots.0.kdf", "-"}, false},
	{"keyslot-bad-name", []string{"keyslots.x", `{}`}, false},
	{"keyslot-no-type", []string{"keyslots.0.type", "-"}, false},
	{"keyslot-no-key-size", []string{"keyslots.0.key_size", "-"}, false},
	{"digest-no-type", []string{"digests.0.type", "-"}, false},
	{"digest-no-keyslots", []string{"digests.0.keyslots", "-"}, false},
	{"digest-no-segments", []string{"digests.0.segments", "-"}, false},
	{"digest-bad-reference", []string{"digests.0.keyslots", `["x"]`}, false},
}

// TestVerdicts: what we and cryptsetup say to each mutation.
func TestVerdicts(t *testing.T) {
	tool, err := exec.LookPath("cryptsetup")
	if err != nil {
		t.Fatal("cryptsetup is missing: apt-get install cryptsetup-bin")
	}
	base := unpack(t, "luks2_valid_hdr.img.gz")
	path := filepath.Join(t.TempDir(), "a.img")
	for _, v := range verdicts {
		h, err := Read(bytes.NewReader(base))
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(v.edits); i += 2 {
			edit(t, h.root, v.edits[i], v.edits[i+1])
		}
		img := withJSON(t, base, h, h.root.appendJSON(nil))
		if err := os.WriteFile(path, img, 0o600); err != nil {
			t.Fatal(err)
		}
		_, ours := Read(bytes.NewReader(img))
		out, theirs := exec.Command(tool, "luksDump", path).CombinedOutput()
		if (theirs == nil) != v.ok {
			t.Errorf("%s: the table says %v, this cryptsetup %v: %s", v.name, v.ok, theirs, out)
		}
		if (ours == nil) != v.ok || (ours != nil && !errors.Is(ours, ErrDamaged)) {
			t.Errorf("%s: want ok %v, got %v", v.name, v.ok, ours)
		}
	}
}

// withJSON returns img with both header copies holding text.
func withJSON(t testing.TB, img []byte, h *Header, text []byte) []byte {
	t.Helper()
	img = bytes.Clone(img)
	for _, off := range []int64{0, h.bin.headerSize} {
		b, err := encodeCopy(h.bin, off, text)
		if err != nil {
			t.Fatal(err)
		}
		copy(img[off:], b)
	}
	return img
}
