package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

const (
	blockSize  = 16
	polynomial = 0x87 // x^128 = x^7 + x^2 + x + 1
	// Rounds are 10 or 14; these are the ones both have before the last.
	commonRounds = 9
)

// General registers, the same in every function.
var (
	keys   = RAX // round keys, 16 bytes each, in order of use
	rounds = RBX // 10 or 14
	dst    = RDI
	src    = RSI
	tweaks = RDX // 16 bytes a unit; moves on with the units
	units  = RCX // units left
	blocks = R8  // blocks of a unit
	left   = R9  // blocks left of this unit
	local  = R10 // tweaks of the blocks in flight, on the stack
	temp   = R11
	other  = R12 // as local, for the blocks after those
)

// textTweaks starts a function that encrypts groups of blocks in place; the
// buffer is in dst, the number of groups, of size blocks each, in left.
func textTweaks(name string, groupBlocks int) {
	TEXT(name, NOSPLIT, "func(keys *byte, rounds int, buf *byte, groups int)")
	Doc(name+" AES-encrypts buf in place: groups of ", itoa(groupBlocks)+" blocks.")
	Pragma("noescape")
	Load(Param("keys"), keys)
	Load(Param("rounds"), rounds)
	Load(Param("buf"), dst)
	Load(Param("groups"), left)
}

// textUnits starts an XTS function.
func textUnits(name, verb string) {
	TEXT(name, NOSPLIT, "func(keys *byte, rounds int, dst, src, tweaks *byte, units, blocks int)")
	Doc(name+" "+verb+" units data units of blocks blocks each. Every tweak is replaced",
		"by the one after the last block of its unit.")
	Pragma("noescape")
	Load(Param("keys"), keys)
	Load(Param("rounds"), rounds)
	Load(Param("dst"), dst)
	Load(Param("src"), src)
	Load(Param("tweaks"), tweaks)
	Load(Param("units"), units)
	Load(Param("blocks"), blocks)
}

// nextUnit ends the loop over the units.
func nextUnit() {
	ADDQ(U8(blockSize), tweaks)
	DECQ(units)
	JNZ(LabelRef("unit"))
}

// advance moves src and dst on by n blocks and takes them off left.
func advance(n int) {
	ADDQ(I32(n*blockSize), src)
	ADDQ(I32(n*blockSize), dst)
	SUBQ(U8(n), left)
}

func key(r int) Mem { return Mem{Base: keys, Disp: r * blockSize} }
func at(base Register, bytes int) Mem {
	return Mem{Base: base, Disp: bytes}
}

func itoa(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + itoa(n%10)
}

// vec returns the registers of numbers from to to-1.
func vec(all []VecPhysical, from, to int) []VecPhysical { return all[from:to] }

var (
	xmm = []VecPhysical{X0, X1, X2, X3, X4, X5, X6, X7, X8, X9, X10, X11, X12, X13, X14, X15}
	ymm = []VecPhysical{Y0, Y1, Y2, Y3, Y4, Y5, Y6, Y7, Y8, Y9, Y10, Y11, Y12, Y13, Y14, Y15}
	zmm = []VecPhysical{Z0, Z1, Z2, Z3, Z4, Z5, Z6, Z7, Z8, Z9, Z10, Z11, Z12, Z13, Z14, Z15,
		Z16, Z17, Z18, Z19, Z20, Z21, Z22, Z23, Z24, Z25, Z26, Z27, Z28, Z29, Z30, Z31}
)
