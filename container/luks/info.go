package luks

import (
	"maps"
	"slices"

	"coffer/container/kdf"
)

// Slot describes one keyslot to people.
type Slot struct {
	Number   int
	KDF      kdf.Params
	KeyBytes int
	Priority int  // 0 ignore unless asked for, 1 normal, 2 prefer
	Bound    bool // holds the payload's key
	Kind     string
	Area     string // cipher of the area
}

// Slots lists the keyslots by number.
func (h *Header) Slots() []Slot {
	bound := h.boundSlots()
	var out []Slot
	for _, id := range slices.Sorted(maps.Keys(h.meta.keyslots)) {
		k := h.meta.keyslots[id]
		out = append(out, Slot{
			Number: id, KDF: k.kdf, KeyBytes: k.keyBytes, Priority: k.priority,
			Bound: slices.Contains(bound, id), Kind: k.kind, Area: k.encryption,
		})
	}
	return out
}

// UUID is the container's identifier, the text of the header.
func (h *Header) UUID() string { return h.bin.uuid }

// Label is the container's label, readable without a password.
func (h *Header) Label() string { return h.bin.label }

// Subsystem is a second label that some tools use.
func (h *Header) Subsystem() string { return h.bin.subsystem }

// SequenceID counts the updates of the header.
func (h *Header) SequenceID() uint64 { return h.bin.seqID }

// HeaderBytes is the size of one header copy.
func (h *Header) HeaderBytes() int64 { return h.bin.headerSize }

// KeyslotsBytes is the size of the keyslots region.
func (h *Header) KeyslotsBytes() int64 { return int64(h.meta.keyslotsBytes) }

// Requirements are the features the container demands of its reader.
func (h *Header) Requirements() []string { return slices.Clone(h.meta.requirements) }

// Tokens is the number of tokens, which this package keeps but does not use.
func (h *Header) Tokens() int { return h.meta.tokens }

// Encryption is the cipher of the first segment as the header names it, "" for
// a segment that is not encrypted.
func (h *Header) Encryption() string { return h.meta.segments[0].encryption }

// SectorBytes is the data unit of the first segment, 0 if it is not encrypted.
func (h *Header) SectorBytes() int { return h.meta.segments[0].sector }

// PayloadOffset is where the first segment begins, in bytes.
func (h *Header) PayloadOffset() int64 { return int64(h.meta.segments[0].offset) }

// KeyBytes is the size of the payload's key, 0 if no keyslot holds it.
func (h *Header) KeyBytes() int { return h.keyBytes() }
