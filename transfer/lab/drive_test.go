package lab

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"coffer/transfer/report"
)

// tinyDrive measures next to nothing, but everything of it.
func tinyDrive(dir string) DriveOptions {
	return DriveOptions{Dir: dir, Rounds: 2, Quick: true, SizeBytes: 1 << 20, Files: 48, Warm: true, Program: "coffer test"}
}

func TestDrive(t *testing.T) {
	for name, prepare := range map[string]func(*DriveOptions){
		"alone": func(*DriveOptions) {}, "cold": func(o *DriveOptions) { o.Rounds, o.Warm = 1, false },
		"beside plain": func(o *DriveOptions) { o.Plain = t.TempDir() },
	} {
		o := tinyDrive(t.TempDir())
		prepare(&o)
		last := Progress{Done: -1}
		o.Progress = func(p Progress) {
			if p.Done != last.Done+1 || p.Done >= p.Total {
				t.Errorf("%s: progress %+v after %+v", name, p, last)
			}
			last = p
		}
		e, err := Drive(context.Background(), o)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if last.Done != last.Total-1 {
			t.Errorf("%s: ended at %+v", name, last)
		}
		emptyFolder(t, o.Dir)
		checkExports(t, e)
		folders := 1
		if o.Plain != "" {
			emptyFolder(t, o.Plain)
			folders = 2
		}
		if len(e.Tables) != 3 || len(e.Bars) != folders {
			t.Errorf("%s: %d tables, %d charts", name, len(e.Tables), len(e.Bars))
		}
		for _, table := range e.Tables {
			checkDriveTable(t, table, o, folders)
		}
		if !strings.Contains(e.Tables[0].Title, "less than twice the memory") {
			t.Errorf("%s: a file of 1 MiB is not marked: %s", name, e.Tables[0].Title)
		}
	}
}

// checkDriveTable: every test was measured in every folder and every round, and nothing used more processors than there are.
func checkDriveTable(t *testing.T, table report.Table, o DriveOptions, folders int) {
	t.Helper()
	rows := 0
	for _, row := range table.Rows {
		if row.Reference {
			continue
		}
		rows++
		for i, cell := range row.Cells {
			f, c := cell.Figure, table.Columns[i]
			if f == nil || f.Rounds != o.Rounds {
				t.Fatalf("%s: %s, %s %s: %+v", table.Title, row.Label, c.Group, c.Name, f)
			}
			if c.Unit == "%" && (f.Max > 100*float64(runtime.NumCPU())+25 || f.Min < 0) || c.Unit != "%" && f.Min <= 0 {
				t.Errorf("%s: %s, %s %s: %+v", table.Title, row.Label, c.Group, c.Name, f)
			}
			if wants := folders == 2 && strings.HasPrefix(row.Label, folderSubject) && c.Unit != "%"; (f.Ratio > 0) != wants {
				t.Errorf("%s: %s, %s %s: ratio %v", table.Title, row.Label, c.Group, c.Name, f.Ratio)
			}
		}
	}
	if rows != folders {
		t.Errorf("%s: %d rows for %d folders", table.Title, rows, folders)
	}
}

// TestDriveCancel: cancelled before any test, it ends with the context's error and leaves nothing.
func TestDriveCancel(t *testing.T) {
	for at := range driveTests() {
		ctx, cancel := context.WithCancel(context.Background())
		o := tinyDrive(t.TempDir())
		o.Progress = func(p Progress) {
			if p.Done == int64(at) {
				cancel()
			}
		}
		if _, err := Drive(ctx, o); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled at %d: %v", at, err)
		}
		emptyFolder(t, o.Dir)
		cancel()
	}
}

func TestDriveRefusesNonsense(t *testing.T) {
	for name, spoil := range map[string]func(*DriveOptions){
		"rounds": func(o *DriveOptions) { o.Rounds = -1 }, "scale": func(o *DriveOptions) { o.Scale = -1 }, "size": func(o *DriveOptions) { o.SizeBytes = 100 },
		"files": func(o *DriveOptions) { o.Files = -1 }, "folder": func(o *DriveOptions) { o.Dir += "/none" }, "plain": func(o *DriveOptions) { o.Plain = o.Dir + "/none" },
		"space": func(o *DriveOptions) { o.SizeBytes = 1 << 60 },
	} {
		dir := t.TempDir()
		o := tinyDrive(dir)
		spoil(&o)
		if _, err := Drive(context.Background(), o); err == nil {
			t.Errorf("%s: no error", name)
		}
		emptyFolder(t, dir)
	}
}

