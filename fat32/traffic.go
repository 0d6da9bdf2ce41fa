package fat32

import "sync/atomic"

// traffic counts the bytes of files.
type traffic struct{ read, written atomic.Int64 }

// Traffic is how many bytes of files have been read and written since the volume was mounted, by whatever way.
func (v *Volume) Traffic() (read, written int64) {
	return v.traffic.read.Load(), v.traffic.written.Load()
}
