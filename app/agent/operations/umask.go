package operations

import "sync"

// umasks lends the process the file mode creation mask of whoever asked for a copy: files on the host get the permissions
// they would have had from a copy in the command itself. The mask belongs to the whole process; of copies at the same time
// each takes away bits, none gives any back. The agent's own files name their modes and do not depend on it.
type umasks struct {
	mu       sync.Mutex
	wearing  int
	now, own int
}

// wear applies a mask, -1 being none, until the returned function is called.
func (u *umasks) wear(mask int) (off func()) {
	if mask < 0 {
		return func() {}
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.wearing == 0 {
		u.now = mask
		u.own = setUmask(u.now)
	} else if u.now|mask != u.now {
		u.now |= mask
		setUmask(u.now)
	}
	u.wearing++
	return func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		if u.wearing--; u.wearing == 0 {
			setUmask(u.own)
		}
	}
}
