// Package socket makes and reaches the control sockets of agents: unix sockets that only their owner gets through.
package socket

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"

	"coffer/app/agent/registry"
)

// Peer is the process at the other end of a connection.
type Peer struct {
	PID int  // 0 when the system does not tell
	Own bool // it belongs to this user
}

// ErrForeign: the process that listens belongs to another user.
var ErrForeign = errors.New("the agent belongs to another user")

// Listen makes the socket at path, for its owner only; what was there is removed. Whoever closes the listener removes it.
func Listen(path string) (net.Listener, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	var listener net.Listener
	err := registry.AtShortPath(path, func(short string) (err error) {
		listener, err = net.Listen("unix", short)
		return err
	})
	if err != nil {
		return nil, err
	}
	listener.(*net.UnixListener).SetUnlinkOnClose(false) // the registry removes it
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	return ownListener{listener}, nil
}

// ownListener accepts connections of this user only. The folder keeps others out; this is the second lock on the door.
type ownListener struct{ net.Listener }

// Accept passes over connections of other users.
func (l ownListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if peer, err := PeerOf(conn); err == nil && peer.Own {
			return conn, nil
		}
		_ = conn.Close()
	}
}

// Dial connects to the socket at path and makes sure that who listens there belongs to this user.
func Dial(ctx context.Context, path string) (conn net.Conn, err error) {
	err = registry.AtShortPath(path, func(short string) (err error) {
		conn, err = (&net.Dialer{}).DialContext(ctx, "unix", short)
		return err
	})
	if err != nil {
		return nil, err
	}
	if peer, err := PeerOf(conn); err != nil || !peer.Own {
		_ = conn.Close()
		return nil, errors.Join(ErrForeign, err)
	}
	return conn, nil
}

// Transport carries requests to the socket at path, one connection for each: its end is how the agent learns that nobody waits
// any more.
func Transport(path string) *http.Transport {
	return &http.Transport{DisableKeepAlives: true, DisableCompression: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return Dial(ctx, path)
	}}
}
