package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// VAES and VPCLMULQDQ on ZMM, four blocks a register: thirty-two blocks in
// Z0-Z7, their tweaks in Z8-Z15, round keys 0-13 in Z16-Z29, the last round
// key in Z30, the polynomial in Z31.
const vaes512Wide = 32

const xor3 = 0x96 // VPTERNLOG: a ^ b ^ c

func generateVAES512() {
	counts := laneCounts("vaes512Counts", 4)

	const group = 16
	textTweaks("tweaksVAES512", group)
	vaes512Keys()
	state := zmm[:group/4]
	Label("group")
	for i, z := range state {
		VPXORQ(at(dst, i*64), Z16, z)
	}
	vaes512Rounds(state, VAESENC, VAESENCLAST, "")
	for i, z := range state {
		VMOVDQU64(z, at(dst, i*64))
	}
	ADDQ(I32(group*blockSize), dst)
	DECQ(left)
	JNZ(LabelRef("group"))
	vaes512Return()

	textUnits("encryptVAES512", "encrypts")
	vaes512Units(VAESENC, VAESENCLAST, counts)
	textUnits("decryptVAES512", "decrypts")
	vaes512Units(VAESDEC, VAESDECLAST, counts)
}

func vaes512Keys() {
	for r := 0; r <= commonRounds; r++ {
		VBROADCASTI32X4(key(r), zmm[16+r])
	}
	VBROADCASTI32X4(key(10), Z30)
	CMPQ(rounds, U8(10))
	JE(LabelRef("loaded"))
	for r := 10; r <= 13; r++ {
		VBROADCASTI32X4(key(r), zmm[16+r])
	}
	VBROADCASTI32X4(key(14), Z30)
	Label("loaded")
}

// vaes512Return leaves no key in a register: it would be saved with them to
// ordinary memory at the next signal or switch of threads.
func vaes512Return() {
	for _, z := range zmm[16:31] {
		VPXORQ(z, z, z)
	}
	VZEROUPPER()
	RET()
}

// vaes512Rounds runs all rounds but the addition of round key 0.
func vaes512Rounds(state []VecPhysical, round, last avxOp, suffix string) {
	for r := 1; r <= commonRounds; r++ {
		for _, z := range state {
			round(zmm[16+r], z, z)
		}
	}
	CMPQ(rounds, U8(10))
	JE(LabelRef("last" + suffix))
	for r := 10; r <= 13; r++ {
		for _, z := range state {
			round(zmm[16+r], z, z)
		}
	}
	Label("last" + suffix)
	for _, z := range state {
		last(Z30, z, z)
	}
}

func vaes512Units(round, last avxOp, counts [2]Mem) {
	buf := AllocLocal(64)
	LEAQ(buf, local)
	vaes512Keys()
	MOVQ(U32(polynomial), temp)
	VPBROADCASTQ(temp, Z31)
	Label("unit")
	MOVQ(blocks, left)
	vaes512First(counts)
	CMPQ(left, U8(vaes512Wide))
	JB(LabelRef("rest"))
	vaes512More()

	Label("wide")
	for i, z := range zmm[:8] {
		VMOVDQU64(at(src, i*64), z)
		VPTERNLOGQ(U8(xor3), Z16, zmm[8+i], z)
	}
	vaes512Rounds(zmm[:8], round, last, "Wide")
	for i, z := range zmm[:8] {
		tweak := zmm[8+i]
		VPXORQ(tweak, z, z)
		VMOVDQU64(z, at(dst, i*64))
		vaes512Bytes(tweak, tweak, 4, z) // *= x^32
	}
	advance(vaes512Wide)
	CMPQ(left, U8(vaes512Wide))
	JAE(LabelRef("wide"))

	Label("rest")
	CMPQ(left, U8(4))
	JB(LabelRef("few"))
	Label("four")
	VMOVDQU64(at(src, 0), Z0)
	VPTERNLOGQ(U8(xor3), Z16, Z8, Z0)
	vaes512Rounds(zmm[:1], round, last, "Four")
	VPXORQ(Z8, Z0, Z0)
	VMOVDQU64(Z0, at(dst, 0))
	vaes512Bits(Z8, Z8, 4)
	advance(4)
	CMPQ(left, U8(4))
	JAE(LabelRef("four"))

	Label("few")
	vaes512Few(round, last)
	VMOVDQU(X8, at(tweaks, 0))
	nextUnit()
	vaes512Return()
}

// vaes512Few works on the last 0 to 3 blocks through a mask, and leaves the
// tweak of the block after them in X8.
func vaes512Few(round, last avxOp) {
	TESTQ(left, left)
	JZ(LabelRef("done"))
	// Two quadwords a block: K1 = 4^left - 1.
	MOVQ(U32(63), temp)
	MOVQ(U32(3), R12)
	SUBQ(left, R12)
	SHLQ(U8(1), R12)
	SHRXQ(R12, temp, temp)
	KMOVW(temp.As32(), K1)
	VMOVDQU64_Z(at(src, 0), K1, Z0)
	VPTERNLOGQ(U8(xor3), Z16, Z8, Z0)
	vaes512Rounds(zmm[:1], round, last, "Few")
	VPXORQ(Z8, Z0, Z0)
	VMOVDQU64(Z0, K1, at(dst, 0))
	VMOVDQU64(Z8, at(local, 0))
	SHLQ(U8(4), left)
	ADDQ(left, src)
	ADDQ(left, dst)
	VMOVDQU(Mem{Base: local, Index: left, Scale: 1}, X8)
	Label("done")
}

// vaes512First sets Z8 to the tweaks of the first four blocks.
func vaes512First(counts [2]Mem) {
	VBROADCASTI32X4(at(tweaks, 0), Z2)
	// lane j *= x^j
	VPSLLVQ(counts[0], Z2, Z8)
	VPSRLVQ(counts[1], Z2, Z0)
	VPCLMULQDQ(U8(1), Z31, Z0, Z1)
	VPSLLDQ(U8(8), Z0, Z0)
	VPTERNLOGQ(U8(xor3), Z0, Z1, Z8)
}

// vaes512More derives Z9 to Z15 from Z8.
func vaes512More() {
	vaes512Bits(Z8, Z9, 4)
	for i := range 2 {
		vaes512Bytes(zmm[8+i], zmm[10+i], 1, zmm[i])
	}
	for i := range 4 {
		vaes512Bytes(zmm[8+i], zmm[12+i], 2, zmm[i])
	}
}

// vaes512Bits sets to = from * x^n in every lane, n < 64; uses Z0 and Z1.
func vaes512Bits(from, to VecPhysical, n int) {
	VPSRLQ(U8(64-n), from, Z0)
	VPSLLQ(U8(n), from, to)
	VPCLMULQDQ(U8(1), Z31, Z0, Z1)
	VPSLLDQ(U8(8), Z0, Z0)
	VPTERNLOGQ(U8(xor3), Z0, Z1, to)
}

// vaes512Bytes sets to = from * x^(8*n) in every lane, n < 8.
func vaes512Bytes(from, to VecPhysical, n int, free VecPhysical) {
	VPSRLDQ(U8(16-n), from, free)
	VPSLLDQ(U8(n), from, to)
	VPCLMULQDQ(U8(0), Z31, free, free)
	VPXORQ(free, to, to)
}
