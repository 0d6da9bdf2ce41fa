package session

import (
	"errors"

	"coffer/fat32"
)

// RawName is the name of the one file in a raw mount: the decrypted inside of the container.
const RawName = "disk"

// Payload is the decrypted inside of the container as a block device, for programs that know what is on it. Nothing looks
// at a file system there, checks it or marks it. The Device stays the owner: close it after the last use.
func (d *Device) Payload() fat32.Device { return d.container }

// RawInUse refuses what needs the FAT volume of a container that is unlocked raw; doing is the sentence begun, such as
// "list photos.img:/". Whatever is inside belongs to the programs that have it mounted.
func RawInUse(doing, image string) error {
	return &Error{What: doing, Err: errors.New("it is unlocked raw, as a block device for other file systems"), Code: InUse,
		Hint: "`coffer lock " + image + "` first"}
}
