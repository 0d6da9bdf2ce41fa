package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// AES-NI with SSE encodings only: eight blocks in X0-X7 hide the latency of
// four to eight cycles; X8 is the round key, X9 the polynomial, X10 and X11
// are free, X12 is the tweak of the single-block loop.
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
	MOVQ(U32(polynomial), temp)
	MOVQ(temp, X9)
	Label("unit")
	MOVQ(blocks, left)
	MOVOU(at(tweaks, 0), X12)
	CMPQ(left, U8(aesniWide))
	JB(LabelRef("rest"))
	aesniTweaks()

	state := xmm[:aesniWide]
	Label("wide")
	for i, x := range state {
		MOVOU(at(src, i*blockSize), x)
		PXOR(at(local, i*blockSize), x)
	}
	aesniRounds(state, round, last, "Wide")
	for i, x := range state {
		tweak := at(local, i*blockSize)
		MOVOA(tweak, X10)
		PXOR(X10, x)
		MOVOU(x, at(dst, i*blockSize))
		// tweak *= x^8
		MOVOA(X10, X11)
		PSRLDQ(U8(15), X11)
		PSLLDQ(U8(1), X10)
		PCLMULQDQ(U8(0), X9, X11)
		PXOR(X11, X10)
		MOVOA(X10, tweak)
	}
	advance(aesniWide)
	CMPQ(left, U8(aesniWide))
	JAE(LabelRef("wide"))
	MOVOA(at(local, 0), X12)

	Label("rest")
	TESTQ(left, left)
	JZ(LabelRef("done"))
	Label("single")
	MOVOU(at(src, 0), X0)
	PXOR(X12, X0)
	aesniRounds(xmm[:1], round, last, "Single")
	PXOR(X12, X0)
	MOVOU(X0, at(dst, 0))
	aesniShift(X12, X12, 1)
	advance(1)
	JNZ(LabelRef("single"))
	Label("done")
	MOVOU(X12, at(tweaks, 0))
	nextUnit()
	PXOR(X8, X8)
	RET()
}

// aesniTweaks stores the tweaks of the first eight blocks, from X12.
func aesniTweaks() {
	MOVOA(X12, X0)
	aesniShift(X0, X1, 1)
	for i := range 2 {
		aesniShift(xmm[i], xmm[2+i], 2)
	}
	for i := range 4 {
		aesniShift(xmm[i], xmm[4+i], 4)
	}
	for i, x := range xmm[:aesniWide] {
		MOVOA(x, at(local, i*blockSize))
	}
}

// aesniShift sets to = from * x^n, n < 64; it uses X10 and X11.
func aesniShift(from, to VecPhysical, n int) {
	MOVOA(from, X10)
	PSRLQ(U8(64-n), X10) // what leaves each half
	MOVOA(X10, X11)
	PCLMULQDQ(U8(1), X9, X11) // the high half's: back through the polynomial
	PSLLDQ(U8(8), X10)        // the low half's: into the high half
	if from != to {
		MOVOA(from, to)
	}
	PSLLQ(U8(n), to)
	PXOR(X10, to)
	PXOR(X11, to)
}
