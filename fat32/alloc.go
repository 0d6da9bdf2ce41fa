package fat32

import "sync"

// regionClusters is the number of clusters the allocator keeps one free count
// for, and the unit in which the FAT is scanned at mount.
const regionClusters = 1 << 14

// parked is a freed run that must not be handed out before a flush is durable.
type parked struct {
	run extent
	gen uint64
}

// allocator knows which clusters are in use. It works in indexes (cluster
// number - 2) inside and cluster numbers outside. A bit is set for a cluster that
// is used on the disk, allocated in memory, reserved, or parked. Regions
// whose part of the FAT has not been scanned yet count as full.
type allocator struct {
	mu     sync.Mutex
	count  int // clusters
	busy   bitset
	free   []int32 // clear bits per region
	nfree  int64   // clear bits in all
	next   int     // where the next search begins
	resrvd map[*node]extent
	nres   int64
	parked []parked
	npark  int64
}

// init prepares the allocator with everything busy.
func (a *allocator) init(clusters uint32) {
	a.count = int(clusters)
	a.busy = newBitset(a.count)
	for i := range a.busy {
		a.busy[i] = ^uint64(0)
	}
	a.free = make([]int32, (a.count+regionClusters-1)/regionClusters)
	a.resrvd = make(map[*node]extent)
}

// learn enters the scanned state of region r: used holds its bits.
func (a *allocator) learn(r int, used bitset) {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := min(regionClusters, a.count-r*regionClusters)
	copy(a.busy[r*regionClusters/64:], used)
	free := 0
	for i := used.nextClear(0, n); i < n; i = used.nextClear(i, n) {
		end := used.next(i, n)
		free += end - i
		i = end
	}
	a.free[r] = int32(free)
	a.nfree += int64(free)
}

// markLocked changes the bits of a run and the counts with them.
func (a *allocator) markLocked(from, to int, busy bool) (changed int) {
	for from < to {
		r := from / regionClusters
		end := min(to, (r+1)*regionClusters)
		if busy {
			n := a.busy.setRange(from, end)
			a.free[r] -= int32(n)
			changed += n
		} else {
			n := a.busy.clearRange(from, end)
			a.free[r] += int32(n)
			changed += n
		}
		from = end
	}
	if busy {
		a.nfree -= int64(changed)
	} else {
		a.nfree += int64(changed)
	}
	return changed
}

// take hands out one run of up to want clusters for n. It prefers n's own
// reservation, then the cluster goal (0: none) and what follows it, then the first
// run that is long enough, then the longest found. ahead more clusters directly behind the run are
// kept for n, in memory only. ok is false if not one cluster is free; then the reservations
// of all others have been given up too.
func (a *allocator) take(n *node, want, goal, ahead uint32) (run extent, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if res, has := a.resrvd[n]; has {
		if goal == 0 || res.start == goal {
			run = extent{res.start, min(want, res.count)}
			a.setReservationLocked(n, extent{run.end(), res.count - run.count})
			return run, true
		}
		a.dropLocked(n)
	}
	for range 2 {
		if run, ok = a.searchLocked(int(want), goal); ok {
			break
		}
		// Reservations are only a wish: better to interleave than to fail.
		if a.nres == 0 {
			return extent{}, false
		}
		for other := range a.resrvd {
			a.dropLocked(other)
		}
	}
	if !ok {
		return extent{}, false
	}
	from := int(run.start) - firstCluster
	a.markLocked(from, from+int(run.count), true)
	a.next = from + int(run.count)
	if ahead > 0 && run.count == want {
		end := a.busy.next(a.next, min(a.next+int(ahead), a.count))
		if end > a.next {
			a.markLocked(a.next, end, true)
			a.setReservationLocked(n, extent{run.end(), uint32(end - a.next)})
			a.next = end
		}
	}
	return run, true
}

