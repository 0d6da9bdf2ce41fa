// Command coffer-window is Coffer's window: a client of the program coffer, which must lie beside it or on the PATH.
package main

import (
	"os"

	"coffer/app/window"
)

func main() { os.Exit(window.Main(os.Args[1:], os.Stdout, os.Stderr)) }
