//go:build unix

package transfer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"coffer/transfer/report"
)

func TestHostToHost(t *testing.T) {
	src, dst := filepath.Join(t.TempDir(), "src"), t.TempDir()
	files, bytes := sampleTree(t, src)
	rec := run(t, Job{Sources: []Place{host(src)}, Destination: host(dst), Verify: true})
	whole(t, rec, files, bytes)
	if rec.Verified != files {
		t.Fatalf("verified %d of %d", rec.Verified, files)
	}
	if d := diff(snapshot(t, src), snapshot(t, filepath.Join(dst, "src"))); d != "" {
		t.Fatal(d)
	}
	noLeftovers(t, dst)
}

func TestNewNameAndContents(t *testing.T) {
	base := t.TempDir()
	src := filepath.Join(base, "src")
	sampleTree(t, src)
	run(t, Job{Sources: []Place{host(src)}, Destination: host(filepath.Join(base, "copy"))})
	if d := diff(snapshot(t, src), snapshot(t, filepath.Join(base, "copy"))); d != "" {
		t.Fatal(d)
	}
	run(t, Job{Sources: []Place{{Path: src, Contents: true}}, Destination: host(filepath.Join(base, "contents"))})
	if d := diff(snapshot(t, src), snapshot(t, filepath.Join(base, "contents"))); d != "" {
		t.Fatal(d)
	}
	os.Mkdir(filepath.Join(base, "into"), 0o755)
	run(t, Job{Sources: []Place{{Path: src, Contents: true}}, Destination: host(filepath.Join(base, "into"))})
	if d := diff(snapshot(t, src), snapshot(t, filepath.Join(base, "into"))); d != "" {
		t.Fatal(d)
	}
	run(t, Job{Sources: []Place{host(filepath.Join(src, "a.txt"))}, Destination: host(filepath.Join(base, "b.txt"))})
	sameBytes(t, filepath.Join(base, "b.txt"), fill(5*1000+1000, 1000))
	// Several sources, from different folders.
	write(t, filepath.Join(base, "other", "x"), []byte("x"))
	os.Mkdir(filepath.Join(base, "several"), 0o755)
	rec := run(t, Job{Sources: []Place{host(filepath.Join(src, "one")), host(filepath.Join(base, "other")), host(filepath.Join(src, "many"))}, Destination: host(filepath.Join(base, "several"))})
	if rec.Files != 42 || rec.Directories != 2 {
		t.Fatalf("%d files, %d folders", rec.Files, rec.Directories)
	}
}

