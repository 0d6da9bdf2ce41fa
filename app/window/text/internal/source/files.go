package source

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Root is the folder of the project, with go.mod.
func Root() (string, error) {
	folder, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			return folder, nil
		}
		if filepath.Dir(folder) == folder {
			return "", errors.New("no go.mod here or above: run this inside the project")
		}
		folder = filepath.Dir(folder)
	}
}

// Read reads a file of translations.
func Read(file string) (map[string]string, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	texts, err := Decode(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return texts, nil
}

// Decode is what a file of translations says.
func Decode(raw []byte) (map[string]string, error) {
	texts := map[string]string{}
	err := json.Unmarshal(raw, &texts)
	return texts, err
}

// Encode writes translations as they lie in files: sorted, one a line, letters as they are.
func Encode(texts map[string]string) ([]byte, error) {
	var to bytes.Buffer
	e := json.NewEncoder(&to)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(texts) // keys of a map come sorted
	return to.Bytes(), err
}

// Write writes a file of translations.
func Write(file string, texts map[string]string) error {
	raw, err := Encode(texts)
	if err != nil {
		return err
	}
	return os.WriteFile(file, raw, 0o644)
}
