// Command sbox finds short circuits for the eight S-boxes of Serpent and their
// inverses and prints them as Go functions over four words (bit i of the nibble
// lives in word i), the content of ../serpentsbox.go:
//
//	go run ./container/ciphers/_sbox -seconds 20 > container/ciphers/serpentsbox.go
//
// It is a randomised search: for a random order of the four outputs it looks
// for the fewest gates (and, or, xor, and-not, not) that make each from what is
// there already, and keeps the best of many tries. The result is correct by
// construction, and the package's tests compare every circuit with its table.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"go/format"
	"log"
	"math/rand/v2"
	"os"
	"time"
)

// boxes are S0 to S7 of the Serpent proposal.
var boxes = [8][16]byte{
	{3, 8, 15, 1, 10, 6, 5, 11, 14, 13, 4, 2, 7, 0, 9, 12},
	{15, 12, 2, 7, 9, 0, 5, 10, 1, 11, 14, 8, 6, 13, 3, 4},
	{8, 6, 7, 9, 3, 12, 10, 15, 13, 1, 14, 4, 0, 11, 5, 2},
	{0, 15, 11, 8, 12, 9, 6, 3, 13, 1, 2, 4, 10, 7, 5, 14},
	{1, 15, 8, 3, 12, 0, 11, 6, 2, 5, 4, 10, 9, 14, 7, 13},
	{15, 5, 2, 11, 4, 10, 9, 12, 0, 3, 14, 8, 13, 6, 7, 1},
	{7, 2, 12, 5, 8, 4, 6, 11, 14, 9, 1, 15, 13, 3, 10, 0},
	{1, 13, 15, 0, 14, 8, 2, 11, 7, 4, 12, 10, 9, 3, 5, 6},
}

// gate makes one function from two earlier ones; for not, b is unused.
type gate struct {
	op   byte // & | ^ n(and not) ~(not)
	a, b int
}

// circuit is the functions there are, as truth tables over the 16 inputs.
type circuit struct {
	tables []uint16
	gates  []gate // of tables[4:]
	outs   [4]int
}

func (c *circuit) value(g gate) uint16 {
	x, y := c.tables[g.a], c.tables[g.b]
	switch g.op {
	case '^':
		return x ^ y
	case '&':
		return x & y
	case '|':
		return x | y
	case 'n':
		return x &^ y
	}
	return ^x
}

func (c *circuit) push(g gate) {
	v := c.value(g)
	c.tables, c.gates = append(c.tables, v), append(c.gates, g)
}

// made says how a function first came about in a search: from two others.
type made struct {
	cost byte // gates + 1; 0: not yet made
	op   byte
	a, b uint16
}

// search holds, for every function of four inputs, its cheapest tree of gates
// over what a circuit has. levels[n] are the functions that cost n gates.
type search struct {
	how    [65536]made
	levels [8][]uint16
}

func (s *search) add(v uint16, cost int, op byte, a, b uint16) {
	if s.how[v].cost == 0 {
		s.how[v] = made{byte(cost + 1), op, a, b}
		s.levels[cost] = append(s.levels[cost], v)
	}
}

// grow fills levels[cost] from the cheaper ones, in random order, so that ties
// are broken differently each time.
func (s *search) grow(cost int) {
	for _, x := range s.levels[cost-1] {
		s.add(^x, cost, '~', x, x)
	}
	for i := cost - 1; 2*i >= cost-1; i-- {
		for _, x := range s.levels[i] {
			for _, y := range s.levels[cost-1-i] {
				s.add(x^y, cost, '^', x, y)
				s.add(x&y, cost, '&', x, y)
				s.add(x|y, cost, '|', x, y)
				s.add(x&^y, cost, 'n', x, y)
				s.add(y&^x, cost, 'n', y, x)
			}
		}
	}
	l := s.levels[cost]
	rand.Shuffle(len(l), func(i, j int) { l[i], l[j] = l[j], l[i] })
}

// build appends the gates of v's tree and returns its place.
func (c *circuit) build(s *search, v uint16) int {
	for i, t := range c.tables {
		if t == v {
			return i
		}
	}
	h := s.how[v]
	a := c.build(s, h.a)
	b := c.build(s, h.b)
	c.push(gate{h.op, a, b})
	return len(c.tables) - 1
}

