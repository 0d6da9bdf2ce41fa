//go:build !purego

package aesxts

import "golang.org/x/sys/cpu"

//go:generate ./_asm/generate.sh

// leaf7 returns ECX of CPUID leaf 7, sub-leaf 0. The leaf must exist, which
// AVX2, reported there, proves.
//
//go:noescape
func leaf7() (ecx uint32)

const (
	leaf7VAES       = 1 << 9
	leaf7VPCLMULQDQ = 1 << 10
)

// asmKinds asks x/sys/cpu, which also asks XCR0 whether the operating system
// saves the YMM and ZMM registers. It has no flag for VAES without AVX-512.
func asmKinds() []kind {
	x := &cpu.X86
	if !x.HasAES {
		return nil
	}
	found := []kind{kindAESNI}
	if !x.HasAVX2 || !x.HasBMI2 {
		return found
	}
	const both = leaf7VAES | leaf7VPCLMULQDQ
	if leaf7()&both != both {
		return found
	}
	found = []kind{kindVAES, kindAESNI}
	if x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL && x.HasAVX512VAES && x.HasAVX512VPCLMULQDQ {
		found = []kind{kindVAES512, kindVAES, kindAESNI}
	}
	return found
}

// split: see engine, splitBytes and chunkBytes. docs/adr-0002 has the figures.
func (k kind) split() (from, chunk int) {
	switch k {
	case kindVAES512:
		return 2 << 20, 128 << 10
	case kindVAES, kindAESNI:
		return 1 << 20, 64 << 10
	}
	return 32 << 10, 4 << 10
}

// asmTweaks may encrypt more than n blocks, up to the 32 buf has room for.
func asmTweaks(k kind, keys *byte, rounds int, buf *byte, n int) {
	switch k {
	case kindVAES512:
		tweaksVAES512(keys, rounds, buf, (n+15)/16)
	case kindVAES:
		tweaksVAES(keys, rounds, buf, (n+7)/8)
	default:
		tweaksAESNI(keys, rounds, buf, (n+7)/8)
	}
}

func asmEncrypt(k kind, keys *byte, rounds int, dst, src, tweaks *byte, units, blocks int) {
	switch k {
	case kindVAES512:
		encryptVAES512(keys, rounds, dst, src, tweaks, units, blocks)
	case kindVAES:
		encryptVAES(keys, rounds, dst, src, tweaks, units, blocks)
	default:
		encryptAESNI(keys, rounds, dst, src, tweaks, units, blocks)
	}
}

func asmDecrypt(k kind, keys *byte, rounds int, dst, src, tweaks *byte, units, blocks int) {
	switch k {
	case kindVAES512:
		decryptVAES512(keys, rounds, dst, src, tweaks, units, blocks)
	case kindVAES:
		decryptVAES(keys, rounds, dst, src, tweaks, units, blocks)
	default:
		decryptAESNI(keys, rounds, dst, src, tweaks, units, blocks)
	}
}
