package fat32

import (
	"fmt"
	"strings"
	"testing"
)

// recovered are the contents of the files FSCK*.REC.
func recovered(c *craft) (all []string) {
	for name, data := range c.list() {
		if base := name[strings.LastIndexByte(name, '/')+1:]; strings.HasPrefix(base, "FSCK") {
			all = append(all, data)
		}
	}
	return all
}

// TestKeepLostKeepsData: what a repair takes from where it was can be found in
// recovered files afterwards, for damage that costs the way to it.
func TestKeepLostKeepsData(t *testing.T) {
	for _, typ := range []Type{FAT12, FAT16, FAT32} {
		for what, damage := range map[string]func(c *craft){
			"start outside":    func(c *craft) { c.add(0, 3, "FILE", 0, 0xFFF0, 1500) },
			"start 0":          func(c *craft) { c.add(0, 3, "FILE", 0, 0, 1500) },
			"start free":       func(c *craft) { c.add(0, 3, "FILE", 0, 70, 1500) },
			"start of another": func(c *craft) { c.add(0, 3, "FILE", 0, 40, 1500) },
			"size 0":           func(c *craft) { c.add(0, 3, "FILE", 0, 60, 0) },
			"no entry":         func(*craft) {},
			"garbage entry": func(c *craft) {
				c.add(0, 3, "\x01\x02\x03", 0xFF, 0xFFF0, 1500)
			},
			"root destroyed": func(c *craft) {
				c.put(c.slotOffset(0, 0), []byte(strings.Repeat("\xFF", 512)))
			},
			"in a folder without start": func(c *craft) {
				c.add(80, 0, ".", AttrDirectory, 80, 0)
				c.add(80, 1, "..", AttrDirectory, 0, 0)
				c.chain(80)
				c.add(80, 2, "FSCKFILE", 0, 60, 1500)
				c.add(0, 3, "LOSTDIR", AttrDirectory, 0, 0)
			},
		} {
			c := fuzzBase(t, typ)
			c.chain(60, 61, 62)
			c.fill(60, 61, 62)
			damage(c)
			c.m.Freeze()
			look := checkMem(t, c.m, CheckOptions{KeepLost: true})
			if strings.Contains(findings(look), "freed") {
				t.Errorf("%v, %s: the look threatens to free:%s", typ, what, findings(look))
			}
			r := checkMem(t, c.m, CheckOptions{Repair: true, KeepLost: true})
			found := false
			for _, data := range recovered(c) {
				found = found || len(data) >= 1500 && data[:1500] == content(1536, 60, 61, 62)[:1500]
			}
			if !found {
				t.Errorf("%v, %s: the data are gone:%s\n%d recovered", typ, what, findings(r), len(recovered(c)))
			}
			wantSound(t, c.m, fmt.Sprintf("%v, %s", typ, what))
		}
	}
}

// TestKeepLostRootFull: without room for the entry of a recovered file the
// chain stays as it is, and the finding says that it is not fixed.
func TestKeepLostRootFull(t *testing.T) {
	for _, typ := range []Type{FAT12, FAT16} {
		c := newCraft(t, typ, map[Type]int{FAT12: 100, FAT16: 4200}[typ])
		for i := range c.b.RootEntries {
			c.add(0, i, fmt.Sprintf("F%d", i), 0, 0, 0)
		}
		c.chain(60, 61, 62)
		c.fill(60, 61, 62)
		r := checkMem(t, c.m, CheckOptions{Repair: true, KeepLost: true})
		unfixed := 0
		for _, f := range r.Findings {
			if f.Code == CodeLostChain && !f.Fixed {
				unfixed++
			} else if f.Code == CodeLostChain {
				t.Errorf("%v: %+v", typ, f)
			}
		}
		if unfixed == 0 || c.get(60) != 61 || c.get(61) != 62 || c.get(62) < entryEndMin {
			t.Errorf("%v: %d %d %d%s", typ, c.get(60), c.get(61), c.get(62), findings(r))
		}
	}
}
