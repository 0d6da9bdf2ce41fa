package session

import (
	"encoding/binary"
	"errors"
	"fmt"

	"coffer/fat32"
)

// ExplainDamage gives an error of reading the file system in d a better reason or hint where there is one: the image
// file has lost its end, or a repair (repairing) could not do it. Other errors stay as they are.
func (d *Device) ExplainDamage(err error, repairing bool) error {
	if !errors.Is(err, fat32.ErrCorrupt) && !errors.Is(err, fat32.ErrNotFAT) {
		return err
	}
	info := d.container.Info()
	if wanted := info.PayloadOffset + d.volumeBytes(); wanted > info.PayloadOffset+d.container.Size() {
		return &Error{What: "open " + d.target.Path, Code: Damaged,
			Err:  fmt.Errorf("the image file is cut short: at least %d bytes expected, it has %d", wanted, info.ImageBytes),
			Hint: "restore the image from a copy; `coffer check IMAGE --salvage FOLDER` reads what is there"}
	}
	if repairing {
		return &Error{What: "repair " + d.target.Path, Err: err, Code: Damaged,
			Hint: "`coffer check IMAGE --salvage FOLDER` saves what can be read"}
	}
	return err
}

// volumeBytes is the size a FAT volume in d claims to have in its boot sector (Microsoft's FAT specification, section 3);
// 0 when there is no such sector.
func (d *Device) volumeBytes() int64 {
	var boot [512]byte
	if _, err := d.container.ReadAt(boot[:], 0); err != nil || boot[510] != 0x55 || boot[511] != 0xaa {
		return 0
	}
	sector := int64(binary.LittleEndian.Uint16(boot[11:]))
	if sector != 512 && sector != 1024 && sector != 2048 && sector != 4096 {
		return 0
	}
	if sectors := int64(binary.LittleEndian.Uint16(boot[19:])); sectors != 0 {
		return sectors * sector
	}
	return int64(binary.LittleEndian.Uint32(boot[32:])) * sector
}
