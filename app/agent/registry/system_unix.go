//go:build unix

package registry

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// ID is the identity of the file at path, the same for every path that leads to it on this computer.
func ID(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	status, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", fmt.Errorf("identity of %s: not known on this system", path)
	}
	return digest(fmt.Sprintf("%d:%d", status.Dev, status.Ino)), nil
}

// digest makes a short name of what identifies a file.
func digest(identity string) string {
	sum := sha256.Sum256([]byte(identity))
	return hex.EncodeToString(sum[:8])
}

// tryLock locks an open file without waiting: alone, or (shared) only to see whether somebody has it alone. The lock goes
// with the open file, at the latest when the process ends.
func tryLock(f *os.File, shared bool) error {
	how := unix.LOCK_EX
	if shared {
		how = unix.LOCK_SH
	}
	for {
		err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EWOULDBLOCK):
			return errLocked
		default:
			return os.NewSyscallError("flock", err)
		}
	}
}

// lives says whether there is a process with this id. One that has ended and was not waited for does not live.
func lives(pid int) bool { return !errors.Is(unix.Kill(pid, 0), unix.ESRCH) && !zombie(pid) }

// removeLock removes a lock file and lets go of the lock, in this order: whoever locks it afterwards finds that it is no
// longer there (see acquire).
func removeLock(lock *os.File) {
	_ = os.Remove(lock.Name())
	_ = lock.Close()
}
