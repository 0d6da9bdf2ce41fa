package luks

import (
	"context"
	"crypto/rand"
	"fmt"
	"math"
	"slices"
	"strconv"

	"coffer/container/block"
	"coffer/container/kdf"
	"coffer/container/secret"
)

// AddKey lets passphrase open the container too: it splits, encrypts and
// writes the volume key into a free area, and only when that is durable makes
// the header refer to it. slot is the number wanted, or AnySlot. params are
// complete but for the salt. It returns the number used; ErrNoFreeSlot if none
// of the 32 numbers or no area is free, or the number is taken.
func (h *Header) AddKey(ctx context.Context, dev block.Device, d kdf.Deriver, key []byte, params kdf.Params, passphrase []byte, slot int) (int, error) {
	id, err := h.freeSlot(slot)
	if err != nil {
		return 0, err
	}
	digestID, ok := h.dataDigest()
	if !ok {
		return 0, fmt.Errorf("no digest of the volume key: %w", ErrDamaged)
	}
	place, err := h.freeArea(uint64(AreaBytes(len(key))))
	if err != nil {
		return 0, err
	}
	params.Salt = make([]byte, kdfSaltBytes)
	if _, err := rand.Read(params.Salt); err != nil {
		return 0, fmt.Errorf("random numbers: %w", err)
	}
	k := keyslot{
		kind: kindLUKS2, keyBytes: len(key), stripes: afStripes, afHash: hashName,
		area: place, encryption: cipherXTS, areaKeyBytes: areaKeyBytes, kdf: params,
	}
	if err := k.write(ctx, dev, d, key, passphrase); err != nil {
		return 0, fmt.Errorf("write keyslot %d: %w", id, err)
	}
	root := h.root.clone()
	root.get("keyslots").set(itoa(id), k.object())
	bound := root.get("digests").get(itoa(digestID)).get("keyslots")
	bound.items = append(bound.items, newString(itoa(id)))
	return id, h.update(dev, root)
}

// freeSlot gives the wanted or the lowest free keyslot number.
func (h *Header) freeSlot(wanted int) (int, error) {
	for id := range maxObjects {
		if _, taken := h.meta.keyslots[id]; !taken && (wanted == AnySlot || wanted == id) {
			return id, nil
		}
	}
	if wanted != AnySlot {
		return 0, fmt.Errorf("keyslot %d is taken or no number below %d: %w", wanted, maxObjects, ErrNoFreeSlot)
	}
	return 0, fmt.Errorf("all %d keyslots are taken: %w", maxObjects, ErrNoFreeSlot)
}

// freeArea finds size bytes of the keyslots region that no keyslot uses.
func (h *Header) freeArea(size uint64) (area, error) {
	return findGap(h.areas(), h.regionStart(), h.regionEnd(), size)
}

// regionStart and regionEnd bound the keyslots region.
func (h *Header) regionStart() uint64 { return 2 * uint64(h.bin.headerSize) }
func (h *Header) regionEnd() uint64   { return h.regionStart() + h.meta.keyslotsBytes }

// areas lists the areas in use.
func (h *Header) areas() []area {
	var used []area
	for _, k := range h.meta.keyslots {
		used = append(used, k.area)
	}
	return used
}

// findGap gives the first aligned range of size bytes in [start, end) that
// meets no range in used.
func findGap(used []area, start, end, size uint64) (area, error) {
	candidate := start
	for {
		i := slices.IndexFunc(used, func(a area) bool { return candidate < a.end() && a.offset < candidate+size })
		if candidate+size > end {
			return area{}, fmt.Errorf("no room for %d more bytes of key material: %w", size, ErrNoFreeSlot)
		}
		if i < 0 {
			return area{candidate, size}, nil
		}
		candidate = (used[i].end() + AreaAlignment - 1) / AreaAlignment * AreaAlignment
	}
}

// write derives the area key, splits and encrypts the volume key, and makes
// the area durable.
func (k *keyslot) write(ctx context.Context, dev block.Device, d kdf.Deriver, key, passphrase []byte) error {
	newHash, err := k.usable(kdf.Limits{MemoryKiB: math.MaxUint32, WorkKiB: math.MaxUint64, Threads: 255, Iterations: math.MaxUint64, SaltBytes: maxSaltBytes})
	if err != nil {
		return err
	}
	engine, release, err := k.areaEngine(ctx, d, passphrase)
	if err != nil {
		return err
	}
	defer release()
	material, err := secret.New(int(k.area.size))
	if err != nil {
		return err
	}
	defer material.Destroy()
	split := material.Bytes()[:k.keyBytes*afStripes]
	if err := afSplit(split, key, newHash); err != nil {
		return err
	}
	engine.EncryptUnits(split, split, 0)
	// What the rounding to 4096 leaves must not stand out from the rest.
	if _, err := rand.Read(material.Bytes()[len(split):]); err != nil {
		return err
	}
	if _, err := dev.WriteAt(material.Bytes(), int64(k.area.offset)); err != nil {
		return err
	}
	return dev.Sync()
}

