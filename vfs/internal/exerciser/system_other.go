//go:build !linux

package exerciser

// Forget only writes back: there is no portable way to drop pages.
func (f *hostFile) Forget() error { return f.Sync() }

func (f *hostFile) Punch(int64, int64) error { return ErrUnsupported }
