package source

import (
	"fmt"
	"os"
	"path/filepath"
)

// Collect brings the files of translations up to date with the source of the window and prints what they lack; add, if not "", is
// a folder with translations to take over.
func Collect(add string) error {
	if add != "" {
		var err error
		if add, err = filepath.Abs(add); err != nil {
			return err
		}
	}
	root, err := Root()
	if err != nil {
		return err
	}
	if err := os.Chdir(root); err != nil {
		return err
	}
	texts, faults, err := Texts(filepath.Join("app", "window"))
	if err != nil {
		return err
	}
	for _, fault := range faults {
		fmt.Fprintln(os.Stderr, fault)
	}
	files, err := filepath.Glob(filepath.Join("assets", "translations", "*.json"))
	if err != nil {
		return err
	}
	for _, file := range files {
		if err := update(file, add, texts); err != nil {
			return err
		}
	}
	return nil
}

// update brings one file up to date.
func update(file, add string, texts []Text) error {
	old, err := Read(file)
	if err != nil {
		return err
	}
	if add != "" {
		switch more, err := Read(filepath.Join(add, filepath.Base(file))); {
		case err == nil:
			for key, translated := range more {
				old[key] = translated
			}
		case !os.IsNotExist(err):
			return err
		}
	}
	english := filepath.Base(file) == "en.json"
	now := map[string]string{}
	for _, text := range texts {
		translated, known := old[text.Key]
		switch {
		case english:
			now[text.Key] = text.Key
		case known:
			now[text.Key] = translated
		default:
			fmt.Printf("%s lacks %q (%s)\n", filepath.Base(file), text.Key, text.Place)
		}
	}
	for key := range old {
		if _, used := now[key]; !used {
			fmt.Printf("%s: %q is no longer said\n", filepath.Base(file), key)
		}
	}
	return Write(file, now)
}
