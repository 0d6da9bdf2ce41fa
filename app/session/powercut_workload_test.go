package session

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"coffer/container/block/blocktest"
	"coffer/fat32"
	"coffer/transfer"
)

// workload makes operations on a volume, seeded, and keeps the oracle. Before an operation begins its mark is in the log,
// and after an acknowledgement another one.
type workload struct {
	t      testing.TB
	r      *rand.Rand
	h      *history
	log    *blocktest.Log
	v      *fat32.Volume
	synced int // the last state that was acknowledged
	ids    int
	done   []string // what was done, for a failure's message

	// tolerant workloads go on after an operation that fails, and remember the error.
	tolerant bool
	failures []error
}

// step goes to the next states, by do. paths are those it touches.
func (w *workload) step(what string, paths []string, do func() error, next ...tree) bool {
	w.h.states = append(w.h.states, next...)
	w.log.Mark(fmt.Sprintf("begin %d", len(w.h.states)-1))
	w.done = append(w.done, fmt.Sprintf("%d: %s %q", len(w.h.states)-1, what, paths))
	err := do()
	if err == nil {
		return true
	}
	err = fmt.Errorf("%s %q: %w", what, paths, err)
	if !w.tolerant {
		w.t.Fatalf("%v; the volume has %+v", err, w.v.StatFS())
	}
	w.failures = append(w.failures, err)
	w.h.spoil(paths, w.synced)
	return false
}

// sync acknowledges everything.
func (w *workload) sync() error {
	last := len(w.h.states) - 1
	if err := w.v.Sync(); err != nil {
		if !w.tolerant {
			w.t.Fatal(err)
		}
		w.failures = append(w.failures, err)
		return err
	}
	w.acknowledge(last)
	return nil
}

func (w *workload) acknowledge(state int) {
	w.synced = state
	w.log.Mark(fmt.Sprintf("synced %d", state))
}

// unique is n bytes that no other file has.
func (w *workload) unique(n int) string {
	p := make([]byte, n)
	for i := 0; i < n; i += 8 {
		x := w.r.Uint64()
		for k := i; k < min(n, i+8); k++ {
			p[k] = byte(x)
			x >>= 8
		}
	}
	return string(p)
}

// size is how long a file may become: on and beside the ends of clusters more often than elsewhere.
func (w *workload) size() int {
	cluster := w.v.Geometry().ClusterSize
	switch w.r.IntN(8) {
	case 0:
		return 1 + w.r.IntN(100)
	case 1:
		return cluster * (1 + w.r.IntN(3))
	case 2:
		return cluster*(1+w.r.IntN(3)) + 1 - 2*w.r.IntN(2)
	case 3:
		return 20_000 + w.r.IntN(30_000)
	default:
		return 200 + w.r.IntN(3*cluster)
	}
}

// room says whether n more bytes and a grown folder fit.
func (w *workload) room(n int) bool {
	fs := w.v.StatFS()
	return fs.FreeBytes >= int64(n)+6*int64(fs.ClusterSize)
}

// file picks a file, folder a folder; "" if there is none. The root is the folder "".
func (w *workload) file() string {
	return w.pick(func(path string, n node) bool { return !n.folder && !strings.HasSuffix(path, "/filler") })
}

func (w *workload) folder() string {
	if w.r.IntN(5) == 0 {
		return ""
	}
	return w.pick(func(path string, n node) bool { return n.folder && strings.Count(path, "/") < 5 })
}

func (w *workload) pick(wanted func(string, node) bool) string {
	var list []string
	for path, n := range w.h.now() {
		if wanted(path, n) && !w.h.isSpoiled(path) {
			list = append(list, path)
		}
	}
	if len(list) == 0 {
		return ""
	}
	slices.Sort(list) // maps have no order, seeds must have
	return list[w.r.IntN(len(list))]
}

// name is a path in a folder that nothing has had before: short, with a long name, or not of ASCII.
func (w *workload) name(folder string) string {
	w.ids++
	kinds := []string{"F%d.BIN", "f%d.txt", "A file with a name of more than one slot, number %d.text", "Übergrößenträger 文件 %d", "mixedCase%d.Ext",
		"a name that takes a good many of the slots that a folder has to offer, so that its entry set lies in two sectors, number %d"}
	return folder + "/" + fmt.Sprintf(kinds[w.r.IntN(len(kinds))], w.ids)
}

