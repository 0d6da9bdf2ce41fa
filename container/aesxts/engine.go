package aesxts

import (
	"crypto/subtle"
	"errors"
	"fmt"
	"sync/atomic"
	"unsafe"
)

const (
	blockSize = 16
	// MaxUnitBlocks is the largest data unit IEEE 1619 allows (section 5.1),
	// in 16-byte blocks: 16 MiB.
	MaxUnitBlocks = 1 << 20
)

// ErrEqualKeys is returned by New when both halves of the key are the same:
// then XTS loses its proof (NIST FIPS 140 IG C.I demands the check). Vectors
// and foreign images that carry such keys need AllowEqualKeys.
var ErrEqualKeys = errors.New("the two halves of the XTS key are equal")

// Engine encrypts and decrypts whole data units. All methods but Wipe may be
// called from several goroutines at once. Wrong lengths are programming errors
// and panic, like crypto/cipher: len(src) that is no multiple of the unit
// size, dst shorter than src, buffers that overlap but do not start at the
// same byte. dst and src may be the same; only dst[:len(src)] is written.
type Engine interface {
	// EncryptUnits encrypts src into dst; first is the index of the first
	// unit, counted from the tweak base.
	EncryptUnits(dst, src []byte, first uint64)
	// DecryptUnits is the inverse of EncryptUnits.
	DecryptUnits(dst, src []byte, first uint64)
	// UnitSize is the size of a data unit in bytes.
	UnitSize() int
	// Implementation names the code that runs: "vaes512", "vaes", "aesni",
	// "arm64" or "generic".
	Implementation() string
	// Wipe zeroes the expanded keys. Any use afterwards panics; so does an
	// operation that was running meanwhile, for its output cannot be trusted.
	// Wiping twice is allowed. It does not free memory given by WithMemory.
	Wipe()
}

// Option changes how New builds an engine.
type Option func(*options)

type options struct {
	base       number
	step       uint64
	memory     []byte
	equalKeys  bool
	forced     string
	workers    int // most goroutines for one call; 0: GOMAXPROCS
	splitBytes int // see engine; 0: default of the implementation
	chunkBytes int
}

// WithTweak numbers the units base, base+step, base+2*step, ... The default is
// base 0 and step 1.
func WithTweak(base, step uint64) Option {
	return func(o *options) { o.base, o.step = number{lo: base}, step }
}

// WithTweakBase sets a base of 128 bits, little-endian, and leaves the step.
func WithTweakBase(base [16]byte) Option {
	return func(o *options) { o.base = loadNumber(base[:]) }
}

// WithMemory keeps the expanded keys in the first ScheduleSize bytes of mem
// (any alignment) instead of the Go heap. The caller leaves them alone until
// Wipe has returned and frees them after that, not before.
func WithMemory(mem []byte) Option {
	return func(o *options) { o.memory = mem }
}

// AllowEqualKeys accepts a key whose halves are equal.
func AllowEqualKeys() Option {
	return func(o *options) { o.equalKeys = true }
}

// WithMaxWorkers bounds the goroutines that share one large call, the caller's
// included; 1 keeps every call in its own goroutine. 0, the default, means
// GOMAXPROCS.
func WithMaxWorkers(n int) Option {
	return func(o *options) { o.workers = n }
}

// WithImplementation forces one implementation by its name, for tests,
// benchmarks and diagnosis. New fails when it cannot run on this machine.
func WithImplementation(name string) Option {
	return func(o *options) { o.forced = name }
}

// withSplit sets the bytes from which calls are shared among workers, and the
// bytes a worker claims at once.
func withSplit(from, chunk int) Option {
	return func(o *options) { o.splitBytes, o.chunkBytes = from, chunk }
}

// engine implements Engine. It holds no key material but the pointer to it.
type engine struct {
	mem        *schedule // expanded keys, see schedule.go
	wiped      atomic.Bool
	kind       kind
	rounds     int // 10 or 14
	unitBytes  int
	base       number
	step       uint64
	workers    int
	splitBytes int // calls of at least this many bytes are shared among workers
	chunkBytes int // what a worker claims at once; at least one unit
}

