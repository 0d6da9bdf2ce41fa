package aesxts

// EncryptUnit encrypts one data unit of any length in bytes from 16 to
// 16*MaxUnitBlocks, with ciphertext stealing when it is no multiple of 16
// (IEEE 1619, section 5.3.2). e comes from New; of its options the unit size
// does not matter here. index selects the tweak number base + index*step.
// Wrong lengths panic as in Engine; so does a foreign Engine.
func EncryptUnit(e Engine, dst, src []byte, index uint64) {
	e.(*engine).stolen(dst, src, index, false)
}

// DecryptUnit is the inverse of EncryptUnit (IEEE 1619, section 5.4.2).
func DecryptUnit(e Engine, dst, src []byte, index uint64) {
	e.(*engine).stolen(dst, src, index, true)
}

func (e *engine) stolen(dst, src []byte, index uint64, decrypt bool) {
	e.alive()
	if len(src) < blockSize || len(src) > MaxUnitBlocks*blockSize {
		panic("aesxts: data unit shorter than a block or longer than 2^20 blocks")
	}
	checkBuffers(dst, src)
	dst = dst[:len(src)]
	var tweaks [tweakBatch * blockSize]byte
	e.base.add(times(index, e.step)).store(tweaks[:])
	e.encryptTweaks(&tweaks, 1)

	tail := len(src) % blockSize
	whole := len(src) - tail
	if tail > 0 {
		whole -= blockSize // the last whole block is part of the stealing
	}
	if whole > 0 {
		e.pieces(dst[:whole], src[:whole], &tweaks, decrypt)
	}
	if tail > 0 {
		e.steal(dst[whole:], src[whole:], &tweaks, decrypt)
	}
	e.alive()
}

// steal works on the last 17 to 31 bytes. tweaks holds the tweak of their
// first block. Encrypting uses that tweak first and the next one second;
// decrypting the other way round.
func (e *engine) steal(dst, src []byte, tweaks *[tweakBatch * blockSize]byte, decrypt bool) {
	here := loadNumber(tweaks[:])
	order := [2]number{here, here.double()}
	if decrypt {
		order[0], order[1] = order[1], order[0]
	}
	var full, last [blockSize]byte
	order[0].store(tweaks[:])
	e.crypt(full[:], src[:blockSize], tweaks, 1, 1, decrypt)
	tail := copy(last[:], src[blockSize:])
	copy(last[tail:], full[tail:])
	order[1].store(tweaks[:])
	e.crypt(dst[:blockSize], last[:], tweaks, 1, 1, decrypt)
	copy(dst[blockSize:], full[:tail])
}
