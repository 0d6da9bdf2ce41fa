package aesxts

import (
	"bufio"
	"encoding/hex"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

func eachKind(t *testing.T, f func(t *testing.T, k kind)) {
	for _, k := range kinds() {
		t.Run(k.String(), func(t *testing.T) { f(t, k) })
	}
}

func TestVectorsIEEE1619(t *testing.T) {
	vectors, err := parseVectors(ieee1619)
	if err != nil {
		t.Fatal(err)
	}
	if len(vectors) != 19 {
		t.Fatalf("%d vectors, annex B has 19", len(vectors))
	}
	eachKind(t, func(t *testing.T, k kind) {
		for _, v := range vectors {
			if err := v.check(k); err != nil {
				t.Error(err)
			}
		}
	})
	for _, v := range vectors {
		got := newReference(t, v.key).encrypt(t, v.number, v.plaintext)
		if string(got) != string(v.ciphertext) {
			t.Errorf("the test's reference fails vector %s", v.name)
		}
	}
}

// The files of NIST's XTSVS (CAVS 11.0, XTSTestVectors.zip), as published.
// Data units that are not whole bytes (130, 140 and 250 bits) cannot exist in
// a container; they are counted, so that nothing else goes missing with them.
func TestVectorsNIST(t *testing.T) {
	files := []struct {
		name         string
		bytes, other int
	}{
		{"XTSGenAES128-tweak.rsp", 800, 200},
		{"XTSGenAES128-number.rsp", 800, 200},
		{"XTSGenAES256-tweak.rsp", 600, 400},
		{"XTSGenAES256-number.rsp", 600, 400},
	}
	for _, f := range files {
		vectors, other := readNIST(t, filepath.Join("testdata", "nist", f.name))
		if len(vectors) != f.bytes || other != f.other {
			t.Fatalf("%s: %d vectors of whole bytes and %d others, want %d and %d",
				f.name, len(vectors), other, f.bytes, f.other)
		}
		t.Run(f.name, func(t *testing.T) {
			eachKind(t, func(t *testing.T, k kind) {
				for _, v := range vectors {
					if err := v.check(k); err != nil {
						t.Error(err)
					}
				}
			})
		})
	}
}

func readNIST(t *testing.T, path string) (vectors []vector, other int) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	field := map[string]string{}
	scanner := bufio.NewScanner(file)
	for scanner.Scan() {
		name, value, found := strings.Cut(strings.TrimSpace(scanner.Text()), " = ")
		if !found {
			continue
		}
		if name == "COUNT" {
			field = map[string]string{}
		}
		field[name] = value
		if len(field) < 6 { // COUNT DataUnitLen Key i|DataUnitSeqNumber PT CT
			continue
		}
		bits, err := strconv.Atoi(field["DataUnitLen"])
		if err != nil {
			t.Fatal(err)
		}
		if bits%8 != 0 {
			other++
			continue
		}
		vectors = append(vectors, nistVector(t, field))
	}
	if err := scanner.Err(); err != nil {
		t.Fatal(err)
	}
	return vectors, other
}

func nistVector(t *testing.T, field map[string]string) vector {
	t.Helper()
	bin := func(name string) []byte {
		b, err := hex.DecodeString(field[name])
		if err != nil || len(b) == 0 {
			t.Fatalf("count %s: %s: %q: %v", field["COUNT"], name, field[name], err)
		}
		return b
	}
	v := vector{name: field["COUNT"], key: bin("Key"), plaintext: bin("PT"), ciphertext: bin("CT")}
	if tweak, found := field["i"]; found {
		copy(v.number[:], bin("i"))
		if len(tweak) != 32 {
			t.Fatalf("count %s: tweak of %d digits", v.name, len(tweak))
		}
		return v
	}
	n, err := strconv.ParseUint(field["DataUnitSeqNumber"], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	number{lo: n}.store(v.number[:])
	return v
}

func TestSelfTest(t *testing.T) {
	if err := SelfTest(); err != nil {
		t.Fatal(err)
	}
	names := Implementations()
	t.Logf("implementations: %v", names)
	if names[len(names)-1] != "generic" {
		t.Errorf("the last implementation is %q, not generic", names[len(names)-1])
	}
}

// A self-test that cannot fail would be worth nothing.
func TestVectorCheckNotices(t *testing.T) {
	vectors, err := parseVectors(ieee1619)
	if err != nil {
		t.Fatal(err)
	}
	eachKind(t, func(t *testing.T, k kind) {
		for _, v := range vectors {
			v.ciphertext = append([]byte(nil), v.ciphertext...)
			v.ciphertext[len(v.ciphertext)-1] ^= 1
			if v.check(k) == nil {
				t.Errorf("vector %s: one wrong bit went unnoticed", v.name)
			}
		}
	})
}
