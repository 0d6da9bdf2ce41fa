//go:build linux && !cgofuse

package vfs

import "sync"

// inode is an object the kernel knows.
type inode struct {
	node    Node   // with a reference for as long as the kernel knows it
	lookups uint64 // what the kernel has been told and has not forgotten
}

// inodeTable finds objects by the identity that is the kernel's node id. An identity is not used
// again while the table holds a reference.
type inodeTable struct {
	mu   sync.RWMutex
	all  map[uint64]*inode
	most int                // more than this are too many
	trim func(ids []uint64) // asks the kernel to forget some; called in a goroutine of its own
	busy bool               // trim is at work
}

// Limits of what the kernel is let to remember: it has no limit of its own but memory, and what it knows
// takes about 500 bytes here.
const (
	maxInodes  = 80_000
	trimInodes = 20_000
)

func (t *inodeTable) init(root Node, trim func(ids []uint64)) {
	t.all = map[uint64]*inode{root.ID(): {node: root, lookups: 1}}
	t.most, t.trim = maxInodes, trim
}

// trimLocked has some files, no folders, forgotten. If the kernel keeps them because they are in use, it is asked again
// when there are more.
func (t *inodeTable) trimLocked() {
	t.busy = true
	ids := make([]uint64, 0, trimInodes)
	for id, i := range t.all {
		if !i.node.IsDir() {
			if ids = append(ids, id); len(ids) == trimInodes {
				break
			}
		}
	}
	go func() {
		t.trim(ids)
		t.mu.Lock()
		t.busy = false
		t.most = max(maxInodes, len(t.all)+trimInodes/4)
		t.mu.Unlock()
	}()
}

// get returns the object with an identity; it stays valid until the kernel forgets it, which it does
// not do in the middle of a request.
func (t *inodeTable) get(id uint64) (Node, bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	i, ok := t.all[id]
	if !ok {
		return Node{}, false
	}
	return i.node, true
}

// hold is get with a reference.
func (t *inodeTable) hold(id uint64) (Node, bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	i, ok := t.all[id]
	if !ok {
		return Node{}, false
	}
	return i.node.Hold(), true
}

// learn notes that the kernel is told of n, and takes over its reference.
func (t *inodeTable) learn(n Node) {
	t.mu.Lock()
	i, known := t.all[n.ID()]
	if known {
		i.lookups++
	} else {
		t.all[n.ID()] = &inode{node: n, lookups: 1}
		if len(t.all) > t.most && !t.busy {
			t.trimLocked()
		}
	}
	t.mu.Unlock()
	if known {
		n.Release()
	}
}

// forget is the opposite of count calls of learn.
func (t *inodeTable) forget(id, count uint64) {
	t.mu.Lock()
	i, ok := t.all[id]
	if ok {
		if count >= i.lookups && id != rootNode {
			delete(t.all, id)
		} else {
			i.lookups -= min(count, i.lookups-1)
			ok = false
		}
	}
	t.mu.Unlock()
	if ok {
		i.node.Release()
	}
}
