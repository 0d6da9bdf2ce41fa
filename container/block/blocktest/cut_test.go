package blocktest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func write(t *testing.T, d interface {
	WriteAt([]byte, int64) (int, error)
}, b byte, n int, off int64) {
	t.Helper()
	if k, err := d.WriteAt(bytes.Repeat([]byte{b}, n), off); k != n || err != nil {
		t.Fatalf("write: %d, %v", k, err)
	}
}

func sectors(m *Mem) string {
	p := make([]byte, m.Size())
	_, _ = m.ReadAt(p, 0)
	s := ""
	for i := 0; i < len(p); i += sectorBytes {
		if !bytes.Equal(p[i:i+sectorBytes], bytes.Repeat(p[i:i+1], sectorBytes)) {
			return "mixed sector"
		}
		s += string('0' + rune(p[i]))
	}
	return s
}

// TestStatesExhaustive: on a device of four sectors the set of states is small
// enough to be written down.
func TestStatesExhaustive(t *testing.T) {
	c := NewCrash(NewMem(4 * sectorBytes))
	write(t, c, 1, sectorBytes, 0)
	_ = c.Sync()
	c.Mark("one is safe")
	write(t, c, 2, 2*sectorBytes, 0)
	write(t, c, 3, sectorBytes, 3*sectorBytes)
	seen := map[string]bool{}
	for cut, m := range c.States(StateOptions{Subsets: 200, Torn: true, Seed: 5}) {
		s := sectors(m)
		seen[fmt.Sprint(cut.At, " ", s)] = true
		if marks := c.Marks(cut.At); len(marks) > 0 && s[0] != '1' && s[0] != '2' {
			t.Fatalf("%v: the acknowledged write is gone: %s", cut, s)
		}
		again, err := c.Image(cut)
		if err != nil {
			t.Fatal(err)
		}
		if err := Diff(m, again); err != nil {
			t.Fatalf("%v: Image and States: %v", cut, err)
		}
		write(t, m, 9, 4*sectorBytes, 0) // the image is ours to change
	}
	var got []string
	for s := range seen {
		got = append(got, s)
	}
	slices.Sort(got)
	want := []string{
		"0 0000", "1 0000", "1 1000", "2 1000", // the mark (event 3) makes no state of its own
		"4 1000", "4 1200", "4 2000", "4 2200",
		"5 1000", "5 1003", "5 1200", "5 1203", "5 2000", "5 2003", "5 2200", "5 2203",
	}
	if !slices.Equal(got, want) {
		t.Fatalf("states\n%q, want\n%q", got, want)
	}
	if got := sectors(c.Live); got != "2203" {
		t.Fatal("the live device was touched:", got)
	}
	if got := sectors(c.Start()); got != "0000" {
		t.Fatal("the start state was touched:", got)
	}
}

// TestStatesPrefix: with every write kept the images are the prefixes.
func TestStatesPrefix(t *testing.T) {
	c := NewCrash(NewMem(64 << 10)).WithDiscard()
	for i := range 50 {
		write(t, c, byte(i+1), 700, int64(i*1000))
		if i%7 == 0 {
			_ = c.Sync()
		}
		if i%11 == 0 {
			if err := c.Discard(int64(i*900), 3000); err != nil {
				t.Fatal(err)
			}
		}
	}
	n := 0
	for cut, m := range c.States(StateOptions{}) {
		if cut.Mode != KeepAll {
			continue
		}
		n++
		want, err := c.Replay(cut.At)
		if err != nil {
			t.Fatal(err)
		}
		if err := Diff(m, want); err != nil {
			t.Fatalf("%v: %v", cut, err)
		}
	}
	if n != c.Len()+1 {
		t.Fatalf("%d prefixes of %d events", n, c.Len())
	}
	last, _ := c.Replay(c.Len())
	if err := Diff(last, c.Live); err != nil {
		t.Fatal(err)
	}
}

// TestStatesCheap: thousands of states of a full 32 MiB image.
func TestStatesCheap(t *testing.T) {
	m := NewMem(32 << 20)
	write(t, m, 7, 32<<20, 0)
	c := NewCrash(m)
	for i := range 300 {
		write(t, c, byte(i), 4096, int64(i*8192))
		if i%10 == 9 {
			_ = c.Sync()
		}
	}
	n := 0
	for range c.States(StateOptions{Subsets: 10}) {
		n++
	}
	if n < 3000 {
		t.Fatalf("only %d states", n)
	}
}

func TestTraceOnFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "image")
	if err := os.WriteFile(path, bytes.Repeat([]byte("start"), 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	start, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	tr := NewTrace(f, start)
	write(t, tr, 1, 3000, 100)
	if err := tr.Sync(); err != nil {
		t.Fatal(err)
	}
	if err := tr.Truncate(4000); err != nil {
		t.Fatal(err)
	}
	write(t, tr, 2, 500, 9000) // an image file grows by writing
	tr.Mark("done")
	if err := tr.Discard(0, 10); err == nil {
		t.Fatal("os.File cannot discard; the trace must say so")
	}
	if err := tr.Close(); err != nil {
		t.Fatal(err)
	}
	file, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	got, err := tr.Replay(tr.Len())
	if err != nil {
		t.Fatal(err)
	}
	if err := Diff(got, file); err != nil {
		t.Fatal(err)
	}

	var saved bytes.Buffer
	if err := tr.Save(&saved); err != nil {
		t.Fatal(err)
	}
	again := NewLog(tr.Start())
	if err := again.LoadEvents(&saved); err != nil {
		t.Fatal(err)
	}
	if got, err = again.Replay(again.Len()); err != nil {
		t.Fatal(err)
	}
	if err := Diff(got, file); err != nil {
		t.Fatal("after save and load:", err)
	}
	if !slices.Equal(again.Marks(again.Len()), []string{"done"}) {
		t.Fatal("marks lost")
	}
}
