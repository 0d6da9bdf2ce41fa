package fat32

// place is where an entry lies: first cluster of the directory and slot.
type place struct {
	dir  uint32
	slot int32
}

// defaultID is the identity of an entry that has never moved. The root is 1.
func (p place) defaultID() uint64 { return (uint64(p.dir)+1)<<17 | uint64(p.slot) }

const rootID = 1

// idTable gives every file an identity that lasts while the volume is mounted.
// It is derived from the place of the entry, and only files that have left the
// place their identity came from are remembered. Guarded by Volume.ns.
type idTable struct {
	moved map[place]uint64    // identity of what lies here, if not the default
	away  map[uint64]struct{} // identities of files that are not at their default place
	last  uint64              // identities that come from no place have the top bit set
}

func (t *idTable) init() {
	t.moved = make(map[place]uint64)
	t.away = make(map[uint64]struct{})
	t.last = 1 << 63
}

// at returns the identity of the entry at p.
func (t *idTable) at(p place) uint64 {
	if len(t.moved) > 0 {
		if id, ok := t.moved[p]; ok {
			return id
		}
	}
	return p.defaultID()
}

// fresh gives a new file at p its identity.
func (t *idTable) fresh(p place) uint64 {
	id := p.defaultID()
	if _, taken := t.away[id]; !taken {
		return id
	}
	id = t.placeless()
	t.put(id, p)
	return id
}

// placeless is an identity that comes from no place.
func (t *idTable) placeless() uint64 {
	t.last++
	return t.last
}

// put records that the file id now lies at p.
func (t *idTable) put(id uint64, p place) {
	if id == p.defaultID() {
		delete(t.away, id)
		delete(t.moved, p)
		return
	}
	t.moved[p] = id
	t.away[id] = struct{}{}
}

// leave records that the file id has left p; it may live on elsewhere.
func (t *idTable) leave(id uint64, p place) {
	delete(t.moved, p)
	t.away[id] = struct{}{}
}

// forget records that the file id is gone for good.
func (t *idTable) forget(id uint64) { delete(t.away, id) }
