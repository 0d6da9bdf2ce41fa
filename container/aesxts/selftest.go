package aesxts

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// SelfTest runs the vectors of IEEE 1619 and a comparison with the generic
// path over unit sizes of every class on each implementation that can run on
// this machine. The error names the implementation and what it got wrong. It
// takes some milliseconds and is safe for concurrent use.
func SelfTest() error {
	vectors, err := parseVectors(ieee1619)
	if err != nil {
		return err
	}
	for _, k := range kinds() {
		for _, v := range vectors {
			if err := v.check(k); err != nil {
				return fmt.Errorf("aesxts: self-test of %s: %w", k, err)
			}
		}
		if err := compareWithGeneric(k); err != nil {
			return fmt.Errorf("aesxts: self-test of %s: %w", k, err)
		}
	}
	return nil
}

// check runs v both ways, as a unit of whole blocks where it is one, and
// through the functions that steal.
func (v *vector) check(k kind) error {
	unit := len(v.plaintext) - len(v.plaintext)%blockSize
	e, err := New(v.key, unit, WithTweakBase(v.number), AllowEqualKeys(), WithImplementation(k.String()))
	if err != nil {
		return err
	}
	defer e.Wipe()
	got := make([]byte, len(v.plaintext))
	try := func(name string, f func(dst, src []byte), in, want []byte) error {
		clear(got)
		f(got, in)
		if !bytes.Equal(got, want) {
			return fmt.Errorf("vector %s (%d bytes, AES-%d): %s gave other bytes",
				v.name, len(in), len(v.key)*4, name)
		}
		return nil
	}
	err = try("EncryptUnit", func(d, s []byte) { EncryptUnit(e, d, s, 0) }, v.plaintext, v.ciphertext)
	if err == nil {
		err = try("DecryptUnit", func(d, s []byte) { DecryptUnit(e, d, s, 0) }, v.ciphertext, v.plaintext)
	}
	if err != nil || unit != len(v.plaintext) {
		return err
	}
	err = try("EncryptUnits", func(d, s []byte) { e.EncryptUnits(d, s, 0) }, v.plaintext, v.ciphertext)
	if err == nil {
		err = try("DecryptUnits", func(d, s []byte) { e.DecryptUnits(d, s, 0) }, v.ciphertext, v.plaintext)
	}
	return err
}

// selfTestBlocks are unit sizes, in blocks, around the widths of the loops.
var selfTestBlocks = [...]int{1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 28, 31, 32, 33, 63, 64, 256}

func compareWithGeneric(k kind) error {
	if k == kindGeneric {
		return nil
	}
	var key [64]byte
	for i := range key {
		key[i] = byte(i*7 + 1)
	}
	for _, keySize := range []int{32, 64} {
		for _, blocks := range selfTestBlocks {
			if err := compareUnits(k, key[:keySize], blocks*blockSize); err != nil {
				return err
			}
		}
	}
	return nil
}

func compareUnits(k kind, key []byte, unit int) error {
	const units = 3
	opts := []Option{WithTweak(1<<63, 1<<62)}
	e, err := New(key, unit, append(opts, WithImplementation(k.String()))...)
	if err != nil {
		return err
	}
	defer e.Wipe()
	g, err := New(key, unit, append(opts, WithImplementation(kindGeneric.String()))...)
	if err != nil {
		return err
	}
	defer g.Wipe()
	plain := make([]byte, units*unit)
	for i := 0; i < len(plain); i += 8 {
		binary.LittleEndian.PutUint64(plain[i:], uint64(i)*0x9e3779b97f4a7c15)
	}
	want, got := make([]byte, len(plain)), make([]byte, len(plain))
	g.EncryptUnits(want, plain, 1)
	e.EncryptUnits(got, plain, 1)
	if !bytes.Equal(got, want) {
		return fmt.Errorf("AES-%d, units of %d bytes: encryption differs from the generic path", len(key)*4, unit)
	}
	e.DecryptUnits(got, got, 1)
	if !bytes.Equal(got, plain) {
		return fmt.Errorf("AES-%d, units of %d bytes: decryption does not give the plaintext back", len(key)*4, unit)
	}
	return nil
}
