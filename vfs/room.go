package vfs

// available is what programs are told they can still write, in bytes: what is free inside, but no more than the host has room
// for. That is a bound of its own: the drive's size and what is used of it stay what they are.
func (fs *FS) available(freeBytes int64) int64 {
	if fs.options.Room == nil {
		return freeBytes
	}
	if room, bounded := fs.options.Room(); bounded {
		return min(freeBytes, max(room, 0))
	}
	return freeBytes
}
