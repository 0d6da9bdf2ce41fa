package agent

import (
	"errors"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// peerOf asks the system who is at the other end of a unix socket.
func peerOf(conn net.Conn) (peer, error) {
	socket, ok := conn.(*net.UnixConn)
	if !ok {
		return peer{}, errors.New("not a unix socket")
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return peer{}, err
	}
	var credentials *unix.Ucred
	var inner error
	if err := raw.Control(func(fd uintptr) {
		credentials, inner = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil {
		return peer{}, err
	}
	if inner != nil {
		return peer{}, inner
	}
	return peer{pid: int(credentials.Pid), own: int(credentials.Uid) == os.Geteuid()}, nil
}
