//go:build !linux && !darwin && !freebsd

package agent

import "net"

// peerOf relies on the rights of the folder that holds the socket (see config.RuntimeDir): the system names no peer.
func peerOf(net.Conn) (peer, error) { return peer{own: true}, nil }
