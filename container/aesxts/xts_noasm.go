//go:build purego || (!amd64 && !arm64)

package aesxts

func asmKinds() []kind { return nil }

// splitBytes: see engine. Starting a worker costs some microseconds.
func (k kind) splitBytes() int { return 16 << 10 }

const noAssembly = "aesxts: no assembly in this build"

func asmTweaks(kind, *byte, int, *byte, int)                     { panic(noAssembly) }
func asmEncrypt(kind, *byte, int, *byte, *byte, *byte, int, int) { panic(noAssembly) }
func asmDecrypt(kind, *byte, int, *byte, *byte, *byte, int, int) { panic(noAssembly) }
