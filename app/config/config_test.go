package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestSettingsRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "settings.json")
	got, err := Load(path)
	if err != nil || got != Defaults() {
		t.Fatalf("missing file: %+v, %v", got, err)
	}
	want := Defaults()
	want.Window, want.Verify, want.LogLevel, want.Records = Duration(250*time.Millisecond), true, "info", "/somewhere"
	want.Drives, want.Theme, want.Language, want.KeepInTray = "/drives", ThemeDark, "de-AT", true
	if err := Save(path, want); err != nil {
		t.Fatal(err)
	}
	if got, err = Load(path); err != nil || got != want {
		t.Fatalf("got %+v, %v; want %+v", got, err, want)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("settings file: %v %v, want mode 0600", info.Mode(), err)
	}
	if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
		t.Errorf("%d files after a save, want 1", len(entries))
	}
}

func TestBadSettingsAreNamed(t *testing.T) {
	for text, word := range map[string]string{
		`{"windoe": "1s"}`:     "windoe",
		`{"window": "15ms"}`:   "window",
		`{"window": "55ms"}`:   "window",
		`{"window": "x"}`:      "x",
		`{"kdfTime": "1ms"}`:   "kdfTime",
		`{"logLevel": "loud"}`: "loud",
		`{"idle": "1ms"}`:      "idle",
		`{"idle": "-1h"}`:      "idle",
		`{"lifetime": "9ms"}`:  "lifetime",
		`{"lockOn": "lid"}`:    "lid",
		`{"lockOn": ""}`:       "lockOn",
		`{"litter": "bin"}`:    "bin",
		`{"drives": "here"}`:   "drives",
		`{"theme": "pink"}`:    "pink",
		`{"language": "../x"}`: "language",
		`{`:                    "EOF",
	} {
		path := filepath.Join(t.TempDir(), "settings.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := Load(path)
		if err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%s: %v, want an error naming %q", text, err, word)
		}
		if got != Defaults() {
			t.Errorf("%s: settings %+v after an error, want the defaults", text, got)
		}
		if err := Save(path, Settings{}); err == nil {
			t.Error("invalid settings were saved")
		}
	}
}

// TestOldSettingsStayReadable reads a file of the first version, which knew nothing of the window.
func TestOldSettingsStayReadable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "settings.json")
	old := `{"window": "1s", "verify": true, "kdfTime": "1s", "logLevel": "off", "lockOn": "suspend", "litter": "keep"}`
	if err := os.WriteFile(path, []byte(old), 0o600); err != nil {
		t.Fatal(err)
	}
	want := Defaults()
	want.Verify, want.Litter = true, LitterKeep
	if got, err := Load(path); err != nil || got != want {
		t.Fatalf("got %+v, %v; want %+v", got, err, want)
	}
}

func TestParseLockOn(t *testing.T) {
	for list, want := range map[string][3]bool{
		"suspend": {true, false, true}, "screen": {false, true, true}, "suspend,screen": {true, true, true},
		" screen , suspend ": {true, true, true}, "none": {false, false, true}, " none": {false, false, true},
		"": {}, "lid": {}, "suspend,none": {}, "suspend,": {},
	} {
		suspend, screen, err := ParseLockOn(list)
		if (err == nil) != want[2] || err == nil && (suspend != want[0] || screen != want[1]) {
			t.Errorf("%q: %v %v %v", list, suspend, screen, err)
		}
	}
}

func TestPortableMode(t *testing.T) {
	folder := t.TempDir()
	program := filepath.Join(folder, "coffer")
	if err := os.WriteFile(program, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	if p := Locate(program); p.Portable || strings.HasPrefix(p.Data, folder) {
		t.Errorf("portable without the folder: %+v", p)
	}
	if err := os.Mkdir(filepath.Join(folder, PortableFolder), 0o700); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(program, link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{program, link} {
		p := Locate(path)
		if !p.Portable || filepath.Dir(p.SettingsFile()) != p.Config || filepath.Base(p.Config) != PortableFolder {
			t.Errorf("Locate(%s) = %+v, want the portable folder", path, p)
		}
	}
	if p := Locate(""); p.Portable {
		t.Error("portable without an executable")
	}
}
