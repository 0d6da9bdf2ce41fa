package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// Settings are a person's choices. A missing file or a missing field means the default. Flags of a command win over them.
type Settings struct {
	// Window is the length of one rate window in transfer records; a multiple of 10 ms, 50 ms to 1 h. Default 1 s.
	Window Duration `json:"window"`
	// Verify re-reads every copied file past the caches. Default false.
	Verify bool `json:"verify"`
	// Records is the folder of the transfer records; "" means the per-user default.
	Records string `json:"records,omitempty"`
	// KDFTime is how long one guess of a password should take on this machine. 100 ms to 10 s, default 1 s.
	KDFTime Duration `json:"kdfTime"`
	// LogLevel is one of off, error, info, debug. Default off: a one-shot command leaves no trace but its output.
	LogLevel string `json:"logLevel"`
	// Idle locks a drive after so long without use; Lifetime after so long whatever happens. 0, the default, is never; else
	// at least 1 s.
	Idle     Duration `json:"idle,omitempty"`
	Lifetime Duration `json:"lifetime,omitempty"`
	// LockOn are the events of the system that lock a drive: "suspend", "screen", both with a comma between them, or "none".
	// Default suspend.
	LockOn string `json:"lockOn"`
	// LockForce locks on these events even if programs use the drive. Default false: such a drive is only flushed.
	LockForce bool `json:"lockForce,omitempty"`
	// Litter is where files go that systems strew about on every drive, such as Thumbs.db, .DS_Store and trash: "memory", where
	// they are gone when the drive is locked, or "keep", into the container. Default memory on macOS, else keep.
	Litter string `json:"litter"`
	// Drives is the folder in which drives without a mount point of their own appear; "" means one in the per-user runtime
	// folder. Windows gives them letters and does not look here.
	Drives string `json:"drives,omitempty"`

	// The window's. Theme is "light", "dark" or "" for that of the system, Language a tag as in BCP 47 or "" for that of the
	// system. KeepInTray makes closing the window hide it while there is a tray.
	Theme      string `json:"theme,omitempty"`
	Language   string `json:"language,omitempty"`
	KeepInTray bool   `json:"keepInTray,omitempty"`
}

// Themes of the window beside "", that of the system.
const (
	ThemeLight = "light"
	ThemeDark  = "dark"
)

// Limits of the settings.
const (
	MinWindow  = 50 * time.Millisecond
	MaxWindow  = time.Hour
	WindowStep = 10 * time.Millisecond
	MinKDFTime = 100 * time.Millisecond
	MaxKDFTime = 10 * time.Second
)

// Defaults are the settings of somebody who never chose anything.
func Defaults() Settings {
	return Settings{Window: Duration(time.Second), KDFTime: Duration(time.Second), LogLevel: "off", LockOn: "suspend", Litter: defaultLitter()}
}

// Where litter goes.
const (
	LitterMemory = "memory"
	LitterKeep   = "keep"
)

func defaultLitter() string {
	if runtime.GOOS == "darwin" {
		return LitterMemory
	}
	return LitterKeep
}

// Load reads the settings at path; a missing file, or no path, gives the defaults. An unknown field or a value out of range is an
// error that names it: a misspelt setting must not be silently ignored.
func Load(path string) (Settings, error) {
	s := Defaults()
	if path == "" {
		return s, nil
	}
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, fmt.Errorf("read settings: %w", err)
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&s); err != nil {
		return Defaults(), fmt.Errorf("settings %s: %w", path, err)
	}
	if err := s.Validate(); err != nil {
		return Defaults(), fmt.Errorf("settings %s: %w", path, err)
	}
	return s, nil
}

