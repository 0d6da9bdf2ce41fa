//go:build !purego

package aesxts

import "golang.org/x/sys/cpu"

//go:noescape
func tweaksARM64(keys *byte, rounds int, buf *byte, groups int)

//go:noescape
func encryptARM64(keys *byte, rounds int, dst, src, tweaks *byte, units, blocks int)

//go:noescape
func decryptARM64(keys *byte, rounds int, dst, src, tweaks *byte, units, blocks int)

func asmKinds() []kind {
	if !cpu.ARM64.HasAES {
		return nil
	}
	return []kind{kindARM64}
}

// split: see engine, splitBytes and chunkBytes. docs/adr-0002 has the figures.
func (k kind) split() (from, chunk int) {
	if k == kindARM64 {
		return 512 << 10, 64 << 10
	}
	return 32 << 10, 4 << 10
}

// asmTweaks may encrypt more than n blocks, up to the 32 buf has room for.
func asmTweaks(_ kind, keys *byte, rounds int, buf *byte, n int) {
	tweaksARM64(keys, rounds, buf, (n+7)/8)
}

func asmEncrypt(_ kind, keys *byte, rounds int, dst, src, tweaks *byte, units, blocks int) {
	encryptARM64(keys, rounds, dst, src, tweaks, units, blocks)
}

func asmDecrypt(_ kind, keys *byte, rounds int, dst, src, tweaks *byte, units, blocks int) {
	decryptARM64(keys, rounds, dst, src, tweaks, units, blocks)
}
