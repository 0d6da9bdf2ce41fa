package session

import "coffer/fat32"

// RawName is the name of the one file in a raw mount: the decrypted inside of the container.
const RawName = "disk"

// Payload is the decrypted inside of the container as a block device, for programs that know what is on it. Nothing looks
// at a file system there, checks it or marks it. The Device stays the owner: close it after the last use.
func (d *Device) Payload() fat32.Device { return d.container }
