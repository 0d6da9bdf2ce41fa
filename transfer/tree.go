package transfer

import (
	"errors"
	"io"
	"time"
)

// kind is what a name stands for.
type kind uint8

const (
	kindFile kind = iota
	kindFolder
	kindLink
	kindDevice
	kindFIFO
	kindSocket
	kindSpecial
)

// reason is the code under which a kind that is not copied is listed.
func (k kind) reason() string {
	switch k {
	case kindLink:
		return ReasonLink
	case kindDevice:
		return ReasonDevice
	case kindFIFO:
		return ReasonFIFO
	case kindSocket:
		return ReasonSocket
	default:
		return ReasonSpecial
	}
}

// node is what a tree knows about one name.
type node struct {
	name     string
	kind     kind
	size     int64
	modified time.Time
	created  time.Time // zero: unknown
	mode     uint32    // permission bits; 0: the tree has none
	readOnly bool
	join     *manifest // not nil: to be joined from parts beside it
	place    uint64    // where the data begin on the device, for reading in that order; 0: unknown
}

// Paths of trees are relative to the root of the tree, with slashes; "" is the root.

// sourceTree is a tree files are read from.
type sourceTree interface {
	// list returns the children of a folder in any order, without "." and "..".
	list(dir string) ([]node, error)
	// stat does not follow a link at the end of path.
	stat(path string) (node, error)
	// open opens a regular file for reading, follows no link, and describes it.
	open(path string) (sourceFile, node, error)
	// remove deletes a file or an empty folder.
	remove(path string) error
	// sync returns when everything done to the tree before is durable.
	sync() error
	// close gives back what the tree holds open.
	close() error
}

// sourceFile is an open source. ReadAt may be called concurrently.
type sourceFile interface {
	io.ReaderAt
	io.Closer
	stat() (node, error)
	// forget drops cached bytes so that the next read comes from the disk.
	forget()
}

// targetTree is a tree files are written to.
type targetTree interface {
	mkdir(path string) error
	create(o createOptions) (targetFile, error)
	// dress gives a folder the times of n.
	dress(path string, n node) error
}

// createOptions say how a file is begun.
type createOptions struct {
	path string // final path
	size int64  // expected size: clusters are kept together
	like node   // what it is a copy of: permission bits
	// part is the path of a named part file that survives an interruption; "":
	// nothing of the file survives one, where the system can do that.
	part string
	// resume opens the existing part rather than making a new one.
	resume bool
}

// targetFile is a file being written, not visible under its final name.
// Exactly one of publish, discard and keep ends it.
type targetFile interface {
	io.WriterAt
	// publish gives it times and attributes and its final name. replace allows a
	// file that stands there to be replaced, atomically.
	publish(n node, replace bool) error
	// discard removes what was written.
	discard() error
	// keep closes it and leaves the part file where it is.
	keep() error
}

// tree is both sides.
type tree interface {
	sourceTree
	targetTree
}

var (
	errTargetLink = errors.New("a link stands in the way and is not followed")
	errNotRegular = errors.New("not a regular file")
)
