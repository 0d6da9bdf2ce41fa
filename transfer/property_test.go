//go:build unix

package transfer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coffer/container/block/blocktest"
	"coffer/fat32"
	"coffer/transfer/report"
)

// randomTree makes a tree with names of every kind of trouble.
func randomTree(t *testing.T, r *rand.Rand, root string) {
	t.Helper()
	pieces := []string{"a", "A", "b", ".", " ", "é", "e\u0301", "É", "ß", "ẞ", "日本", "x:y", "q?", "~1", "LONG name here", "con", "Σ", "σ", "ς", "ı", "I", "\xff", "part", "😀"}
	dirs := []string{root}
	os.MkdirAll(root, 0o755)
	for range 120 {
		var name strings.Builder
		for range 1 + r.IntN(4) {
			name.WriteString(pieces[r.IntN(len(pieces))])
		}
		n := name.String()
		if n == "." || n == ".." {
			continue
		}
		path := filepath.Join(dirs[r.IntN(len(dirs))], n)
		switch k := r.IntN(10); {
		case k == 0:
			os.Symlink("nowhere", path)
		case k < 3:
			if os.Mkdir(path, 0o755) == nil {
				dirs = append(dirs, path)
			}
		default:
			if _, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) {
				write(t, path, fill(r.Uint64(), r.IntN(9000)))
			}
		}
	}
}

// What the plan promises is what the run does: nothing fails that was not
// announced, everything else arrives, and comes back the same.
func TestPlanPredictsRun(t *testing.T) {
	seeds := 20
	if testing.Short() {
		seeds = 8
	}
	for seed := range uint64(seeds) {
		r := rand.New(rand.NewPCG(seed, 77))
		src := filepath.Join(t.TempDir(), "src")
		randomTree(t, r, src)
		kind := []fat32.Type{fat32.FAT16, fat32.FAT32}[seed%2]
		dev := blocktest.NewMem(40 << 20)
		place := volume(t, dev, kind)
		p, err := Job{Sources: []Place{host(src)}, Destination: place}.Plan(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		free := place.Volume.StatFS().FreeBytes
		failed, files, need := len(p.Problems()), p.Files, p.NeedBytes
		rec := mustRun(t, p)
		if len(rec.Problems) != failed || rec.Files != files {
			t.Fatalf("seed %d: planned %d files and %d problems, got %d and %d: %v", seed, files, failed, rec.Files, len(rec.Problems), rec.Problems)
		}
		if used := free - place.Volume.StatFS().FreeBytes; used > need || need > used+int64(rec.Directories+2)*8<<10+64<<10 {
			t.Fatalf("seed %d: planned %d bytes, used %d", seed, need, used)
		}
		out := filepath.Join(t.TempDir(), "out")
		back := run(t, Job{Sources: []Place{{Volume: place.Volume, Path: "/src"}}, Destination: host(out)})
		if back.Files != files || back.Outcome != report.Done {
			t.Fatalf("seed %d: %d of %d files came back: %v", seed, back.Files, files, back.Problems)
		}
		want := snapshot(t, src)
		for _, pr := range rec.Problems {
			rel := strings.TrimPrefix(pr.Name, "src/")
			for name := range want {
				if name == rel || strings.HasPrefix(name, rel+"/") {
					delete(want, name)
				}
			}
		}
		if d := diff(want, snapshot(t, out)); d != "" {
			t.Fatalf("seed %d:\n%s", seed, d)
		}
		unmount(t, place, dev)
	}
}

func FuzzState(f *testing.F) {
	f.Add([]byte("{\"copyState\":1}\n{\"done\":\"a\",\"size\":1,\"modified\":2}\n{\"part\":\".coffer-part-1\",\"of\":\"b\",\"size\":9,\"bytes\":3}\n"))
	f.Add([]byte("{\"copyState\":1}\n{\"done\":\"a\""))
	f.Fuzz(func(t *testing.T, data []byte) {
		tree, err := newHostTree(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		defer tree.close()
		s, err := openState(tree, "none", true)
		if err != nil {
			t.Fatal(err)
		}
		s.parse(strings.NewReader(string(data)))
		if s.end > int64(len(data)) || len(s.done) > maxStateDone || len(s.parts) > maxStateParts {
			t.Fatalf("end %d of %d", s.end, len(data))
		}
		for of, p := range s.parts {
			if n := s.part(of, node{size: p.size}); n != 0 {
				t.Fatalf("a part that is not there would be continued at %d", n)
			}
		}
	})
}

func FuzzManifest(f *testing.F) {
	m := manifest{Format: manifestFormat, Version: 1, Name: "x", SizeBytes: 3, SHA256: strings.Repeat("0", 64),
		Parts: []manifestPart{{Name: "x.part0001", SizeBytes: 2, SHA256: strings.Repeat("0", 64)}, {Name: "x.part0002", SizeBytes: 1, SHA256: strings.Repeat("0", 64)}}}
	good, _ := json.Marshal(m)
	f.Add(good, "x"+manifestSuffix)
	f.Add([]byte("{}"), "../x"+manifestSuffix)
	siblings := []node{{name: "x.part0001", size: 2}, {name: "x.part0002", size: 1}}
	if _, err := parseManifest(good, "x"+manifestSuffix, siblings); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte, name string) {
		m, err := parseManifest(data, name, siblings)
		if err != nil {
			return
		}
		if checkHostName(m.Name) != nil || m.SizeBytes <= 0 {
			t.Fatalf("%+v", m)
		}
		var sum int64
		for _, p := range m.Parts {
			if checkHostName(p.Name) != nil {
				t.Fatal(p.Name)
			}
			sum += p.SizeBytes
		}
		if sum != m.SizeBytes {
			t.Fatal(fmt.Sprint(sum, m.SizeBytes))
		}
	})
}
