package fat32

import "sort"

// extent is a run of consecutive clusters.
type extent struct {
	start, count uint32
}

// end is the cluster after the last one.
func (e extent) end() uint32 { return e.start + e.count }

// extents is the chain of a file or directory: runs in file order, with the
// index in the file of the first cluster of each.
type extents struct {
	runs  []extent
	first []uint32 // index in the chain of runs[i].start
	total uint32   // clusters in all
}

// add appends a run, merging it with the last one where they touch.
func (x *extents) add(e extent) {
	if e.count == 0 {
		return
	}
	if n := len(x.runs); n > 0 && x.runs[n-1].end() == e.start {
		x.runs[n-1].count += e.count
	} else {
		x.runs = append(x.runs, e)
		x.first = append(x.first, x.total)
	}
	x.total += e.count
}

// find returns the run that holds cluster index i, which must be below total.
func (x *extents) find(i uint32) int {
	if n := len(x.first); x.first[n-1] <= i {
		return n - 1 // appends and small files
	}
	return sort.Search(len(x.first), func(k int) bool { return x.first[k] > i }) - 1
}

// at returns the cluster with index i.
func (x *extents) at(i uint32) uint32 {
	k := x.find(i)
	return x.runs[k].start + i - x.first[k]
}

// slice returns the runs that make up the indexes from..to-1.
func (x *extents) slice(from, to uint32) []extent {
	if from >= to {
		return nil
	}
	var out []extent
	for k := x.find(from); from < to; k++ {
		skip := from - x.first[k]
		n := min(x.runs[k].count-skip, to-from)
		out = append(out, extent{x.runs[k].start + skip, n})
		from += n
	}
	return out
}

// cut shortens the chain to n clusters and returns the runs cut off.
func (x *extents) cut(n uint32) []extent {
	if n >= x.total {
		return nil
	}
	off := x.slice(n, x.total)
	keep := 0
	if n > 0 {
		k := x.find(n - 1)
		// Runs are shared with nobody, but a reader may hold the slice header.
		runs := append([]extent(nil), x.runs[:k+1]...)
		runs[k].count = n - x.first[k]
		x.runs = runs
		keep = k + 1
	} else {
		x.runs = nil
	}
	x.first = x.first[:keep:keep]
	x.total = n
	return off
}
