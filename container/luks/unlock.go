package luks

import (
	"cmp"
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"coffer/container/aesxts"
	"coffer/container/block"
	"coffer/container/kdf"
	"coffer/container/secret"
)

// AnySlot asks Unlock to try every keyslot that is not marked "ignore".
const AnySlot = -1

// cipherXTS is the one cipher implemented, for payloads and keyslot areas.
const cipherXTS = "aes-xts-plain64"

// keyslotUnit is the data unit of keyslot areas; it does not follow the
// payload's sector size.
const keyslotUnit = 512

// Payload says where and how the data of a container are encrypted.
type Payload struct {
	Offset      int64 // bytes from the start of the device
	Size        int64 // bytes, a multiple of SectorBytes
	SectorBytes int   // the data unit
	IVTweak     uint64
	Cipher      string // "aes-xts-plain64"
	KeyBytes    int    // 32 or 64
}

// Payload gives the place of the data on a device of deviceSize bytes, or
// ErrUnsupported that names the feature, when the payload needs one that is
// not supported; ErrDamaged if it lies outside the device.
func (h *Header) Payload(deviceSize int64) (Payload, error) {
	if err := h.Supported(); err != nil {
		return Payload{}, err
	}
	s := h.meta.segments[0]
	p := Payload{SectorBytes: s.sector, IVTweak: s.ivTweak, Cipher: s.encryption, KeyBytes: h.keyBytes()}
	if s.offset >= uint64(deviceSize) || s.size > uint64(deviceSize)-s.offset {
		return Payload{}, fmt.Errorf("the image ends at %d, the payload of %d bytes begins at %d: image cut short? %w", deviceSize, s.size, s.offset, ErrDamaged)
	}
	p.Offset, p.Size = int64(s.offset), int64(s.size)
	if s.size == 0 {
		p.Size = deviceSize - p.Offset
	}
	p.Size -= p.Size % int64(s.sector)
	if p.Size == 0 {
		return Payload{}, fmt.Errorf("no room for a payload: %w", ErrDamaged)
	}
	if p.IVTweak > 1<<62 {
		return Payload{}, fmt.Errorf("iv_tweak %d: %w", p.IVTweak, ErrUnsupported)
	}
	return p, nil
}

// Supported is nil if nothing in the header asks for a feature that is not
// implemented, else an ErrUnsupported that names all of them it can.
func (h *Header) Supported() error {
	var errs []error
	unsupported := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf(format+": %w", append(args, ErrUnsupported)...))
	}
	for _, r := range h.meta.requirements {
		unsupported("the container requires %q", r)
	}
	if len(h.meta.segments) > 1 {
		unsupported("a payload in %d segments", len(h.meta.segments))
	}
	if h.meta.backups > 0 {
		unsupported("a reencryption in progress")
	}
	s := h.meta.segments[0]
	switch {
	case s.kind != "crypt":
		unsupported("payload of type %q", s.kind)
	case s.integrity != "":
		unsupported("payload with integrity tags (%s)", s.integrity)
	case s.encryption != cipherXTS:
		unsupported("cipher %q", s.encryption)
	case len(s.flags) > 0:
		unsupported("segment flag %q", s.flags[0])
	case s.offset == 0:
		unsupported("a detached header")
	}
	return errors.Join(errs...)
}

// keyBytes is the size of the payload's key, 0 if no keyslot tells.
func (h *Header) keyBytes() int {
	for _, id := range h.boundSlots() {
		return h.meta.keyslots[id].keyBytes
	}
	return 0
}

// dataDigest is the number of the digest that proves the payload's key; ok is
// false if there is none.
func (h *Header) dataDigest() (id int, ok bool) {
	for _, id := range slices.Sorted(maps.Keys(h.meta.digests)) {
		if slices.Contains(h.meta.digests[id].segments, 0) {
			return id, true
		}
	}
	return 0, false
}

// boundSlots are the keyslots that hold the payload's key, in the order in
// which they are tried. Unbound ones, which hold a key for something else, are
// not among them.
func (h *Header) boundSlots() []int {
	id, ok := h.dataDigest()
	if !ok {
		return nil
	}
	var slots []int
	for _, k := range h.meta.digests[id].keyslots {
		if h.meta.keyslots[k].kind == kindLUKS2 {
			slots = append(slots, k)
		}
	}
	slices.SortFunc(slots, func(a, b int) int {
		return cmp.Or(cmp.Compare(h.meta.keyslots[b].priority, h.meta.keyslots[a].priority), cmp.Compare(a, b))
	})
	return slots
}

