package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"coffer/container/secret"
	"coffer/fat32"
)

// TestMain lets the test binary be the child that derives keys, as the program is.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == KDFVerb {
		if err := ServeKDF(os.Stdin, os.Stdout); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestSelfTestPasses(t *testing.T) {
	results, err := SelfTest(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, result := range results {
		if result.Error != "" {
			t.Errorf("%s: %s", result.Name, result.Error)
		}
	}
	if len(results) < 6 {
		t.Errorf("only %d parts", len(results))
	}
	wrong := kdfVectors()[0]
	wrong.want = strings.Repeat("00", len(wrong.want)/2)
	if wrong.check(context.Background(), deriver()) == nil {
		t.Error("a wrong vector passes")
	}
}

func credential(t *testing.T, text string) Credential {
	t.Helper()
	password, err := secret.FromBytes([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(password.Destroy)
	return Credential{Password: password, Slot: -1}
}

// TestCreateFromAlwaysFits: the size computed for a folder holds it, whatever its shape and the cluster size.
func TestCreateFromAlwaysFits(t *testing.T) {
	shapes := []struct {
		name    string
		files   int
		maxSize int
		perDir  int
		letters int
	}{
		{"few large", 5, 9 << 20, 10, 8},
		{"many small", 1200, 700, 1200, 8},
		{"long names", 900, 2000, 300, 200},
		{"a folder each", 400, 3000, 1, 12},
		{"empty files", 800, 1, 100, 30},
		{"nothing", 0, 1, 1, 1},
	}
	for i, shape := range shapes {
		for _, cluster := range []int64{0, 512, 4096, 32768} {
			t.Run(fmt.Sprintf("%s, cluster %d", shape.name, cluster), func(t *testing.T) {
				folder := t.TempDir()
				random := rand.New(rand.NewPCG(uint64(i), uint64(cluster)))
				for n := range shape.files {
					dir := filepath.Join(folder, "tree", fmt.Sprintf("folder %d", n/shape.perDir))
					name := fmt.Sprintf("%s %d", strings.Repeat("n", shape.letters), n)
					if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, name), make([]byte, random.IntN(shape.maxSize)), 0o600)); err != nil {
						t.Fatal(err)
					}
				}
				if err := os.MkdirAll(filepath.Join(folder, "tree"), 0o700); err != nil {
					t.Fatal(err)
				}
				created, err := Create(context.Background(), CreateRequest{
					Target: Target{Path: filepath.Join(folder, "x.img"), Format: FormatRaw}, From: filepath.Join(folder, "tree") + "/", ClusterSizeBytes: cluster,
				}, Credential{})
				if err != nil {
					t.Fatal(err)
				}
				if created.Record.Files != int64(shape.files) || RecordError(created.Record) != nil {
					t.Errorf("%d of %d files arrived", created.Record.Files, shape.files)
				}
				if created.FreeBytes < 1<<20 {
					t.Errorf("%d bytes are free: no headroom", created.FreeBytes)
				}
			})
		}
	}
}