// TestDriveServing: the processor time of the process behind a drive counts.
func TestDriveServing(t *testing.T) {
	o := tinyDrive(t.TempDir())
	used := 0.0
	o.Rounds, o.Serving = 1, func() float64 { used += 1000; return used }
	e, err := Drive(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	for i, cell := range e.Tables[0].Rows[0].Cells {
		if e.Tables[0].Columns[i].Unit == "%" && cell.Figure.Median < 1000 {
			t.Errorf("%s: %v %%", e.Tables[0].Columns[i].Name, cell.Figure.Median)
		}
	}
}

// TestDriveWork: the tests do what they say: sizes, numbers and contents of what they leave, and bytes counted once.
func TestDriveWork(t *testing.T) {
	w := &driveWork{ctx: context.Background(), options: tinyDrive(""), subject: &driveSubject{dir: t.TempDir()}}
	do := func(want float64, got float64, err error) {
		t.Helper()
		if err != nil || got != want {
			t.Errorf("%v, not %v: %v", got, want, err)
		}
	}
	n, err := w.writeLarge()
	do(1<<20, float64(n), err)
	before, err := os.ReadFile(w.path(largeFile))
	if err != nil || len(before) != 1<<20 {
		t.Fatal(len(before), err)
	}
	n, err = w.rewriteLarge()
	do(1<<20, float64(n), err)
	after, err := os.ReadFile(w.path(largeFile))
	if err != nil || len(after) != len(before) {
		t.Fatal(len(after), err)
	}
	changed := 0
	for i := range before {
		if before[i] != after[i] {
			changed++
		}
	}
	do((1<<20)/driveBlock, float64(changed), nil)
	n, err = w.readLarge()
	do(1<<20, float64(n), err)
	put, err := w.putBytes()
	if err != nil || put == 0 {
		t.Error(put, err)
	}
	if info, err := os.Stat(w.path(bytesFile)); err != nil || info.Size() != put {
		t.Errorf("%v %v", info, err)
	}
	if got, err := w.getBytes(); err != nil || got == 0 || got > put {
		t.Errorf("%d bytes of %d: %v", got, put, err)
	}
	seeks, err := w.seeks()
	do(driveSeeks, seeks, err)
	for _, folder := range []string{ordered, shuffled} {
		w.nameFiles(folder)
		got, err := w.create()
		do(48, got, err)
		names, err := os.ReadDir(w.path(filepath.Join(folder, "0")))
		do(48, float64(len(names)), err)
		if folder == shuffled {
			w.shuffleFiles(folder)
		}
		got, err = w.visit(folder, false)
		do(48, got, err)
		got, err = w.visit(folder, true)
		do(48, got, err)
		if _, err := os.Stat(w.path(folder)); !os.IsNotExist(err) {
			t.Errorf("%s is still there", folder)
		}
	}
	_, err = w.cfsLarge()
	do(0, 0, err)
	if info, err := os.Stat(w.path(cfsFile)); err != nil || info.Size() != cfsBytes {
		t.Error(info, err)
	}
	_, err = w.cfsSmall()
	do(0, 0, err)
	if all := readTree(t, w.path(cfsFolder)); len(all) != cfsBytes {
		t.Error(len(all))
	}
}

// TestDriveManyFolders: more files than a FAT folder holds go into several.
func TestDriveManyFolders(t *testing.T) {
	w := &driveWork{ctx: context.Background(), options: DriveOptions{Files: filesPerFolder + 3}, subject: &driveSubject{dir: t.TempDir()}}
	names := w.fileNames(ordered)
	seen := map[string]int{}
	for _, name := range names {
		seen[filepath.Dir(name)]++
	}
	if len(seen) != 2 || seen[filepath.Join(ordered, "1")] != 3 || len(names) != filesPerFolder+3 {
		t.Errorf("%v", seen)
	}
}

// TestRatiosOfTimes: where less is better the ratio is the other way round, and always that of the same round.
func TestRatiosOfTimes(t *testing.T) {
	r := &driveRun{subjects: make([]driveSubject, 2), samples: map[string]map[string][]driveSample{
		plainSubject: {"x": {{value: 1}, {value: 10}}}, folderSubject: {"x": {{value: 2}, {value: 20}}}}}
	for _, seconds := range []bool{false, true} {
		want := map[bool]float64{false: 2, true: 0.5}[seconds]
		if got := r.ratios("x", seconds); len(got) != 2 || math.Abs(got[0]-want) > 1e-12 || math.Abs(got[1]-want) > 1e-12 {
			t.Errorf("%v: %v", seconds, got)
		}
	}
}
