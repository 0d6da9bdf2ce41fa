//go:build !purego

#include "textflag.h"

// AESE/AESD with AESMC/AESIMC, eight blocks in V0-V7, their tweaks in V8-V15.
// Round keys: 0-8 in V16-V24, of AES-256 also 9-12 in V25-V28; the last but one
// in V29, the last in V30. The next tweak is in R9 (low half) and R10: the
// integer units have nothing else to do.

#define KEYS R0
#define ROUNDS R1
#define DST R2
#define SRC R3
#define TWEAKS R4
#define UNITS R5
#define BLOCKS R6
#define LEFT R7
#define LO R9
#define HI R10
#define POLY R12

#define LOADKEYS(loaded) \
	VLD1.P 64(KEYS), [V16.B16, V17.B16, V18.B16, V19.B16] \
	VLD1.P 64(KEYS), [V20.B16, V21.B16, V22.B16, V23.B16] \
	VLD1.P 16(KEYS), [V24.B16]                            \
	CMP    $10, ROUNDS                                    \
	BEQ    loaded                                         \
	VLD1.P 64(KEYS), [V25.B16, V26.B16, V27.B16, V28.B16] \
loaded:                                                       \
	VLD1   (KEYS), [V29.B16, V30.B16]

// CLEARKEYS leaves no round key in a register.
#define CLEARKEYS \
	VEOR V16.B16, V16.B16, V16.B16 \
	VEOR V17.B16, V17.B16, V17.B16 \
	VEOR V18.B16, V18.B16, V18.B16 \
	VEOR V19.B16, V19.B16, V19.B16 \
	VEOR V20.B16, V20.B16, V20.B16 \
	VEOR V21.B16, V21.B16, V21.B16 \
	VEOR V22.B16, V22.B16, V22.B16 \
	VEOR V23.B16, V23.B16, V23.B16 \
	VEOR V24.B16, V24.B16, V24.B16 \
	VEOR V25.B16, V25.B16, V25.B16 \
	VEOR V26.B16, V26.B16, V26.B16 \
	VEOR V27.B16, V27.B16, V27.B16 \
	VEOR V28.B16, V28.B16, V28.B16 \
	VEOR V29.B16, V29.B16, V29.B16 \
	VEOR V30.B16, V30.B16, V30.B16

// TWEAK moves the next tweak to v and doubles it.
#define TWEAK(v) \
	VMOV LO, v.D[0]           \
	VMOV HI, v.D[1]           \
	AND  HI->63, POLY, R11    \
	EXTR $63, LO, HI, HI      \
	EOR  LO<<1, R11, LO

#define MASK(t, v) VEOR t.B16, v.B16, v.B16

#define MASK8 \
	MASK(V8, V0)  \
	MASK(V9, V1)  \
	MASK(V10, V2) \
	MASK(V11, V3) \
	MASK(V12, V4) \
	MASK(V13, V5) \
	MASK(V14, V6) \
	MASK(V15, V7)

// Adjacent AESE and AESMC on one register are fused by most cores.
#define ENC(k, v) \
	AESE  k.B16, v.B16 \
	AESMC v.B16, v.B16

#define DEC(k, v) \
	AESD   k.B16, v.B16 \
	AESIMC v.B16, v.B16

#define EACH(OP, k) \
	OP(k, V0) \
	OP(k, V1) \
	OP(k, V2) \
	OP(k, V3) \
	OP(k, V4) \
	OP(k, V5) \
	OP(k, V6) \
	OP(k, V7)

#define ENCLAST(k, v) AESE k.B16, v.B16
#define DECLAST(k, v) AESD k.B16, v.B16
#define ADDKEY(k, v) VEOR k.B16, v.B16, v.B16

#define WIDE(OP, LAST, last) \
	EACH(OP, V16)      \
	EACH(OP, V17)      \
	EACH(OP, V18)      \
	EACH(OP, V19)      \
	EACH(OP, V20)      \
	EACH(OP, V21)      \
	EACH(OP, V22)      \
	EACH(OP, V23)      \
	EACH(OP, V24)      \
	CMP  $10, ROUNDS   \
	BEQ  last          \
	EACH(OP, V25)      \
	EACH(OP, V26)      \
	EACH(OP, V27)      \
	EACH(OP, V28)      \
last:                      \
	EACH(LAST, V29)    \
	EACH(ADDKEY, V30)