// Validate checks every field against its range.
func (s Settings) Validate() error {
	if err := CheckWindow(time.Duration(s.Window)); err != nil {
		return err
	}
	if d := time.Duration(s.KDFTime); d < MinKDFTime || d > MaxKDFTime {
		return fmt.Errorf("kdfTime %s is outside %s to %s", d, MinKDFTime, MaxKDFTime)
	}
	switch s.LogLevel {
	case "off", "error", "info", "debug":
	default:
		return fmt.Errorf("logLevel %q is none of off, error, info, debug", s.LogLevel)
	}
	if err := CheckAutoLock("idle", time.Duration(s.Idle)); err != nil {
		return err
	}
	if err := CheckAutoLock("lifetime", time.Duration(s.Lifetime)); err != nil {
		return err
	}
	if _, _, err := ParseLockOn(s.LockOn); err != nil {
		return fmt.Errorf("lockOn %w", err)
	}
	if err := CheckLitter(s.Litter); err != nil {
		return fmt.Errorf("litter %w", err)
	}
	if err := CheckFolder(s.Drives); err != nil {
		return fmt.Errorf("drives %w", err)
	}
	if s.Theme != "" && s.Theme != ThemeLight && s.Theme != ThemeDark {
		return fmt.Errorf("theme %q is neither %s nor %s", s.Theme, ThemeLight, ThemeDark)
	}
	if len(s.Language) > maxLanguage || strings.ContainsFunc(s.Language, notInTag) {
		return fmt.Errorf("language %q is no tag of a language", s.Language)
	}
	return nil
}

// maxLanguage bounds the tag of a language.
const maxLanguage = 35

func notInTag(r rune) bool {
	return r != '-' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
}

// CheckFolder says whether path can name a folder in the settings, which are read in any working directory; "" is none.
func CheckFolder(path string) error {
	if path != "" && !filepath.IsAbs(path) {
		return fmt.Errorf("%q is not an absolute path", path)
	}
	return nil
}

// MinAutoLock is the shortest time after which a drive may lock by itself: less can only be a mistake.
const MinAutoLock = time.Second

// CheckAutoLock says whether d can be the time called name; 0 is never.
func CheckAutoLock(name string, d time.Duration) error {
	if d != 0 && d < MinAutoLock {
		return fmt.Errorf("%s %s is shorter than %s; 0 is never", name, d, MinAutoLock)
	}
	return nil
}

// ParseLockOn reads the events that lock a drive: "suspend", "screen", both with a comma between them, or "none".
func ParseLockOn(list string) (suspend, screen bool, err error) {
	if strings.TrimSpace(list) == "none" {
		return false, false, nil
	}
	for word := range strings.SplitSeq(list, ",") {
		switch strings.TrimSpace(word) {
		case "suspend":
			suspend = true
		case "screen":
			screen = true
		default:
			return false, false, fmt.Errorf("%q: %q is none of suspend, screen, none", list, word)
		}
	}
	return suspend, screen, nil
}

// CheckLitter says whether where is a place for litter.
func CheckLitter(where string) error {
	if where != LitterMemory && where != LitterKeep {
		return fmt.Errorf("%q is neither %s nor %s", where, LitterMemory, LitterKeep)
	}
	return nil
}

// CheckWindow says whether d can be the length of a rate window.
func CheckWindow(d time.Duration) error {
	if d < MinWindow || d > MaxWindow || d%WindowStep != 0 {
		return fmt.Errorf("window %s is not a multiple of %s from %s to %s", d, WindowStep, MinWindow, MaxWindow)
	}
	return nil
}

// Save writes the settings to path, replacing the file in one step: after a crash the old or the new one is there, whole.
func Save(path string, s Settings) error {
	if err := s.Validate(); err != nil {
		return err
	}
	if err := Ensure(filepath.Dir(path)); err != nil {
		return err
	}
	raw, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("encode settings: %w", err)
	}
	if err := replaceFile(path, append(raw, '\n')); err != nil {
		return fmt.Errorf("save settings: %w", err)
	}
	return nil
}

// replaceFile replaces path by data, for its owner only, in one step.
func replaceFile(path string, data []byte) error {
	temporary, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name())
	_, err = temporary.Write(data)
	if err := errors.Join(err, temporary.Sync(), temporary.Close()); err != nil {
		return err
	}
	return os.Rename(temporary.Name(), path)
}

// Duration is a time.Duration that reads and writes as text ("1s", "250ms") in the settings file.
type Duration time.Duration

// MarshalText gives the form time.ParseDuration reads.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText reads what time.ParseDuration reads.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	if err != nil {
		return err
	}
	*d = Duration(parsed)
	return nil
}