// reserve keeps a run of up to want clusters for n, from goal on if that is
// free. It takes nothing from others.
func (a *allocator) reserve(n *node, want, goal uint32) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.dropLocked(n)
	run, ok := a.searchLocked(int(want), goal)
	if !ok {
		return
	}
	from := int(run.start) - firstCluster
	a.markLocked(from, from+int(run.count), true)
	a.setReservationLocked(n, run)
	a.next = from + int(run.count)
}

// setReservationLocked records what is left of n's reservation.
func (a *allocator) setReservationLocked(n *node, run extent) {
	a.nres += int64(run.count) - int64(a.resrvd[n].count)
	if run.count == 0 {
		delete(a.resrvd, n)
	} else {
		a.resrvd[n] = run
	}
}

// drop gives up what is reserved for n.
func (a *allocator) drop(n *node) {
	a.mu.Lock()
	a.dropLocked(n)
	a.mu.Unlock()
}

func (a *allocator) dropLocked(n *node) {
	run, ok := a.resrvd[n]
	if !ok {
		return
	}
	a.setReservationLocked(n, extent{})
	from := int(run.start) - firstCluster
	to := from + int(run.count)
	a.markLocked(from, to, false)
	if a.next == to {
		a.next = from // leave no hole behind the file
	}
}

// searchBudget bounds a search for a run that is long enough, in words of 64
// clusters, once some free cluster has been found.
const searchBudget = 1 << 15

// searchLocked finds a run of up to want clusters without taking it.
func (a *allocator) searchLocked(want int, goal uint32) (extent, bool) {
	if a.nfree == 0 || want < 1 {
		return extent{}, false
	}
	if goal >= firstCluster {
		if g := int(goal) - firstCluster; g < a.count && !a.busy.has(g) {
			end := a.busy.next(g, min(g+want, a.count))
			return extent{goal, uint32(end - g)}, true
		}
	}
	if a.next >= a.count {
		a.next = 0
	}
	best, bestLen, budget := 0, 0, searchBudget*64
	for _, span := range [2][2]int{{a.next, a.count}, {0, a.next}} {
		for i := span[0]; i < span[1]; {
			if r := i / regionClusters; a.free[r] == 0 {
				i = (r + 1) * regionClusters
				continue
			}
			from := a.busy.nextClear(i, span[1])
			if from >= span[1] {
				break
			}
			end := a.busy.next(from, min(from+want, a.count))
			if end-from > bestLen {
				best, bestLen = from, end-from
			}
			budget -= end - i
			if bestLen >= want || budget < 0 {
				return extent{uint32(best) + firstCluster, uint32(bestLen)}, true
			}
			i = end + 1
		}
	}
	return extent{uint32(best) + firstCluster, uint32(bestLen)}, bestLen > 0
}

// release makes runs available at once: clusters no disk state knows of.
func (a *allocator) release(runs []extent) {
	a.mu.Lock()
	for _, e := range runs {
		from := int(e.start) - firstCluster
		a.markLocked(from, from+int(e.count), false)
	}
	a.mu.Unlock()
}

// park keeps runs busy until the flush of generation gen is durable.
func (a *allocator) park(runs []extent, gen uint64) {
	a.mu.Lock()
	for _, e := range runs {
		a.parked = append(a.parked, parked{e, gen})
		a.npark += int64(e.count)
	}
	a.mu.Unlock()
}

// unpark releases what was parked for generations up to gen.
func (a *allocator) unpark(gen uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	keep := a.parked[:0]
	for _, p := range a.parked {
		if p.gen > gen {
			keep = append(keep, p)
			continue
		}
		from := int(p.run.start) - firstCluster
		a.markLocked(from, from+int(p.run.count), false)
		a.npark -= int64(p.run.count)
	}
	a.parked = keep
	if len(keep) == 0 && cap(keep) > 4096 {
		a.parked = nil
	}
}

// available counts clusters a writer can get: free, reserved, or parked.
func (a *allocator) available() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	// On a damaged volume one cluster may have been given up twice.
	return min(a.nfree+a.nres+a.npark, int64(a.count))
}
