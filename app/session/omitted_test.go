package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coffer/fat32"
)

// TestManyFindingsAreNotTidiedUp: of more findings than a check keeps, nobody knows what the rest are. The volume is not
// opened for writing, though all that were kept are of the harmless kind.
func TestManyFindingsAreNotTidiedUp(t *testing.T) {
	image := filepath.Join(t.TempDir(), "a.img")
	target := Target{Path: image, Format: FormatRaw}
	ctx := context.Background()
	if _, err := Create(ctx, CreateRequest{Target: target, SizeBytes: 32 << 20, ClusterSizeBytes: 1024, SectorSizeBytes: 512}, Credential{}); err != nil {
		t.Fatal(err)
	}
	const files = 10_100 // a check keeps 10,000 findings
	s, err := Open(ctx, target, OpenOptions{}, Credential{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Mkdir(context.Background(), "/D", false); err != nil {
		t.Fatal(err)
	}
	for i := range files {
		file, err := s.Volume.OpenFile(fmt.Sprintf("/D/F%05d", i), fat32.ReadWrite|fat32.Create)
		if err != nil {
			t.Fatal(err)
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(image)
	if err != nil {
		t.Fatal(err)
	}
	giveEmptyFilesChains(t, content, files)
	if err := os.WriteFile(image, content, 0o600); err != nil {
		t.Fatal(err)
	}
	device, err := OpenDevice(ctx, target, true, Credential{})
	if err != nil {
		t.Fatal(err)
	}
	found, err := fat32.Check(ctx, device.container, fat32.CheckOptions{})
	if err := errors.Join(err, device.Close()); err != nil {
		t.Fatal(err)
	}
	if found.Omitted == 0 {
		t.Fatalf("%d findings, none left out: this tests nothing", len(found.Findings))
	}
	_, err = Open(ctx, target, OpenOptions{}, Credential{})
	if err == nil {
		t.Fatal("the volume was opened for writing")
	}
	if p := Explain(err); p.Code != Damaged || !strings.Contains(p.Hint, "--salvage") || !strings.Contains(p.Sentence, "more than 10000 places") {
		t.Errorf("%+v", p)
	}
	if after, err := os.ReadFile(image); err != nil || string(after) != string(content) {
		t.Errorf("the refused opening changed the image (%v)", err)
	}
	s, err = Open(ctx, target, OpenOptions{ReadOnly: true}, Credential{})
	if err != nil {
		t.Fatalf("reading is refused too: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// giveEmptyFilesChains makes a clean FAT16 volume one that a cut could have left: open, and with a cluster for each of
// its empty files F00000, F00001 and so on.
func giveEmptyFilesChains(t *testing.T, content []byte, files int) {
	t.Helper()
	word := func(at int) int { return int(content[at]) | int(content[at+1])<<8 }
	reserved, fatBytes := word(14)*512, word(22)*512
	if fatBytes == 0 {
		t.Fatal("this test writes a FAT16 volume")
	}
	const first = 1000 // behind the folder
	given := 0
	for at := 0; at+32 <= len(content); at += 32 {
		var i int
		if n, err := fmt.Sscanf(string(content[at:at+11]), "F%05d     ", &i); n != 1 || err != nil || string(content[at+6:at+11]) != "     " {
			continue
		}
		cluster := first + i
		content[at+26], content[at+27] = byte(cluster), byte(cluster>>8)
		for fat := range 2 {
			entry := reserved + fat*fatBytes + 2*cluster
			content[entry], content[entry+1] = 0xff, 0xff
		}
		given++
	}
	if given != files {
		t.Fatalf("%d files found on disk, want %d", given, files)
	}
	for fat := range 2 {
		content[reserved+fat*fatBytes+3] &= 0x7f // FAT[1]: not closed cleanly
	}
}