// New makes an engine. key is K1 || K2 of 32 bytes (AES-128-XTS) or 64 bytes
// (AES-256-XTS); it is not retained. unitSize is in bytes, a multiple of 16
// from 16 to 16*MaxUnitBlocks. Errors: ErrEqualKeys, or a description of the
// argument that is out of range.
func New(key []byte, unitSize int, opts ...Option) (Engine, error) {
	o := options{step: 1}
	for _, opt := range opts {
		opt(&o)
	}
	e, err := build(key, unitSize, &o)
	if err != nil {
		return nil, fmt.Errorf("aesxts: %w", err)
	}
	return e, nil
}

func build(key []byte, unitSize int, o *options) (*engine, error) {
	var rounds int
	switch len(key) {
	case 32:
		rounds = 10
	case 64:
		rounds = 14
	default:
		return nil, fmt.Errorf("key of %d bytes: AES-XTS takes 32 or 64", len(key))
	}
	if unitSize <= 0 || unitSize%blockSize != 0 || unitSize > MaxUnitBlocks*blockSize {
		return nil, fmt.Errorf("data unit of %d bytes: want a multiple of 16 from 16 to %d",
			unitSize, MaxUnitBlocks*blockSize)
	}
	half := len(key) / 2
	if !o.equalKeys && subtle.ConstantTimeCompare(key[:half], key[half:]) == 1 {
		return nil, ErrEqualKeys
	}
	if o.workers < 0 {
		return nil, fmt.Errorf("%d workers", o.workers)
	}
	if o.memory == nil {
		o.memory = make([]byte, ScheduleSize)
	}
	if len(o.memory) < ScheduleSize {
		return nil, fmt.Errorf("%d bytes of memory for the expanded keys: want %d", len(o.memory), ScheduleSize)
	}
	k, err := choose(o.forced)
	if err != nil {
		return nil, err
	}
	e := &engine{
		mem: (*schedule)(o.memory), kind: k, rounds: rounds, unitBytes: unitSize,
		base: o.base, step: o.step, workers: o.workers, splitBytes: o.splitBytes, chunkBytes: o.chunkBytes,
	}
	if e.splitBytes == 0 {
		e.splitBytes, e.chunkBytes = k.split()
	}
	e.mem.fill(key, e.kind)
	return e, nil
}

func (e *engine) UnitSize() int          { return e.unitBytes }
func (e *engine) Implementation() string { return e.kind.String() }

func (e *engine) Wipe() {
	// The mark comes first: an operation that read a zeroed key finds it.
	if !e.wiped.Swap(true) {
		clear(e.mem[:])
	}
}

func (e *engine) EncryptUnits(dst, src []byte, first uint64) { e.units(dst, src, first, false) }
func (e *engine) DecryptUnits(dst, src []byte, first uint64) { e.units(dst, src, first, true) }

func (e *engine) units(dst, src []byte, first uint64, decrypt bool) {
	e.alive()
	if len(src)%e.unitBytes != 0 {
		panic("aesxts: input not full data units")
	}
	checkBuffers(dst, src)
	if len(src) == 0 {
		return
	}
	dst = dst[:len(src)]
	at := e.base.add(times(first, e.step))
	if len(src) < e.splitBytes || !e.share(dst, src, at, decrypt) {
		e.run(dst, src, at, decrypt)
	}
	e.alive()
}

func (e *engine) alive() {
	if e.wiped.Load() {
		panic("aesxts: use of an engine whose keys were wiped")
	}
}

func checkBuffers(dst, src []byte) {
	if len(dst) < len(src) {
		panic("aesxts: output smaller than input")
	}
	if inexactOverlap(dst[:len(src)], src) {
		panic("aesxts: invalid buffer overlap")
	}
}

// inexactOverlap says whether x and y, of one length, share memory at
// non-corresponding bytes.
func inexactOverlap(x, y []byte) bool {
	if len(x) == 0 || &x[0] == &y[0] {
		return false
	}
	a, b := uintptr(unsafe.Pointer(&x[0])), uintptr(unsafe.Pointer(&y[0]))
	return a < b+uintptr(len(y)) && b < a+uintptr(len(x))
}
