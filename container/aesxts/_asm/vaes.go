package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// VAES and VPCLMULQDQ on YMM, two blocks a register, VEX encodings only:
// sixteen blocks in Y0-Y7; Y8 is the round key, Y9 the polynomial, Y10 to Y12
// are free. X12 is the tweak of the single-block loop. The tweaks of the
// sixteen blocks wait on the stack.
const (
	vaesWide = 16
	vaesHalf = 8
)

func generateVAES() {
	counts := laneCounts("vaesCounts", 2)

	textTweaks("tweaksVAES", vaesHalf)
	state := ymm[:vaesHalf/2]
	Label("group")
	for i, y := range state {
		VMOVDQU(at(dst, i*32), y)
	}
	vaesRounds(state, VAESENC, VAESENCLAST, "")
	for i, y := range state {
		VMOVDQU(y, at(dst, i*32))
	}
	ADDQ(I32(vaesHalf*blockSize), dst)
	DECQ(left)
	JNZ(LabelRef("group"))
	VPXOR(Y8, Y8, Y8)
	VZEROUPPER()
	RET()

	textUnits("encryptVAES", "encrypts")
	vaesUnits(VAESENC, VAESENCLAST, counts)
	textUnits("decryptVAES", "decrypts")
	vaesUnits(VAESDEC, VAESDECLAST, counts)
}

// laneCounts stores, for lane j of 16 bytes, the shift counts j and 64-j.
func laneCounts(name string, lanes int) [2]Mem {
	left, right := GLOBL(name+"Left", RODATA|NOPTR), Mem{}
	for j := range lanes {
		DATA(j*16, U64(j))
		DATA(j*16+8, U64(j))
	}
	right = GLOBL(name+"Right", RODATA|NOPTR)
	for j := range lanes {
		DATA(j*16, U64(64-j))
		DATA(j*16+8, U64(64-j))
	}
	return [2]Mem{left, right}
}

type avxOp func(mxyz, xyz, xyz1 Op)

// vaesKey returns the register of number 8 in the width of v, and a load of
// a round key into it.
func vaesKey(v VecPhysical) (VecPhysical, func(Mem)) {
	if v.Size() == 16 {
		return X8, func(m Mem) { VMOVDQU(m, X8) }
	}
	return Y8, func(m Mem) { VBROADCASTI128(m, Y8) }
}

func vaesRounds(state []VecPhysical, round, last avxOp, suffix string) {
	k := vaesMiddle(state, round, suffix, func(int) {})
	for _, y := range state {
		last(k, y, y)
	}
}

// vaesMiddle runs all rounds but the last and returns the register that holds
// its key. between is called after each of the first nine.
func vaesMiddle(state []VecPhysical, round avxOp, suffix string, between func(r int)) VecPhysical {
	k, load := vaesKey(state[0])
	step := func(r int, op avxOp) {
		load(key(r))
		for _, y := range state {
			op(k, y, y)
		}
	}
	step(0, func(a, b, c Op) { VPXOR(a, b, c) })
	for r := 1; r <= commonRounds; r++ {
		step(r, round)
		between(r)
	}
	LEAQ(key(10), temp)
	CMPQ(rounds, U8(10))
	JE(LabelRef("last" + suffix))
	for r := 10; r <= 13; r++ {
		step(r, round)
	}
	LEAQ(key(14), temp)
	Label("last" + suffix)
	load(at(temp, 0))
	return k
}