func (w *workload) newNode(data string) node {
	w.ids++
	return node{id: w.ids, data: data}
}

// open runs do on an open file.
func (w *workload) open(path string, flag fat32.OpenFlag, do func(f *fat32.File) error) error {
	f, err := w.v.OpenFile(path, fat32.ReadWrite|flag)
	if err != nil {
		return err
	}
	return errors.Join(do(f), f.Close())
}

func writeAll(f *fat32.File, data string, off int) error {
	if data == "" {
		return nil
	}
	_, err := f.WriteAt([]byte(data), int64(off))
	return err
}

// create makes a file with content; acknowledged by its own fsync if asked to.
func (w *workload) create(path, data string, fsync bool) bool {
	empty, full := w.newNode(""), node{}
	full = node{id: empty.id, data: data}
	last := len(w.h.states) + 1
	return w.step("create", []string{path}, func() error {
		return w.open(path, fat32.Create|fat32.Exclusive, func(f *fat32.File) error {
			err := writeAll(f, data, 0)
			if err == nil && fsync {
				if err = f.Sync(); err == nil {
					w.log.Mark(fmt.Sprintf("file %d %s", last, path))
				}
			}
			return err
		})
	}, w.h.now().with(path, empty), w.h.now().with(path, full))
}

// change writes data at off of a file.
func (w *workload) change(what, path, data string, off int) bool {
	old := w.h.now()[path]
	content := []byte(old.data)
	if grow := off + len(data) - len(content); grow > 0 {
		content = append(content, make([]byte, grow)...)
	}
	copy(content[off:], data)
	return w.step(what, []string{path}, func() error {
		return w.open(path, 0, func(f *fat32.File) error { return writeAll(f, data, off) })
	}, w.h.now().with(path, node{id: old.id, data: string(content)}))
}

func (w *workload) truncate(path string, size int) bool {
	old := w.h.now()[path]
	data := old.data[:min(size, len(old.data))] + strings.Repeat("\x00", max(0, size-len(old.data)))
	return w.step(fmt.Sprintf("truncate to %d", size), []string{path}, func() error {
		return w.open(path, 0, func(f *fat32.File) error { return f.Truncate(int64(size)) })
	}, w.h.now().with(path, node{id: old.id, data: data}))
}

func (w *workload) remove(path string) bool {
	return w.step("remove", []string{path}, func() error { return w.v.Remove(path) }, w.h.now().without(path))
}

func (w *workload) rename(from, to string, replace bool) bool {
	return w.step("rename", []string{from, to}, func() error { return w.v.Rename(from, to, replace) }, w.h.now().moved(from, to))
}

func (w *workload) mkdir(path string) bool {
	n := w.newNode("")
	n.folder = true
	return w.step("mkdir", []string{path}, func() error { return w.v.Mkdir(path) }, w.h.now().with(path, n))
}

// operation does one operation of the mix. Operations that do not fit the tree, or the room, are left out.
func (w *workload) operation() {
	path, folder := w.file(), w.folder()
	size := w.size()
	if path == "" || w.r.IntN(8) == 0 {
		if w.room(size) {
			w.create(w.name(folder), w.unique(size), w.r.IntN(6) == 0)
		}
		return
	}
	old := w.h.now()[path].data
	switch w.r.IntN(16) {
	case 0:
		if w.room(size) {
			w.change("append", path, w.unique(size), len(old))
		}
	case 1, 2:
		if len(old) > 1 {
			off := w.r.IntN(len(old) - 1)
			w.change("overwrite", path, w.unique(min(size, len(old)-off)), off)
		}
	case 3:
		w.truncate(path, w.r.IntN(len(old)+1))
	case 4:
		if w.truncate(path, 0) && w.room(size) {
			w.change("rewrite", path, w.unique(size), 0)
		}
	case 5:
		if w.room(size + 5000) {
			w.change("write past the end", path, w.unique(size), len(old)+w.r.IntN(5000))
		}
	case 6:
		w.remove(path)
	case 7:
		w.rename(path, w.name(path[:strings.LastIndex(path, "/")]), false)
	case 8:
		w.rename(path, w.name(folder), false)
	case 9:
		if to := w.file(); to != path {
			w.rename(path, to, true)
		}
	case 10:
		w.saveOver(path, size)
	case 11:
		w.mkdir(w.name(folder))
	case 12:
		w.moveFolder(folder)
	case 13:
		w.rare(path, folder, size)
	case 14:
		if w.remove(path) && w.room(size) {
			w.create(path, w.unique(size), false)
		}
	case 15:
		w.touch(path)
	}
}

