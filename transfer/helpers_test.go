//go:build unix

package transfer

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"

	"coffer/fat32"
	"coffer/transfer/report"
)

// fill makes deterministic bytes.
func fill(seed uint64, n int) []byte {
	r := rand.New(rand.NewPCG(seed, 99))
	p := make([]byte, n)
	for i := 0; i+8 <= n; i += 8 {
		v := r.Uint64()
		for k := range 8 {
			p[i+k] = byte(v >> (8 * k))
		}
	}
	for i := n &^ 7; i < n; i++ {
		p[i] = byte(r.Uint32())
	}
	return p
}

// write makes a file with its folders, dated in whole even seconds.
func write(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	when := time.Unix(1_600_000_000+int64(len(data)%1000)*2, 0)
	if err := os.Chtimes(path, when, when); err != nil {
		t.Fatal(err)
	}
}

// entry is what is compared of a file.
type entry struct {
	size     int64
	sum      [32]byte
	modified int64 // seconds, even
	dir      bool
}

// snapshot reads a host tree.
func snapshot(t testing.TB, root string) map[string]entry {
	t.Helper()
	out := map[string]entry{}
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, p)
		if rel == "." {
			return nil
		}
		if d.IsDir() {
			out[rel] = entry{dir: true}
			return nil
		}
		if !d.Type().IsRegular() {
			out[rel] = entry{size: -1}
			return nil
		}
		data, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		st, err := d.Info()
		if err != nil {
			return err
		}
		out[rel] = entry{size: int64(len(data)), sum: sha256.Sum256(data), modified: st.ModTime().Unix() / 2}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// diff tells how two trees differ; "" if not.
func diff(a, b map[string]entry) string {
	var out []string
	for k, v := range a {
		if w, ok := b[k]; !ok {
			out = append(out, "missing: "+k)
		} else if v != w {
			out = append(out, fmt.Sprintf("differs: %s (%d, %d bytes, times %d, %d)", k, v.size, w.size, v.modified, w.modified))
		}
	}
	for k := range b {
		if _, ok := a[k]; !ok {
			out = append(out, "extra: "+k)
		}
	}
	sort.Strings(out)
	if len(out) > 20 {
		out = append(out[:20], "...")
	}
	return strings.Join(out, "\n")
}

// run plans and runs a job; it fails the test on an error.
func run(t testing.TB, j Job) *report.Record {
	t.Helper()
	rec, err := try(t, j)
	if err != nil {
		t.Fatalf("copy: %v", err)
	}
	return rec
}

func try(t testing.TB, j Job) (*report.Record, error) {
	t.Helper()
	p, err := j.Plan(context.Background())
	if err != nil {
		return nil, err
	}
	return Run(context.Background(), p)
}

func host(path string) Place { return Place{Path: path} }

// whole demands that a record tells of a complete copy.
func whole(t testing.TB, rec *report.Record, files, bytes int64) {
	t.Helper()
	if rec.Outcome != report.Done || rec.Files != files || rec.Bytes != bytes || len(rec.Problems) != 0 {
		t.Fatalf("outcome %s, %d of %d files, %d of %d bytes, problems %v", rec.Outcome, rec.Files, files, rec.Bytes, bytes, rec.Problems[:min(5, len(rec.Problems))])
	}
	if avg := float64(rec.Bytes) / (rec.Seconds.Copy + rec.Seconds.Sync); bytes > 0 && (rec.Rates.Average < avg*0.9 || rec.Rates.Average > avg*1.1) && rec.Seconds.Copy > 0.05 {
		t.Fatalf("average %v, bytes over seconds %v", rec.Rates.Average, avg)
	}
}

// sampleTree makes a tree with everything that is plain, and returns files and bytes.
func sampleTree(t testing.TB, root string) (files, bytes int64) {
	t.Helper()
	add := func(name string, n int) {
		write(t, filepath.Join(root, filepath.FromSlash(name)), fill(uint64(len(name)*1000+n), n))
		files++
		bytes += int64(n)
	}
	add("empty", 0)
	add("one", 1)
	add("a.txt", 1000)
	add("block", blockBytes)
	add("block+1", blockBytes+1)
	add("big/blocks.bin", 5*blockBytes+12345)
	for i := range 40 {
		add(fmt.Sprintf("many/file number %03d.dat", i), i*997)
	}
	deep := strings.Repeat("deep/", 40)
	add(deep+"bottom", 77)
	add("Ünïcode/日本語 файл.txt", 300)
	add("spaces and (brackets) [x]/it's, a; name=with+all & more.txt", 12)
	add(strings.Repeat("long", 50)+".name", 10)
	if err := os.MkdirAll(filepath.Join(root, "empty folder", "inner"), 0o755); err != nil {
		t.Fatal(err)
	}
	return files, bytes
}

// noLeftovers fails if part or state files are anywhere below root.
func noLeftovers(t testing.TB, root string) {
	t.Helper()
	for name := range snapshot(t, root) {
		if isLeftover(filepath.Base(name)) {
			t.Errorf("left behind: %s", name)
		}
	}
}

func sameBytes(t testing.TB, path string, want []byte) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Fatalf("%s: %d bytes differ from the %d expected", path, len(got), len(want))
	}
}

// readVolume reads a volume through fat32 itself.
func readVolume(t testing.TB, v *fat32.Volume, dir string, out map[string]entry) {
	t.Helper()
	infos, err := v.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range infos {
		p := strings.TrimSuffix(dir, "/") + "/" + i.Name
		if i.IsDir() {
			out[p[1:]] = entry{dir: true}
			readVolume(t, v, p, out)
			continue
		}
		f, err := v.OpenFile(p, fat32.ReadOnly)
		if err != nil {
			t.Fatal(err)
		}
		data := make([]byte, i.Size)
		if n, err := f.ReadAt(data, 0); int64(n) < i.Size {
			t.Fatalf("%s: %v", p, err)
		}
		f.Close()
		out[p[1:]] = entry{size: i.Size, sum: sha256.Sum256(data), modified: i.ModTime.Unix() / 2}
	}
}

// mustRun runs a plan.
func mustRun(t *testing.T, p *Plan) *report.Record {
	t.Helper()
	rec, err := Run(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	return rec
}
