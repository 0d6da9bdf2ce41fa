//go:build purego || (!amd64 && !arm64)

package aesxts

func asmKinds() []kind { return nil }

// split: see engine, splitBytes and chunkBytes. docs/adr-0002 has the figures.
func (k kind) split() (from, chunk int) { return 32 << 10, 4 << 10 }

const noAssembly = "aesxts: no assembly in this build"

func asmTweaks(kind, *byte, int, *byte, int)                     { panic(noAssembly) }
func asmEncrypt(kind, *byte, int, *byte, *byte, *byte, int, int) { panic(noAssembly) }
func asmDecrypt(kind, *byte, int, *byte, *byte, *byte, int, int) { panic(noAssembly) }
