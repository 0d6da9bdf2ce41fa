// Command coffer keeps files in encrypted containers. This file only starts it; see app/cli for the commands.
package main

import (
	"fmt"
	"os"

	"coffer/app/cli"
	"coffer/container/secret"
)

func main() {
	// Before the first secret exists: no core dump of this process is ever written.
	if err := secret.HardenProcess(); err != nil {
		fmt.Fprintf(os.Stderr, "coffer: note: %v\n", err)
	}
	os.Exit(cli.Main(os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
}
