package logging

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLogHoldsNoNameFromInside(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "coffer.log")
	log, closer, err := Open(path, "info")
	if err != nil {
		t.Fatal(err)
	}
	log.Info().Str("place", Place("photos.img:/secret/name.jpg")).Str("careless", "photos.img:/other/hidden.jpg").
		Str("key", strings.Repeat("0a", 32)).Int("exit", 3).Msg("copy")
	log.Debug().Msg("too fine")
	if err := closer.Close(); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	for _, bad := range []string{"secret", "name.jpg", "hidden", "0a0a", "too fine"} {
		if strings.Contains(text, bad) {
			t.Errorf("the log holds %q: %s", bad, text)
		}
	}
	for _, good := range []string{"photos.img", `"exit":3`, `"message":"copy"`} {
		if !strings.Contains(text, good) {
			t.Errorf("the log lacks %q: %s", good, text)
		}
	}
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o600 {
		t.Errorf("log mode %v, want 0600", info.Mode())
	}
}

func TestOffMakesNoFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "coffer.log")
	log, closer, err := Open(path, "off")
	if err != nil {
		t.Fatal(err)
	}
	log.Error().Msg("x")
	if err := closer.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Dir(path)); !os.IsNotExist(err) {
		t.Errorf("a switched-off log made its folder: %v", err)
	}
	if _, _, err := Open(path, "loud"); err == nil {
		t.Error("unknown level accepted")
	}
}

func TestLogIsMovedAside(t *testing.T) {
	path := filepath.Join(t.TempDir(), "coffer.log")
	if err := os.WriteFile(path, make([]byte, maxLogBytes+1), 0o600); err != nil {
		t.Fatal(err)
	}
	_, closer, err := Open(path, "error")
	if err != nil {
		t.Fatal(err)
	}
	closer.Close()
	if info, err := os.Stat(path); err != nil || info.Size() != 0 {
		t.Errorf("new log: %v %v", info, err)
	}
	if info, err := os.Stat(path + ".1"); err != nil || info.Size() != maxLogBytes+1 {
		t.Errorf("old log: %v %v", info, err)
	}
}

func TestScrubStackTrace(t *testing.T) {
	got := Scrub("main.f(0xc000123456, 0x10)\n\t/src/file.go:10 +0x1d\nopen a.img:/b c/d: no")
	if strings.Contains(got, "c000123456") || strings.Contains(got, "c/d") || !strings.Contains(got, "file.go:10") {
		t.Errorf("scrubbed: %s", got)
	}
}
