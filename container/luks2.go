package container

import (
	"context"
	"errors"
	"fmt"

	"coffer/container/block"
	"coffer/container/kdf"
	"coffer/container/luks"
	"coffer/container/secret"
)

// Sizes of new LUKS2 containers, in bytes.
const (
	// MinImageBytes is the smallest image: a header of 1 MiB with room for
	// three keyslots, and 256 KiB of payload.
	MinImageBytes   = 1<<20 + minPayloadBytes
	minPayloadBytes = 256 << 10

	sizeStep = 4096 // images are multiples of it: dm-crypt wants whole sectors
	mib      = 1 << 20
	// bigSectorFrom: a payload of at least this size gets 4096-byte sectors. A
	// FAT32 volume needs 65,525 clusters of at least one sector.
	bigSectorFrom = 272 * mib
)

func luks2Handler() handler {
	return handler{
		format: LUKS2,
		detect: func(dev block.Device) bool { _, found := luks.Detect(dev); return found },
		plan:   planLUKS2,
		create: createLUKS2,
		open:   openLUKS2,
		info:   infoLUKS2,
	}
}

// DefaultSectorBytes is the data unit of a new LUKS2 container with a payload
// of so many bytes.
func DefaultSectorBytes(payloadBytes int64) int {
	if payloadBytes >= bigSectorFrom {
		return 4096
	}
	return 512
}

// planLUKS2 sizes a new container. The payload begins at 16 MiB as
// cryptsetup's do, in images under 32 MiB at 2 MiB (room for eight keyslots), under 4 MiB
// at 1 MiB (three), or behind larger metadata.
func planLUKS2(o CreateOptions) (plan, error) {
	f := luks.FormatOptions{Label: o.Label, HeaderSize: o.MetadataSizeBytes, KeyslotsBytes: o.KeyslotsSizeBytes, SectorBytes: o.SectorSizeBytes}
	switch o.Cipher {
	case "", "aes-256-xts":
		f.KeyBytes = 64
	case "aes-128-xts":
		f.KeyBytes = 32
	default:
		return plan{}, fmt.Errorf("cipher %q: %w", o.Cipher, ErrUnsupported)
	}
	if (o.SizeBytes > 0) == (o.UsableBytes > 0) || o.SizeBytes < 0 || o.UsableBytes < 0 {
		return plan{}, fmt.Errorf("one of image size and usable size must be given: %w", ErrInvalid)
	}
	if f.HeaderSize == 0 {
		f.HeaderSize = luks.DefaultHeaderSize
	}
	f.PayloadOffset = payloadOffset(o, f)
	if f.KeyslotsBytes == 0 {
		f.KeyslotsBytes = min(f.PayloadOffset-2*f.HeaderSize, 128*mib)
	}
	image := o.SizeBytes - o.SizeBytes%sizeStep
	if o.UsableBytes > 0 {
		if o.UsableBytes > 1<<62 {
			return plan{}, fmt.Errorf("usable size %d: %w", o.UsableBytes, ErrInvalid)
		}
		image = f.PayloadOffset + (o.UsableBytes+sizeStep-1)/sizeStep*sizeStep
	}
	if image-f.PayloadOffset < minPayloadBytes {
		return plan{}, fmt.Errorf("image of %d bytes: at least %d are needed for this header: %w", image, f.PayloadOffset+minPayloadBytes, ErrTooSmall)
	}
	if f.SectorBytes == 0 {
		f.SectorBytes = DefaultSectorBytes(image - f.PayloadOffset)
	}
	return plan{imageBytes: image, luks: f}, f.Check(image)
}

// payloadOffset chooses where the payload begins.
func payloadOffset(o CreateOptions, f luks.FormatOptions) int64 {
	offset, slots := int64(luks.DefaultPayloadOffset), int64(8)
	switch size := max(o.SizeBytes, 2*o.UsableBytes); {
	case size < 4*mib:
		offset, slots = mib, 3
	case size < 32*mib:
		offset = 2 * mib
	}
	need := 2 * f.HeaderSize
	if f.KeyslotsBytes > 0 {
		need += f.KeyslotsBytes
	} else {
		need += slots * luks.AreaBytes(f.KeyBytes)
	}
	return max(offset, (need+mib-1)/mib*mib)
}

func createLUKS2(ctx context.Context, dev block.Device, p plan, o CreateOptions, c Credential) (*Volume, error) {
	phrases, err := c.passphrases()
	if err != nil {
		return nil, err
	}
	defer destroyAll(phrases)
	d := deriver(o.Deriver)
	params, err := kdf.Choose(ctx, d, o.KDF)
	if err != nil {
		return nil, err
	}
	p.luks.KDF = params
	h, key, err := luks.Format(ctx, dev, d, p.luks, phrases[0].Bytes())
	if err != nil {
		return nil, err
	}
	defer key.Destroy()
	return volumeLUKS2(dev, h, key, OpenOptions{})
}

