package create

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// writable says whether this user may make files in a folder: rights on Windows are known for certain by trying only. The file
// is gone again with its handle.
func writable(folder string) bool {
	file, err := os.CreateTemp(folder, ".coffer-*")
	if err != nil {
		return false
	}
	_ = file.Close()
	return os.Remove(file.Name()) == nil
}

// space is how many bytes this user can still write to the disk of a folder, negative when not known, and how large a file may
// be there, 0 without a limit of interest.
func space(folder string) (free, largest int64) {
	path, err := windows.UTF16PtrFromString(folder)
	if err != nil {
		return -1, 0
	}
	var mine uint64
	if windows.GetDiskFreeSpaceEx(path, &mine, nil, nil) != nil {
		return -1, 0
	}
	root, err := windows.UTF16PtrFromString(filepath.VolumeName(folder) + `\`)
	var kind [windows.MAX_PATH + 1]uint16
	if err == nil && windows.GetVolumeInformation(root, nil, 0, nil, nil, nil, &kind[0], uint32(len(kind))) == nil {
		if name := windows.UTF16ToString(kind[:]); name == "FAT32" || name == "FAT" {
			largest = 1<<32 - 1
		}
	}
	return int64(mine), largest
}