// attempt is one random try; false when it needs limit gates or more.
func attempt(targets [4]uint16, limit int, s *search) (circuit, bool) {
	c := circuit{tables: []uint16{0xaaaa, 0xcccc, 0xf0f0, 0xff00}}
	for _, out := range rand.Perm(4) {
		if !c.extend(targets[out], limit, s) {
			return c, false
		}
		for i, t := range c.tables {
			if t == targets[out] {
				c.outs[out] = i
			}
		}
	}
	return c, len(c.gates) < limit
}

// extend adds the gates target needs, fewer than limit in all.
func (c *circuit) extend(target uint16, limit int, s *search) bool {
	s.how = [65536]made{}
	for i := range s.levels {
		s.levels[i] = s.levels[i][:0]
	}
	for _, t := range c.tables {
		s.add(t, 0, 0, 0, 0)
	}
	rand.Shuffle(len(s.levels[0]), func(i, j int) { s.levels[0][i], s.levels[0][j] = s.levels[0][j], s.levels[0][i] })
	for cost := 1; s.how[target].cost == 0; cost++ {
		if cost == len(s.levels) || len(c.gates)+cost >= limit {
			return false
		}
		s.grow(cost)
	}
	c.build(s, target)
	return true
}

// emit prints a circuit. What is used once stands where it is used: fewer statements let the compiler inline it.
func emit(out *bytes.Buffer, name string, c circuit) {
	uses := make([]int, len(c.tables))
	for _, g := range c.gates {
		uses[g.a]++
		if g.op != '~' {
			uses[g.b]++
		}
	}
	for _, i := range c.outs {
		uses[i]++
	}
	text := []string{"a", "b", "c", "d"}
	fmt.Fprintf(out, "// %s: %d gates.\nfunc %s(a, b, c, d uint32) (uint32, uint32, uint32, uint32) {\n", name, len(c.gates), name)
	for i, g := range c.gates {
		x, y := text[g.a], text[g.b]
		formula := fmt.Sprintf("%s %c %s", x, g.op, y)
		switch g.op {
		case 'n':
			formula = fmt.Sprintf("%s &^ %s", x, y)
		case '~':
			formula = "^" + x
		}
		if uses[i+4] == 1 {
			text = append(text, "("+formula+")")
			continue
		}
		text = append(text, fmt.Sprintf("t%d", i))
		fmt.Fprintf(out, "t%d := %s\n", i, formula)
	}
	fmt.Fprintf(out, "return %s, %s, %s, %s\n}\n\n", text[c.outs[0]], text[c.outs[1]], text[c.outs[2]], text[c.outs[3]])
}

func main() {
	seconds := flag.Int("seconds", 8, "search time for each of the 16 boxes")
	flag.Parse()
	out := bytes.NewBufferString("// Code generated by ./container/ciphers/_sbox; DO NOT EDIT.\n\npackage ciphers\n\n")
	var s search
	for inverse := range 2 {
		for number, box := range boxes {
			name := fmt.Sprintf("serpentS%d", number)
			if inverse == 1 {
				var turned [16]byte
				for x, y := range box {
					turned[y] = byte(x)
				}
				box, name = turned, fmt.Sprintf("serpentInverseS%d", number)
			}
			var targets [4]uint16
			for x, y := range box {
				for bit := range 4 {
					targets[bit] |= uint16(y>>bit&1) << x
				}
			}
			best, limit, tries := circuit{}, 40, 0
			for end := time.Now().Add(time.Duration(*seconds) * time.Second); time.Now().Before(end); tries++ {
				if c, ok := attempt(targets, limit, &s); ok {
					best, limit = c, len(c.gates)
				}
			}
			if len(best.gates) == 0 {
				log.Fatalf("%s: nothing found", name)
			}
			log.Printf("%s: %d gates, %d tries", name, limit, tries)
			emit(out, name, best)
		}
	}
	text, err := format.Source(out.Bytes())
	if err != nil {
		log.Fatal(err)
	}
	os.Stdout.Write(text)
}