// Unlock finds the volume key with a passphrase, in one keyslot or with
// AnySlot in all. It returns the key, to be destroyed by the caller, and the
// slot that opened. Parameters of the key derivation over their limits are
// refused before anything is allocated. ErrWrongKey if no slot opens.
func (h *Header) Unlock(ctx context.Context, dev io.ReaderAt, d kdf.Deriver, limits kdf.Limits, passphrase []byte, slot int) (*secret.Buffer, int, error) {
	slots := h.boundSlots()
	if slot != AnySlot {
		if !slices.Contains(slots, slot) {
			return nil, 0, fmt.Errorf("keyslot %d: %w", slot, ErrNoSlot)
		}
		slots = []int{slot}
	} else {
		slots = slices.DeleteFunc(slots, func(id int) bool { return h.meta.keyslots[id].priority == 0 })
	}
	if len(slots) == 0 {
		return nil, 0, fmt.Errorf("no keyslot holds the key of the data: %w", ErrNoSlot)
	}
	tried := false
	var skipped []error
	for _, id := range slots {
		key, err := h.openSlot(ctx, dev, d, limits, passphrase, id)
		if err == nil {
			return key, id, nil
		}
		var limit *kdf.LimitError
		switch {
		case errors.Is(err, ErrWrongKey):
			tried = true
		case errors.As(err, &limit), errors.Is(err, ErrUnsupported), errors.Is(err, kdf.ErrUnsupported), errors.Is(err, kdf.ErrInvalid):
			skipped = append(skipped, err)
		default:
			return nil, 0, err
		}
	}
	if !tried {
		return nil, 0, fmt.Errorf("%w: %w", errors.Join(skipped...), ErrUnsupported)
	}
	if len(skipped) > 0 {
		return nil, 0, fmt.Errorf("%w (not tried: %w)", ErrWrongKey, errors.Join(skipped...))
	}
	return nil, 0, ErrWrongKey
}

// openSlot tries one keyslot.
func (h *Header) openSlot(ctx context.Context, dev io.ReaderAt, d kdf.Deriver, limits kdf.Limits, passphrase []byte, id int) (*secret.Buffer, error) {
	k := h.meta.keyslots[id]
	newHash, err := k.usable(limits)
	if err != nil {
		return nil, fmt.Errorf("keyslot %d: %w", id, err)
	}
	material, err := secret.New(k.keyBytes * afStripes)
	if err != nil {
		return nil, err
	}
	defer material.Destroy()
	// Before the expensive derivation: an unreadable area needs none.
	if err := block.ReadFull(dev, material.Bytes(), int64(k.area.offset)); err != nil {
		return nil, fmt.Errorf("read keyslot %d: %w", id, err)
	}
	engine, release, err := k.areaEngine(ctx, d, passphrase)
	if err != nil {
		return nil, fmt.Errorf("keyslot %d: %w", id, err)
	}
	engine.DecryptUnits(material.Bytes(), material.Bytes(), 0)
	release()
	key, err := secret.New(k.keyBytes)
	if err != nil {
		return nil, err
	}
	afMerge(key.Bytes(), material.Bytes(), newHash)
	digestID, _ := h.dataDigest()
	proof := h.meta.digests[digestID]
	if err := proof.verify(ctx, key.Bytes(), limits); err != nil {
		key.Destroy()
		return nil, fmt.Errorf("keyslot %d: %w", id, err)
	}
	return key, nil
}

// usable checks everything about a slot that would cost memory or time, and
// gives the hash of its splitter.
func (k *keyslot) usable(limits kdf.Limits) (newHash hashFunc, err error) {
	switch {
	case k.encryption != cipherXTS:
		return nil, fmt.Errorf("encrypted with %q: %w", k.encryption, ErrUnsupported)
	case k.areaKeyBytes != 32 && k.areaKeyBytes != 64:
		return nil, fmt.Errorf("encrypted with a key of %d bits: %w", 8*k.areaKeyBytes, ErrUnsupported)
	case k.keyBytes != 32 && k.keyBytes != 64:
		return nil, fmt.Errorf("holds a key of %d bits: %w", 8*k.keyBytes, ErrUnsupported)
	case k.stripes != afStripes:
		return nil, fmt.Errorf("split into %d stripes: %w", k.stripes, ErrUnsupported)
	case k.area.size < uint64(k.keyBytes*afStripes):
		return nil, fmt.Errorf("area of %d bytes is too small: %w", k.area.size, ErrUnsupported)
	}
	if err := k.kdf.Check(limits); err != nil {
		return nil, err
	}
	return kdf.Hash(k.afHash)
}

// areaEngine derives the key of a slot's area and makes the engine for it.
// release wipes both; it must be called once.
func (k *keyslot) areaEngine(ctx context.Context, d kdf.Deriver, passphrase []byte) (e aesxts.Engine, release func(), err error) {
	mem, err := secret.New(aesxts.ScheduleSize + k.areaKeyBytes)
	if err != nil {
		return nil, nil, err
	}
	areaKey := mem.Bytes()[aesxts.ScheduleSize:]
	if err := d.Derive(ctx, k.kdf, passphrase, areaKey); err != nil {
		mem.Destroy()
		return nil, nil, err
	}
	e, err = aesxts.New(areaKey, keyslotUnit, aesxts.WithMemory(mem.Bytes()[:aesxts.ScheduleSize]), aesxts.AllowEqualKeys())
	if err != nil {
		mem.Destroy()
		return nil, nil, err
	}
	return e, func() { e.Wipe(); mem.Destroy() }, nil
}

// verify is nil if key is the one the digest was made of, else ErrWrongKey.
func (d *digest) verify(ctx context.Context, key []byte, limits kdf.Limits) error {
	if d.kind != "pbkdf2" {
		return fmt.Errorf("digest of type %q: %w", d.kind, ErrUnsupported)
	}
	if err := d.kdf.Check(limits); err != nil {
		return err
	}
	sum := make([]byte, len(d.digest))
	if err := (kdf.InProcess{}).Derive(ctx, d.kdf, key, sum); err != nil {
		return err
	}
	if subtle.ConstantTimeCompare(sum, d.digest) != 1 {
		return ErrWrongKey
	}
	return nil
}
