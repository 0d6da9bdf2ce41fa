package fat32

import (
	"fmt"
	"sync"
)

// Freeze brings the device into the state it would have after Close, free count and
// clean mark included, and holds back every operation that changes something until
// thaw is called: a moment at which somebody else may read the device, such as
// Check without Repair. Reads of files go on, but for a file that is just being cut.
// thaw may be called more than once. ErrBusy: the volume is frozen already.
//
// A volume that is closed or read-only, or has become so after an error, does not
// change any more: then Freeze does nothing.
func (v *Volume) Freeze() (thaw func(), err error) {
	if v.writable() != nil {
		return func() {}, nil
	}
	held := make(chan struct{})
	if !v.frozen.CompareAndSwap(nil, &held) {
		return nil, fmt.Errorf("freeze: %w", ErrBusy)
	}
	thaw = sync.OnceFunc(func() {
		v.frozen.Store(nil)
		close(held)
	})
	v.gate.Lock() // operations that began before have ended; none begins after
	closed := v.closed.Load()
	v.gate.Unlock()
	if closed {
		thaw()
		return thaw, nil
	}
	if err = v.flush(); err == nil {
		err = v.markCleanForNow()
	}
	if err != nil {
		thaw()
		return nil, fmt.Errorf("freeze: %w", err)
	}
	return thaw, nil
}

// waitThawed returns when the volume is not frozen, or is closed.
func (v *Volume) waitThawed() {
	if held := v.frozen.Load(); held != nil {
		select {
		case <-*held:
		case <-v.stop:
		}
	}
}

// markCleanForNow is markClean for a volume in use: the next change marks it again.
func (v *Volume) markCleanForNow() error {
	v.markMu.Lock()
	defer v.markMu.Unlock()
	if err := v.markClean(); err != nil {
		v.fail(err) // what the disk says now is not known
		return err
	}
	v.marked.Store(false)
	return nil
}
