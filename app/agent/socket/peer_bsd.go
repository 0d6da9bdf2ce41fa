//go:build darwin || freebsd

package socket

import (
	"errors"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// PeerOf asks the system who is at the other end of a unix socket. It does not tell the process.
func PeerOf(conn net.Conn) (Peer, error) {
	socket, ok := conn.(*net.UnixConn)
	if !ok {
		return Peer{}, errors.New("not a unix socket")
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return Peer{}, err
	}
	var credentials *unix.Xucred
	var inner error
	if err := raw.Control(func(fd uintptr) {
		credentials, inner = unix.GetsockoptXucred(int(fd), 0, unix.LOCAL_PEERCRED) // 0: SOL_LOCAL
	}); err != nil {
		return Peer{}, err
	}
	if inner != nil {
		return Peer{}, inner
	}
	return Peer{Own: int(credentials.Uid) == os.Geteuid()}, nil
}
