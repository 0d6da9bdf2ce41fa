package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Known is a container that the window lists. Nothing here is secret, and no name from inside a container is kept.
type Known struct {
	Path      string `json:"path"` // absolute
	Name      string `json:"name,omitempty"`
	Favourite bool   `json:"favourite,omitempty"`
	// Format and sizes as last seen, shown while the file is not looked at.
	Format    string `json:"format,omitempty"`
	SizeBytes int64  `json:"size,omitempty"`
	// How it is unlocked.
	MountPoint    string    `json:"mountPoint,omitempty"` // "": chosen
	ReadOnly      bool      `json:"readOnly,omitempty"`
	Keyfiles      []string  `json:"keyfiles,omitempty"` // paths, kept only if the person asks for it
	Idle          *Duration `json:"idle,omitempty"`     // nil: as in the settings; 0: never
	Lifetime      *Duration `json:"lifetime,omitempty"`
	LockOn        string    `json:"lockOn,omitempty"`
	UnlockAtLogin bool      `json:"unlockAtLogin,omitempty"` // ask for its password when the window starts with the session
}

// KnownFile is where the list is kept.
func (p Paths) KnownFile() string { return p.in(p.Config, "containers.json") }

// LoadKnown reads the list; a missing file, or no path, is an empty one.
func LoadKnown(path string) ([]Known, error) {
	if path == "" {
		return nil, nil
	}
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the list of containers: %w", err)
	}
	var list []Known
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, fmt.Errorf("list of containers %s: %w", path, err)
	}
	return list, nil
}

// SaveKnown replaces the list in one step.
func SaveKnown(path string, list []Known) error {
	if path == "" {
		return nil
	}
	raw, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
		return err
	}
	if err := Ensure(filepath.Dir(path)); err != nil {
		return err
	}
	return replaceFile(path, append(raw, '\n'))
}
