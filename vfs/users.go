package vfs

import (
	"cmp"
	"path/filepath"
	"slices"
	"sync"
)

// maxUsers bounds what a search for users returns: it is for people to read.
const maxUsers = 256

// openHandle is what the core knows of a file that is open through the mount.
type openHandle struct {
	pid   int    // of the process (or thread) that opened it; 0 if the system did not tell
	path  string // inside the drive, "/" separated; "" once removed
	write bool
}

// userFinder looks for the users of a drive. The zero value is ready. It remembers which processes an earlier search is still
// stuck at, so that searching again and again takes neither long nor more and more memory.
type userFinder struct {
	mu    sync.Mutex
	stuck map[int]struct{}
}

// enter is false if a search is still stuck at the process; else leave must follow.
func (f *userFinder) enter(pid int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, stuck := f.stuck[pid]; stuck {
		return false
	}
	if f.stuck == nil {
		f.stuck = map[int]struct{}{}
	}
	f.stuck[pid] = struct{}{}
	return true
}

func (f *userFinder) leave(pid int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.stuck, pid)
}

// find tells who uses the drive mounted at point: what the core knows of open handles, and what the system tells of
// working directories, mapped files and handles. It never touches the file system of the mount itself, so that it
// returns, after at most two seconds, also when the mount is dead. This process is left out. Best effort: programs of
// other users may be known only by their handles.
func (f *userFinder) find(point string, handles []openHandle) []User {
	users := f.systemUsers(point)
	for _, h := range handles {
		pid, program := describeProcess(h.pid)
		if isSelf(pid) {
			continue
		}
		path := filepath.Join(point, filepath.FromSlash(h.path))
		if slices.ContainsFunc(users, func(u User) bool {
			return program == "" && u.Path == path || h.path == "" && u.PID == pid
		}) {
			// Opened by a program that has ended, and somebody who inherited the handle is in the list; or removed
			// since, and the system knows by which name.
			continue
		}
		users = append(users, User{PID: pid, Program: program, Path: path, Write: h.write})
	}
	return mergeUsers(users)
}

// mergeUsers sorts by process and path and keeps one entry for each pair.
func mergeUsers(users []User) []User {
	slices.SortFunc(users, func(a, b User) int {
		return cmp.Or(cmp.Compare(a.PID, b.PID), cmp.Compare(a.Path, b.Path))
	})
	merged := users[:0]
	for _, u := range users {
		if last := len(merged) - 1; last >= 0 && merged[last].PID == u.PID && merged[last].Path == u.Path {
			merged[last].Write = merged[last].Write || u.Write
			merged[last].WorksIn = merged[last].WorksIn || u.WorksIn
			continue
		}
		merged = append(merged, u)
	}
	return merged[:min(len(merged), maxUsers)]
}
