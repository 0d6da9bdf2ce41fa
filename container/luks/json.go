package luks

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Bounds of the JSON parser. A header that cryptsetup wrote nests 5 deep and
// has a few hundred values; a hostile one of 4 MiB could otherwise ask for
// gigabytes of nodes.
const (
	maxJSONDepth  = 32
	maxJSONValues = 100_000
)

// kind is the type of a JSON value.
type kind byte

const (
	kindNull kind = iota
	kindBool
	kindNumber
	kindString
	kindArray
	kindObject
)

// value is one JSON value. Objects keep the order of their members, and
// numbers their text, so that what this package does not understand is written
// back as it was read.
type value struct {
	kind    kind
	text    string   // string: decoded; number, bool: literal
	items   []*value // array elements; object member values
	members []string // object member names, parallel to items
}

func newObject() *value           { return &value{kind: kindObject} }
func newString(s string) *value   { return &value{kind: kindString, text: s} }
func newInt(n uint64) *value      { return &value{kind: kindNumber, text: strconv.FormatUint(n, 10)} }
func newUint64(n uint64) *value   { return newString(strconv.FormatUint(n, 10)) }
func newArray(v ...*value) *value { return &value{kind: kindArray, items: v} }

// get is the member of that name, nil if v is no object or has none.
func (v *value) get(name string) *value {
	if v == nil || v.kind != kindObject {
		return nil
	}
	for i, m := range v.members {
		if m == name {
			return v.items[i]
		}
	}
	return nil
}

// set adds or replaces a member and returns v.
func (v *value) set(name string, item *value) *value {
	for i, m := range v.members {
		if m == name {
			v.items[i] = item
			return v
		}
	}
	v.members, v.items = append(v.members, name), append(v.items, item)
	return v
}

// remove takes a member away if it is there.
func (v *value) remove(name string) {
	for i, m := range v.members {
		if m == name {
			v.members = append(v.members[:i:i], v.members[i+1:]...)
			v.items = append(v.items[:i:i], v.items[i+1:]...)
			return
		}
	}
}

// clone is a deep copy.
func (v *value) clone() *value {
	c := *v
	c.members = append([]string(nil), v.members...)
	c.items = make([]*value, len(v.items))
	for i, item := range v.items {
		c.items[i] = item.clone()
	}
	return &c
}

// isKind is false for nil.
func (v *value) isKind(k kind) bool { return v != nil && v.kind == k }

// uint64String is the number that LUKS2 stores as a string: decimal digits
// only, no sign, no leading zero, below 2^64.
func (v *value) uint64String() (uint64, bool) {
	if !v.isKind(kindString) {
		return 0, false
	}
	return parseDigits(v.text)
}

// integer is a JSON number that is a non-negative integer below 2^31, the
// range cryptsetup gives its integers.
func (v *value) integer() (uint64, bool) {
	if !v.isKind(kindNumber) {
		return 0, false
	}
	n, ok := parseDigits(v.text)
	return n, ok && n <= math.MaxInt32
}

func parseDigits(s string) (uint64, bool) {
	if s == "" || len(s) > 20 || (len(s) > 1 && s[0] == '0') {
		return 0, false
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
	}
	n, err := strconv.ParseUint(s, 10, 64)
	return n, err == nil
}

// parseJSON reads one JSON value (RFC 8259) that fills text but for white
// space. It is stricter than most parsers where two of them could read the
// same header differently: a member name used twice in an object, invalid
// UTF-8 and lone surrogates are errors.
func parseJSON(text []byte) (*value, error) {
	p := parser{text: text}
	v, err := p.value(0)
	if err == nil {
		p.space()
		if p.pos != len(text) {
			err = p.errorf("unexpected byte %q after the value", text[p.pos])
		}
	}
	if err != nil {
		return nil, err
	}
	return v, nil
}

type parser struct {
	text   []byte
	pos    int
	values int
}

func (p *parser) errorf(format string, args ...any) error {
	return fmt.Errorf("JSON at byte %d: %s", p.pos, fmt.Sprintf(format, args...))
}

func (p *parser) space() {
	for p.pos < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.pos]) >= 0 {
		p.pos++
	}
}

// peek is the next byte after white space, 0 at the end.
func (p *parser) peek() byte {
	p.space()
	if p.pos == len(p.text) {
		return 0
	}
	return p.text[p.pos]
}

func (p *parser) value(depth int) (*value, error) {
	if depth > maxJSONDepth {
		return nil, p.errorf("nested deeper than %d", maxJSONDepth)
	}
	if p.values++; p.values > maxJSONValues {
		return nil, p.errorf("more than %d values", maxJSONValues)
	}
	switch c := p.peek(); {
	case c == '{':
		return p.object(depth)
	case c == '[':
		return p.array(depth)
	case c == '"':
		s, err := p.str()
		return newString(s), err
	case c == '-' || c >= '0' && c <= '9':
		return p.number()
	}
	for _, lit := range []struct {
		text string
		kind kind
	}{{"true", kindBool}, {"false", kindBool}, {"null", kindNull}} {
		if bytes.HasPrefix(p.text[p.pos:], []byte(lit.text)) {
			p.pos += len(lit.text)
			return &value{kind: lit.kind, text: lit.text}, nil
		}
	}
	if p.pos == len(p.text) {
		return nil, p.errorf("unexpected end")
	}
	return nil, p.errorf("unexpected byte %q", p.text[p.pos])
}