// rare are operations that take much of the log.
func (w *workload) rare(path, folder string, size int) {
	switch w.r.IntN(4) {
	case 0:
		w.growFolder(folder)
	case 1:
		w.parallel(folder)
	case 2:
		w.orphan(path, size)
	case 3:
		if empty := w.pick(func(path string, n node) bool { return n.folder && w.isEmpty(path) }); empty != "" {
			w.step("rmdir", []string{empty}, func() error { return w.v.Remove(empty) }, w.h.now().without(empty))
		}
	}
}

func (w *workload) isEmpty(folder string) bool {
	for path := range w.h.now() {
		if strings.HasPrefix(path, folder+"/") {
			return false
		}
	}
	return true
}

// saveOver is how programs save: a new file under another name, renamed over the old one.
func (w *workload) saveOver(path string, size int) {
	if !w.room(size) {
		return
	}
	temporary := path + "~"
	if _, ok := w.h.now()[temporary]; !ok && w.create(temporary, w.unique(size), w.r.IntN(2) == 0) {
		w.rename(temporary, path, true)
	}
}

func (w *workload) moveFolder(to string) {
	from := w.pick(func(path string, n node) bool { return n.folder })
	target := to + "/" + filepath.Base(from)
	if _, taken := w.h.now()[target]; from != "" && !taken && !below(to, from) {
		w.rename(from, target, false)
	}
}

// growFolder adds files until the folder needs more clusters.
func (w *workload) growFolder(folder string) {
	if folder == "" || !w.room(16*w.v.Geometry().ClusterSize) {
		return
	}
	for range 10 {
		w.ids++
		path := fmt.Sprintf("%s/%03d of many files, all with names as long as this one to fill the folder", folder, w.ids)
		if !w.create(path, w.unique(w.r.IntN(90)), false) {
			return
		}
	}
}

// parallel writes three files at once.
func (w *workload) parallel(folder string) {
	size := w.size()
	if !w.room(3*size + 3*w.v.Geometry().ClusterSize) {
		return
	}
	var paths, data []string
	begun, done := w.h.now(), w.h.now()
	for range 3 {
		path, content := w.name(folder), w.unique(size)
		paths, data = append(paths, path), append(data, content)
		n := w.newNode("")
		begun = begun.with(path, n)
		n.data = content
		done = done.with(path, n)
	}
	w.step("write at once", paths, func() error {
		errs := make([]error, 3)
		var wg sync.WaitGroup
		for i := range paths {
			wg.Go(func() {
				errs[i] = w.open(paths[i], fat32.Create|fat32.Exclusive, func(f *fat32.File) error { return writeAll(f, data[i], 0) })
			})
		}
		wg.Wait()
		return errors.Join(errs...)
	}, begun, done)
}

// orphan writes into a file that has been removed.
func (w *workload) orphan(path string, size int) {
	if !w.room(size) {
		return
	}
	data, old := w.unique(size), w.h.now()[path]
	// A cut may undo the removal, which nobody acknowledged, but not what was written over the file's bytes.
	written := node{id: old.id, data: data + old.data[min(len(data), len(old.data)):]}
	w.step("remove while open", []string{path}, func() error {
		return w.open(path, 0, func(f *fat32.File) error {
			if err := w.v.Remove(path); err != nil {
				return err
			}
			return writeAll(f, data, 0)
		})
	}, w.h.now().with(path, written), w.h.now().without(path))
}

// touch changes what the oracle does not look at, but which is in the same sectors.
func (w *workload) touch(path string) {
	w.step("touch", []string{path}, func() error {
		at := time.Date(1990+w.r.IntN(50), 5, 6, 7, 8, 10, 0, time.UTC)
		return errors.Join(w.v.SetTimes(path, fat32.Times{Modify: at}), w.v.SetAttr(path, fat32.AttrArchive|fat32.AttrHidden))
	}, w.h.now())
}

