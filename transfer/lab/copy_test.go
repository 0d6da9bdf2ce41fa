package lab

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"coffer/container/secret"
	"coffer/transfer"
	"coffer/transfer/lab/workload"
	"coffer/transfer/report"
)

// tiny copies next to nothing, but everything of it.
func tiny(dir string) CopyOptions {
	return CopyOptions{Dir: dir, Rounds: 3, Program: "coffer test", Warm: true, Workloads: []workload.Workload{workload.Large(3_000_001), workload.Photos(40, 3e6)}}
}

// emptyFolder says that nothing was left behind.
func emptyFolder(t *testing.T, dir string) {
	t.Helper()
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
}

// rowOf finds a row of a table.
func rowOf(t *testing.T, table report.Table, label string) report.Row {
	t.Helper()
	for _, row := range table.Rows {
		if row.Label == label {
			return row
		}
	}
	t.Fatalf("%s has no row %q", table.Title, label)
	return report.Row{}
}

func TestCopy(t *testing.T) {
	dir := t.TempDir()
	o := tiny(dir)
	var last Progress
	var order []string
	o.Progress = func(p Progress) {
		if p.Done < last.Done || p.Done > p.Total || p.Total == 0 || p.Doing == "" {
			t.Errorf("progress %+v after %+v", p, last)
		}
		if last = p; len(order) == 0 || order[len(order)-1] != p.Doing {
			order = append(order, p.Doing)
		}
	}
	e, err := Copy(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	emptyFolder(t, dir)
	checkExports(t, e)
	checkOrder(t, order)
	if len(e.Tables) != 3 || len(e.Bars) != 2 || len(e.Transfers) != 2*5 {
		t.Fatalf("%d tables, %d charts, %d transfers", len(e.Tables), len(e.Bars), len(e.Transfers))
	}
	for i, w := range o.Workloads {
		checkCopyTable(t, e.Tables[i], w)
	}
	for _, r := range e.Transfers {
		sum := 0.0
		for _, p := range r.Phases {
			if sum += p.Seconds; p.Seconds < 0 {
				t.Errorf("%s: %+v", r.Label, p)
			}
		}
		if wall := r.Seconds.Copy + r.Seconds.Sync; math.Abs(sum-wall) > 1e-6 || len(r.Phases) == 0 {
			t.Errorf("%s: phases add up to %v of %v", r.Label, sum, wall)
		}
	}
}

// checkOrder: the second round runs both halves backwards, the third forwards again.
func checkOrder(t *testing.T, order []string) {
	t.Helper()
	legs := func(round string) (out []string) {
		for _, doing := range order {
			if name, ok := strings.CutSuffix(doing, ", round "+round+" of 3"); ok && strings.HasPrefix(name, "a: ") {
				out = append(out, strings.TrimPrefix(name, "a: "))
			}
		}
		return out
	}
	first, second, third := legs("1"), legs("2"), legs("3")
	back := slices.Clone(second)
	in := len(back) - 2 // FAT32 and luks2 out
	if in < 3 {
		t.Fatalf("round 2 has %q", second)
	}
	slices.Reverse(back[:in])
	slices.Reverse(back[in:])
	if !slices.Equal(first, back) || !slices.Equal(first, third) || slices.Equal(first, second) {
		t.Errorf("rounds ran\n%q\n%q\n%q", first, second, third)
	}
}

// checkCopyTable holds every figure against every other one that it follows from.
func checkCopyTable(t *testing.T, table report.Table, w workload.Workload) {
	t.Helper()
	published, measured := 0, 0
	for _, row := range table.Rows {
		if row.Reference {
			published++
			continue
		}
		measured++
		seconds, average := row.Cells[0].Figure, row.Cells[1].Figure
		if seconds == nil || average == nil || seconds.Rounds != 3 || average.Rounds != 3 || average.Ratio <= 0 {
			t.Fatalf("%s: %+v %+v", row.Label, seconds, average)
		}
		for i := range seconds.Values {
			// What is booked is all that was to be copied, over the time that is shown. The rate is over one stretch, the
			// time the sum of two stages: a busy machine may stop us for a moment between them.
			if want := float64(w.Bytes()) / (average.Values[i] * 1e6); math.Abs(seconds.Values[i]-want) > 0.02*want+0.02 {
				t.Errorf("%s, round %d: %.4f s, and %d bytes at %.2f MB/s are %.4f s", row.Label, i, seconds.Values[i], w.Bytes(), average.Values[i], want)
			}
			if row.Cells[2].Figure != nil && (row.Cells[2].Figure.Values[i] < row.Cells[3].Figure.Values[i] || row.Cells[3].Figure.Values[i] < 0) {
				t.Errorf("%s, round %d: maximum %v, minimum %v", row.Label, i, row.Cells[2].Figure.Values[i], row.Cells[3].Figure.Values[i])
			}
		}
		cpu := row.Cells[4].Figure
		if cpu == nil || cpu.Median < 0 || cpu.Median > seconds.Max*float64(runtime.NumCPU())+0.1 {
			t.Errorf("%s: %+v seconds of processor time in %+v", row.Label, cpu, seconds)
		}
	}
	if ratio := rowOf(t, table, plainCopy).Cells[1].Figure.Ratio; ratio != 1 {
		t.Errorf("the ratio of the baseline to itself is %v", ratio)
	}
	if published != 3 || measured < 5 {
		t.Errorf("%s: %d published and %d measured rows", table.Title, published, measured)
	}
}

// TestCopyCostsMultiply: encryption times file system is both, within each round and so in any single round.
func TestCopyCostsMultiply(t *testing.T) {
	o := tiny(t.TempDir())
	o.Rounds, o.Only, o.Warm = 1, []string{"b"}, false
	e, err := Copy(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	costs := e.Tables[len(e.Tables)-1]
	for i := range costs.Columns {
		part := func(label string) float64 { return rowOf(t, costs, label).Cells[i].Figure.Median }
		if got, want := part("the file system: FAT32 / plain")*part("encryption: luks2 / FAT32"), part("both: luks2 / plain"); math.Abs(got/want-1) > 1e-9 || want <= 0 {
			t.Errorf("column %d: %v, not %v", i, got, want)
		}
	}
	if published := rowOf(t, costs, "Private Disk: AES / plain"); math.Abs(published.Cells[0].Figure.Median-5.37/6.73) > 1e-9 {
		t.Errorf("published: %+v", published.Cells[0].Figure)
	}
}

// TestCopyOwnFolder: a folder of the user's is copied as it is, and still there afterwards; a link in it is no obstacle.
func TestCopyOwnFolder(t *testing.T) {
	own, dir := t.TempDir(), t.TempDir()
	if err := os.MkdirAll(filepath.Join(own, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"one", "sub/two"} {
		if err := os.WriteFile(filepath.Join(own, name), bytes.Repeat([]byte(name), 50_000), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("one", filepath.Join(own, "link")); err != nil {
		t.Fatal(err)
	}
	w, err := workload.Own(context.Background(), own)
	if err != nil || w.Bytes() != 500_000 || len(w.Files) != 2 {
		t.Fatalf("%+v %v", w, err)
	}
	e, err := Copy(context.Background(), CopyOptions{Dir: dir, Rounds: 1, Warm: true, Workloads: []workload.Workload{w}})
	if err != nil {
		t.Fatal(err)
	}
	emptyFolder(t, dir)
	for _, row := range e.Tables[0].Rows {
		if row.Reference {
			t.Errorf("figures for other files stand beside: %s", row.Label)
		}
	}
	if names, err := os.ReadDir(own); err != nil || len(names) != 3 {
		t.Errorf("%v %v", names, err)
	}
	if text := strings.Join([]string{e.Title, e.Tables[0].Title, e.Method[0].Text}, " "); strings.Contains(text, own) {
		t.Errorf("the name of the folder is in the report: %s", text)
	}
	if _, err := workload.Own(context.Background(), t.TempDir()); err == nil {
		t.Error("an empty folder was taken")
	}
}

// TestCopyCancel: cancelled at any point, it ends with the context's error and leaves nothing.
func TestCopyCancel(t *testing.T) {
	stops := []string{"making", "warming up", plainCopy, "plain → FAT32", "plain → luks2", "FAT32 → plain", "luks2 → plain", "round 2 of 3"}
	if haveCP() {
		stops = append(stops, cpCopy)
	}
	for _, at := range stops {
		dir := t.TempDir()
		ctx, cancel := context.WithCancel(context.Background())
		o := tiny(dir)
		seen := false
		o.Progress = func(p Progress) {
			if strings.Contains(p.Doing, at) {
				seen = true
				cancel()
			}
		}
		e, err := Copy(ctx, o)
		if !errors.Is(err, context.Canceled) || e != nil || !seen {
			t.Errorf("cancelled at %q (%v): %v", at, seen, err)
		}
		emptyFolder(t, dir)
		cancel()
	}
}

// TestCopyNeedsSpace: too little room is found before anything is made.
func TestCopyNeedsSpace(t *testing.T) {
	dir := t.TempDir()
	_, err := Copy(context.Background(), CopyOptions{Dir: dir, Workloads: []workload.Workload{workload.Large(1 << 55)}})
	var space *SpaceError
	if !errors.Is(err, syscall.ENOSPC) || !errors.As(err, &space) || space.NeedBytes < 3<<55 {
		t.Errorf("%v", err)
	}
	emptyFolder(t, dir)
}

// TestCopyNeedIsEnough: what is asked for covers what is there at the worst moment.
func TestCopyNeedIsEnough(t *testing.T) {
	dir := t.TempDir()
	o, err := tiny(dir).withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	most := int64(0)
	o.Progress = func(Progress) { most = max(most, allocated(t, dir)) }
	if _, err := Copy(context.Background(), o); err != nil {
		t.Fatal(err)
	}
	if need := o.needBytes(); most == 0 || most > need {
		t.Errorf("%d bytes were taken, %d asked for", most, need)
	}
}

func TestCopyRefusesNonsense(t *testing.T) {
	for name, spoil := range map[string]func(*CopyOptions){
		"rounds": func(o *CopyOptions) { o.Rounds = -1 }, "scale": func(o *CopyOptions) { o.Scale = -1 },
		"only": func(o *CopyOptions) { o.Only = []string{"c"} }, "window": func(o *CopyOptions) { o.Window = time.Millisecond },
		"folder": func(o *CopyOptions) { o.Dir += "/none" }, "format": func(o *CopyOptions) { o.Formats = []string{"zip"} },
	} {
		dir := t.TempDir()
		o := tiny(dir)
		spoil(&o)
		if _, err := Copy(context.Background(), o); err == nil {
			t.Errorf("%s: no error", name)
		}
		emptyFolder(t, dir)
	}
}

// TestIncompleteCopyIsNoFigure: a copy that took less than everything is an error.
func TestIncompleteCopyIsNoFigure(t *testing.T) {
	w := workload.Large(10)
	s := &sides{workload: w}
	for name, r := range map[string]report.Record{"bytes": {Files: 1, Bytes: 9}, "files": {Files: 0, Bytes: 10}, "failed": {Files: 1, Bytes: 10, Failed: map[string]int64{transfer.ReasonWrite: 1}}} {
		if err := s.complete(&r); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if err := s.complete(&report.Record{Files: 1, Bytes: 10, Skipped: map[string]int64{transfer.ReasonLink: 2}}); err != nil {
		t.Error(err)
	}
}

// fakeMounter gives a folder in place of a drive, with the processor time of a process that works steadily.
type fakeMounter struct {
	t       *testing.T
	mounted int
	fail    bool
}

type fakeDrive struct {
	mounter *fakeMounter
	dir     string
	cpu     time.Duration
}

func (m *fakeMounter) Mount(_ context.Context, path, format, dir string, password *secret.Buffer) (MountedDrive, error) {
	if _, err := os.Stat(path); err != nil || format == "luks2" && password.Len() == 0 {
		m.t.Errorf("mount %s (%s): %v", path, format, err)
	}
	if m.fail {
		return nil, errors.New("no drive today")
	}
	m.mounted++
	folder := filepath.Join(dir, "drive of "+format)
	return &fakeDrive{mounter: m, dir: folder}, os.MkdirAll(folder, 0o700)
}

func (d *fakeDrive) Folder() string                                       { return d.dir }
func (d *fakeDrive) BusyTimes() (crypto, read, write, sync time.Duration) { return 0, 0, 0, 0 }
func (d *fakeDrive) CPU() time.Duration                                   { d.cpu += time.Hour; return d.cpu }
func (d *fakeDrive) Unmount(ctx context.Context) error {
	d.mounter.mounted--
	return ctx.Err()
}

// TestCopyThroughDrives: the drives are used, their processor time counts, and all of them are gone at the end.
func TestCopyThroughDrives(t *testing.T) {
	dir := t.TempDir()
	m := &fakeMounter{t: t}
	o := tiny(dir)
	o.Mounter, o.Rounds, o.Only = m, 1, []string{"a"}
	e, err := Copy(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	emptyFolder(t, dir)
	if m.mounted != 0 {
		t.Errorf("%d drives are left", m.mounted)
	}
	for _, r := range e.Transfers {
		if wants := r.Label != "a, "+plainCopy; (r.Path == "mount") != wants {
			t.Errorf("%s went by %s", r.Label, r.Path)
		}
	}
	for _, row := range e.Tables[0].Rows {
		if wants := strings.Contains(row.Label, "luks2") || strings.Contains(row.Label, "FAT32"); !row.Reference && (row.Cells[4].Figure.Median >= 3600) != wants {
			t.Errorf("%s: %v s of processor time", row.Label, row.Cells[4].Figure.Median)
		}
	}
	m.fail = true
	if _, err := Copy(context.Background(), o); err == nil || !strings.Contains(err.Error(), "no drive today") {
		t.Error(err)
	}
	emptyFolder(t, dir)
	m.fail = false
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	o.Progress = func(p Progress) {
		if m.mounted > 0 {
			cancel()
		}
	}
	if _, err := Copy(ctx, o); !errors.Is(err, context.Canceled) || m.mounted != 0 {
		t.Errorf("%v, %d drives left", err, m.mounted)
	}
	emptyFolder(t, dir)
}

// TestWorkloads: the sizes and numbers of the Private Disk test; the same bytes every time; nothing to compress or share.
func TestWorkloads(t *testing.T) {
	o, err := CopyOptions{}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	if a, b := o.Workloads[0], o.Workloads[1]; a.Bytes() != 658e6 || len(a.Files) != 1 || len(b.Files) != 2140 || b.Bytes() > 667e6 || b.Bytes() < 666.9e6 {
		t.Errorf("%d bytes; %d bytes in %d files", a.Bytes(), b.Bytes(), len(b.Files))
	}
	w := workload.Photos(30, 4e6)
	sums, blocks := [2][32]byte{}, map[[32]byte]bool{}
	for i := range sums {
		dir := filepath.Join(t.TempDir(), "w")
		if err := w.Make(context.Background(), dir, nil); err != nil {
			t.Fatal(err)
		}
		all := readTree(t, dir)
		if sums[i] = sha256.Sum256(all); int64(len(all)) != w.Bytes() {
			t.Errorf("%d bytes of %d", len(all), w.Bytes())
		}
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		z.Write(all)
		z.Close()
		if packed.Len() < len(all) {
			t.Errorf("%d bytes compress to %d", len(all), packed.Len())
		}
		for ; i == 0 && len(all) >= 4096; all = all[4096:] {
			sum := sha256.Sum256(all[:4096])
			if blocks[sum] {
				t.Fatal("two blocks are equal")
			}
			blocks[sum] = true
		}
	}
	if sums[0] != sums[1] {
		t.Error("the files are not the same every time")
	}
}

func readTree(t *testing.T, dir string) (all []byte) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		data, err := io.ReadAll(f)
		all = append(all, data...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestReferences: the published figures as the experiments gave them.
func TestReferences(t *testing.T) {
	a, _ := PrivateDisk("a")
	b, _ := PrivateDisk("b")
	dd, bonnie := LUKS2007()
	for _, r := range []Reference{a, b, dd, bonnie, DMCrypt(), GELI2008(), CFS2006()} {
		if r.Source == "" || r.Name == "" || len(r.Rows) < 2 {
			t.Errorf("%+v", r)
		}
		for _, row := range r.Rows {
			if len(row.Values) != len(r.Columns) {
				t.Errorf("%s: %s has %d values for %d columns", r.Name, row.Label, len(row.Values), len(r.Columns))
			}
		}
	}
	// Size over time is the average rate, as far as the rounding of the published seconds allows.
	for name, size := range map[string]float64{"a": 658, "b": 667} {
		r, _ := PrivateDisk(name)
		for _, row := range r.Rows {
			if got := size / row.Values[0]; math.Abs(got/row.Values[1]-1) > 0.01 {
				t.Errorf("%s %s: %v MB in %v s are %v MB/s, not %v", name, row.Label, size, row.Values[0], got, row.Values[1])
			}
			if row.Values[2] < row.Values[1] || row.Values[3] > row.Values[1] {
				t.Errorf("%s %s: maximum and minimum do not enclose the average", name, row.Label)
			}
		}
	}
	if _, ok := PrivateDisk("own"); ok {
		t.Error("figures for other files")
	}
}
