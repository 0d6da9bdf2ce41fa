// Package recovery makes and reads recovery keys: random keys for the drawer, written in groups that a person can copy from
// paper without mistakes.
//
// A key has seven groups of five characters, "K7QMX-0ZB4H-…". The first four of a group are random, 20 bits a group and 140 in
// all; the fifth checks them and the place of the group. One wrong character, two swapped ones within a group and two swapped
// groups are always found, and it is known in which group. The characters are digits and capital letters without I, L, O and
// U, which are read as what they look like.
//
// To a container a recovery key is an ordinary password: its groups with hyphens between them, in capitals, as printed. So
// other programs open the container with it too.
package recovery

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"unicode"
	"unicode/utf8"
)

// The shape of a key.
const (
	Groups      = 7
	GroupLength = 5
	Length      = Groups*(GroupLength+1) - 1 // with the hyphens
)

// alphabet are the characters by their value, 5 bits each.
const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// lookAlikes are read as the character of the alphabet that they look like.
var lookAlikes = map[rune]rune{'I': '1', 'L': '1', 'O': '0', 'U': 'V'}

// ErrLength: what was typed is too short or too long for a recovery key.
var ErrLength = fmt.Errorf("a recovery key has %d groups of %d characters", Groups, GroupLength)

// ErrCharacter: what was typed holds a character that no recovery key has.
var ErrCharacter = errors.New("a recovery key has letters and digits only")

// GroupError says which group of a key is mistyped.
type GroupError struct{ Group int } // from 1

// Error implements error.
func (e *GroupError) Error() string {
	return fmt.Sprintf("group %d of the recovery key is mistyped", e.Group)
}

// Generate makes a key from the system's random numbers.
func Generate() []byte {
	var random [Groups * (GroupLength - 1)]byte
	_, _ = rand.Read(random[:]) // ends the process when it cannot
	defer clear(random[:])
	key := make([]byte, 0, Length)
	for group := range Groups {
		if group > 0 {
			key = append(key, '-')
		}
		start := len(key)
		for _, b := range random[group*(GroupLength-1) : (group+1)*(GroupLength-1)] {
			key = append(key, alphabet[b&31])
		}
		key = append(key, alphabet[check(group, key[start:])])
	}
	return key
}

// check is the value of the last character of a group: the polynomial of the others over the field of 32 elements, begun with
// the place of the group. A difference in one place, or two values swapped, cannot cancel itself out.
func check(group int, characters []byte) byte {
	sum := byte(group + 1)
	for _, c := range characters {
		sum = double(sum) ^ value(c)
	}
	return double(sum)
}

// double multiplies by x modulo x^5 + x^2 + 1.
func double(v byte) byte {
	v <<= 1
	if v&32 != 0 {
		v ^= 0b100101
	}
	return v
}

// value is the value of a character of the alphabet.
func value(c byte) byte { return byte(bytes.IndexByte([]byte(alphabet), c)) }

// Normalise gives the key that was typed, as the container knows it: blanks, hyphens and capitals do not matter, look-alikes
// are read as what they look like. The error says what is wrong: a *GroupError, ErrLength or ErrCharacter. The caller wipes
// the result.
func Normalise(typed []byte) ([]byte, error) {
	key := make([]byte, 0, Length)
	fail := func(err error) ([]byte, error) {
		clear(key)
		return nil, err
	}
	for len(typed) > 0 {
		r, size := utf8.DecodeRune(typed)
		typed = typed[size:]
		if separates(r) {
			continue
		}
		c, ok := character(r)
		switch {
		case !ok:
			return fail(ErrCharacter)
		case len(key) == Length:
			return fail(ErrLength)
		case len(key)%(GroupLength+1) == GroupLength:
			key = append(key, '-')
		}
		key = append(key, c)
	}
	for group := range (len(key) + 1) / (GroupLength + 1) {
		if !GroupIsRight(group+1, key[group*(GroupLength+1):][:GroupLength]) {
			return fail(&GroupError{group + 1})
		}
	}
	if len(key) != Length {
		return fail(ErrLength)
	}
	return key, nil
}

// Check says what is wrong with a key that was typed; nil: nothing.
func Check(typed []byte) error {
	key, err := Normalise(typed)
	clear(key)
	return err
}

// GroupIsRight says whether five characters of the alphabet can be the group with that number, from 1.
func GroupIsRight(group int, characters []byte) bool {
	last := len(characters) - 1
	return last == GroupLength-1 && characters[last] == alphabet[check(group-1, characters[:last])]
}

// SameGroup says whether what was typed is the group with that number of key, from 1, as Normalise would read it.
func SameGroup(key []byte, group int, typed string) bool {
	want := Group(key, group)
	for _, r := range typed {
		if separates(r) {
			continue
		}
		c, ok := character(r)
		if !ok || len(want) == 0 || c != want[0] {
			return false
		}
		want = want[1:]
	}
	return len(want) == 0
}

// Group is the group with that number of a normalised key, from 1; it shares its memory.
func Group(key []byte, group int) []byte {
	return key[(group-1)*(GroupLength+1):][:GroupLength]
}

// separates says whether people put the character between groups.
func separates(r rune) bool {
	return unicode.IsSpace(r) || unicode.Is(unicode.Pd, r) || r == '\u2212' || r == '.' || r == '_'
}

// character is the character of the alphabet that r means.
func character(r rune) (byte, bool) {
	r = unicode.ToUpper(r)
	if like, ok := lookAlikes[r]; ok {
		r = like
	}
	if r > unicode.MaxASCII || bytes.IndexByte([]byte(alphabet), byte(r)) < 0 {
		return 0, false
	}
	return byte(r), true
}
