package luks

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/binary"
	"hash"
)

// afStripes is the number of stripes the format uses; the anti-forensic
// splitter (TKS1, "New Methods in Hard Disk Encryption", section 2.4) inflates
// a key to that many times its size, so that losing any part of the material
// loses the key.
const afStripes = 4000

// afSplit fills material, afStripes times len(key), with stripes that merge
// to key. All but the last one are random.
func afSplit(material, key []byte, newHash func() hash.Hash) error {
	n := len(key)
	last := material[len(material)-n:]
	if _, err := rand.Read(material[:len(material)-n]); err != nil {
		return err
	}
	afFold(last, material[:len(material)-n], newHash)
	subtle.XORBytes(last, last, key)
	return nil
}

// afMerge is the inverse of afSplit.
func afMerge(key, material []byte, newHash func() hash.Hash) {
	n := len(key)
	afFold(key, material[:len(material)-n], newHash)
	subtle.XORBytes(key, key, material[len(material)-n:])
}

// afFold sets acc to the diffused sum of the stripes.
func afFold(acc, stripes []byte, newHash func() hash.Hash) {
	h := newHash()
	sum := make([]byte, 0, h.Size())
	clear(acc)
	for len(stripes) > 0 {
		subtle.XORBytes(acc, acc, stripes)
		diffuse(acc, h, sum)
		stripes = stripes[len(acc):]
	}
	clear(sum[:cap(sum)])
	h.Reset()
}

// diffuse replaces every digest-sized chunk i of block by H(BE32(i) || chunk);
// the last one is cut to what is left.
func diffuse(block []byte, h hash.Hash, sum []byte) {
	var index [4]byte
	for i := uint32(0); len(block) > 0; i++ {
		chunk := block[:min(len(block), h.Size())]
		binary.BigEndian.PutUint32(index[:], i)
		h.Reset()
		h.Write(index[:])
		h.Write(chunk)
		copy(chunk, h.Sum(sum))
		block = block[len(chunk):]
	}
}
