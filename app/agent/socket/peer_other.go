//go:build !linux && !darwin && !freebsd

package socket

import "net"

// PeerOf relies on the rights of the folder that holds the socket (see config.RuntimeDir): the system names no peer.
func PeerOf(net.Conn) (Peer, error) { return Peer{Own: true}, nil }
