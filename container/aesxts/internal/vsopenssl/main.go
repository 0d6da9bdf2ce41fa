//go:build linux

// Command vsopenssl compares the engine with openssl on this machine:
//
//	go run ./container/aesxts/internal/vsopenssl [-pairs 11] [-seconds 1]
//
// For every implementation and for data units of 4096 and 512 bytes it runs
// pairs of
//
//	openssl speed -evp aes-256-xts -bytes UNIT -seconds N
//
// and the engine, one thread each, in turns, and prints the median of the
// ratios of a pair with their spread. Rates are GB/s, 10^9 bytes a second of CPU
// time: that is what openssl speed counts, and what a busy machine disturbs least.
//
// openssl encrypts one unit a call. The engine is called with -request bytes,
// as a container calls it, and is also shown with one unit of 4096 bytes a call.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	pairs := flag.Int("pairs", 11, "pairs of runs")
	seconds := flag.Int("seconds", 1, "seconds of one run of openssl; the engine gets half of that")
	request := flag.Int("request", 64<<10, "bytes of one call of the engine, a multiple of 4096")
	only := flag.String("only", "", "only this implementation")
	flag.Parse()
	if err := compare(*pairs, *seconds, *request, *only); err != nil {
		fmt.Fprintln(os.Stderr, "vsopenssl:", err)
		os.Exit(1)
	}
}
