package luks

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"

	"coffer/container/kdf"
)

// Limits of the JSON objects (specification section 3, and cryptsetup's for
// what the text leaves open).
const (
	maxObjects       = 32
	maxKeyslotsBytes = 128 << 20
	maxKeyBytes      = 512
	maxSaltBytes     = 1024
)

// metadata is the typed view of a JSON area that passed validation.
type metadata struct {
	keyslots map[int]keyslot
	segments []segment // by number, backup segments excluded
	digests  map[int]digest
	tokens   int

	jsonBytes     uint64
	keyslotsBytes uint64
	requirements  []string // mandatory
	backups       int      // segments kept by a reencryption
}

// keyslot is one entry of "keyslots". For a kind other than "luks2" only the
// area is filled in.
type keyslot struct {
	kind     string
	keyBytes int // of the volume key
	priority int // 0 ignore unless asked for, 1 normal, 2 prefer

	stripes int
	afHash  string

	area         area
	encryption   string
	areaKeyBytes int // of the key that encrypts the area

	kdf kdf.Params
}

// area is a range of the device, in bytes.
type area struct{ offset, size uint64 }

func (a area) end() uint64 { return a.offset + a.size }

// segment is one entry of "segments".
type segment struct {
	kind       string
	offset     uint64
	size       uint64 // 0: to the end of the device ("dynamic")
	ivTweak    uint64
	encryption string
	sector     int // bytes
	integrity  string
	flags      []string
}

// digest is one entry of "digests".
type digest struct {
	kind     string
	kdf      kdf.Params // hash, iterations, salt
	digest   []byte
	keyslots []int
	segments []int
}

// invalid makes the error of a broken rule; parseMetadata adds ErrDamaged.
func invalid(format string, args ...any) error {
	return fmt.Errorf(format, args...)
}

// parseMetadata checks every rule of the specification on root and returns the
// typed view. headerSize is that of the copy the text came from.
func parseMetadata(root *value, headerSize int64) (*metadata, error) {
	m := &metadata{}
	if err := m.parse(root, headerSize); err != nil {
		return nil, fmt.Errorf("metadata: %w: %w", err, ErrDamaged)
	}
	return m, nil
}

func (m *metadata) parse(root *value, headerSize int64) error {
	if !root.isKind(kindObject) {
		return invalid("not an object")
	}
	for _, step := range []func(*value, int64) error{
		m.parseConfig, m.parseSegments, m.parseKeyslots, m.parseDigests, m.parseTokens,
	} {
		if err := step(root, headerSize); err != nil {
			return err
		}
	}
	if err := m.checkReferences(); err != nil {
		return err
	}
	return m.checkAreas(uint64(headerSize))
}

// numbered gives the members of a top-level object, all of which must be
// named by a number below maxObjects.
func numbered(root *value, name string) (map[int]*value, error) {
	object := root.get(name)
	if !object.isKind(kindObject) {
		return nil, invalid("%q is missing or no object", name)
	}
	out := make(map[int]*value, len(object.items))
	for i, member := range object.members {
		n, ok := parseDigits(member)
		if !ok || n >= maxObjects {
			return nil, invalid("%q has a member %q, which is no number below %d", name, member, maxObjects)
		}
		if !object.items[i].isKind(kindObject) {
			return nil, invalid("%s %s is no object", name, member)
		}
		out[int(n)] = object.items[i]
	}
	return out, nil
}

// references reads an array of strings that are object numbers.
func references(v *value, name string) ([]int, error) {
	if !v.isKind(kindArray) {
		return nil, invalid("%q is missing or no array", name)
	}
	var out []int
	for _, item := range v.items {
		if !item.isKind(kindString) {
			return nil, invalid("%q has an element that is no string", name)
		}
		n, ok := parseDigits(item.text)
		if !ok || n >= maxObjects {
			return nil, invalid("%q refers to %q", name, item.text)
		}
		if slices.Contains(out, int(n)) {
			return nil, invalid("%q refers to %d twice", name, n)
		}
		out = append(out, int(n))
	}
	return out, nil
}

// stringArray reads an optional array of strings.
func stringArray(v *value, name string) ([]string, error) {
	if v == nil {
		return nil, nil
	}
	if v.kind != kindArray {
		return nil, invalid("%q is no array", name)
	}
	var out []string
	for _, item := range v.items {
		if !item.isKind(kindString) {
			return nil, invalid("%q has an element that is no string", name)
		}
		out = append(out, item.text)
	}
	return out, nil
}

func (m *metadata) parseConfig(root *value, headerSize int64) error {
	config := root.get("config")
	if !config.isKind(kindObject) {
		return invalid(`"config" is missing or no object`)
	}
	var ok bool
	if m.jsonBytes, ok = config.get("json_size").uint64String(); !ok || m.jsonBytes != uint64(headerSize-binarySize) {
		return invalid(`"json_size" is not %d`, headerSize-binarySize)
	}
	if m.keyslotsBytes, ok = config.get("keyslots_size").uint64String(); !ok || m.keyslotsBytes%4096 != 0 || m.keyslotsBytes > maxKeyslotsBytes {
		return invalid(`"keyslots_size" is no multiple of 4096 up to %d`, maxKeyslotsBytes)
	}
	if _, err := stringArray(config.get("flags"), "config.flags"); err != nil {
		return err
	}
	requirements := config.get("requirements")
	if requirements == nil {
		return nil
	}
	if requirements.kind != kindObject {
		return invalid(`"requirements" is no object`)
	}
	var err error
	m.requirements, err = stringArray(requirements.get("mandatory"), "requirements.mandatory")
	return err
}

