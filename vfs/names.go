package vfs

import "strings"

// cutPath returns the first name of a path and the rest.
func cutPath(path string) (name, rest string) {
	path = strings.TrimLeft(path, "/")
	name, rest, _ = strings.Cut(path, "/")
	return name, rest
}

// splitLast divides a path before its last name.
func splitLast(path string) (dir, name string) {
	path = strings.TrimRight(path, "/")
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		return path[:i], path[i+1:]
	}
	return "", path
}
