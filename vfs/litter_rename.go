package vfs

import (
	"errors"
	"fmt"

	"coffer/fat32"
)

// errCrossDevice refuses a rename between litter and the container: the program may copy.
var errCrossDevice = errors.New("one of the two is kept in memory")

// rename is FS.Rename as far as litter has to do with it; mine is false if it has not. A file of litter that gets the name of
// something else is copied into the container. Everything else that would have to cross is refused with errCrossDevice.
func (l *litter) rename(dir Node, name string, to Node, newName string, replace, exact bool) (displaced string, mine bool, err error) {
	toLitter := l.belongs(to, newName)
	l.mu.Lock()
	defer l.mu.Unlock()
	names, _ := l.namesLocked(dir, false)
	n := names[fat32.FoldName(name)]
	if n != nil && exact && n.name != name {
		n = nil
	}
	switch {
	case n == nil && dir.lit != nil:
		return "", true, fat32.ErrNotExist
	case n == nil && !toLitter:
		return "", false, nil
	case n == nil:
		if ref, _, err := dir.fat.Lookup(name, exact); err == nil {
			ref.Release()
			return "", true, errCrossDevice
		}
		return "", true, fat32.ErrNotExist
	case toLitter:
		displaced, err = l.renameLocked(n, to, newName, replace)
		return displaced, true, err
	case n.isDir:
		return "", true, errCrossDevice
	}
	displaced, err = l.moveLocked(n, to.fat, newName, replace)
	return displaced, true, err
}

// renameLocked renames within the litter.
func (l *litter) renameLocked(n *litterNode, to Node, newName string, replace bool) (displaced string, err error) {
	if err := fat32.CheckName(newName); err != nil {
		return "", err
	}
	if to.lit != nil && to.lit.name == "" || to.lit == nil && to.fat.Removed() {
		return "", fat32.ErrNotExist
	}
	for above := to.lit; above != nil; above = above.parent {
		if above == n {
			return "", fmt.Errorf("folder cannot go into itself: %w", fat32.ErrInvalid)
		}
	}
	names, _ := l.namesLocked(to, false)
	if target := names[fat32.FoldName(newName)]; target != nil && target != n {
		switch {
		case !replace:
			return "", fat32.ErrExist
		case n.isDir && !target.isDir:
			return "", fat32.ErrNotDir
		case !n.isDir && target.isDir:
			return "", fat32.ErrIsDir
		case len(target.names) > 0:
			return "", fat32.ErrNotEmpty
		}
		displaced = target.name
		l.removeLocked(target)
	}
	old := n.name
	l.takeLocked(n)
	names, folder := l.namesLocked(to, true)
	l.used += int64(len(newName) - len(old))
	l.placeLocked(n, to.lit, folder, names, newName)
	return displaced, nil
}

// moveLocked copies a file of litter into folder to of the container, where it is called name from then on. It is written
// under a name of its own first, so that a file it replaces is there until the new one is whole.
func (l *litter) moveLocked(n *litterNode, to fat32.Ref, name string, replace bool) (displaced string, err error) {
	if err := fat32.CheckName(name); err != nil {
		return "", err
	}
	// Before anything is written: a rename that is to fail shall leave nothing, and no folder is replaced.
	if ref, _, err := to.Lookup(name, false); err == nil {
		isDir := ref.IsDir()
		ref.Release()
		switch {
		case !replace:
			return "", fat32.ErrExist
		case isDir:
			return "", fat32.ErrIsDir
		}
	}
	temporary := fmt.Sprintf("~coffer-%x.tmp", n.id)
	file, err := to.OpenIn(temporary, fat32.ReadWrite|fat32.Create|fat32.Exclusive)
	if err != nil {
		return "", err
	}
	ref := file.Ref()
	_, err = file.WriteAt(n.data, 0)
	if err == nil {
		err = ref.SetTimes(n.times)
	}
	if err == nil {
		err = ref.SetAttr(n.attr, settableAttr)
	}
	if err == nil {
		displaced, err = to.Rename(temporary, to, name, fat32.RenameOptions{Replace: replace, Exact: true})
	}
	if err != nil {
		_ = to.Remove(temporary, fat32.RemoveFile, true)
		_ = file.Close()
		ref.Release()
		return "", err
	}
	refs := n.refs
	n.refs = 0 // its content is not needed here any more
	l.removeLocked(n)
	n.refs, n.file, n.fileRef = refs, file, ref
	if refs == 0 {
		n.file = nil
		_ = file.Close()
		ref.Release()
		return displaced, nil
	}
	l.moved[ref.ID()] = n
	l.anyMoved.Store(true)
	return displaced, nil
}

// removeBeside is FS.remove for a drive with litter. A folder that holds only litter is empty.
func (fs *FS) removeBeside(dir Node, name string, kind fat32.RemoveKind) error {
	mine, err := fs.litter.remove(dir, name, kind, fs.exact)
	if mine {
		return err
	}
	gone := fs.folderAt(dir, name)
	if err := dir.fat.Remove(name, kind, fs.exact); err != nil {
		return err
	}
	fs.litter.forgetFolder(gone)
	return nil
}

// folderAt returns the identity of the folder of the container that has a name, 0 if there is none.
func (fs *FS) folderAt(dir Node, name string) uint64 {
	if dir.fat.Valid() && fs.litter.any.Load() {
		if ref, _, err := dir.fat.Lookup(name, false); err == nil {
			defer ref.Release()
			if ref.IsDir() {
				return ref.ID()
			}
		}
	}
	return 0
}

// renameBeside is FS.Rename for a drive with litter.
func (fs *FS) renameBeside(dir Node, name string, to Node, newName string, replace bool) (displaced string, err error) {
	displaced, mine, err := fs.litter.rename(dir, name, to, newName, replace, fs.exact)
	if mine {
		return displaced, err
	}
	replaced := fs.folderAt(to, newName)
	if replaced != 0 && replaced == fs.folderAt(dir, name) {
		replaced = 0 // only the case changes
	}
	displaced, err = dir.fat.Rename(name, to.fat, newName, fat32.RenameOptions{Replace: replace, Exact: fs.exact})
	if err == nil {
		fs.litter.forgetFolder(replaced)
	}
	return displaced, err
}
