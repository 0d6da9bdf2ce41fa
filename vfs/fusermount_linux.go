//go:build linux && !cgofuse

package vfs

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// mountByHelper mounts at point through fusermount3, which is allowed to for ordinary users, and returns the open FUSE
// device. go-fuse would run it too, but what the helper says of its failure would be lost.
//
// The protocol (libfuse, lib/mount.c): the helper is told in _FUSE_COMMFD the number of a socket, over which it sends the
// descriptor of the device once it has mounted.
func mountByHelper(helper, point string, o *fuse.MountOptions) (device int, err error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, os.NewSyscallError("socketpair", err)
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "ours"), os.NewFile(uintptr(pair[1]), "theirs")
	defer ours.Close()
	defer theirs.Close()
	var said bytes.Buffer
	cmd := exec.Command(helper, "-o", helperOptions(o), "--", point)
	cmd.Env = []string{"LC_ALL=C", "_FUSE_COMMFD=3"}
	cmd.ExtraFiles = []*os.File{theirs}
	cmd.Stdout, cmd.Stderr = &said, &said
	cmd.WaitDelay = time.Second // a process it leaves behind does not keep us waiting
	if err := cmd.Run(); err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		return -1, explainHelper(helper, said.Bytes(), err)
	}
	_ = theirs.Close() // its end is seen as the end of the socket
	if device, err = receiveDevice(pair[0]); err != nil {
		_ = unmountPoint(point, true)
		return -1, fmt.Errorf("%s mounted nothing: %w", helper, err)
	}
	return device, nil
}

// helperOptions is what the helper is told about the mount. Commas separate options and a backslash protects them.
func helperOptions(o *fuse.MountOptions) string {
	all := append(append([]string{}, o.Options...), "fsname="+o.FsName, "subtype="+o.Name, fmt.Sprintf("max_read=%d", o.MaxWrite))
	if o.AllowOther {
		all = append(all, "allow_other")
	}
	protect := strings.NewReplacer(`\`, `\\`, ",", `\,`)
	for i, option := range all {
		all[i] = protect.Replace(option)
	}
	return strings.Join(all, ",")
}

// explainHelper is the error for a helper that failed, with the last line it said.
func explainHelper(helper string, said []byte, err error) error {
	text := strings.TrimSpace(string(bytes.ToValidUTF8(said, []byte("?"))))
	text = strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
	const most = 300
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "..."
	}
	kind := error(nil)
	switch {
	case text == "":
		return fmt.Errorf("%w: %s said nothing: %w", ErrNoFUSE, helper, err)
	case strings.Contains(text, "mountpoint"), strings.Contains(text, "mount point"), strings.Contains(text, "mounting over"):
		kind = ErrPoint
	case strings.Contains(text, "/dev/fuse"), strings.Contains(text, "fuse device"), strings.Contains(text, "not permitted"),
		strings.Contains(text, "setuid"), strings.Contains(text, "must be run"):
		kind = ErrNoFUSE
	default:
		return errors.New(text)
	}
	return fmt.Errorf("%w: %s", kind, text)
}

// receiveDevice takes the one descriptor that the helper sends.
func receiveDevice(socket int) (device int, err error) {
	var n, controls int
	control := make([]byte, unix.CmsgSpace(4))
	for {
		n, controls, _, _, err = unix.Recvmsg(socket, make([]byte, 4), control, unix.MSG_CMSG_CLOEXEC)
		if err != unix.EINTR {
			break
		}
	}
	if err != nil {
		return -1, os.NewSyscallError("recvmsg", err)
	}
	messages, err := unix.ParseSocketControlMessage(control[:controls])
	if err != nil || n == 0 || len(messages) != 1 {
		return -1, errors.New("it sent no device")
	}
	descriptors, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(descriptors) != 1 {
		return -1, errors.New("it sent no device")
	}
	return descriptors[0], nil
}

// awaitAnswer returns when the mount at point answers. For a device that was opened elsewhere go-fuse leaves it to us. The
// name is one that go-fuse answers itself: polling it teaches the kernel that this file system does not do polling, so that
// Go's runtime, should this process open a file of its own drive, does not wait for itself.
func awaitAnswer(point string) error {
	fd, err := unix.Open(point+"/.go-fuse-epoll-hack", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	for {
		_, err = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN | unix.POLLOUT}}, 0)
		if err != syscall.EINTR {
			return err
		}
	}
}