// object is the JSON of a keyslot, members in cryptsetup's order.
func (k *keyslot) object() *value {
	p := k.kdf
	derivation := newObject().set("type", newString(p.Kind))
	if p.Kind == kdf.PBKDF2 {
		derivation.set("hash", newString(p.Hash)).set("iterations", newInt(p.Iterations))
	} else {
		derivation.set("time", newInt(p.Iterations)).set("memory", newInt(p.MemoryKiB)).set("cpus", newInt(p.Threads))
	}
	derivation.set("salt", newBase64(p.Salt))
	return newObject().
		set("type", newString(kindLUKS2)).
		set("key_size", newInt(uint64(k.keyBytes))).
		set("af", newObject().
			set("type", newString("luks1")).
			set("stripes", newInt(uint64(k.stripes))).
			set("hash", newString(k.afHash))).
		set("area", newObject().
			set("type", newString("raw")).
			set("offset", newUint64(k.area.offset)).
			set("size", newUint64(k.area.size)).
			set("encryption", newString(k.encryption)).
			set("key_size", newInt(uint64(k.areaKeyBytes)))).
		set("kdf", derivation)
}

// RemoveKey takes a keyslot away. Its area is overwritten with random bytes
// first, so that no cut leaves key material the header does not show; a cut
// after that leaves a slot that opens with nothing, beside the others, which
// work. ErrLastSlot if no other slot holds the payload's key, unless force.
func (h *Header) RemoveKey(dev block.Device, slot int, force bool) error {
	k, ok := h.meta.keyslots[slot]
	if !ok {
		return fmt.Errorf("keyslot %d: %w", slot, ErrNoSlot)
	}
	if bound := h.boundSlots(); len(bound) == 1 && bound[0] == slot && !force {
		return fmt.Errorf("keyslot %d: %w", slot, ErrLastSlot)
	}
	if h.foreignStart {
		return ErrForeignStart
	}
	if err := wipe(dev, k.area); err != nil {
		return fmt.Errorf("wipe keyslot %d: %w", slot, err)
	}
	root := h.root.clone()
	dropSlot(root, slot)
	return h.update(dev, root)
}

// dropSlot removes a keyslot and every reference to it.
func dropSlot(root *value, slot int) {
	root.get("keyslots").remove(itoa(slot))
	for _, kind := range []string{"digests", "tokens"} {
		for _, object := range root.get(kind).items {
			refs := object.get("keyslots")
			refs.items = slices.DeleteFunc(refs.items, func(v *value) bool { return v.text == itoa(slot) })
		}
	}
}

// ChangeKey replaces the passphrase of a keyslot and keeps its number. The new
// key material is added as a slot of its own, so that for a moment both
// passphrases open; then the old area is wiped; then the new slot takes the
// old number. A cut at any write leaves at least one of the two working, and
// never key material that the header does not show.
func (h *Header) ChangeKey(ctx context.Context, dev block.Device, d kdf.Deriver, key []byte, params kdf.Params, passphrase []byte, slot int) error {
	old, ok := h.meta.keyslots[slot]
	if !ok {
		return fmt.Errorf("keyslot %d: %w", slot, ErrNoSlot)
	}
	added, err := h.AddKey(ctx, dev, d, key, params, passphrase, AnySlot)
	if err != nil {
		return err
	}
	if err := wipe(dev, old.area); err != nil {
		return fmt.Errorf("wipe the old key material of keyslot %d: %w", slot, err)
	}
	root := h.root.clone()
	slots := root.get("keyslots")
	replacement := slots.get(itoa(added))
	if p := slots.get(itoa(slot)).get("priority"); p != nil {
		replacement.set("priority", p.clone())
	}
	slots.set(itoa(slot), replacement)
	dropSlot(root, added)
	return h.update(dev, root)
}

// wipeChunk bounds the memory of wiping; areas of a hostile header may have
// 128 MiB.
const wipeChunk = 1 << 20

// wipe overwrites a range with random bytes and makes that durable. Copies
// that the host keeps elsewhere (snapshots, remapped blocks of an SSD) are out
// of reach.
func wipe(dev block.Device, a area) error {
	buf := make([]byte, min(a.size, wipeChunk))
	for off := a.offset; off < a.end(); {
		n := min(a.end()-off, wipeChunk)
		if _, err := rand.Read(buf[:n]); err != nil {
			return err
		}
		if _, err := dev.WriteAt(buf[:n], int64(off)); err != nil {
			return err
		}
		off += n
	}
	return dev.Sync()
}

// Wipe overwrites both header copies and the whole keyslots region of dev:
// without a backup of the header the data are lost for good.
func (h *Header) Wipe(dev block.Device) error {
	return WipeStart(dev, int64(h.regionEnd()))
}

// WipeStart overwrites the first n bytes of dev, for containers whose header
// cannot be read any more.
func WipeStart(dev block.Device, n int64) error {
	n = min(n, dev.Size())
	if err := wipe(dev, area{0, uint64(n)}); err != nil {
		return fmt.Errorf("overwrite the first %s bytes: %w", strconv.FormatInt(n, 10), err)
	}
	return nil
}
