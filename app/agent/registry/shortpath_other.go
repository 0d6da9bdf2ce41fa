//go:build !linux

package registry

import "fmt"

// maxSocketPath is the longest path a unix socket can have on all of these systems.
const maxSocketPath = 103

// AtShortPath calls do with the path of the socket if it is short enough for the system's socket calls.
func AtShortPath(socket string, do func(path string) error) error {
	if len(socket) > maxSocketPath {
		return fmt.Errorf("the path %s is too long for a socket; set XDG_RUNTIME_DIR to a shorter folder", socket)
	}
	return do(socket)
}
