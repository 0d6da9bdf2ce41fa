// Command winedll writes the library bcryptprimitives.dll, which every Go program for Windows loads at its start and Wine
// before version 9 does not have: one function, ProcessPrng, handed on to RtlGenRandom of advapi32, which takes the same
// arguments. It holds no code of its own. Usage: go run winedll.go FILE
package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
)

const (
	sectionRVA = 0x1000 // of the only section, in memory
	fileAlign  = 0x200
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: winedll FILE")
		os.Exit(2)
	}
	if err := os.WriteFile(os.Args[1], library(), 0o755); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// library is a PE32+ file: headers, and a section that is an export directory with its strings. An export whose address lies
// in the directory is a forwarder: the name of another function.
func library() []byte {
	exports := exportSection("bcryptprimitives.dll", "ProcessPrng", "advapi32.SystemFunction036")
	var b bytes.Buffer
	put := func(values ...any) {
		for _, v := range values {
			_ = binary.Write(&b, binary.LittleEndian, v) // a Buffer takes everything
		}
	}
	dos := make([]byte, 64)
	copy(dos, "MZ")
	dos[0x3C] = 64 // where the PE header is
	put(dos, []byte("PE\x00\x00"))
	// COFF header: amd64, one section, optional header of 240 bytes, executable | large addresses | DLL | no relocations.
	put(uint16(0x8664), uint16(1), uint32(0), uint32(0), uint32(0), uint16(240), uint16(0x2023))
	put(uint16(0x20B), uint16(0), uint32(0), uint32(fileAlign), uint32(0), uint32(0), uint32(sectionRVA))
	put(uint64(0x3_8000_0000), uint32(0x1000), uint32(fileAlign))         // preferred address, alignments
	put(uint16(6), uint16(0), uint32(0), uint16(6), uint16(0), uint32(0)) // versions
	put(uint32(2*0x1000), uint32(fileAlign), uint32(0), uint16(3), uint16(0x100))
	put(uint64(1<<20), uint64(1<<12), uint64(1<<20), uint64(1<<12), uint32(0), uint32(16))
	put(uint32(sectionRVA), uint32(len(exports)), make([]byte, 15*8)) // directories: exports only
	put([]byte(".edata\x00\x00"), uint32(len(exports)), uint32(sectionRVA), uint32(fileAlign), uint32(fileAlign))
	put(make([]byte, 12), uint32(0x4000_0040)) // initialised data, readable
	put(make([]byte, fileAlign-b.Len()), exports)
	put(make([]byte, 2*fileAlign-b.Len()))
	return b.Bytes()
}

// exportSection has one name, handed on to target.
func exportSection(library, name, target string) []byte {
	const tables = 40 // length of the directory
	strings := uint32(sectionRVA + tables + 4 + 4 + 2)
	nameAt := strings + uint32(len(library)) + 1
	targetAt := nameAt + uint32(len(name)) + 1
	var b bytes.Buffer
	for _, v := range []any{
		uint32(0), uint32(0), uint32(0), strings, uint32(1), uint32(1), uint32(1),
		uint32(sectionRVA + tables), uint32(sectionRVA + tables + 4), uint32(sectionRVA + tables + 8),
		targetAt, nameAt, uint16(0),
		[]byte(library + "\x00" + name + "\x00" + target + "\x00"),
	} {
		_ = binary.Write(&b, binary.LittleEndian, v)
	}
	return b.Bytes()
}
