// Command asm writes the amd64 assembly of container/aesxts. Run through
// go generate in the parent folder, or generate.sh here.
//
// Every implementation has the same three functions:
//
//	tweaks:  AES-encrypts groups of blocks in place (unit numbers to tweaks)
//	encrypt: XTS over units of blocks, a tweak for each given
//	decrypt: its inverse, with the keys of the equivalent inverse cipher
//
// Registers are fixed by hand: which of them hold keys has to be known, for
// they are cleared at the end.
package main

import (
	"flag"
	"fmt"
	"os"

	. "github.com/mmcloughlin/avo/build"
)

func main() {
	impl := flag.String("impl", "", "aesni, vaes or vaes512")
	flag.Parse()
	// The build tag keeps the assembler from files purego must not need.
	ConstraintExpr("!purego")
	switch *impl {
	case "aesni":
		generateAESNI()
	case "vaes":
		generateVAES()
	case "vaes512":
		generateVAES512()
	default:
		fmt.Fprintf(os.Stderr, "asm: unknown implementation %q\n", *impl)
		os.Exit(2)
	}
	Generate()
}
