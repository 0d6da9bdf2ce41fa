//go:build darwin || freebsd

package agent

import (
	"errors"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// peerOf asks the system who is at the other end of a unix socket. It does not tell the process.
func peerOf(conn net.Conn) (peer, error) {
	socket, ok := conn.(*net.UnixConn)
	if !ok {
		return peer{}, errors.New("not a unix socket")
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return peer{}, err
	}
	var credentials *unix.Xucred
	var inner error
	if err := raw.Control(func(fd uintptr) {
		credentials, inner = unix.GetsockoptXucred(int(fd), 0, unix.LOCAL_PEERCRED) // 0: SOL_LOCAL
	}); err != nil {
		return peer{}, err
	}
	if inner != nil {
		return peer{}, inner
	}
	return peer{own: int(credentials.Uid) == os.Geteuid()}, nil
}