#define SINGLE(OP, LAST, last) \
	OP(V16, V0)      \
	OP(V17, V0)      \
	OP(V18, V0)      \
	OP(V19, V0)      \
	OP(V20, V0)      \
	OP(V21, V0)      \
	OP(V22, V0)      \
	OP(V23, V0)      \
	OP(V24, V0)      \
	CMP $10, ROUNDS  \
	BEQ last         \
	OP(V25, V0)      \
	OP(V26, V0)      \
	OP(V27, V0)      \
	OP(V28, V0)      \
last:                    \
	LAST(V29, V0)    \
	ADDKEY(V30, V0)

#define UNITSLOOP(OP, LAST) \
	MOVD   keys+0(FP), KEYS                           \
	MOVD   rounds+8(FP), ROUNDS                       \
	MOVD   dst+16(FP), DST                            \
	MOVD   src+24(FP), SRC                            \
	MOVD   tweaks+32(FP), TWEAKS                      \
	MOVD   units+40(FP), UNITS                        \
	MOVD   blocks+48(FP), BLOCKS                      \
	MOVD   $0x87, POLY                                \
	LOADKEYS(loaded)                                  \
unit:                                                     \
	LDP    (TWEAKS), (LO, HI)                         \
	MOVD   BLOCKS, LEFT                               \
	CMP    $8, LEFT                                   \
	BLT    rest                                       \
wide:                                                     \
	VLD1.P 64(SRC), [V0.B16, V1.B16, V2.B16, V3.B16]  \
	VLD1.P 64(SRC), [V4.B16, V5.B16, V6.B16, V7.B16]  \
	TWEAK(V8)                                         \
	TWEAK(V9)                                         \
	TWEAK(V10)                                        \
	TWEAK(V11)                                        \
	TWEAK(V12)                                        \
	TWEAK(V13)                                        \
	TWEAK(V14)                                        \
	TWEAK(V15)                                        \
	MASK8                                             \
	WIDE(OP, LAST, lastWide)                          \
	MASK8                                             \
	VST1.P [V0.B16, V1.B16, V2.B16, V3.B16], 64(DST)  \
	VST1.P [V4.B16, V5.B16, V6.B16, V7.B16], 64(DST)  \
	SUB    $8, LEFT                                   \
	CMP    $8, LEFT                                   \
	BGE    wide                                       \
rest:                                                     \
	CBZ    LEFT, done                                 \
single:                                                   \
	VLD1.P 16(SRC), [V0.B16]                          \
	TWEAK(V8)                                         \
	MASK(V8, V0)                                      \
	SINGLE(OP, LAST, lastSingle)                      \
	MASK(V8, V0)                                      \
	VST1.P [V0.B16], 16(DST)                          \
	SUB    $1, LEFT                                   \
	CBNZ   LEFT, single                               \
done:                                                     \
	STP.P  (LO, HI), 16(TWEAKS)                       \
	SUB    $1, UNITS                                  \
	CBNZ   UNITS, unit                                \
	CLEARKEYS                                         \
	DMB    $9                                         \
	RET

// The barrier (DMB ISHLD) at the end orders the loads of the keys before the
// load of the engine's mark that says whether they were wiped.

// func encryptARM64(keys *byte, rounds int, dst, src, tweaks *byte, units, blocks int)
TEXT ·encryptARM64(SB), NOSPLIT, $0-56
	UNITSLOOP(ENC, ENCLAST)

// func decryptARM64(keys *byte, rounds int, dst, src, tweaks *byte, units, blocks int)
TEXT ·decryptARM64(SB), NOSPLIT, $0-56
	UNITSLOOP(DEC, DECLAST)

// func tweaksARM64(keys *byte, rounds int, buf *byte, groups int)
TEXT ·tweaksARM64(SB), NOSPLIT, $0-32
	MOVD keys+0(FP), KEYS
	MOVD rounds+8(FP), ROUNDS
	MOVD buf+16(FP), DST
	MOVD groups+24(FP), LEFT
	LOADKEYS(loaded)

group:
	MOVD   DST, SRC
	VLD1.P 64(SRC), [V0.B16, V1.B16, V2.B16, V3.B16]
	VLD1.P 64(SRC), [V4.B16, V5.B16, V6.B16, V7.B16]
	WIDE(ENC, ENCLAST, last)
	VST1.P [V0.B16, V1.B16, V2.B16, V3.B16], 64(DST)
	VST1.P [V4.B16, V5.B16, V6.B16, V7.B16], 64(DST)
	SUB    $1, LEFT
	CBNZ   LEFT, group
	CLEARKEYS
	RET