// fill leaves a few clusters free, in one big file.
func (w *workload) fill(path string) {
	fs := w.v.StatFS()
	size := fs.FreeBytes - 14*int64(fs.ClusterSize)
	if size > 0 {
		w.create(path, w.unique(int(size)), false)
	}
}

// full does what must work, and what must fail, when there are a few free clusters only.
func (w *workload) full() {
	cluster := w.v.Geometry().ClusterSize
	if w.v.StatFS().FreeBytes < 9*int64(cluster) {
		w.remove("/filler")
		w.fill("/filler")
	}
	path := w.name("")
	if !w.create(path, w.unique(7*cluster), false) {
		return
	}
	for range 3 {
		// Most of the free clusters are those that a removal has just freed.
		if w.remove(path) {
			w.create(path, w.unique(7*cluster-w.r.IntN(cluster)), w.r.IntN(3) == 0)
		}
		if w.truncate(path, 0) {
			w.change("rewrite", path, w.unique(7*cluster), 0)
		}
	}
	w.overfill()
	w.remove(path)
}

// overfill writes more than there is room for: the volume must say so, and keep working.
func (w *workload) overfill() {
	path := w.name("")
	data := w.unique(int(w.v.StatFS().FreeBytes) + 1)
	n := w.newNode("")
	if !w.step("overfill", []string{path}, func() error {
		err := w.open(path, fat32.Create, func(f *fat32.File) error { return writeAll(f, data, 0) })
		if err == nil {
			return errors.New("more was written than there is room for")
		}
		if w.tolerant || errors.Is(err, fat32.ErrNoSpace) {
			return nil
		}
		return err
	}, w.h.now().with(path, n), w.h.now().with(path, node{id: n.id, data: data})) {
		return
	}
	w.remove(path)
}

// copyIn copies a host folder into the volume with the copy tool. Files that a durable event names are acknowledged.
func (w *workload) copyIn(s *Session) {
	w.ids++
	folder := fmt.Sprintf("in%d", w.ids)
	source := filepath.Join(w.t.TempDir(), folder)
	now := w.h.now().with("/"+folder, node{id: -w.ids, folder: true})
	total := 0
	for i := range 6 + w.r.IntN(8) {
		name := fmt.Sprintf("sub %d/copied file number %d of a folder on the host", i%3, i)
		data := w.unique(w.size())
		if total += len(data) + 2*w.v.Geometry().ClusterSize; !w.room(total + 10*w.v.Geometry().ClusterSize) {
			break
		}
		now = now.with("/"+folder+"/"+name, node{id: w.newNode("").id, data: data, whole: true})
		if _, ok := now["/"+folder+"/"+filepath.Dir(name)]; !ok {
			now = now.with("/"+folder+"/"+filepath.Dir(name), node{id: w.newNode("").id, folder: true})
		}
		if err := os.MkdirAll(filepath.Join(source, filepath.Dir(name)), 0o700); err != nil {
			w.t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(source, name), []byte(data), 0o600); err != nil {
			w.t.Fatal(err)
		}
	}
	if now["/"+folder+"/sub 0"].id == 0 {
		return // no room for anything
	}
	state := len(w.h.states)
	w.step("copy in", []string{"/" + folder}, func() error {
		plan, err := transfer.Job{
			Sources: []transfer.Place{{Path: source}}, Destination: s.place(Place{Image: s.target.Path, Path: "/"}), Workers: 2,
			OnEvent: func(e transfer.Event) {
				for _, path := range e.Safe {
					w.log.Mark(fmt.Sprintf("file %d /%s", state, path))
				}
			},
		}.Plan(context.Background())
		if err != nil {
			return err
		}
		record, err := transfer.Run(context.Background(), plan)
		if err == nil && len(record.Failed) > 0 {
			err = fmt.Errorf("%v: %v", record.Failed, record.Problems)
		}
		return err
	}, now)
	// It returned without an error, so the command would end with exit code 0: all of it is acknowledged.
	for path := range now {
		if below(path, "/"+folder) {
			w.log.Mark(fmt.Sprintf("file %d %s", state, path))
		}
	}
	loose := tree{}
	for path, n := range now {
		n.whole = false // from here on a file like any other
		loose[path] = n
	}
	w.step("copy in is over", nil, func() error { return nil }, loose)
}
