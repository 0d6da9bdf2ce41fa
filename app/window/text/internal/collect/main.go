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

	"coffer/app/window/text/internal/source"
)

func main() {
	add := flag.String("add", "", "`folder` with translations to add, LANGUAGE.json")
	flag.Parse()
	if err := source.Collect(*add); err != nil {
		fmt.Fprintln(os.Stderr, "collect:", err)
		os.Exit(1)
	}
}
