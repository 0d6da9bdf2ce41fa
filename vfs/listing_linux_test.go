package vfs

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// listedVariable tells TestListedCases where the drive is.
const listedVariable = "COFFER_LISTED_POINT"

// TestListedWhileOthersChange: whoever lists a folder sees exactly the names that nobody is changing just then, while others
// make, rename and remove names in it. In a process of its own, as TestConformance explains.
func TestListedWhileOthersChange(t *testing.T) {
	v, _ := newVolume(t, 64<<20)
	m := mountTest(t, v, Options{})
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(testContext(t), self, "-test.run=^TestListedCases$", "-test.v")
	cmd.Env = append(os.Environ(), listedVariable+"="+m.Point())
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestListedCases") {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}

// TestListedCases is the process of TestListedWhileOthersChange: every worker owns the names that begin with its letter.
func TestListedCases(t *testing.T) {
	point, ok := os.LookupEnv(listedVariable)
	if !ok {
		return
	}
	folder := filepath.Join(point, "shared")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	end := time.Now().Add(4 * time.Second)
	var workers sync.WaitGroup
	counts := make([]int, 8)
	for w := range counts {
		workers.Go(func() {
			one := lister{folder: folder, letter: string(rune('a' + w)), random: rand.New(rand.NewPCG(seed, uint64(w))), names: map[string]bool{}}
			for counts[w] = 0; time.Now().Before(end) && !t.Failed(); counts[w]++ {
				if err := one.step(); err != nil {
					t.Errorf("seed %d, worker %d, step %d: %v", seed, w, counts[w], err)
					return
				}
			}
		})
	}
	workers.Wait()
	t.Logf("steps: %v", counts)
	if slices.Min(counts) == 0 {
		t.Errorf("a worker did nothing: %v", counts)
	}
}

// lister is a worker of TestListedCases.
type lister struct {
	folder, letter string
	random         *rand.Rand
	names          map[string]bool
	next           int
}

// step makes, renames or removes one name, then lists the folder twice: by names, and with the attributes of each, which asks
// for each name again.
func (l *lister) step() error {
	have := []string{}
	for name := range l.names {
		have = append(have, name)
	}
	slices.Sort(have)
	l.next++
	fresh := fmt.Sprintf("%s%d", l.letter, l.next)
	if l.random.IntN(2) == 0 { // needs slots of a long name
		fresh = fmt.Sprintf("%s%d a name longer than eight and three", l.letter, l.next)
	}
	switch at := l.random.IntN(8); {
	case len(have) < 3 || at < 3 && len(have) < 12:
		if err := os.WriteFile(filepath.Join(l.folder, fresh), []byte(fresh), 0o600); err != nil {
			return err
		}
		l.names[fresh] = true
	case at < 5:
		old := have[l.random.IntN(len(have))]
		if err := os.Rename(filepath.Join(l.folder, old), filepath.Join(l.folder, fresh)); err != nil {
			return err
		}
		delete(l.names, old)
		l.names[fresh] = true
	default:
		old := have[l.random.IntN(len(have))]
		if err := os.Remove(filepath.Join(l.folder, old)); err != nil {
			return err
		}
		delete(l.names, old)
	}
	for _, attributes := range []bool{false, true} {
		if err := l.compare(attributes); err != nil {
			return err
		}
	}
	return nil
}

// compare lists the folder and looks for this worker's names.
func (l *lister) compare(attributes bool) error {
	entries, err := os.ReadDir(l.folder)
	if err != nil {
		return err
	}
	seen := map[string]int{}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), l.letter) {
			continue
		}
		seen[e.Name()]++
		if attributes {
			if info, err := e.Info(); err != nil || info.Size() == 0 {
				return fmt.Errorf("%s is listed: %v, %v", e.Name(), info, err)
			}
		}
	}
	for name, n := range seen {
		if !l.names[name] || n != 1 {
			return fmt.Errorf("%q is listed %d times, there: %v", name, n, l.names[name])
		}
	}
	for name := range l.names {
		if seen[name] == 0 {
			return fmt.Errorf("%q is not listed, but %d others are", name, len(seen))
		}
	}
	return nil
}