func (p *parser) object(depth int) (*value, error) {
	p.pos++ // {
	v, seen := newObject(), map[string]bool{}
	if p.peek() == '}' {
		p.pos++
		return v, nil
	}
	for {
		if p.peek() != '"' {
			return nil, p.errorf("member name expected")
		}
		name, err := p.str()
		if err != nil {
			return nil, err
		}
		if seen[name] {
			return nil, p.errorf("member %q appears twice", name)
		}
		seen[name] = true
		if p.peek() != ':' {
			return nil, p.errorf("colon expected")
		}
		p.pos++
		item, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		v.members, v.items = append(v.members, name), append(v.items, item)
		if more, err := p.more('}'); err != nil || !more {
			return v, err
		}
	}
}

func (p *parser) array(depth int) (*value, error) {
	p.pos++ // [
	v := newArray()
	if p.peek() == ']' {
		p.pos++
		return v, nil
	}
	for {
		item, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		v.items = append(v.items, item)
		if more, err := p.more(']'); err != nil || !more {
			return v, err
		}
	}
}

// more reads a comma (true) or the closing byte (false).
func (p *parser) more(closing byte) (bool, error) {
	switch p.peek() {
	case ',':
		p.pos++
		return true, nil
	case closing:
		p.pos++
		return false, nil
	}
	return false, p.errorf("comma or %q expected", closing)
}

// number checks the grammar of RFC 8259 section 6 and keeps the text.
func (p *parser) number() (*value, error) {
	start := p.pos
	digits := func() bool {
		from := p.pos
		for p.pos < len(p.text) && p.text[p.pos] >= '0' && p.text[p.pos] <= '9' {
			p.pos++
		}
		return p.pos > from
	}
	next := func(set string) bool {
		if p.pos < len(p.text) && strings.IndexByte(set, p.text[p.pos]) >= 0 {
			p.pos++
			return true
		}
		return false
	}
	next("-")
	ok := next("0") || digits()
	if ok && next(".") {
		ok = digits()
	}
	if ok && next("eE") {
		next("+-")
		ok = digits()
	}
	if !ok {
		return nil, p.errorf("malformed number")
	}
	return &value{kind: kindNumber, text: string(p.text[start:p.pos])}, nil
}

// str reads a string and decodes its escapes.
func (p *parser) str() (string, error) {
	p.pos++ // "
	var out []byte
	for p.pos < len(p.text) {
		c := p.text[p.pos]
		switch {
		case c == '"':
			p.pos++
			if !utf8.Valid(out) {
				return "", p.errorf("string is not UTF-8")
			}
			return string(out), nil
		case c < 0x20:
			return "", p.errorf("control character in a string")
		case c == '\\':
			r, err := p.escape()
			if err != nil {
				return "", err
			}
			out = utf8.AppendRune(out, r)
		default:
			out = append(out, c)
			p.pos++
		}
	}
	return "", p.errorf("string without an end")
}

// escape reads one escape sequence, or two that form a surrogate pair.
func (p *parser) escape() (rune, error) {
	if p.pos+1 >= len(p.text) {
		return 0, p.errorf("string without an end")
	}
	c := p.text[p.pos+1]
	if c != 'u' {
		i := strings.IndexByte(`"\/bfnrt`, c)
		if i < 0 {
			return 0, p.errorf("unknown escape")
		}
		p.pos += 2
		return rune("\"\\/\b\f\n\r\t"[i]), nil
	}
	r, err := p.hex4()
	if err != nil || !utf16.IsSurrogate(r) {
		return r, err
	}
	if p.pos+1 < len(p.text) && p.text[p.pos] == '\\' && p.text[p.pos+1] == 'u' {
		low, err := p.hex4()
		if err != nil {
			return 0, err
		}
		if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
			return pair, nil
		}
	}
	return 0, p.errorf("lone surrogate")
}

// hex4 reads the four hexadecimal digits behind \u.
func (p *parser) hex4() (rune, error) {
	if p.pos+6 > len(p.text) {
		return 0, p.errorf("string without an end")
	}
	n, err := strconv.ParseUint(string(p.text[p.pos+2:p.pos+6]), 16, 32)
	if err != nil {
		return 0, p.errorf("malformed \\u escape")
	}
	p.pos += 6
	return rune(n), nil
}

// appendJSON writes v without white space, "/" unescaped, as cryptsetup does.
func (v *value) appendJSON(out []byte) []byte {
	switch v.kind {
	case kindString:
		return appendString(out, v.text)
	case kindArray:
		out = append(out, '[')
		for i, item := range v.items {
			if i > 0 {
				out = append(out, ',')
			}
			out = item.appendJSON(out)
		}
		return append(out, ']')
	case kindObject:
		out = append(out, '{')
		for i, item := range v.items {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(appendString(out, v.members[i]), ':')
			out = item.appendJSON(out)
		}
		return append(out, '}')
	case kindNull:
		return append(out, "null"...)
	}
	return append(out, v.text...) // number, bool
}

func appendString(out []byte, s string) []byte {
	out = append(out, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			out = append(out, '\\', c)
		case c == '\n':
			out = append(out, `\n`...)
		case c < 0x20:
			out = fmt.Appendf(out, `\u%04x`, c)
		default:
			out = append(out, c)
		}
	}
	return append(out, '"')
}
