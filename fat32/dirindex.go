package fat32

import "hash/maphash"

// nameIndex finds directory entries by the hash of a folded name. An entry
// with a long name is in it twice, under both names. Chains are singly linked in
// one slice; the hash is seeded, so a hostile volume cannot make them long.
type nameIndex struct {
	heads []int32 // by hash & (len-1); -1 ends a chain
	links []nameLink
	spare int32 // chain of unused links, -1 if none
	count int
}

type nameLink struct {
	hash uint32
	slot int32
	next int32
}

func (x *nameIndex) reset(names int) {
	size := 16
	for size < names {
		size *= 2
	}
	x.heads = make([]int32, size)
	for i := range x.heads {
		x.heads[i] = -1
	}
	x.links = make([]nameLink, 0, names)
	x.spare, x.count = -1, 0
}

// insert puts slot before what was inserted under the same hash earlier.
func (x *nameIndex) insert(hash uint32, slot int32) {
	if x.count >= len(x.heads) {
		x.double()
	}
	i := x.spare
	if i >= 0 {
		x.spare = x.links[i].next
	} else {
		i = int32(len(x.links))
		x.links = append(x.links, nameLink{})
	}
	b := hash & uint32(len(x.heads)-1)
	x.links[i] = nameLink{hash, slot, x.heads[b]}
	x.heads[b] = i
	x.count++
}

func (x *nameIndex) double() {
	old := x.heads
	x.heads = make([]int32, 2*len(old))
	for i := range x.heads {
		x.heads[i] = -1
	}
	for _, head := range old {
		// Turn the chain round first, so that relinking keeps its order.
		rev := int32(-1)
		for i := head; i >= 0; {
			next := x.links[i].next
			x.links[i].next = rev
			rev, i = i, next
		}
		for i := rev; i >= 0; {
			next := x.links[i].next
			b := x.links[i].hash & uint32(len(x.heads)-1)
			x.links[i].next = x.heads[b]
			x.heads[b] = i
			i = next
		}
	}
}

// remove takes one link of slot under hash out.
func (x *nameIndex) remove(hash uint32, slot int32) {
	at := &x.heads[hash&uint32(len(x.heads)-1)]
	for *at >= 0 {
		i := *at
		l := &x.links[i]
		if l.hash == hash && l.slot == slot {
			*at = l.next
			l.next, l.slot = x.spare, -1
			x.spare = i
			x.count--
			return
		}
		at = &l.next
	}
}

// first and after walk the slots under hash; -1 ends the walk.
func (x *nameIndex) first(hash uint32) int32 {
	return x.skip(x.heads[hash&uint32(len(x.heads)-1)], hash)
}

func (x *nameIndex) after(link int32) int32 { return x.skip(x.links[link].next, x.links[link].hash) }

func (x *nameIndex) skip(i int32, hash uint32) int32 {
	for i >= 0 && x.links[i].hash != hash {
		i = x.links[i].next
	}
	return i
}

// hashUnits hashes a folded name.
func hashUnits(seed maphash.Seed, folded []uint16) uint32 {
	var buf [2 * (maxName + lfnUnits)]byte
	n := 0
	for _, u := range folded {
		if n+2 > len(buf) {
			break
		}
		buf[n], buf[n+1] = byte(u), byte(u>>8)
		n += 2
	}
	h := maphash.Bytes(seed, buf[:n])
	return uint32(h ^ h>>32)
}
