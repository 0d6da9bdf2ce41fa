//go:build unix

package conformance

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

var nameCases = map[string]Case{
	"names-good":    namesGood,
	"names-bad":     namesBad,
	"names-long":    namesLong,
	"names-deep":    namesDeep,
	"names-invalid": namesInvalid,
}

func namesGood(t *testing.T, dir string) {
	good := []string{"a", "UPPER.TXT", "lower.txt", "Mixed.Case", "with blank", " leading", ".hidden", "two.dots.txt", "ä ö ü ß",
		"日本語のファイル", "emoji 😀", "plus+comma,semi;", "(1) [2] {3}", "percent%20", "at@home", "dollar$", "it's", "a~1", "very long name with many words in it.extension"}
	for _, name := range good {
		write(t, filepath.Join(dir, name), name)
	}
	wantNames(t, dir, good...)
	for _, name := range good {
		wantFile(t, filepath.Join(dir, name), name)
	}
}

func namesBad(t *testing.T, dir string) {
	for _, name := range []string{"a:b", "a*b", "a?b", `a"b`, "a<b", "a>b", "a|b", `a\b`, "tab\tname", "new\nline", "dot.", "blank ", "\x7f"} {
		p := filepath.Join(dir, "x")[:len(dir)+1] + name
		_, err := os.OpenFile(p, os.O_CREATE|os.O_WRONLY, 0o600)
		wantErr(t, "create "+name, err, syscall.EINVAL)
		wantErr(t, "mkdir "+name, os.Mkdir(p, 0o700), syscall.EINVAL)
		wantNone(t, p)
	}
	write(t, filepath.Join(dir, "good"), "")
	wantErr(t, "rename to a bad name", os.Rename(filepath.Join(dir, "good"), filepath.Join(dir, "a:b")), syscall.EINVAL)
	wantNames(t, dir, "good")
}

func namesLong(t *testing.T, dir string) {
	longest := strings.Repeat("n", 255)
	write(t, filepath.Join(dir, longest), "x")
	wantFile(t, filepath.Join(dir, longest), "x")
	wide := strings.Repeat("😀", 127) // 254 units, 508 bytes: FAT can, Linux cannot pass it
	_, err := os.OpenFile(filepath.Join(dir, longest+"n"), os.O_CREATE|os.O_WRONLY, 0o600)
	wantErr(t, "256 characters", err, syscall.ENAMETOOLONG)
	wantErr(t, "mkdir of 256 characters", os.Mkdir(filepath.Join(dir, longest+"n"), 0o700), syscall.ENAMETOOLONG)
	if err := os.Mkdir(filepath.Join(dir, wide), 0o700); err != nil {
		wantErr(t, "508 bytes", err, syscall.ENAMETOOLONG)
	}
}

func namesDeep(t *testing.T, dir string) {
	p := dir
	for range 60 {
		p = filepath.Join(p, "deeper and deeper")
		must(t, os.Mkdir(p, 0o700))
	}
	write(t, filepath.Join(p, "bottom"), "reached")
	wantFile(t, filepath.Join(p, "bottom"), "reached")
}

func namesInvalid(t *testing.T, dir string) {
	if runtime.GOOS == "darwin" {
		return // the system refuses them itself
	}
	p := filepath.Join(dir, "bad \xff utf")
	_, err := os.OpenFile(p, os.O_CREATE|os.O_WRONLY, 0o600)
	wantErr(t, "name that is not UTF-8", err, syscall.EINVAL)
	wantNone(t, p)
	write(t, filepath.Join(dir, "bad \uFFFD utf"), "")
	wantNone(t, p)
}