// TestOneSessionManyHands uses one open container from several goroutines, as the agent will.
func TestOneSessionManyHands(t *testing.T) {
	ctx, folder := context.Background(), t.TempDir()
	target, who := Target{Path: filepath.Join(folder, "m.img"), Format: FormatLUKS2}, credential(t, "many hands")
	if _, err := Create(ctx, CreateRequest{Target: target, UsableBytes: 32 << 20, KDF: KDFCost{MemoryBytes: 64 << 10, Passes: 1}}, who); err != nil {
		t.Fatal(err)
	}
	s, err := Open(ctx, target, OpenOptions{}, who)
	if err != nil {
		t.Fatal(err)
	}
	var hands sync.WaitGroup
	for hand := range 4 {
		hands.Go(func() {
			source := filepath.Join(folder, fmt.Sprint("source", hand))
			content := bytes.Repeat([]byte{byte(hand + 1)}, 300_000)
			if err := os.WriteFile(source, content, 0o600); err != nil {
				t.Error(err)
				return
			}
			home := fmt.Sprint("/home", hand)
			if err := s.Mkdir(ctx, home, false); err != nil {
				t.Error(err)
			}
			for round := range 5 {
				place := Place{Image: target.Path, Path: fmt.Sprint(home, "/file", round)}
				if _, err := Copy(ctx, nil, s, CopyRequest{Sources: []Place{{Path: source}}, Destination: place, Verify: round%2 == 0}); err != nil {
					t.Error(err)
				}
				var back bytes.Buffer
				if err := s.Cat(ctx, place.Path, &back); err != nil || !bytes.Equal(back.Bytes(), content) {
					t.Errorf("%s: %v, the same bytes: %v", place, err, bytes.Equal(back.Bytes(), content))
				}
			}
			if err := s.Remove(ctx, home+"/file0", false); err != nil {
				t.Error(err)
			}
		})
	}
	hands.Wait()
	var found []string
	if err := s.List(ctx, "/", true, func(e Entry) error { found = append(found, e.Path); return nil }); err != nil {
		t.Error(err)
	}
	if len(found) != 4+4*4 || !slices.Contains(found, "/home3/file4") {
		t.Errorf("found %q", found)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	checkClean(t, target, who)
}

func checkClean(t *testing.T, target Target, who Credential) {
	t.Helper()
	device, err := OpenDevice(context.Background(), target, true, who)
	if err != nil {
		t.Fatal(err)
	}
	defer device.Close()
	result, err := device.Check(context.Background(), CheckRequest{})
	if err != nil || !result.Clean {
		t.Errorf("check: %+v, %v", result, err)
	}
}

// TestFolderInsideItself lists and removes on a volume whose folder contains itself: an error, not an endless walk.
func TestFolderInsideItself(t *testing.T) {
	ctx, folder := context.Background(), t.TempDir()
	target := Target{Path: filepath.Join(folder, "l.img"), Format: FormatRaw}
	if _, err := Create(ctx, CreateRequest{Target: target, SizeBytes: 20 << 20, ClusterSizeBytes: 4096}, Credential{}); err != nil {
		t.Fatal(err)
	}
	s, err := Open(ctx, target, OpenOptions{}, Credential{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Mkdir(context.Background(), "/outer/INNER", true); err != nil {
		t.Fatal(err)
	}
	outer, err := s.Volume.Stat("/outer")
	if err != nil {
		t.Fatal(err)
	}
	geometry := s.Volume.Geometry()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	// The entry INNER in outer's cluster gets outer's own first cluster.
	image, err := os.OpenFile(target.Path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	cluster := make([]byte, geometry.ClusterSize)
	at := geometry.DataOffset + int64(outer.FirstCluster-2)*int64(geometry.ClusterSize)
	if _, err := image.ReadAt(cluster, at); err != nil {
		t.Fatal(err)
	}
	entry := bytes.Index(cluster, []byte("INNER      "))
	if entry < 0 {
		t.Fatal("no entry INNER")
	}
	cluster[entry+26], cluster[entry+27] = byte(outer.FirstCluster), byte(outer.FirstCluster>>8)
	if _, err := image.WriteAt(cluster, at); err != nil {
		t.Fatal(err)
	}
	image.Close()
	if s, err = Open(ctx, target, OpenOptions{}, Credential{}); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	entries := 0
	err = s.List(ctx, "/", true, func(Entry) error { entries++; return nil })
	if !errors.Is(err, fat32.ErrCorrupt) || Explain(err).Code != Damaged || entries > maxDepth*2 {
		t.Errorf("list: %v after %d entries", err, entries)
	}
	if err := s.Remove(ctx, "/outer", true); Explain(errors.Join(err, errors.New("x"))).Code != Damaged {
		t.Errorf("remove: %v", err)
	}
}
