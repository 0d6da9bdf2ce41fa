package socket

import (
	"errors"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// PeerOf asks the system who is at the other end of a unix socket.
func PeerOf(conn net.Conn) (Peer, error) {
	socket, ok := conn.(*net.UnixConn)
	if !ok {
		return Peer{}, errors.New("not a unix socket")
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return Peer{}, err
	}
	var credentials *unix.Ucred
	var inner error
	if err := raw.Control(func(fd uintptr) {
		credentials, inner = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil {
		return Peer{}, err
	}
	if inner != nil {
		return Peer{}, inner
	}
	return Peer{PID: int(credentials.Pid), Own: int(credentials.Uid) == os.Geteuid()}, nil
}
