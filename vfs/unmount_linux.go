package vfs

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// unmountPoint unmounts what is mounted at point: by the system call where that is allowed, else through
// fusermount3, which lets users unmount what is theirs. ErrBusy if it is in use; lazily never is.
func unmountPoint(point string, lazily bool) error {
	flags := 0x8 // UMOUNT_NOFOLLOW
	if lazily {
		flags |= syscall.MNT_DETACH
	}
	switch err := syscall.Unmount(point, flags); err {
	case nil:
		return nil
	case syscall.EBUSY:
		return fmt.Errorf("%w: %w", ErrBusy, err)
	case syscall.EPERM:
	default:
		return err
	}
	tool, err := fusermount()
	if err != nil {
		return err
	}
	args := []string{"-u", point}
	if lazily {
		args = []string{"-u", "-z", point}
	}
	cmd := exec.Command(tool, args...)
	cmd.Env = []string{"LC_ALL=C"}
	out, err := cmd.CombinedOutput()
	if err == nil {
		return nil
	}
	text := strings.TrimSpace(string(bytes.ToValidUTF8(out, nil)))
	if strings.Contains(text, "busy") {
		return fmt.Errorf("%w: %s", ErrBusy, text)
	}
	return fmt.Errorf("%s: %w: %s", tool, err, text)
}

// fusermount finds the helper that mounts for ordinary users.
func fusermount() (string, error) {
	for _, name := range []string{"fusermount3", "fusermount"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
		for _, dir := range []string{"/usr/bin/", "/bin/"} { // PATH may be empty
			if path, err := exec.LookPath(dir + name); err == nil {
				return path, nil
			}
		}
	}
	return "", fmt.Errorf("%w: fusermount3 is missing: install the package fuse3", ErrNoFUSE)
}

// probeFUSE tells whether the kernel and this user can mount.
func probeFUSE() error {
	if _, err := os.Stat("/dev/fuse"); err != nil {
		return fmt.Errorf("%w: the kernel has no FUSE (/dev/fuse): load the module fuse", ErrNoFUSE)
	}
	if os.Geteuid() == 0 {
		return nil // mounts itself
	}
	if _, err := fusermount(); err != nil {
		return err
	}
	f, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if errors.Is(err, os.ErrPermission) {
		return fmt.Errorf("%w: /dev/fuse is closed to this user: it should have mode 0666", ErrNoFUSE)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNoFUSE, err)
	}
	return f.Close()
}