func (m *metadata) parseTokens(root *value, _ int64) error {
	tokens, err := numbered(root, "tokens")
	if err != nil {
		return err
	}
	m.tokens = len(tokens)
	for id, t := range tokens {
		if !t.get("type").isKind(kindString) {
			return invalid("token %d has no type", id)
		}
		refs, err := references(t.get("keyslots"), fmt.Sprintf("tokens.%d.keyslots", id))
		if err != nil {
			return err
		}
		for _, k := range refs {
			if _, ok := m.keyslots[k]; !ok {
				return invalid("token %d refers to keyslot %d, which does not exist", id, k)
			}
		}
	}
	return nil
}

func (m *metadata) parseDigests(root *value, _ int64) error {
	digests, err := numbered(root, "digests")
	if err != nil {
		return err
	}
	m.digests = make(map[int]digest, len(digests))
	for id, v := range digests {
		d := digest{}
		if !v.get("type").isKind(kindString) {
			return invalid("digest %d has no type", id)
		}
		d.kind = v.get("type").text
		if d.keyslots, err = references(v.get("keyslots"), fmt.Sprintf("digests.%d.keyslots", id)); err != nil {
			return err
		}
		if d.segments, err = references(v.get("segments"), fmt.Sprintf("digests.%d.segments", id)); err != nil {
			return err
		}
		if d.kind == "pbkdf2" {
			if err := d.parsePBKDF2(v); err != nil {
				return fmt.Errorf("digest %d: %w", id, err)
			}
		}
		m.digests[id] = d
	}
	return nil
}

func (d *digest) parsePBKDF2(v *value) error {
	var err error
	if d.kdf, err = parseRounds(v); err != nil {
		return err
	}
	if d.digest, err = decodeBase64(v.get("digest"), "digest"); err != nil {
		return err
	}
	if len(d.digest) < 16 || len(d.digest) > 64 {
		return invalid("digest of %d bytes", len(d.digest))
	}
	return nil
}

// parseRounds reads the members PBKDF2 needs, of a digest or a keyslot's kdf.
func parseRounds(v *value) (kdf.Params, error) {
	p := kdf.Params{Kind: kdf.PBKDF2}
	hash := v.get("hash")
	if !hash.isKind(kindString) || hash.text == "" {
		return p, invalid(`"hash" is missing`)
	}
	p.Hash = hash.text
	var ok bool
	if p.Iterations, ok = v.get("iterations").integer(); !ok || p.Iterations == 0 {
		return p, invalid(`"iterations" is no positive integer`)
	}
	var err error
	p.Salt, err = decodeBase64(v.get("salt"), "salt")
	return p, err
}

// decodeBase64 reads a short binary member.
func decodeBase64(v *value, name string) ([]byte, error) {
	if !v.isKind(kindString) {
		return nil, invalid("%q is missing", name)
	}
	if len(v.text) > base64.StdEncoding.EncodedLen(maxSaltBytes) {
		return nil, invalid("%q is longer than %d bytes", name, maxSaltBytes)
	}
	b, err := base64.StdEncoding.DecodeString(v.text)
	if err != nil {
		return nil, invalid("%q is not base64", name)
	}
	return b, nil
}

// checkReferences: every keyslot in exactly one digest, every reference of a
// digest to something that exists.
func (m *metadata) checkReferences() error {
	used := map[int]int{}
	for id, d := range m.digests {
		for _, k := range d.keyslots {
			if _, ok := m.keyslots[k]; !ok {
				return invalid("digest %d refers to keyslot %d, which does not exist", id, k)
			}
			used[k]++
		}
		for _, s := range d.segments {
			if s >= len(m.segments)+m.backups {
				return invalid("digest %d refers to segment %d, which does not exist", id, s)
			}
		}
	}
	for id, k := range m.keyslots {
		if used[id] > 1 || (used[id] == 0 && k.kind == kindLUKS2) {
			return invalid("keyslot %d is in %d digests", id, used[id])
		}
	}
	return nil
}

// checkAreas: keyslot areas lie inside the keyslots region and apart.
func (m *metadata) checkAreas(headerSize uint64) error {
	limit := 2*headerSize + m.keyslotsBytes
	var all []area
	for id, k := range m.keyslots {
		if k.area.offset < 2*headerSize || k.area.size == 0 || k.area.size > m.keyslotsBytes || k.area.offset > limit-k.area.size {
			return invalid("area of keyslot %d, %d bytes at %d, is outside the keyslots region", id, k.area.size, k.area.offset)
		}
		all = append(all, k.area)
	}
	slices.SortFunc(all, func(a, b area) int {
		if a.offset < b.offset {
			return -1
		}
		return 1
	})
	for i := 1; i < len(all); i++ {
		if all[i].offset < all[i-1].end() {
			return invalid("keyslot areas at %d and %d overlap", all[i-1].offset, all[i].offset)
		}
	}
	// A payload in the same file begins behind the keyslots; offset 0 means
	// that the payload is in another file (detached header).
	for id, s := range m.segments {
		if s.offset != 0 && s.offset < limit {
			return invalid("segment %d at %d begins inside the keyslots region", id, s.offset)
		}
	}
	return nil
}

// itoa names an object.
func itoa(n int) string { return strconv.Itoa(n) }
