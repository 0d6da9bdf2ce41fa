// Command collect brings the files of translations up to date with the source of the window: run it from anywhere in the
// project after texts changed, then translate what it prints.
//
//	go run ./app/window/text/internal/collect
//
// en.json gets exactly the texts there are. From the other languages it removes what nobody says any more, and prints what
// they lack; files of the form {"English": "translation"} named LANGUAGE.json in a folder given with -add are taken over.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"coffer/app/window/text/internal/source"
)

func main() {
	add := flag.String("add", "", "`folder` with translations to add, LANGUAGE.json")
	flag.Parse()
	if err := run(*add); err != nil {
		fmt.Fprintln(os.Stderr, "collect:", err)
		os.Exit(1)
	}
}

func run(add string) error {
	if add != "" {
		var err error
		if add, err = filepath.Abs(add); err != nil {
			return err
		}
	}
	root, err := source.Root()
	if err != nil {
		return err
	}
	if err := os.Chdir(root); err != nil {
		return err
	}
	texts, faults, err := source.Texts(filepath.Join("app", "window"))
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
func update(file, add string, texts []source.Text) error {
	old, err := source.Read(file)
	if err != nil {
		return err
	}
	if add != "" {
		switch more, err := source.Read(filepath.Join(add, filepath.Base(file))); {
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
	return source.Write(file, now)
}