func openLUKS2(ctx context.Context, dev block.Device, o OpenOptions, c Credential) (*Volume, error) {
	h, err := readLUKS2(dev)
	if err != nil {
		return nil, err
	}
	// Before the password is tried: nothing it could do would help.
	if _, err := h.Payload(dev.Size()); err != nil {
		return nil, err
	}
	key, _, err := unlockLUKS2(ctx, dev, h, deriver(o.Deriver), o.limits(), c)
	if err != nil {
		return nil, err
	}
	defer key.Destroy()
	if !o.ReadOnly && h.NeedsRepair() {
		if err := h.Repair(dev); err != nil {
			return nil, fmt.Errorf("one of the two header copies is damaged; a read-only open leaves it alone: %w", err)
		}
	}
	return volumeLUKS2(dev, h, key, o)
}

// readLUKS2 reads the header; that there is none is told in this package's
// words.
func readLUKS2(dev block.Device) (*luks.Header, error) {
	h, err := luks.Read(dev)
	if errors.Is(err, luks.ErrNotLUKS2) {
		return nil, fmt.Errorf("%w: %w", ErrNotContainer, err)
	}
	return h, err
}

// unlockLUKS2 tries the passphrases of a credential in turn.
func unlockLUKS2(ctx context.Context, dev block.Device, h *luks.Header, d kdf.Deriver, limits kdf.Limits, c Credential) (*secret.Buffer, int, error) {
	phrases, err := c.passphrases()
	if err != nil {
		return nil, 0, err
	}
	defer destroyAll(phrases)
	for _, p := range phrases {
		var key *secret.Buffer
		var slot int
		key, slot, err = h.Unlock(ctx, dev, d, limits, p.Bytes(), c.Slot)
		if !errors.Is(err, ErrWrongKey) {
			return key, slot, err
		}
	}
	return nil, 0, err
}

func volumeLUKS2(dev block.Device, h *luks.Header, key *secret.Buffer, o OpenOptions) (*Volume, error) {
	p, err := h.Payload(dev.Size())
	if err != nil {
		return nil, err
	}
	v, err := newVolume(dev, layout{base: p.Offset, size: p.Size, unit: p.SectorBytes, tweak: p.IVTweak}, key.Bytes())
	if err != nil {
		return nil, err
	}
	v.readOnly, v.discard = o.ReadOnly, o.AllowDiscard
	v.info = describeLUKS2(h, dev.Size())
	return v, nil
}

func infoLUKS2(dev block.Device) (Info, error) {
	h, err := readLUKS2(dev)
	if err != nil {
		return Info{}, err
	}
	return describeLUKS2(h, dev.Size()), nil
}

// describeLUKS2 makes the Info of a header.
func describeLUKS2(h *luks.Header, imageBytes int64) Info {
	info := Info{
		Format: LUKS2, Cipher: h.Encryption(), UUID: h.UUID(), Label: h.Label(),
		SectorSizeBytes: h.SectorBytes(), PayloadOffset: h.PayloadOffset(), ImageBytes: imageBytes,
		MetadataSizeBytes: h.HeaderBytes(), KeyslotsSizeBytes: h.KeyslotsBytes(), SequenceID: h.SequenceID(),
		HeaderState:  []string{string(h.Primary), string(h.Secondary)},
		Requirements: h.Requirements(), Tokens: h.Tokens(),
	}
	for _, s := range h.Slots() {
		info.Slots = append(info.Slots, describeSlot(s))
	}
	if len(info.Slots) > 0 {
		info.KDF = h.Slots()[0].KDF.String()
	}
	p, err := h.Payload(imageBytes)
	if err != nil {
		info.Unsupported = err.Error()
		return info
	}
	info.UsableBytes, info.Engine = p.Size, engineName()
	if info.Cipher = "aes-256-xts"; p.KeyBytes == 32 {
		info.Cipher = "aes-128-xts"
	}
	return info
}

func describeSlot(s luks.Slot) Slot {
	priority := []string{"ignore", "normal", "prefer"}[s.Priority]
	return Slot{
		Number: s.Number, KDF: s.KDF.Kind, MemoryKiB: s.KDF.MemoryKiB, Iterations: s.KDF.Iterations,
		Threads: s.KDF.Threads, Hash: s.KDF.Hash, KeyBits: 8 * s.KeyBytes, Priority: priority, Bound: s.Bound,
	}
}
