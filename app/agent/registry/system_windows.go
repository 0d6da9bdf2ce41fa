package registry

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/windows"
)

// ID is the identity of the file at path, the same for every path that leads to it on this computer.
func ID(path string) (string, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return "", &os.PathError{Op: "open", Path: path, Err: err}
	}
	const share = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	// No access is asked for: attributes can be read whoever has the file open, and however.
	handle, err := windows.CreateFile(name, 0, share, nil, windows.OPEN_EXISTING, windows.FILE_FLAG_BACKUP_SEMANTICS, 0)
	if err != nil {
		return "", &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer windows.CloseHandle(handle) //nolint:errcheck // nothing was written
	var info windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(handle, &info); err != nil {
		return "", fmt.Errorf("identity of %s: %w", path, err)
	}
	return digest(fmt.Sprintf("%d:%d:%d", info.VolumeSerialNumber, info.FileIndexHigh, info.FileIndexLow)), nil
}

// digest makes a short name of what identifies a file.
func digest(identity string) string {
	sum := sha256.Sum256([]byte(identity))
	return hex.EncodeToString(sum[:8])
}

// lockedByte lies far behind the content: locks of Windows keep others from reading what they cover.
const lockedByte = 1 << 30

// tryLock locks an open file without waiting; see the Unix side.
func tryLock(f *os.File, shared bool) error {
	flags := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if !shared {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &windows.Overlapped{Offset: lockedByte})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return errLocked
	}
	return os.NewSyscallError("LockFileEx", err)
}

// lives says whether there is a process with this id.
func lives(pid int) bool {
	process, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return !errors.Is(err, windows.ERROR_INVALID_PARAMETER)
	}
	defer windows.CloseHandle(process) //nolint:errcheck // only looked at
	var code uint32
	const stillActive = 259
	return windows.GetExitCodeProcess(process, &code) != nil || code == stillActive
}

// removeLock lets go of the lock and removes its file. An open file cannot be removed here; one that another process has
// opened meanwhile stays, and is then that process's.
func removeLock(lock *os.File) {
	_ = lock.Close()
	_ = os.Remove(lock.Name())
}
