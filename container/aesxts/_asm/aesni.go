package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// AES-NI with SSE encodings only: eight blocks in X0-X7 hide the latency of
// four to eight cycles; X8 is the round key, X12 the next tweak, X9 to X11 serve
// its doubling. The tweaks of the eight blocks wait on the stack.
const aesniWide = 8

func generateAESNI() {
	textTweaks("tweaksAESNI", aesniWide)
	Label("group")
	state := xmm[:aesniWide]
	for i, x := range state {
		MOVOU(at(dst, i*blockSize), x)
	}
	aesniRounds(state, AESENC, AESENCLAST, "")
	for i, x := range state {
		MOVOU(x, at(dst, i*blockSize))
	}
	ADDQ(U8(aesniWide*blockSize), dst)
	DECQ(left)
	JNZ(LabelRef("group"))
	PXOR(X8, X8)
	RET()

	textUnits("encryptAESNI", "encrypts")
	aesniUnits(AESENC, AESENCLAST)
	textUnits("decryptAESNI", "decrypts")
	aesniUnits(AESDEC, AESDECLAST)
}

type sseOp func(mx, x Op)

// aesniRounds runs the cipher over the registers, its first key included.
func aesniRounds(state []VecPhysical, round, last sseOp, suffix string) {
	MOVOU(key(0), X8)
	for _, x := range state {
		PXOR(X8, x)
	}
	step := func(r int, op sseOp) {
		MOVOU(key(r), X8)
		for _, x := range state {
			op(X8, x)
		}
	}
	for r := 1; r <= commonRounds; r++ {
		step(r, round)
	}
	LEAQ(key(10), temp)
	CMPQ(rounds, U8(10))
	JE(LabelRef("last" + suffix))
	for r := 10; r <= 13; r++ {
		step(r, round)
	}
	LEAQ(key(14), temp)
	Label("last" + suffix)
	MOVOU(at(temp, 0), X8)
	for _, x := range state {
		last(X8, x)
	}
}

func aesniUnits(round, last sseOp) {
	buf := AllocLocal(aesniWide*blockSize + 16)
	// SSE memory operands must be aligned, Go's stack is not.
	LEAQ(buf.Offset(15), local)
	ANDQ(I8(-16), local)
	// What a doubling adds: 0x87 for the bit that leaves the high half, in
	// the low half; the bit that leaves the low half, in the high half.
	MOVQ(U32(polynomial), temp)
	MOVQ(temp, X9)
	MOVQ(U32(1), temp)
	MOVQ(temp, X10)
	PUNPCKLQDQ(X10, X9)
	Label("unit")
	MOVQ(blocks, left)
	MOVOU(at(tweaks, 0), X12)
	CMPQ(left, U8(aesniWide))
	JB(LabelRef("rest"))

	state := xmm[:aesniWide]
	Label("wide")
	PSHUFD(U8(signs), X12, X11)
	for i, x := range state {
		MOVOU(at(src, i*blockSize), x)
		PXOR(X12, x)
		MOVOA(X12, at(local, i*blockSize))
		aesniDouble(i < len(state)-1)
	}
	aesniRounds(state, round, last, "Wide")
	for i, x := range state {
		PXOR(at(local, i*blockSize), x)
		MOVOU(x, at(dst, i*blockSize))
	}
	advance(aesniWide)
	CMPQ(left, U8(aesniWide))
	JAE(LabelRef("wide"))

	Label("rest")
	TESTQ(left, left)
	JZ(LabelRef("done"))
	Label("single")
	MOVOU(at(src, 0), X0)
	PXOR(X12, X0)
	aesniRounds(xmm[:1], round, last, "Single")
	PXOR(X12, X0)
	MOVOU(X0, at(dst, 0))
	PSHUFD(U8(signs), X12, X11)
	aesniDouble(false)
	advance(1)
	JNZ(LabelRef("single"))
	Label("done")
	MOVOU(X12, at(tweaks, 0))
	nextUnit()
	PXOR(X8, X8)
	RET()
}

// signs is the shuffle that puts the top 32 bits of the high half of a tweak
// in the low half's place, and those of the low half in the high half's.
const signs = 0x13

// aesniDouble sets X12 *= x. The bits that leave are the signs of X11; shifted
// on, X11 serves the next doubling too: what a doubling adds at the bottom does
// not get near the top in eight of them. No PCLMULQDQ: on some processors it
// would compete with the AES units.
func aesniDouble(more bool) {
	MOVOA(X11, X10)
	PSRAL(U8(31), X10)
	if more {
		PADDL(X11, X11)
	}
	PADDQ(X12, X12)
	PAND(X9, X10)
	PXOR(X10, X12)
}
