package registry

import (
	"fmt"
	"os"
	"path/filepath"
)

// maxSocketPath is the longest path a unix socket can have, its final NUL left out.
const maxSocketPath = 107

// AtShortPath calls do with a path that leads to the socket and is short enough for the system's socket calls.
func AtShortPath(socket string, do func(path string) error) error {
	if len(socket) <= maxSocketPath {
		return do(socket)
	}
	folder, err := os.Open(filepath.Dir(socket))
	if err != nil {
		return err
	}
	defer folder.Close()
	return do(fmt.Sprintf("/proc/self/fd/%d/%s", folder.Fd(), filepath.Base(socket)))
}
