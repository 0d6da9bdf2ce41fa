package luks

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// unpack reads a gzipped image of testdata.
func unpack(t testing.TB, name string) []byte {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestValidation(t *testing.T) {
	table, err := os.ReadFile("testdata/validation/expected.tsv")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for line := range strings.Lines(string(table)) {
		f := strings.Fields(line)
		name := "validation/" + f[0] + ".gz"
		if _, err := os.Stat(filepath.Join("testdata", name)); err != nil {
			continue
		}
		seen++
		_, err := Read(bytes.NewReader(unpack(t, name)))
		if (err == nil) != (f[2] == "0") {
			t.Errorf("%s: cryptsetup %s, we: %v", f[0], f[1], err)
		}
	}
	if seen != 37 {
		t.Errorf("%d images seen, want 37", seen)
	}
}
