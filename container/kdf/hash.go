package kdf

import (
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha3"
	"crypto/sha512"
	"fmt"
	"hash"

	"golang.org/x/crypto/blake2b"
	"golang.org/x/crypto/blake2s"
	//lint:ignore SA1019 old containers use it
	"golang.org/x/crypto/ripemd160"
)

// Hash gives the constructor of a hash by the name that LUKS headers use.
// ErrUnsupported names a hash that is not known.
func Hash(name string) (func() hash.Hash, error) {
	switch name {
	case "sha1":
		return sha1.New, nil
	case "sha224":
		return sha256.New224, nil
	case "sha256":
		return sha256.New, nil
	case "sha384":
		return sha512.New384, nil
	case "sha512":
		return sha512.New, nil
	case "sha3-224":
		return func() hash.Hash { return sha3.New224() }, nil
	case "sha3-256":
		return func() hash.Hash { return sha3.New256() }, nil
	case "sha3-384":
		return func() hash.Hash { return sha3.New384() }, nil
	case "sha3-512":
		return func() hash.Hash { return sha3.New512() }, nil
	case "ripemd160":
		return ripemd160.New, nil
	case "blake2s-256":
		return unkeyed(blake2s.New256), nil
	case "blake2b-256":
		return unkeyed(blake2b.New256), nil
	case "blake2b-384":
		return unkeyed(blake2b.New384), nil
	case "blake2b-512":
		return unkeyed(blake2b.New512), nil
	}
	return nil, fmt.Errorf("hash %q: %w", name, ErrUnsupported)
}

// unkeyed adapts the constructors of BLAKE2, which fail for long keys only.
func unkeyed(construct func([]byte) (hash.Hash, error)) func() hash.Hash {
	return func() hash.Hash {
		h, err := construct(nil)
		if err != nil {
			panic("kdf: unkeyed hash refused: " + err.Error())
		}
		return h
	}
}
