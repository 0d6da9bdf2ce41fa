package blocktest

import "slices"

// ranges is a set of bytes, kept as sorted intervals that do not touch.
type ranges []interval

type interval struct{ from, to int64 }

// at is the index of the first interval that ends after off.
func (r ranges) at(off int64) int {
	i, _ := slices.BinarySearchFunc(r, off, func(v interval, off int64) int {
		if v.to <= off {
			return -1
		}
		return 1
	})
	return i
}

func (r *ranges) add(from, to int64) {
	if from >= to {
		return
	}
	i := r.at(from - 1) // also one that ends exactly at from
	j := i
	for j < len(*r) && (*r)[j].from <= to {
		from, to = min(from, (*r)[j].from), max(to, (*r)[j].to)
		j++
	}
	*r = slices.Replace(*r, i, j, interval{from, to})
}

func (r ranges) overlaps(from, to int64) bool {
	i := r.at(from)
	return from < to && i < len(r) && r[i].from < to
}