func TestRefusals(t *testing.T) {
	base := t.TempDir()
	src := filepath.Join(base, "src")
	sampleTree(t, src)
	for name, c := range map[string]struct {
		job  Job
		want error
	}{
		"inside":        {Job{Sources: []Place{host(src)}, Destination: host(filepath.Join(src, "many"))}, ErrInside},
		"inside, new":   {Job{Sources: []Place{host(src)}, Destination: host(filepath.Join(src, "new"))}, ErrInside},
		"into itself":   {Job{Sources: []Place{{Path: src, Contents: true}}, Destination: host(src)}, ErrSame},
		"onto itself":   {Job{Sources: []Place{host(filepath.Join(src, "one"))}, Destination: host(src)}, ErrSame},
		"no sources":    {Job{Destination: host(base)}, ErrNoSource},
		"missing":       {Job{Sources: []Place{host(filepath.Join(base, "nothing"))}, Destination: host(base)}, os.ErrNotExist},
		"no folder":     {Job{Sources: []Place{host(filepath.Join(src, "one"))}, Destination: host(filepath.Join(base, "no", "x"))}, ErrTarget},
		"two into file": {Job{Sources: []Place{host(filepath.Join(src, "one")), host(filepath.Join(src, "empty"))}, Destination: host(filepath.Join(base, "x"))}, ErrTarget},
		"folder > file": {Job{Sources: []Place{host(filepath.Join(src, "many"))}, Destination: host(filepath.Join(src, "one"))}, ErrTarget},
	} {
		if _, err := try(t, c.job); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

func TestSpecialFilesAreListedNotFollowed(t *testing.T) {
	base := t.TempDir()
	src, dst := filepath.Join(base, "src"), filepath.Join(base, "dst")
	write(t, filepath.Join(src, "plain"), []byte("plain"))
	write(t, filepath.Join(base, "outside", "secret"), []byte("secret"))
	os.Mkdir(dst, 0o755)
	os.Symlink(filepath.Join(base, "outside"), filepath.Join(src, "link to folder"))
	os.Symlink("plain", filepath.Join(src, "link"))
	os.Symlink("nowhere", filepath.Join(src, "dangling"))
	if err := syscall.Mkfifo(filepath.Join(src, "fifo"), 0o644); err != nil {
		t.Fatal(err)
	}
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	if err := syscall.Bind(fd, &syscall.SockaddrUnix{Name: filepath.Join(src, "socket")}); err != nil {
		t.Fatal(err)
	}
	rec := run(t, Job{Sources: []Place{host(src), host("/dev/null")}, Destination: host(dst)})
	want := map[string]int64{ReasonLink: 3, ReasonFIFO: 1, ReasonSocket: 1, ReasonDevice: 1}
	for reason, n := range want {
		if rec.Skipped[reason] != n {
			t.Errorf("%s: %d, want %d", reason, rec.Skipped[reason], n)
		}
	}
	if rec.Outcome != report.Partial || !rec.Incomplete() || rec.Files != 1 {
		t.Errorf("outcome %s, %d files", rec.Outcome, rec.Files)
	}
	if got := snapshot(t, dst); len(got) != 2 {
		t.Errorf("target holds %v", got)
	}
	// A link named with a slash behind it is what the user means.
	rec = run(t, Job{Sources: []Place{host(filepath.Join(src, "link to folder") + "/")}, Destination: host(dst)})
	if rec.Files != 1 || rec.Outcome != report.Done {
		t.Errorf("%+v", rec.Problems)
	}
}

// Links planted in the target are never followed, whatever they point to.
func TestLinksInTheTarget(t *testing.T) {
	base := t.TempDir()
	src, dst, outside := filepath.Join(base, "src"), filepath.Join(base, "dst"), filepath.Join(base, "outside")
	write(t, filepath.Join(src, "sub", "file"), []byte("new"))
	write(t, filepath.Join(src, "top"), []byte("new"))
	write(t, filepath.Join(outside, "file"), []byte("old"))
	write(t, filepath.Join(outside, "top"), []byte("old"))
	os.MkdirAll(filepath.Join(dst, "src"), 0o755)
	os.Symlink(outside, filepath.Join(dst, "src", "sub"))
	os.Symlink(filepath.Join(outside, "top"), filepath.Join(dst, "src", "top"))
	for _, policy := range []Overwrite{OverwriteFail, OverwriteReplace, OverwriteSkip, OverwriteNewer} {
		rec := run(t, Job{Sources: []Place{host(src)}, Destination: host(dst), Overwrite: policy})
		if rec.Failed[ReasonTargetLink] != 2 || rec.Files != 0 {
			t.Errorf("policy %d: %v, %d files", policy, rec.Failed, rec.Files)
		}
		sameBytes(t, filepath.Join(outside, "file"), []byte("old"))
		sameBytes(t, filepath.Join(outside, "top"), []byte("old"))
	}
}

// A folder swapped for a link between plan and run must not be followed either.
func TestLinkPlantedAfterThePlan(t *testing.T) {
	base := t.TempDir()
	src, dst, outside := filepath.Join(base, "src"), filepath.Join(base, "dst"), filepath.Join(base, "outside")
	write(t, filepath.Join(src, "sub", "file"), []byte("new"))
	write(t, filepath.Join(src, "linked"), []byte("new"))
	os.MkdirAll(outside, 0o755)
	os.MkdirAll(filepath.Join(dst, "src", "sub"), 0o755)
	p, err := Job{Sources: []Place{host(src)}, Destination: host(dst)}.Plan(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	p.target.(*hostTree).folders.forget("src/sub")
	os.Remove(filepath.Join(dst, "src", "sub"))
	os.Symlink(outside, filepath.Join(dst, "src", "sub"))
	os.Symlink(filepath.Join(outside, "made"), filepath.Join(dst, "src", "linked"))
	os.Remove(filepath.Join(src, "linked"))
	os.Symlink("/etc/passwd", filepath.Join(src, "linked")) // and the source, too
	rec, err := Run(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	if rec.Files != 0 || rec.Failed[ReasonTargetLink] != 2 || rec.Failed[ReasonLink] != 1 {
		t.Fatalf("%v", rec.Problems)
	}
	if got := snapshot(t, outside); len(got) != 0 {
		t.Fatalf("written outside the target: %v", got)
	}
}

func TestOverwritePolicies(t *testing.T) {
	old, new := time.Unix(1_500_000_000, 0), time.Unix(1_700_000_000, 0)
	for _, c := range []struct {
		policy      Overwrite
		targetTime  time.Time
		replaced    bool
		failed      int64
		kept        int64
		description string
	}{
		{OverwriteFail, old, false, 1, 0, "fail"},
		{OverwriteSkip, old, false, 0, 1, "skip"},
		{OverwriteNewer, old, true, 0, 0, "newer, target old"},
		{OverwriteNewer, new, false, 0, 1, "newer, target new"},
		{OverwriteReplace, new, true, 0, 0, "replace"},
	} {
		base := t.TempDir()
		write(t, filepath.Join(base, "src", "f"), []byte("from source"))
		write(t, filepath.Join(base, "dst", "src", "f"), []byte("target"))
		os.Chtimes(filepath.Join(base, "dst", "src", "f"), c.targetTime, c.targetTime)
		rec := run(t, Job{Sources: []Place{host(filepath.Join(base, "src"))}, Destination: host(filepath.Join(base, "dst")), Overwrite: c.policy})
		want := "target"
		if c.replaced {
			want = "from source"
		}
		sameBytes(t, filepath.Join(base, "dst", "src", "f"), []byte(want))
		if rec.Failed[ReasonExists] != c.failed || rec.Skipped[ReasonKept] != c.kept || rec.Incomplete() != (c.failed > 0) {
			t.Errorf("%s: failed %v, skipped %v", c.description, rec.Failed, rec.Skipped)
		}
		noLeftovers(t, base)
	}
	base := t.TempDir()
	write(t, filepath.Join(base, "src", "f"), []byte("file"))
	write(t, filepath.Join(base, "src", "d", "x"), []byte("in folder"))
	write(t, filepath.Join(base, "dst", "src", "d"), []byte("file"))
	write(t, filepath.Join(base, "dst", "src", "f", "x"), []byte("in folder"))
	rec := run(t, Job{Sources: []Place{host(filepath.Join(base, "src"))}, Destination: host(filepath.Join(base, "dst")), Overwrite: OverwriteReplace})
	if rec.Failed[ReasonType] != 2 {
		t.Fatal(rec.Problems)
	}
}

// A file that appears at the target after the plan is not replaced.
func TestTargetAppears(t *testing.T) {
	base := t.TempDir()
	write(t, filepath.Join(base, "src", "f"), []byte("from source"))
	os.MkdirAll(filepath.Join(base, "dst", "src"), 0o755)
	p, err := Job{Sources: []Place{host(filepath.Join(base, "src"))}, Destination: host(filepath.Join(base, "dst")), Overwrite: OverwriteReplace}.Plan(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(base, "dst", "src", "f"), []byte("appeared"))
	rec, err := Run(context.Background(), p)
	if err != nil || rec.Failed[ReasonExists] != 1 {
		t.Fatal(err, rec.Problems)
	}
	sameBytes(t, filepath.Join(base, "dst", "src", "f"), []byte("appeared"))
	noLeftovers(t, base)
	if _, err := Run(context.Background(), p); !errors.Is(err, ErrPlanUsed) {
		t.Fatal(err)
	}
}

// shrinking makes a big file and a hook that changes it while it is read.
func TestSourceChangesWhileRead(t *testing.T) {
	for name, change := range map[string]func(path string){
		"shrinks": func(p string) { os.Truncate(p, 3*blockBytes) },
		"grows": func(p string) {
			f, _ := os.OpenFile(p, os.O_APPEND|os.O_WRONLY, 0)
			f.Write([]byte("more"))
			f.Close()
		},
		"touched": func(p string) { os.Chtimes(p, time.Now(), time.Now()) },
	} {
		base := t.TempDir()
		path := filepath.Join(base, "src", "big")
		write(t, path, fill(1, 40*blockBytes))
		write(t, filepath.Join(base, "src", "small"), []byte("small"))
		os.Mkdir(filepath.Join(base, "dst"), 0o755)
		p, err := Job{Sources: []Place{host(filepath.Join(base, "src"))}, Destination: host(filepath.Join(base, "dst"))}.Plan(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		p.sources[0] = &hookedTree{tree: p.sources[0], onRead: func(file string, off int64) {
			if strings.HasSuffix(file, "big") && off == 10*blockBytes {
				change(path)
			}
		}}
		rec, err := Run(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		if rec.Failed[ReasonChanged] != 1 || rec.Files != 1 || rec.Outcome != report.Partial {
			t.Errorf("%s: %v, %d files", name, rec.Problems, rec.Files)
		}
		booked := rec.Rates.Average * (rec.Seconds.Copy + rec.Seconds.Sync) // all that was accepted
		if full := int64(40 * blockBytes); rec.Bytes != 5 || rec.FailedBytes <= 0 || name != "shrinks" && rec.FailedBytes != full || booked < 0.9*float64(rec.FailedBytes) || booked > 1.1*float64(5+rec.FailedBytes) {
			t.Errorf("%s: %d bytes arrived, %d did not, average tells of %v", name, rec.Bytes, rec.FailedBytes, booked)
		}
		if got := snapshot(t, filepath.Join(base, "dst")); len(got) != 2 {
			t.Errorf("%s: target holds %v", name, got)
		}
	}
}

// hookedTree calls onRead before every read of a source.
type hookedTree struct {
	tree
	onRead func(path string, off int64)
}

func (h *hookedTree) open(p string) (sourceFile, node, error) {
	f, n, err := h.tree.open(p)
	if err != nil {
		return nil, n, err
	}
	return &hookedFile{f, p, h.onRead}, n, nil
}

type hookedFile struct {
	sourceFile
	path   string
	onRead func(path string, off int64)
}

func (h *hookedFile) ReadAt(p []byte, off int64) (int, error) {
	h.onRead(h.path, off)
	return h.sourceFile.ReadAt(p, off)
}

func TestVanishedSource(t *testing.T) {
	base := t.TempDir()
	for i := range 10 {
		write(t, filepath.Join(base, "src", fmt.Sprint(i)), []byte("x"))
	}
	os.Mkdir(filepath.Join(base, "dst"), 0o755)
	p, err := Job{Sources: []Place{host(filepath.Join(base, "src"))}, Destination: host(filepath.Join(base, "dst"))}.Plan(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	os.Remove(filepath.Join(base, "src", "3"))
	os.Remove(filepath.Join(base, "src", "4"))
	syscall.Mkfifo(filepath.Join(base, "src", "4"), 0o644)
	rec, err := Run(context.Background(), p)
	if err != nil || rec.Failed[ReasonVanished] != 1 || rec.Failed[ReasonUnreadable] != 1 || rec.Files != 8 {
		t.Fatal(err, rec.Problems, rec.Files)
	}
}

// Cancelled at any moment: prompt, and nothing short under a final name.
func TestCancelAtRandomMoments(t *testing.T) {
	src := filepath.Join(t.TempDir(), "src")
	sampleTree(t, src)
	write(t, filepath.Join(src, "huge"), fill(5, 24*blockBytes))
	want := snapshot(t, src)
	rounds := 30
	if testing.Short() {
		rounds = 10
	}
	var cancelled, finished int
	for i := range rounds {
		dst := t.TempDir()
		j := Job{Sources: []Place{{Path: src, Contents: true}}, Destination: host(dst), Verify: i%3 == 0, tune: tuning{resumableBytes: 4 * blockBytes, batchBytes: 4 * blockBytes}}
		var writes atomic.Int64
		p, err := j.Plan(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		at := int64(i * 90 / rounds)
		var when atomic.Int64
		p.sources[0] = &hookedTree{tree: p.sources[0], onRead: func(string, int64) {
			if writes.Add(1) > at {
				when.CompareAndSwap(0, time.Now().UnixNano())
				cancel()
			}
		}}
		rec, err := Run(ctx, p)
		cancel()
		// Generous: the tests of a whole machine may run beside this one.
		if w := when.Load(); w != 0 && time.Since(time.Unix(0, w)) > 5*time.Second {
			t.Fatalf("returned %v after the cancel", time.Since(time.Unix(0, w)))
		}
		switch {
		case errors.Is(err, context.Canceled):
			cancelled++
			if rec.Outcome != report.Cancelled {
				t.Fatalf("outcome %s", rec.Outcome)
			}
		case err != nil:
			t.Fatal(err)
		default:
			finished++
		}
		for name, got := range snapshot(t, dst) {
			if isLeftover(filepath.Base(name)) {
				continue
			}
			if w, ok := want[name]; !ok || got != w {
				t.Fatalf("round %d: %s is not the source's: %+v, want %+v", i, name, got, w)
			}
		}
		// And the rest arrives with a resume.
		j.Resume = true
		if rec := run(t, j); rec.Outcome != report.Done {
			t.Fatalf("round %d: resume: %v", i, rec.Problems)
		}
		if d := diff(want, snapshot(t, dst)); d != "" {
			t.Fatalf("round %d: after resume:\n%s", i, d)
		}
	}
	if cancelled == 0 {
		t.Fatal("no run was cancelled")
	}
	t.Logf("%d cancelled, %d finished before", cancelled, finished)
}
