package luks

import (
	"math"
	"slices"
	"strings"

	"coffer/container/kdf"
)

// kindLUKS2 is the type of keyslots that hold split key material.
const kindLUKS2 = "luks2"

func (m *metadata) parseKeyslots(root *value, _ int64) error {
	slots, err := numbered(root, "keyslots")
	if err != nil {
		return err
	}
	m.keyslots = make(map[int]keyslot, len(slots))
	for id, v := range slots {
		k, err := parseKeyslot(v)
		if err != nil {
			return invalid("keyslot %d: %w", id, err)
		}
		m.keyslots[id] = k
	}
	return nil
}

func parseKeyslot(v *value) (keyslot, error) {
	k := keyslot{priority: 1}
	if !v.get("type").isKind(kindString) {
		return k, invalid("no type")
	}
	k.kind = v.get("type").text
	size, ok := v.get("key_size").integer()
	if !ok || size > math.MaxInt32 {
		return k, invalid(`"key_size" is no integer`)
	}
	k.keyBytes = int(size)
	if p := v.get("priority"); p != nil {
		n, ok := p.integer()
		if !ok || n > 2 {
			return k, invalid(`"priority" is not 0, 1 or 2`)
		}
		k.priority = int(n)
	}
	if err := k.parseArea(v.get("area")); err != nil {
		return k, err
	}
	if k.kind != kindLUKS2 {
		return k, nil
	}
	if k.keyBytes == 0 || k.keyBytes > maxKeyBytes {
		return k, invalid(`"key_size" is %d`, k.keyBytes)
	}
	if err := k.parseAF(v.get("af")); err != nil {
		return k, err
	}
	return k, k.parseKDF(v.get("kdf"))
}

func (k *keyslot) parseArea(v *value) error {
	if !v.isKind(kindObject) || !v.get("type").isKind(kindString) {
		return invalid(`"area" is missing or has no type`)
	}
	var ok1, ok2 bool
	k.area.offset, ok1 = v.get("offset").uint64String()
	k.area.size, ok2 = v.get("size").uint64String()
	if !ok1 || !ok2 {
		return invalid("area without offset or size")
	}
	if k.kind != kindLUKS2 {
		return nil
	}
	encryption := v.get("encryption")
	size, ok := v.get("key_size").integer()
	if !encryption.isKind(kindString) || encryption.text == "" || !ok || size == 0 || size > maxKeyBytes {
		return invalid("area without encryption or key size")
	}
	k.encryption, k.areaKeyBytes = encryption.text, int(size)
	return nil
}

func (k *keyslot) parseAF(v *value) error {
	if !v.isKind(kindObject) || !v.get("type").isKind(kindString) {
		return invalid(`"af" is missing or has no type`)
	}
	if v.get("type").text != "luks1" {
		return nil // unusable, see usable: no stripes
	}
	stripes, ok := v.get("stripes").integer()
	hash := v.get("hash")
	if !ok || stripes == 0 || !hash.isKind(kindString) || hash.text == "" {
		return invalid("af without stripes or hash")
	}
	k.stripes, k.afHash = int(stripes), hash.text
	return nil
}

func (k *keyslot) parseKDF(v *value) error {
	if !v.isKind(kindObject) || !v.get("type").isKind(kindString) {
		return invalid(`"kdf" is missing or has no type`)
	}
	var err error
	switch kind := v.get("type").text; kind {
	case kdf.PBKDF2:
		k.kdf, err = parseRounds(v)
	case kdf.Argon2i, kdf.Argon2id:
		p := kdf.Params{Kind: kind}
		var ok [3]bool
		p.Iterations, ok[0] = v.get("time").integer()
		p.MemoryKiB, ok[1] = v.get("memory").integer()
		p.Threads, ok[2] = v.get("cpus").integer()
		if slices.Contains(ok[:], false) {
			return invalid("kdf without time, memory or cpus")
		}
		p.Salt, err = decodeBase64(v.get("salt"), "salt")
		k.kdf = p
	default:
		k.kdf.Kind = kind // valid, but such a slot cannot be used, see kdf.Params.Check
	}
	return err
}

func (m *metadata) parseSegments(root *value, _ int64) error {
	segments, err := numbered(root, "segments")
	if err != nil {
		return err
	}
	if len(segments) == 0 {
		return invalid("no segments")
	}
	for id := range len(segments) {
		v, ok := segments[id]
		if !ok {
			return invalid("segment numbers have a gap at %d", id)
		}
		s, err := parseSegment(v)
		if err != nil {
			return invalid("segment %d: %w", id, err)
		}
		switch backup := slices.ContainsFunc(s.flags, func(f string) bool { return strings.HasPrefix(f, "backup-") }); {
		case backup:
			m.backups++
		case m.backups > 0:
			return invalid("segment %d follows a backup segment", id)
		default:
			m.segments = append(m.segments, s)
		}
	}
	if len(m.segments) == 0 {
		return invalid("only backup segments")
	}
	return m.checkSegments()
}

// checkSegments: the payload's segments follow each other without overlap,
// and only the last one is open-ended.
func (m *metadata) checkSegments() error {
	for i, s := range m.segments[:len(m.segments)-1] {
		next := m.segments[i+1].offset
		if s.size == 0 || next < s.offset || s.size > next-s.offset {
			return invalid("segments %d and %d overlap", i, i+1)
		}
	}
	return nil
}

func parseSegment(v *value) (segment, error) {
	s := segment{}
	kind, size := v.get("type"), v.get("size")
	if !kind.isKind(kindString) {
		return s, invalid("no type")
	}
	s.kind = kind.text
	var ok bool
	if s.offset, ok = v.get("offset").uint64String(); !ok || s.offset%512 != 0 {
		return s, invalid(`"offset" is no multiple of 512`)
	}
	if !size.isKind(kindString) {
		return s, invalid(`"size" is missing`)
	}
	if size.text != "dynamic" {
		if s.size, ok = size.uint64String(); !ok || s.size == 0 || s.size%512 != 0 {
			return s, invalid(`"size" is neither "dynamic" nor a multiple of 512`)
		}
	}
	var err error
	if s.flags, err = stringArray(v.get("flags"), "flags"); err != nil {
		return s, err
	}
	if s.kind != "crypt" {
		return s, nil
	}
	return s, s.parseCrypt(v)
}

func (s *segment) parseCrypt(v *value) error {
	var ok bool
	if s.ivTweak, ok = v.get("iv_tweak").uint64String(); !ok {
		return invalid(`"iv_tweak" is no number`)
	}
	encryption := v.get("encryption")
	if !encryption.isKind(kindString) || encryption.text == "" {
		return invalid(`"encryption" is missing`)
	}
	s.encryption = encryption.text
	sector, ok := v.get("sector_size").integer()
	if !ok || !slices.Contains([]uint64{512, 1024, 2048, 4096}, sector) {
		return invalid(`"sector_size" is not 512, 1024, 2048 or 4096`)
	}
	s.sector = int(sector)
	if s.size%sector != 0 {
		return invalid("size is no multiple of the sector size")
	}
	integrity := v.get("integrity")
	if integrity == nil {
		return nil
	}
	for _, name := range []string{"type", "journal_encryption", "journal_integrity"} {
		if !integrity.get(name).isKind(kindString) {
			return invalid("integrity without %q", name)
		}
	}
	s.integrity = integrity.get("type").text
	return nil
}
