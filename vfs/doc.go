// Package vfs turns a *fat32.Volume into a drive that programs use like any
// other: a folder on Linux, macOS and FreeBSD, a letter on Windows.
//
// There is one core, FS, which speaks Go: nodes, handles, errors. A binding
// translates the callbacks of one FUSE library into calls of the core: go-fuse
// on Linux, cgofuse everywhere else and on Linux with the build tag cgofuse
// (with fuse3 in addition for libfuse3). Errors become error numbers in one table, errno.go.
//
// # Rules of the core
//
//   - Objects are held by reference (Node, Handle), never by a path that may be
//     out of date: a file that was renamed or removed goes on under its handle.
//   - Where the system's cache of names tells upper from lower case (Linux,
//     FreeBSD), only the stored spelling of a name is found; creating a name that
//     differs in case only meets what is there. Elsewhere case is ignored.
//   - Negative answers are never cached by the system; positive ones for long, because
//     every change that does not come through the mount is told to it (Mount.Changed).
//   - Times are rounded when they are set.
//   - Writes go down at once, so there is nothing to do when a file is closed.
//     Sync returns when everything is durable.
//   - A panic in a callback is an error of that callback and turns the volume
//     read-only; reads go on.
//
// # Locks
//
// Bindings: table of inodes. Core: table of handles. Both are leaves: no call
// into fat32 is made under them. Nobody tells the system about a change
// (Mount.Changed) from inside a callback: the system may hold a lock that the
// notification needs.
package vfs
