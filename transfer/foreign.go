package transfer

import (
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"time"
)

// Source is a volume in another process, as far as copies out of it need it. Paths are absolute in the volume. Errors
// must be fs.ErrNotExist, fat32.ErrBusy and the like where those of a volume here would be. Safe for concurrent use.
type Source interface {
	// List gives the children of a folder in any order. Nodes beside an error are those that could be read.
	List(dir string) ([]SourceNode, error)
	Stat(path string) (SourceNode, error)
	// Open opens a file for reading and describes it.
	Open(path string) (SourceReader, SourceNode, error)
	// Remove deletes a file or an empty folder.
	Remove(path string) error
	// Sync returns when everything removed is durably so.
	Sync() error
}

// SourceReader is an open file of a Source. It is mostly read from the beginning to the end, by one goroutine.
type SourceReader interface {
	io.ReaderAt
	io.Closer
}

// SourceNode describes a file or folder of a Source.
type SourceNode struct {
	Name      string    `json:"name"`
	Folder    bool      `json:"folder,omitempty"`
	SizeBytes int64     `json:"size"`
	Modified  time.Time `json:"modified"`
	Created   time.Time `json:"created"`
	ReadOnly  bool      `json:"readOnly,omitempty"`
	Place     uint64    `json:"place,omitempty"` // where its data begin: for reading in that order
}

// VolumeSource serves the volume of p, whose path does not matter, as a Source.
func VolumeSource(p Place) Source { return volumeService{newVolumeTree(p, "/")} }

// volumeService is a volume here as another process sees it.
type volumeService struct{ tree *volumeTree }

func (s volumeService) List(dir string) ([]SourceNode, error) {
	nodes, err := s.tree.list(dir)
	out := make([]SourceNode, len(nodes))
	for i, n := range nodes {
		out[i] = sourceNodeOf(n)
	}
	return out, err
}

func (s volumeService) Stat(p string) (SourceNode, error) {
	if path.Clean("/"+p) == "/" {
		return SourceNode{Folder: true}, nil
	}
	n, err := s.tree.stat(p)
	return sourceNodeOf(n), err
}

func (s volumeService) Open(p string) (SourceReader, SourceNode, error) {
	f, n, err := s.tree.open(p)
	if err != nil {
		return nil, SourceNode{}, err
	}
	return f, sourceNodeOf(n), nil
}

func (s volumeService) Remove(p string) error { return s.tree.remove(p) }
func (s volumeService) Sync() error           { return s.tree.sync() }

func sourceNodeOf(n node) SourceNode {
	return SourceNode{Name: n.name, Folder: n.kind == kindFolder, SizeBytes: n.size, Modified: n.modified, Created: n.created, ReadOnly: n.readOnly, Place: n.place}
}

func nodeOfSource(s SourceNode) node {
	n := node{name: s.Name, size: s.SizeBytes, modified: s.Modified, created: s.Created, readOnly: s.ReadOnly, place: s.Place}
	if s.Folder {
		n.kind, n.size = kindFolder, 0
	}
	return n
}

// foreignTree is a folder in a volume of another process: only a source.
type foreignTree struct {
	source Source
	base   string
}

func (t *foreignTree) at(p string) string { return path.Join(t.base, p) }

func (t *foreignTree) list(dir string) ([]node, error) {
	found, err := t.source.List(t.at(dir))
	out := make([]node, 0, len(found))
	for _, s := range found {
		if s.Name == "" || strings.ContainsAny(s.Name, "/\x00") || s.Name == "." || s.Name == ".." {
			err = errors.Join(err, fmt.Errorf("%q is no name of one file", s.Name))
			continue
		}
		out = append(out, nodeOfSource(s))
	}
	return out, err
}

func (t *foreignTree) stat(p string) (node, error) {
	s, err := t.source.Stat(t.at(p))
	return nodeOfSource(s), err
}

func (t *foreignTree) open(p string) (sourceFile, node, error) {
	f, s, err := t.source.Open(t.at(p))
	if err != nil {
		return nil, node{}, err
	}
	return &foreignFile{f, t, p}, nodeOfSource(s), nil
}

func (t *foreignTree) remove(p string) error { return t.source.Remove(t.at(p)) }
func (t *foreignTree) sync() error           { return t.source.Sync() }
func (t *foreignTree) close() error          { return nil }

// errOnlySource: nothing is written to a volume of another process.
var errOnlySource = fmt.Errorf("a volume of another process is only read: %w", errors.ErrUnsupported)

func (t *foreignTree) mkdir(string) error                       { return errOnlySource }
func (t *foreignTree) create(createOptions) (targetFile, error) { return nil, errOnlySource }
func (t *foreignTree) dress(string, node) error                 { return errOnlySource }

// foreignFile is an open file of a foreignTree.
type foreignFile struct {
	SourceReader
	tree *foreignTree
	path string
}

// stat asks anew: the file may have changed since it was opened.
func (f *foreignFile) stat() (node, error) { return f.tree.stat(f.path) }

func (f *foreignFile) forget() {}

// resolveForeign finds what a place in a volume of another process means.
func resolveForeign(s Place) (operand, error) {
	p := path.Clean("/" + s.Path)
	if p == "/" {
		return operand{root: p, node: node{kind: kindFolder}}, nil
	}
	found, err := s.Source.Stat(p)
	if err != nil {
		return operand{}, err
	}
	n := nodeOfSource(found)
	if s.Contents {
		if n.kind != kindFolder {
			return operand{}, fmt.Errorf("%s: %w: not a folder", s.shown(), ErrNoSource)
		}
		return operand{root: p, node: n}, nil
	}
	return operand{root: path.Dir(p), name: n.name, node: n}, nil
}
