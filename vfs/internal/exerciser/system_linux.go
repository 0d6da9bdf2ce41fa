package exerciser

import "golang.org/x/sys/unix"

// Forget writes back and drops the clean pages of the file.
func (f *hostFile) Forget() error {
	if err := f.Sync(); err != nil {
		return err
	}
	return unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
}

func (f *hostFile) Punch(off, length int64) error {
	return unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, off, length)
}