func vaesUnits(round, last avxOp, counts [2]Mem) {
	buf := AllocLocal(2 * vaesWide * blockSize)
	LEAQ(buf, local)
	LEAQ(buf.Offset(vaesWide*blockSize), other)
	MOVQ(U32(polynomial), temp)
	VMOVQ(temp, X9)
	VPBROADCASTQ(X9, Y9)
	Label("unit")
	MOVQ(blocks, left)
	vaesTweaks(counts)
	CMPQ(left, U8(vaesWide))
	JB(LabelRef("half"))

	Label("wide")
	for i, y := range ymm[:8] {
		VMOVDQU(at(local, i*32), y)
		VPXOR(at(src, i*32), y, y)
	}
	// The next tweaks are made between the rounds; the halves of the buffer
	// change places.
	vaesMiddle(ymm[:8], round, "Wide", func(r int) {
		if r > 8 {
			return
		}
		// tweak *= x^16
		VMOVDQU(at(local, (r-1)*32), Y10)
		VPSRLDQ(U8(14), Y10, Y11)
		VPSLLDQ(U8(2), Y10, Y10)
		VPCLMULQDQ(U8(0), Y9, Y11, Y11)
		VPXOR(Y11, Y10, Y10)
		VMOVDQU(Y10, at(other, (r-1)*32))
	})
	for i, y := range ymm[:8] {
		VPXOR(at(local, i*32), Y8, Y10)
		last(Y10, y, y)
		VMOVDQU(y, at(dst, i*32))
	}
	XCHGQ(local, other)
	advance(vaesWide)
	CMPQ(left, U8(vaesWide))
	JAE(LabelRef("wide"))

	Label("half")
	VMOVDQU(at(local, 0), X12)
	CMPQ(left, U8(vaesHalf))
	JB(LabelRef("rest"))
	for i, y := range ymm[:4] {
		VMOVDQU(at(local, i*32), y)
		VPXOR(at(src, i*32), y, y)
	}
	vaesRounds(ymm[:4], round, last, "Half")
	for i, y := range ymm[:4] {
		VPXOR(at(local, i*32), y, y)
		VMOVDQU(y, at(dst, i*32))
	}
	VMOVDQU(at(local, vaesHalf*blockSize), X12)
	advance(vaesHalf)

	Label("rest")
	TESTQ(left, left)
	JZ(LabelRef("done"))
	Label("single")
	VPXOR(at(src, 0), X12, X0)
	vaesRounds(xmm[:1], round, last, "Single")
	VPXOR(X12, X0, X0)
	VMOVDQU(X0, at(dst, 0))
	vaesShift(X12, X12, 1, X9, X10, X11)
	advance(1)
	JNZ(LabelRef("single"))
	Label("done")
	VMOVDQU(X12, at(tweaks, 0))
	nextUnit()
	VPXOR(Y8, Y8, Y8)
	VPXOR(Y10, Y10, Y10) // the last round key and a tweak that is on the stack
	VZEROUPPER()
	RET()
}

// vaesTweaks stores the tweaks of the first sixteen blocks.
func vaesTweaks(counts [2]Mem) {
	VBROADCASTI128(at(tweaks, 0), Y12)
	// lane j *= x^j
	VPSLLVQ(counts[0], Y12, Y0)
	VPSRLVQ(counts[1], Y12, Y10)
	VPCLMULQDQ(U8(1), Y9, Y10, Y11)
	VPSLLDQ(U8(8), Y10, Y10)
	VPXOR(Y11, Y0, Y0)
	VPXOR(Y10, Y0, Y0)
	vaesShift(Y0, Y1, 2, Y9, Y10, Y11)
	for i := range 2 {
		vaesShift(ymm[i], ymm[2+i], 4, Y9, Y10, Y11)
	}
	for i := range 4 {
		from, to := ymm[i], ymm[4+i]
		VPSRLDQ(U8(15), from, Y10)
		VPSLLDQ(U8(1), from, to)
		VPCLMULQDQ(U8(0), Y9, Y10, Y10)
		VPXOR(Y10, to, to)
	}
	for i, y := range ymm[:8] {
		VMOVDQU(y, at(local, i*32))
	}
}

// vaesShift sets to = from * x^n in every lane, n < 64.
func vaesShift(from, to VecPhysical, n int, poly, a, b VecPhysical) {
	VPSRLQ(U8(64-n), from, a)
	VPSLLQ(U8(n), from, to)
	VPCLMULQDQ(U8(1), poly, a, b)
	VPSLLDQ(U8(8), a, a)
	VPXOR(b, to, to)
	VPXOR(a, to, to)
}
