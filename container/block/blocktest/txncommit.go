package blocktest

import "fmt"

// Seal ends the open transaction. No operation may be running: that is a
// violation. wait makes it, and every transaction sealed before it, durable;
// it may be called by several goroutines and more than once.
func (t *Txn) Seal() (wait func() error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.active > 0 {
		t.violateLocked("sealed while %d operations were running", t.active)
	}
	x := t.open
	t.open = newTxn()
	t.seals++
	if dirty := int64(len(x.counted)) * pageBytes; dirty > x.reserved {
		t.violateLocked("transaction dirtied %d bytes of blocks and had reserved %d", dirty, x.reserved)
	}
	x.pages = make(map[int64]*page, len(x.dirty))
	for i := range x.dirty {
		x.pages[i] = t.live.sharePage(i)
	}
	t.sealed = append(t.sealed, x)
	return func() error { return t.commit(x) }
}

// commit makes the sealed transactions up to x durable.
func (t *Txn) commit(x *txn) error {
	t.commitMu.Lock()
	defer t.commitMu.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	for pendingLocked(t.sealed, x) {
		if t.failCommit != nil {
			t.failing, t.failCommit = t.failCommit, nil
		}
		if t.failing != nil {
			return fmt.Errorf("test device: commit: %w", t.failing)
		}
		next := t.sealed[0]
		if err := next.applyTo(t.durable); err != nil {
			return err
		}
		t.sealed = t.sealed[1:]
	}
	return nil
}

func pendingLocked(sealed []*txn, x *txn) bool {
	for _, s := range sealed {
		if s == x {
			return true
		}
	}
	return false
}

func (x *txn) applyTo(m *Mem) error {
	for _, r := range x.discarded {
		if err := m.Discard(r.from, r.to-r.from); err != nil {
			return err
		}
	}
	for i, p := range x.pages {
		m.setPage(i, p)
	}
	return nil
}

// Sync seals and commits everything, for callers that use the device without
// transactions (format, repair). While an operation runs it is a violation.
func (t *Txn) Sync() error {
	t.mu.Lock()
	if t.active > 0 {
		t.violateLocked("synced while %d operations were running", t.active)
	}
	t.mu.Unlock()
	return t.Seal()()
}

// Crash returns what a power cut now leaves if the commit in flight, if any,
// did not make it: the last durable state. The device can be used further.
func (t *Txn) Crash() *Mem {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.durable.Clone()
}

// CrashStates returns every state a power cut now may leave: the last durable
// one, then that with each further sealed transaction.
func (t *Txn) CrashStates() []*Mem {
	t.mu.Lock()
	defer t.mu.Unlock()
	states := []*Mem{t.durable.Clone()}
	for _, x := range t.sealed {
		m := states[len(states)-1].Clone()
		if err := x.applyTo(m); err != nil {
			panic("blocktest: " + err.Error()) // ranges were checked on the way in
		}
		states = append(states, m)
	}
	return states
}
