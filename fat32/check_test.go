package fat32

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"coffer/container/block/blocktest"
	"coffer/fat32/fattest"
)

// checkTimeout is far more than any check of a test image may take.
const checkTimeout = 2 * time.Minute

// checkMem runs Check on a device in memory.
func checkMem(t testing.TB, dev Device, o CheckOptions) *CheckReport {
	t.Helper()
	o.Location = time.UTC
	ctx, cancel := context.WithTimeout(context.Background(), checkTimeout)
	defer cancel()
	r, err := Check(ctx, dev, o)
	if err != nil {
		t.Fatalf("check: %v (findings: %s)", err, findings(r))
	}
	return r
}

// findings prints a report for a failing test.
func findings(r *CheckReport) string {
	var b strings.Builder
	for i, f := range r.Findings {
		if i == 20 {
			fmt.Fprintf(&b, "\n  ... %d in all", len(r.Findings))
			break
		}
		fmt.Fprintf(&b, "\n  %s %q: %s (fixed %v)", f.Code, f.Path, f.Detail, f.Fixed)
	}
	return b.String()
}

func codes(r *CheckReport) string {
	seen := map[string]bool{}
	var list []string
	for _, f := range r.Findings {
		if !seen[f.Code] {
			seen[f.Code] = true
			list = append(list, f.Code)
		}
	}
	return strings.Join(list, " ")
}

// fsck runs fsck.vfat -n on the device. silent: exit code 0 and nothing but the
// banner and the summary.
func fsck(t testing.TB, m *blocktest.Mem) (silent bool, output string) {
	t.Helper()
	path := fattest.Save(t, m)
	defer os.Remove(path)
	out, err := exec.Command(fattest.Tool(t, "fsck.vfat", "dosfstools"), "-n", path).CombinedOutput()
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	extra := 0
	// fsck.vfat 4.2 calls every label with a character beyond ASCII invalid.
	// Windows writes such labels, and they stay.
	foreignLabel := false
	for _, l := range lines {
		if strings.HasPrefix(l, "Volume label '") && strings.HasSuffix(l, "' stored in root directory is not valid.") &&
			strings.ContainsFunc(l, func(r rune) bool { return r > 0x7F }) {
			foreignLabel, err = true, nil
		}
	}
	for _, l := range lines {
		switch {
		case foreignLabel && (l == "" || strings.Contains(l, "is not valid.") || l == "  Auto-removing label." || l == "Leaving filesystem unchanged."):
		case strings.HasPrefix(l, "fsck.fat "):
		case strings.HasPrefix(l, path+": ") && strings.Contains(l, " clusters"):
		// Said of every tiny FAT32 volume; no damage.
		case strings.HasPrefix(l, "Warning: Filesystem is FAT32 according to"),
			strings.HasPrefix(l, "  but has only "), strings.HasPrefix(l, "  This may lead to problems"):
		default:
			extra++
		}
	}
	return err == nil && extra == 0, string(out)
}

// wantSound: fsck.vfat is silent and a second check finds nothing.
func wantSound(t testing.TB, m *blocktest.Mem, what string) {
	t.Helper()
	if r := checkMem(t, m, CheckOptions{}); !r.Clean() {
		t.Errorf("%s: the second check still finds:%s", what, findings(r))
	}
	if ok, out := fsck(t, m); !ok {
		t.Errorf("%s: fsck.vfat is not silent:\n%s", what, out)
	}
}

// loadImage reads a packed image of testdata.
func loadImage(t testing.TB, path string) *blocktest.Mem {
	t.Helper()
	m, err := blocktest.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestCheckDosfstools mends the damaged volumes of dosfstools' own test suite.
func TestCheckDosfstools(t *testing.T) {
	want := map[string]string{ // what must be among the findings
		"check-bad_names":                        CodeBadShortName,
		"check-chain_to_free_cluster":            CodeChainLong,
		"check-chain_too_long":                   CodeChainLong,
		"check-circular_chain":                   CodeChainLoop,
		"check-dot_entries":                      CodeDirDots,
		"check-duplicate_names":                  CodeDuplicateName,
		"check-encryption_with_duplicate_dirent": CodeDuplicateName,
		"check-encryption_with_invalid_83":       CodeBootLabel,
		"check-fat12_first_cluster":              CodeFATHead,
		"check-fat16_dos_cln_shut":               CodeDirty,
		"check-fat16_first_cluster":              CodeFATHead,
		"check-huge":                             "", // longer than its file: refused
		"check-label-different":                  CodeBootLabel,
		"check-label-only-boot":                  CodeBootLabel,
		"check-label-only-root":                  CodeBootLabel,
	}
	files, err := filepath.Glob("testdata/dosfstools/*.img.gz")
	if err != nil || len(files) != len(want) {
		t.Fatalf("%d images, %v", len(files), err)
	}
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), ".img.gz")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := loadImage(t, path)
			code := want[name]
			if code == "" {
				if _, err := Check(context.Background(), m, CheckOptions{}); err == nil {
					t.Fatal("a volume longer than the device must be refused")
				}
				return
			}
			mendImage(t, m, code)
		})
	}
}

// mendImage checks, repairs and checks again.
func mendImage(t *testing.T, m *blocktest.Mem, code string) {
	before := m.Clone()
	look := checkMem(t, m, CheckOptions{})
	if err := blocktest.Diff(before, m); err != nil {
		t.Fatal("a look without repair wrote:", err)
	}
	if !strings.Contains(codes(look), code) {
		t.Errorf("%q is not among the findings:%s", code, findings(look))
	}
	for _, keep := range []bool{false, true} {
		v := m.Clone()
		r := checkMem(t, v, CheckOptions{Repair: true, KeepLost: keep})
		t.Logf("keep %v:%s", keep, findings(r))
		for _, f := range r.Findings {
			if !f.Fixed {
				t.Errorf("not fixed: %+v", f)
			}
		}
		if !keep && codes(r) != codes(look) {
			t.Errorf("repair found %q, the look %q", codes(r), codes(look))
		}
		wantSound(t, v, fmt.Sprintf("keep lost %v", keep))
	}
}

// TestCheckOddVolumes: FAT12/16/32 volumes of unusual shape.
func TestCheckOddVolumes(t *testing.T) {
	files, err := filepath.Glob("testdata/syz/*.img.gz")
	if err != nil || len(files) < 50 {
		t.Fatalf("%d images, %v", len(files), err)
	}
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), ".img.gz")
		t.Run(name, func(t *testing.T) {
			m := loadImage(t, path)
			b, err := parseBoot(m)
			if err != nil {
				if _, cerr := Check(context.Background(), m, CheckOptions{}); cerr == nil {
					t.Fatal("the boot sector is refused but not by Check:", err)
				}
				t.Log(err)
				return
			}
			r := checkMem(t, m, CheckOptions{Repair: true})
			t.Logf("%v, %d FATs, %d clusters:%s", b.Type, b.FATCount, b.ClusterCount, findings(r))
			if b.FATCount > 2 { // fsck.vfat refuses these
				if r := checkMem(t, m, CheckOptions{}); !r.Clean() {
					t.Error("second check:", findings(r))
				}
				return
			}
			wantSound(t, m, name)
		})
	}
}
