package fat32

import "sync"

// looseSet holds the open files without a name, on devices with transactions that
// discard. Their clusters may hold data of sealed transactions while the FAT has
// them free; a volume that is closed over them makes the device forget it, or the next
// mount would take the clusters for fresh (see freshIsFree).
type looseSet struct {
	mu    sync.Mutex
	nodes map[*node]struct{}
}

// loosen adds n, tighten takes it out.
func (v *Volume) loosen(n *node) {
	if v.txn == nil || v.discard == nil {
		return
	}
	v.loose.mu.Lock()
	defer v.loose.mu.Unlock()
	if v.loose.nodes == nil {
		v.loose.nodes = make(map[*node]struct{})
	}
	v.loose.nodes[n] = struct{}{}
}

func (v *Volume) tighten(n *node) {
	if v.txn == nil || v.discard == nil {
		return
	}
	v.loose.mu.Lock()
	delete(v.loose.nodes, n)
	v.loose.mu.Unlock()
}

// discardLoose has the last flush discard what files without a name hold. The volume
// is closed already, so nothing writes to them any more.
func (v *Volume) discardLoose() {
	v.loose.mu.Lock()
	defer v.loose.mu.Unlock()
	for n := range v.loose.nodes {
		n.mu.RLock()
		runs := n.chain.slice(0, n.chain.total)
		n.mu.RUnlock()
		if len(runs) > 0 {
			v.dirty.mu.Lock()
			v.dirty.discards = append(v.dirty.discards, runs...)
			v.dirty.mu.Unlock()
			v.noteDirty()
		}
	}
	v.loose.nodes = nil
}
