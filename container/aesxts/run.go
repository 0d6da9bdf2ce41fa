package aesxts

import "unsafe"

const (
	// tweakBatch is how many units get their tweaks encrypted together: that
	// hides the latency of AES, which small units would otherwise pay each.
	tweakBatch = 32
	// pieceBlocks bounds the work of one assembly call (256 KiB), because
	// assembly cannot be preempted and the garbage collector would wait.
	pieceBlocks = 256 << 10 / blockSize
)

// run encrypts or decrypts whole units in this goroutine. dst and src are
// equally long; at is the tweak number of the first unit.
func (e *engine) run(dst, src []byte, at number, decrypt bool) {
	var tweaks [tweakBatch * blockSize]byte
	step := number{lo: e.step}
	blocks := e.unitBytes / blockSize
	batch := min(tweakBatch, max(1, pieceBlocks/blocks))
	for len(src) > 0 {
		n := min(batch, len(src)/e.unitBytes)
		for i := range n {
			at.store(tweaks[i*blockSize:])
			at = at.add(step)
		}
		e.encryptTweaks(&tweaks, n)
		size := n * e.unitBytes
		if blocks <= pieceBlocks {
			e.crypt(dst[:size], src[:size], &tweaks, n, blocks, decrypt)
		} else {
			e.pieces(dst[:size], src[:size], &tweaks, decrypt)
		}
		dst, src = dst[size:], src[size:]
	}
}

// pieces works through one long run of blocks under one tweak.
func (e *engine) pieces(dst, src []byte, tweaks *[tweakBatch * blockSize]byte, decrypt bool) {
	for len(src) > 0 {
		n := min(pieceBlocks, len(src)/blockSize)
		e.crypt(dst[:n*blockSize], src[:n*blockSize], tweaks, 1, n, decrypt)
		dst, src = dst[n*blockSize:], src[n*blockSize:]
	}
}

// encryptTweaks replaces n >= 1 unit numbers by their tweaks.
func (e *engine) encryptTweaks(tweaks *[tweakBatch * blockSize]byte, n int) {
	if e.kind == kindGeneric {
		genericTweaks((*planes)(e.mem[offPlanes2:]), e.rounds, tweaks[:n*blockSize])
		return
	}
	asmTweaks(e.kind, &e.mem[offTweak], e.rounds, &tweaks[0], n)
}

// crypt works on units >= 1 data units of blocks >= 1 blocks each; dst and src
// have units*blocks*16 bytes. Every tweak is replaced by the one that follows
// the last block of its unit.
func (e *engine) crypt(dst, src []byte, tweaks *[tweakBatch * blockSize]byte, units, blocks int, decrypt bool) {
	_, _ = dst[units*blocks*blockSize-1], src[units*blocks*blockSize-1]
	d, s := unsafe.SliceData(dst), unsafe.SliceData(src)
	switch {
	case e.kind == kindGeneric:
		genericUnits((*planes)(e.mem[offPlanes1:]), e.rounds, dst, src, tweaks[:units*blockSize], blocks, decrypt)
	case decrypt:
		asmDecrypt(e.kind, &e.mem[offDecrypt], e.rounds, d, s, &tweaks[0], units, blocks)
	default:
		asmEncrypt(e.kind, &e.mem[offEncrypt], e.rounds, d, s, &tweaks[0], units, blocks)
	}
}
