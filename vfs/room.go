package vfs

import (
	"fmt"

	"coffer/fat32"
)

// Below a thin image the disk can fill up. What programs have written is then kept in memory and cannot be made durable, and
// neither can anything else: a folder or a part of the FAT that was never written has no place on the disk either. So
// the last of the room is left to those, and files stop growing before.
const (
	// roomKept is what files leave of the host's room, in bytes: what is under way behind their writers, and folders and FAT.
	roomKept = 16 << 20
	// roomAsked is how many bytes are written between two looks at the host's room.
	roomAsked = 1 << 20
)

// available is what programs are told they can still write, in bytes: what is free inside, but no more than the host has room
// for. That is a bound of its own: the drive's size and what is used of it stay what they are.
func (fs *FS) available(freeBytes int64) int64 {
	if fs.options.Room == nil {
		return freeBytes
	}
	if room, _, bounded := fs.options.Room(); bounded {
		return min(freeBytes, max(room-roomKept, 0))
	}
	return freeBytes
}

// admit refuses n bytes at off that make a file longer when the host has hardly anything free. Writing over what is there
// needs nothing.
func (fs *FS) admit(h *Handle, off, n int64) error {
	if fs.options.Room == nil || fs.unasked.Add(n) < roomAsked {
		return nil
	}
	info, err := h.file.Stat()
	if err != nil || off+n <= info.Size {
		return err
	}
	if _, free, bounded := fs.options.Room(); bounded && free < roomKept {
		return fmt.Errorf("the disk below the container is full: %w", fat32.ErrNoSpace) // the next one asks again
	}
	fs.unasked.Store(0)
	return nil
}
