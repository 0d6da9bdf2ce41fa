package image

import (
	"errors"
	"os"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/windows"
)

// createFile makes a new file that others may only read while it is open.
func createFile(path string) (*os.File, error) {
	return openHandle(path, windows.GENERIC_READ|windows.GENERIC_WRITE|windows.DELETE, windows.FILE_SHARE_READ, windows.CREATE_NEW)
}

// openFile opens an existing file. The share mode is the lock: a writer lets
// nobody else write, a reader shares with readers, and Windows applies it to
// the file, whatever path it was reached by. Without FILE_SHARE_DELETE the
// file can be neither deleted nor replaced while open.
func openFile(path string, readOnly, lock bool) (*os.File, error) {
	access, share := uint32(windows.GENERIC_READ|windows.GENERIC_WRITE), uint32(windows.FILE_SHARE_READ)
	if readOnly {
		access = windows.GENERIC_READ
	}
	if !lock {
		share |= windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	}
	return openHandle(path, access, share, windows.OPEN_EXISTING)
}

func openHandle(path string, access, share, mode uint32) (*os.File, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	h, err := windows.CreateFile(name, access, share, nil, mode, windows.FILE_ATTRIBUTE_NORMAL, 0)
	if errors.Is(err, windows.ERROR_SHARING_VIOLATION) {
		return nil, &os.PathError{Op: "open", Path: path, Err: &InUseError{}}
	}
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(h), path), nil
}

// lockFile: opening took the lock.
func lockFile(*os.File, bool) error { return nil }

// checkAttached: an attached virtual disk is refused by the share mode.
func checkAttached(*os.File) error { return nil }

// identity names a file on this machine.
type identity struct {
	volume uint32
	index  uint64
}

// status is what changes while a file is open.
type status struct {
	size  int64
	links uint64
}

func identify(f *os.File) (identity, status, error) {
	var fi windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(windows.Handle(f.Fd()), &fi); err != nil {
		return identity{}, status{}, os.NewSyscallError("GetFileInformationByHandle", err)
	}
	return identity{fi.VolumeSerialNumber, uint64(fi.FileIndexHigh)<<32 | uint64(fi.FileIndexLow)},
		status{int64(fi.FileSizeHigh)<<32 | int64(fi.FileSizeLow), uint64(fi.NumberOfLinks)}, nil
}

// identifyPath is not needed: the share mode keeps the name in place.
func identifyPath(string) (identity, bool) { return identity{}, false }

func syncFile(f *os.File) error { return f.Sync() }

// syncDir: NTFS journals names; there is no call for a folder.
func syncDir(string) error { return nil }

// removeOpen marks the file for deletion: it goes when the handle closes.
func removeOpen(f *os.File, _ string) error {
	remove := byte(1) // FILE_DISPOSITION_INFO.DeleteFile
	return windows.SetFileInformationByHandle(windows.Handle(f.Fd()), windows.FileDispositionInfo, &remove, 1)
}

// markSparse makes an NTFS file sparse, so that writing at a high offset does
// not first write zeros up to it. File systems without sparse files ignore it.
func markSparse(f *os.File) {
	var returned uint32
	_ = windows.DeviceIoControl(windows.Handle(f.Fd()), windows.FSCTL_SET_SPARSE, nil, 0, nil, 0, &returned, nil)
}

// reserve sets the allocation size, which takes the clusters at once.
func reserve(f *os.File, size int64) error {
	return windows.SetFileInformationByHandle(windows.Handle(f.Fd()), windows.FileAllocationInfo,
		(*byte)(unsafe.Pointer(&size)), uint32(unsafe.Sizeof(size)))
}

// punch zeroes a range; in a file marked sparse the clusters are given back.
func punch(f *os.File, off, n int64) error {
	h := windows.Handle(f.Fd())
	var returned uint32
	if err := windows.DeviceIoControl(h, windows.FSCTL_SET_SPARSE, nil, 0, nil, 0, &returned, nil); err != nil {
		return errors.ErrUnsupported
	}
	zero := struct{ from, to int64 }{off, off + n}
	return windows.DeviceIoControl(h, windows.FSCTL_SET_ZERO_DATA, (*byte)(unsafe.Pointer(&zero)), uint32(unsafe.Sizeof(zero)), nil, 0, &returned, nil)
}

func startWriteback(*os.File, int64, int64) error { return nil }

func prefetch(*os.File, int64, int64) error { return nil }

func dropCache(*os.File, int64, int64) error { return nil }

func allocated(f *os.File) (int64, error) {
	var info struct {
		allocation, end int64
		links           uint32
		deleting, dir   byte
	}
	err := windows.GetFileInformationByHandleEx(windows.Handle(f.Fd()), windows.FileStandardInfo, (*byte)(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	return info.allocation, err
}

func isNoSpace(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL) ||
		errors.Is(err, windows.ERROR_DISK_QUOTA_EXCEEDED)
}

func isTooLarge(err error) bool { return errors.Is(err, windows.ERROR_FILE_TOO_LARGE) }

// freeBytes asks for the volume of the file's folder.
func freeBytes(f *os.File) (int64, error) {
	dir, err := windows.UTF16PtrFromString(filepath.Dir(f.Name()))
	if err != nil {
		return 0, err
	}
	var free uint64
	err = windows.GetDiskFreeSpaceEx(dir, &free, nil, nil)
	return int64(min(free, 1<<62)), err
}
