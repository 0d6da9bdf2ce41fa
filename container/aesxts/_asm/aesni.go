package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// AES-NI with SSE encodings only: eight blocks in X0-X7 hide the latency of
// four to eight cycles. X8 is the round key, X9 what doubling a tweak adds, X10
// is free, X11 the bits that leave the tweak, X12 the next tweak, X13 the first
// round key, X14 the sum of the first and the last.
//
// Tweaks wait on the stack with the first round key added: one addition makes
// data ready for round 1. Taken together with X14 they are the last round key
// and the tweak in one. The next eight are made between the rounds of these
// eight, in the second half of the buffer; the halves change places.
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
	aesniMiddle(state, round, suffix, func(int) {})
	MOVOU(at(temp, 0), X8)
	for _, x := range state {
		last(X8, x)
	}
}

// aesniMiddle runs all rounds but the last, whose key temp points to then.
// between is called after each of the first nine.
func aesniMiddle(state []VecPhysical, round sseOp, suffix string, between func(r int)) {
	step := func(r int) {
		MOVOU(key(r), X8)
		for _, x := range state {
			round(X8, x)
		}
	}
	for r := 1; r <= commonRounds; r++ {
		step(r)
		between(r)
	}
	LEAQ(key(10), temp)
	CMPQ(rounds, U8(10))
	JE(LabelRef("last" + suffix))
	for r := 10; r <= 13; r++ {
		step(r)
	}
	LEAQ(key(14), temp)
	Label("last" + suffix)
}

func aesniUnits(round, last sseOp) {
	const half = aesniWide * blockSize
	buf := AllocLocal(2*half + 16)
	// SSE memory operands must be aligned, Go's stack is not.
	LEAQ(buf.Offset(15), local)
	ANDQ(I8(-16), local)
	LEAQ(at(local, half), other)
	aesniConstants()
	Label("unit")
	MOVQ(blocks, left)
	MOVOU(at(tweaks, 0), X12)
	CMPQ(left, U8(aesniWide))
	JB(LabelRef("rest"))
	PSHUFD(U8(signs), X12, X11)
	for i := range aesniWide {
		aesniTweak(local, i)
	}

	state := xmm[:aesniWide]
	Label("wide")
	for i, x := range state {
		MOVOU(at(src, i*blockSize), x)
		PXOR(at(local, i*blockSize), x)
	}
	PSHUFD(U8(signs), X12, X11)
	aesniMiddle(state, round, "Wide", func(r int) {
		if r <= aesniWide {
			aesniTweak(other, r-1)
		}
	})
	for i, x := range state {
		MOVOA(X14, X10)
		PXOR(at(local, i*blockSize), X10)
		last(X10, x)
		MOVOU(x, at(dst, i*blockSize))
	}
	XCHGQ(local, other)
	advance(aesniWide)
	CMPQ(left, U8(aesniWide))
	JAE(LabelRef("wide"))
	MOVOA(at(local, 0), X12)
	PXOR(X13, X12)

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
	for _, x := range []VecPhysical{X8, X10, X13, X14} {
		PXOR(x, x)
	}
	// Two neighbours in the buffer would give the first round key away.
	for i := range 2 * aesniWide {
		MOVOU(X8, buf.Offset(i*blockSize))
	}
	MOVQ(U32(0), temp)
	MOVQ(temp, buf.Offset(2*half))
	MOVQ(temp, buf.Offset(2*half+8))
	RET()
}

// aesniConstants sets X9, X13 and X14.
func aesniConstants() {
	// What a doubling adds: 0x87 for the bit that leaves the high half, in
	// the low half; the bit that leaves the low half, in the high half.
	MOVQ(U32(polynomial), temp)
	MOVQ(temp, X9)
	MOVQ(U32(1), temp)
	MOVQ(temp, X10)
	PUNPCKLQDQ(X10, X9)
	MOVOU(key(0), X13)
	MOVQ(rounds, temp)
	SHLQ(U8(4), temp)
	MOVOU(Mem{Base: keys, Index: temp, Scale: 1}, X14)
	PXOR(X13, X14)
}

// signs is the shuffle that puts the top 32 bits of the high half of a tweak
// in the low half's place, and those of the low half in the high half's.
const signs = 0x13

// aesniTweak stores the i-th tweak of eight and doubles it.
func aesniTweak(base Register, i int) {
	MOVOA(X12, X10)
	PXOR(X13, X10)
	MOVOA(X10, at(base, i*blockSize))
	aesniDouble(i < aesniWide-1)
}

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
