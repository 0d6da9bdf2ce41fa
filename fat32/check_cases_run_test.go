package fat32

import (
	"strings"
	"testing"

	"coffer/container/block/blocktest"
)

// fatTypes are the types every case is made on, with a cluster count of each.
var fatTypes = []struct {
	typ      Type
	clusters int
}{{FAT12, 200}, {FAT16, 5000}, {FAT32, 300}}

// TestCheckCases: each kind of damage is found under its code and nothing else
// is, is mended so that a second check and fsck.vfat find nothing, and what
// could be kept is there.
func TestCheckCases(t *testing.T) {
	for _, ft := range fatTypes {
		for _, k := range checkCases {
			t.Run(ft.typ.String()+" "+k.name, func(t *testing.T) {
				c := newCraft(t, ft.typ, ft.clusters)
				k.make(c)
				c.fsinfo()
				start := c.m.Clone()
				want := k.codes
				look := checkMem(t, c.m, CheckOptions{})
				compareCodes(t, "look", look, want)
				r := checkMem(t, c.m, CheckOptions{Repair: true})
				compareCodes(t, "repair", r, want)
				wantSound(t, c.m, "after repair")
				if got := c.list(); k.files != nil {
					compareFiles(t, got, k.files)
				}
				c.m = start
				checkMem(t, c.m, CheckOptions{Repair: true, KeepLost: true})
				wantSound(t, c.m, "after repair that keeps lost chains")
			})
		}
	}
}

// compareCodes ignores counts of free clusters, which follow from the rest.
func compareCodes(t *testing.T, what string, r *CheckReport, want string) {
	t.Helper()
	missing := map[string]bool{}
	for _, code := range strings.Fields(want) {
		missing[code] = true
	}
	allowed := strings.Fields(want)
	for _, code := range strings.Fields(codes(r)) {
		delete(missing, code)
		ok := code == CodeFreeCount || code == CodeLostChain && strings.Contains(want, CodeCrossLink)
		for _, a := range allowed {
			ok = ok || a == code
		}
		if !ok && !followUp(want, code) {
			t.Errorf("%s: %q is reported, expected only %q:%s", what, code, want, findings(r))
		}
	}
	for code := range missing {
		t.Errorf("%s: %q is not reported:%s", what, code, findings(r))
	}
}

// followUp: findings that one kind of damage brings along.
func followUp(want, code string) bool {
	switch code {
	case CodeAfterEnd: // cases with gaps in a directory
		return true
	case CodeLostChain:
		return strings.Contains(want, CodeDirCycle) || strings.Contains(want, CodeChainRange) || strings.Contains(want, CodeDirStart)
	case CodeBadLongName, CodeDuplicateName:
		return strings.Contains(want, CodeBadShortName)
	}
	return false
}

func compareFiles(t *testing.T, got, want map[string]string) {
	t.Helper()
	for name, data := range want {
		if g, ok := got[name]; !ok {
			t.Errorf("%q is gone; there is %q", name, keys(got))
		} else if g != data {
			t.Errorf("%q holds %d bytes, want %d, or others", name, len(g), len(data))
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%q is there and should not be", name)
		}
	}
}

func keys(m map[string]string) (list []string) {
	for k := range m {
		list = append(list, k)
	}
	return list
}

// TestCheckCrash cuts the power during repairs, at every write: a second repair
// finishes the work, and no file that the uncut repair saves is lost.
func TestCheckCrash(t *testing.T) {
	for _, ft := range fatTypes {
		for _, k := range checkCases {
			c := newCraft(t, ft.typ, ft.clusters)
			k.make(c)
			c.fsinfo()
			whole := &craft{t: t, m: c.m.Clone(), b: c.b}
			checkMem(t, whole.m, CheckOptions{Repair: true})
			want := whole.list()

			dev := blocktest.NewCrash(c.m)
			checkMem(t, dev, CheckOptions{Repair: true})
			states := blocktest.StateOptions{Subsets: 3, Seed: 1, Stride: max(1, dev.Len()/40)}
			for cut, m := range dev.States(states) {
				checkMem(t, m, CheckOptions{Repair: true})
				if r := checkMem(t, m, CheckOptions{}); !r.Clean() {
					t.Fatalf("%v %s, %v: not sound after the second repair:%s", ft.typ, k.name, cut, findings(r))
				}
				after := (&craft{t: t, m: m, b: c.b}).list()
				for name, data := range want {
					if k.files == nil {
						break // which name stays is not fixed in these cases
					}
					if after[name] != data {
						t.Errorf("%v %s, %v: %q is lost or differs", ft.typ, k.name, cut, name)
					}
				}
			}
			if t.Failed() {
				return
			}
		}
	}
}
