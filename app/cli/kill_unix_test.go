//go:build unix

package cli_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// killSet is what the copies of the kill test are made of.
type killSet struct {
	folder string
	files  map[string][]byte // by path below the source folder
}

// makeKillSet makes a folder "tree" of count files, most small, some of several MiB, bytesTotal together.
func makeKillSet(t *testing.T, folder string, count int, bytesTotal int64) killSet {
	t.Helper()
	set := killSet{folder: folder, files: map[string][]byte{}}
	random := rand.New(rand.NewPCG(1, 2))
	large := bytesTotal / int64(max(count/10, 1))
	for i := range count {
		size := random.IntN(40_000)
		if i%10 == 0 {
			size = int(large)
		}
		name := fmt.Sprintf("folder %d/sub/file number %d.bin", i%7, i)
		set.files[name] = randomBytes(size, uint64(i))
		writeFile(t, filepath.Join(folder, "tree", name), set.files[name])
	}
	return set
}

// TestKillDuringCopy kills a copy with SIGKILL at random moments. After check --repair the volume must be sound, without
// a cross-linked chain; every file that an earlier command acknowledged (exit code 0) or a durable event counted must be
// there; and every file under a final name must be whole. COFFER_KILL_ROUNDS makes it longer (./run torture).
func TestKillDuringCopy(t *testing.T) {
	rounds, count, bytesTotal := 10, 120, int64(48<<20)
	if text := os.Getenv("COFFER_KILL_ROUNDS"); text != "" {
		var err error
		if rounds, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
		bytesTotal = 400 << 20 // long enough for durable events on the way
	}
	folder := t.TempDir()
	set := makeKillSet(t, folder, count, bytesTotal)
	before := makeKeepers(t, folder)
	base := makeImage(t, folder, "base.img", fmt.Sprint(bytesTotal+200<<20))
	run(t, folder, 0, "copy", "keep", "base.img:/", "--password-file", "pw", "--quiet")

	copyImage(t, base, filepath.Join(folder, "k.img"))
	empty := takenBytes(t, filepath.Join(folder, "k.img"))
	begin := time.Now()
	run(t, folder, 0, "copy", "tree", "k.img:/", "--password-file", "pw", "--json")
	whole := time.Since(begin)
	random := rand.New(rand.NewPCG(uint64(rounds), 7))
	killed, durable := 0, int64(0)
	for round := range rounds {
		copyImage(t, base, filepath.Join(folder, "k.img"))
		p := start(t, folder, "copy", "tree", "k.img:/", "--password-file", "pw", "--json")
		if round%2 == 0 {
			time.Sleep(time.Duration(random.Int64N(int64(whole))))
		} else { // by what has arrived: some kills hit the middle on any machine
			untilTaken(t, p, filepath.Join(folder, "k.img"), empty+random.Int64N(bytesTotal*3/4))
		}
		p.command.Process.Kill()
		code, _, _ := p.wait()
		if code == -1 {
			killed++
		}
		acknowledged := int64(0)
		for _, e := range p.events {
			if e.Event == "durable" {
				acknowledged = e.Files
			}
		}
		if code == 0 {
			acknowledged = int64(count)
		}
		durable += acknowledged
		examine(t, folder, round, set, before, acknowledged)
	}
	t.Logf("%d rounds, %d killed before the end (a whole copy takes %v), %d files acknowledged in them", rounds, killed, whole, durable)
	if killed < rounds/3 {
		t.Errorf("only %d of %d copies were killed on the way: the test tests little", killed, rounds)
	}
}

// makeKeepers makes the files that are in the container before each round.
func makeKeepers(t *testing.T, folder string) map[string][]byte {
	t.Helper()
	keepers := map[string][]byte{}
	for i := range 30 {
		name := fmt.Sprintf("keeper %d.dat", i)
		keepers[name] = randomBytes(10_000*i, uint64(1000+i))
		writeFile(t, filepath.Join(folder, "keep", name), keepers[name])
	}
	return keepers
}

func copyImage(t *testing.T, from, to string) {
	t.Helper()
	if err := os.RemoveAll(to); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("cp", "--sparse=always", from, to).CombinedOutput(); err != nil {
		t.Fatalf("cp: %v %s", err, out)
	}
}

