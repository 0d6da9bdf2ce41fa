package vfs

import (
	"os"
	"path/filepath"
	"strings"
)

// loopDevices tells which loop devices have a file of the mount below them: the kernel itself holds it then, and no
// process is to be found. blocks is the folder where the system describes its block devices, /sys/block.
func (s *userSearch) loopDevices(blocks string) {
	backing, err := filepath.Glob(filepath.Join(blocks, "loop*/loop/backing_file"))
	if err != nil {
		return
	}
	for _, name := range backing {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // detached meanwhile
		}
		path := strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), " (deleted)")
		if !s.mount.owns(path) {
			continue
		}
		device := filepath.Dir(filepath.Dir(name))
		readOnly, _ := os.ReadFile(filepath.Join(device, "ro"))
		s.add(User{Program: "/dev/" + filepath.Base(device), Path: path, Write: strings.TrimSpace(string(readOnly)) == "0"})
	}
}
