package fat32

import "testing"

// TestCheckTwoNames: the move counter tells which of two names of a file is the
// newer one, whatever the order in which they are found.
func TestCheckTwoNames(t *testing.T) {
	for _, ft := range fatTypes {
		for old := range byte(4) {
			for _, newFirst := range []bool{false, true} {
				c := newCraft(t, ft.typ, ft.clusters)
				oldSlot, newSlot := 0, 1
				if newFirst {
					oldSlot, newSlot = 1, 0
				}
				c.add(0, oldSlot, "OLD", 0, 10, 1000)
				c.add(0, newSlot, "NEW", 0, 10, 1000)
				c.put(c.slotOffset(0, oldSlot)+12, []byte{old<<moveShift | caseLowerExt})
				c.put(c.slotOffset(0, newSlot)+12, []byte{nextMove(old<<moveShift | caseLowerExt)})
				c.chain(10, 11)
				c.fill(10, 11)
				// The old content of a target that was replaced: lost clusters.
				c.chain(20, 21)
				c.dirty()
				c.fsinfo()
				r := checkMem(t, c.m, CheckOptions{Repair: true})
				compareCodes(t, "repair", r, CodeTwoNames+" "+CodeLostChain+" "+CodeDirty)
				wantSound(t, c.m, "two names")
				compareFiles(t, c.list(), map[string]string{"NEW": content(1000, 10, 11)})
				if r.Files != 1 {
					t.Errorf("%d files counted", r.Files)
				}
			}
		}
	}
}

// TestCheckThreeNames: two renames, each cut, on one volume.
func TestCheckThreeNames(t *testing.T) {
	c := newCraft(t, FAT32, 300)
	for i, name := range []string{"THREE", "ONE", "TWO"} {
		c.add(0, i, name, 0, 10, 600)
		c.put(c.slotOffset(0, i)+12, []byte{[]byte{2, 0, 1}[i] << moveShift})
	}
	c.chain(10, 11)
	c.fill(10, 11)
	c.dirty()
	c.fsinfo()
	checkMem(t, c.m, CheckOptions{Repair: true})
	wantSound(t, c.m, "three names")
	if got := c.list(); len(got) != 1 {
		t.Errorf("names left: %q", keys(got))
	}
}