// examine repairs k.img and compares what is in it.
func examine(t *testing.T, folder string, round int, set killSet, before map[string][]byte, acknowledged int64) {
	t.Helper()
	code, out, stderr := start(t, folder, "check", "k.img", "--repair", "--password-file", "pw").wait()
	if code != 0 || strings.Contains(out, "cross-link") {
		t.Fatalf("round %d: check --repair: exit code %d\n%s%s", round, code, out, stderr)
	}
	if out, _ := run(t, folder, 0, "check", "k.img", "--password-file", "pw"); !strings.Contains(out, "is clean") {
		t.Fatalf("round %d: not clean after the repair:\n%s", round, out)
	}
	rescued := filepath.Join(folder, "out")
	if err := os.RemoveAll(rescued); err != nil {
		t.Fatal(err)
	}
	// Part files of the interrupted copy are left out (reason "leftover"), which gives exit code 9.
	if code, out, stderr := start(t, folder, "copy", "k.img:/", "out", "--password-file", "pw", "--quiet").wait(); code != 0 && code != 9 {
		t.Fatalf("round %d: copy out: exit code %d\n%s%s", round, code, out, stderr)
	}
	for name, content := range before {
		if got, err := os.ReadFile(filepath.Join(rescued, "keep", name)); err != nil || !bytes.Equal(got, content) {
			t.Fatalf("round %d: %s, acknowledged by an earlier command, is lost or wrong (%v)", round, name, err)
		}
	}
	arrived := int64(0)
	err := filepath.WalkDir(filepath.Join(rescued, "tree"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(filepath.Join(rescued, "tree"), path)
		if err != nil {
			return err
		}
		got, err := os.ReadFile(path)
		want, known := set.files[name]
		if err != nil || !known || !bytes.Equal(got, want) {
			t.Errorf("round %d: %s stands under a final name and is wrong (%d bytes, want %d; %v)", round, name, len(got), len(want), err)
		}
		arrived++
		return nil
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	if arrived < acknowledged {
		t.Errorf("round %d: %d files were acknowledged, %d are there", round, acknowledged, arrived)
	}
}

// untilTaken waits until so many bytes of a sparse file have been written: a fast disk is done with a copy before the
// second event of its progress.
func untilTaken(t *testing.T, p *process, path string, sizeBytes int64) bool {
	t.Helper()
	for ; ; time.Sleep(200 * time.Microsecond) {
		if takenBytes(t, path) >= sizeBytes {
			return true
		}
		select {
		case <-p.done:
			return false
		default:
		}
	}
}

// takenBytes is what a file takes on the disk.
func takenBytes(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Sys().(*syscall.Stat_t).Blocks * 512
}

// TestDirtyVolume opens a volume that was not closed for writing: leftovers of the cut are mended before anything is
// written; other damage refuses the opening. Reading is possible in both cases and changes nothing.
func TestDirtyVolume(t *testing.T) {
	folder := t.TempDir()
	if err := os.MkdirAll(filepath.Join(folder, "data"), 0o700); err != nil {
		t.Fatal(err)
	}
	run(t, folder, 0, "create", "d.img", "--size", "300MiB", "--format", "raw", "--quiet")
	writeFile(t, filepath.Join(folder, "small.bin"), randomBytes(50_000, 1))
	writeFile(t, filepath.Join(folder, "big.bin"), randomBytes(200<<20, 2))
	run(t, folder, 0, "copy", "small.bin", "d.img:/", "--format", "raw", "--quiet")
	p := start(t, folder, "copy", "big.bin", "d.img:/", "--format", "raw", "--json")
	if !untilTaken(t, p, filepath.Join(folder, "d.img"), 20<<20) {
		t.Fatal("the copy ended before it could be stopped")
	}
	p.command.Process.Kill()
	p.wait()
	copyImage(t, filepath.Join(folder, "d.img"), filepath.Join(folder, "dirty.img"))

	before := digest(t, filepath.Join(folder, "d.img"))
	if _, stderr := run(t, folder, 0, "ls", "d.img:/", "--format", "raw"); !strings.Contains(stderr, "not closed cleanly") {
		t.Errorf("reading says nothing about the state: %s", stderr)
	}
	if digest(t, filepath.Join(folder, "d.img")) != before {
		t.Error("reading wrote something")
	}
	if _, stderr := run(t, folder, 0, "mkdir", "d.img:/new", "--format", "raw"); !strings.Contains(stderr, "tidied up") {
		t.Errorf("writing says nothing about the repair: %s", stderr)
	}
	if out, _ := run(t, folder, 0, "check", "d.img", "--format", "raw"); !strings.Contains(out, "is clean") {
		t.Errorf("after the repair: %s", out)
	}
	run(t, folder, 0, "copy", "d.img:/small.bin", "back.bin", "--format", "raw")
	if digest(t, filepath.Join(folder, "back.bin")) != digest(t, filepath.Join(folder, "small.bin")) {
		t.Error("an acknowledged file is wrong")
	}

	// The same, with the chain of small.bin cut short in both FATs: no cut does that.
	breakChain(t, filepath.Join(folder, "dirty.img"))
	damaged := digest(t, filepath.Join(folder, "dirty.img"))
	_, stderr := run(t, folder, 4, "mkdir", "dirty.img:/new", "--format", "raw")
	if !strings.Contains(stderr, "damaged") || !strings.Contains(stderr, "hint: save what you can") {
		t.Errorf("damage: %s", stderr)
	}
	if digest(t, filepath.Join(folder, "dirty.img")) != damaged {
		t.Error("a refused opening wrote something")
	}
}

// breakChain ends the chain of the first file, which begins at cluster 2 or 3, after its first cluster, in both FATs of a
// bare FAT32 or FAT16 volume.
func breakChain(t *testing.T, path string) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	boot := make([]byte, 512)
	if _, err := file.ReadAt(boot, 0); err != nil {
		t.Fatal(err)
	}
	word := func(at int) int64 { return int64(boot[at]) | int64(boot[at+1])<<8 }
	sector, reserved, fatSectors, width := word(11), word(14), word(22), int64(2)
	if fatSectors == 0 {
		fatSectors, width = word(36)|word(38)<<16, 4
	}
	for copies := range int64(boot[16]) {
		at := (reserved+copies*fatSectors)*sector + 4*width // cluster 4: in the middle of small.bin
		end := []byte{0xff, 0xff, 0xff, 0x0f}[:width]
		if _, err := file.WriteAt(end, at); err != nil {
			t.Fatal(err)
		}
	}
}
