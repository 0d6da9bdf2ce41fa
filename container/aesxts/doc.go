// Package aesxts encrypts and decrypts data units with AES-XTS (IEEE 1619):
// the engine below every container format that uses it.
//
// An [Engine] is made once per volume by [New] from a key, a data unit size
// and the numbering of the units, and is then safe for concurrent use:
//
//	e, err := aesxts.New(key, 4096, aesxts.WithTweak(0, 8), aesxts.WithMemory(locked))
//	e.EncryptUnits(dst, src, first) // whole units; in place is allowed
//	e.Wipe()                        // the expanded keys are zero from here on
//
// # Tweak
//
// Unit i of a call (i counts from 0, first is the unit index of the first one)
// is encrypted under the tweak number base + (first+i)*step, taken modulo
// 2^128 and written as 16 little-endian bytes. Formats differ only in base,
// step and unit size: LUKS2 with 4096-byte sectors numbers them in steps of 8,
// VeraCrypt starts outer volumes at 256, GELI steps by the sector size.
//
// # Implementations
//
// vaes512 (AVX-512, four blocks an instruction), vaes (AVX2, two), aesni (SSE,
// eight blocks interleaved), arm64 (AESE/AESMC) and generic (portable Go). The
// fastest one the processor and the operating system support is chosen at run
// time; the build tag purego leaves only generic. All give the same bytes and
// share one test table. generic is bitsliced: no table is indexed by, and no
// branch depends on, key or data (docs/adr-0001-bitsliced-portable-path.md).
// The key expansion is the same bitsliced code for every implementation.
//
// # Secrets
//
// The expanded keys live in one block of [ScheduleSize] bytes, given by the
// caller with [WithMemory] (container/secret: locked, outside the Go heap) and
// nowhere else that outlives a call. What an operation leaves behind for a
// moment are registers and stack frames: the assembly clears the registers
// that held keys before it returns; the Go code (key expansion, generic path)
// spills intermediate values to the goroutine stack, which Go cannot clear
// reliably. XTS gives confidentiality only; it does not notice tampering.
package aesxts
