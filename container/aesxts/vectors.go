package aesxts

import (
	_ "embed"
	"encoding/hex"
	"fmt"
	"strings"
)

// ieee1619 are the vectors of IEEE Std 1619-2007, annex B. They are part of
// the program, because SelfTest runs where there is no source tree.
//
//go:embed vectors/ieee1619.txt
var ieee1619 string

// vector is one data unit.
type vector struct {
	name                       string
	key, plaintext, ciphertext []byte
	number                     [16]byte
}

// parseVectors reads lines of name, key, number, plaintext, ciphertext.
func parseVectors(text string) ([]vector, error) {
	var list []vector
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0] == "#" {
			continue
		}
		if len(fields) != 5 {
			return nil, fmt.Errorf("aesxts: vector line with %d fields", len(fields))
		}
		var bin [4][]byte
		for i := range bin {
			b, err := hex.DecodeString(fields[1+i])
			if err != nil {
				return nil, fmt.Errorf("aesxts: vector %s: %w", fields[0], err)
			}
			bin[i] = b
		}
		if len(bin[1]) != 16 || len(bin[2]) != len(bin[3]) {
			return nil, fmt.Errorf("aesxts: vector %s: wrong lengths", fields[0])
		}
		list = append(list, vector{
			name: fields[0], key: bin[0], number: [16]byte(bin[1]), plaintext: bin[2], ciphertext: bin[3],
		})
	}
	return list, nil
}
