package vfs

import (
	"errors"
	"fmt"
	"io"
	"time"

	"coffer/fat32"
)

// info describes litter, name included.
func (n *litterNode) info() fat32.Info {
	n.l.mu.RLock()
	defer n.l.mu.RUnlock()
	return n.infoLocked()
}

func (n *litterNode) infoLocked() fat32.Info {
	if n.file != nil {
		i, _ := n.fileRef.Stat() // fails only when the volume is closed, and then nobody asks
		i.Name, i.ID = n.fileRef.Name(), n.id
		return i
	}
	return fat32.Info{Name: n.name, ShortName: n.name, Size: int64(len(n.data)), Attr: n.attr, ModTime: n.times.Modify,
		CreateTime: n.times.Create, AccessTime: n.times.Access, ID: n.id, Removed: n.name == ""}
}

// stat is FS.Stat: the name is left empty.
func (n *litterNode) stat() (fat32.Info, error) {
	i := n.info()
	i.Name, i.ShortName = "", ""
	return i, nil
}

// open opens litter as FS.Open does; it takes no reference over.
func (n *litterNode) open(flag fat32.OpenFlag) error {
	writes := flag&(fat32.WriteOnly|fat32.ReadWrite) != 0
	n.l.mu.Lock()
	attr, file := n.attr, n.file
	if file != nil {
		if i, err := n.fileRef.Stat(); err == nil {
			attr = i.Attr
		}
	}
	n.l.mu.Unlock()
	switch {
	case n.isDir:
		return fat32.ErrIsDir
	case writes && attr&fat32.AttrReadOnly != 0:
		return errReadOnly
	case flag&fat32.Truncate != 0:
		return n.truncate(0)
	}
	return nil
}

// create makes or opens a file of litter called name in dir, as FS.Create does. spill: it does not fit and belongs into
// the container.
func (l *litter) create(dir Node, name string, flag fat32.OpenFlag) (n *litterNode, spill bool, err error) {
	l.mu.Lock()
	names, _ := l.namesLocked(dir, false)
	if n = names[fat32.FoldName(name)]; n == nil {
		n, err = l.makeLocked(dir, name, false)
		l.mu.Unlock()
		return n, dir.lit == nil && errors.Is(err, fat32.ErrNoSpace), err
	}
	n.refs++
	l.mu.Unlock()
	if flag&fat32.Exclusive != 0 {
		err = fat32.ErrExist
	} else {
		err = n.open(flag)
	}
	if err != nil {
		n.release()
		return nil, false, err
	}
	return n, false, nil
}

// moved returns the file in the container that n has become, nil if it has not.
func (n *litterNode) movedTo() *fat32.File {
	n.l.mu.RLock()
	defer n.l.mu.RUnlock()
	return n.file
}

// readAt reads as FS.Read does.
func (n *litterNode) readAt(p []byte, off int64) (int, error) {
	n.l.mu.RLock()
	if file := n.file; file != nil {
		n.l.mu.RUnlock()
		got, err := file.ReadAt(p, off)
		if err == io.EOF {
			err = nil
		}
		return got, err
	}
	defer n.l.mu.RUnlock()
	if off < 0 {
		return 0, fat32.ErrInvalid
	}
	if off >= int64(len(n.data)) {
		return 0, nil
	}
	return copy(p, n.data[off:]), nil
}

// writeAt writes as FS.Write does.
func (n *litterNode) writeAt(p []byte, off int64) (int, error) {
	n.l.mu.Lock()
	if off < 0 {
		n.l.mu.Unlock()
		return 0, fat32.ErrInvalid
	}
	if off > fat32.MaxFileSize || int64(len(p)) > fat32.MaxFileSize-off {
		n.l.mu.Unlock()
		return 0, fat32.ErrTooBig
	}
	if n.file == nil {
		if err := n.resizeLocked(max(int64(len(n.data)), off+int64(len(p)))); err != nil {
			n.l.mu.Unlock()
			return 0, err
		}
	}
	if file := n.file; file != nil {
		n.l.mu.Unlock()
		return file.WriteAt(p, off)
	}
	defer n.l.mu.Unlock()
	copy(n.data[off:], p)
	n.changedLocked()
	return len(p), nil
}

// truncate sets the size.
func (n *litterNode) truncate(size int64) error {
	if size < 0 {
		return fat32.ErrInvalid
	}
	if size > fat32.MaxFileSize {
		return fat32.ErrTooBig
	}
	n.l.mu.Lock()
	var err error
	if n.file == nil {
		err = n.resizeLocked(size)
	}
	file := n.file
	if file == nil && err == nil {
		n.changedLocked()
	}
	n.l.mu.Unlock()
	if file != nil && err == nil {
		err = file.Truncate(size)
	}
	return err
}

// truncateClosed is truncate for somebody who has the file not open, which the read-only attribute forbids.
func (n *litterNode) truncateClosed(size int64) error {
	if err := n.open(fat32.WriteOnly); err != nil {
		return err
	}
	return n.truncate(size)
}

// resizeLocked gives the content another size, within the memory there is: what does not fit moves into the
// container, if it lies in a folder there, with the size it has.
func (n *litterNode) resizeLocked(size int64) error {
	l := n.l
	grow := size - int64(len(n.data))
	if grow > 0 && l.used+grow > l.limit {
		if n.folder == nil || n.name == "" {
			return fmt.Errorf("memory for litter is used up: %w", fat32.ErrNoSpace)
		}
		_, err := l.moveLocked(n, n.folder.ref, n.name, false)
		return err
	}
	switch {
	case grow < 0 && size < int64(cap(n.data))/4:
		n.data = append([]byte(nil), n.data[:size]...)
	case size <= int64(cap(n.data)):
		old := int64(len(n.data))
		n.data = n.data[:size]
		if grow > 0 {
			clear(n.data[old:])
		}
	default:
		n.data = append(n.data, make([]byte, grow)...)
	}
	l.used += grow
	return nil
}

func (n *litterNode) changedLocked() {
	n.times.Modify = time.Now().Truncate(2 * time.Second)
	n.attr |= fat32.AttrArchive
}

// setTimes is FS.SetTimes. They are rounded as FAT would.
func (n *litterNode) setTimes(t fat32.Times) error {
	n.l.mu.Lock()
	defer n.l.mu.Unlock()
	if n.file != nil {
		return n.fileRef.SetTimes(t)
	}
	if !t.Modify.IsZero() {
		n.times.Modify = t.Modify.Truncate(2 * time.Second)
	}
	if !t.Create.IsZero() {
		n.times.Create = t.Create.Truncate(10 * time.Millisecond)
	}
	if !t.Access.IsZero() {
		n.times.Access = t.Access.Truncate(2 * time.Second)
	}
	return nil
}

// settableAttr are the attributes that can be set.
const settableAttr = fat32.AttrReadOnly | fat32.AttrHidden | fat32.AttrSystem | fat32.AttrArchive

// setAttr is FS.SetAttr.
func (n *litterNode) setAttr(attr, mask fat32.Attr) error {
	n.l.mu.Lock()
	defer n.l.mu.Unlock()
	if n.file != nil {
		return n.fileRef.SetAttr(attr, mask)
	}
	mask &= settableAttr
	n.attr = n.attr&^mask | attr&mask
	return nil
}

// reserve is FS.Reserve.
func (n *litterNode) reserve(size int64) error {
	if file := n.movedTo(); file != nil {
		return file.Reserve(size)
	}
	if size < 0 {
		return fat32.ErrInvalid
	}
	return nil // what does not fit moves to where it can be reserved
}
