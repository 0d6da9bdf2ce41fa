package fat32_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"coffer/container/block"
	"coffer/container/block/blocktest"
	"coffer/fat32"
)

// modelNode is a file or directory of the model.
type modelNode struct {
	name     string
	data     []byte
	attr     fat32.Attr
	mtime    time.Time
	children map[string]*modelNode // by folded name; nil for files
	parent   *modelNode
}

func (n *modelNode) path() string {
	if n.parent == nil {
		return ""
	}
	return n.parent.path() + "/" + n.name
}

func (n *modelNode) lookup(name string) *modelNode { return n.children[fat32.FoldName(name)] }

func (n *modelNode) attach(to *modelNode, name string) {
	n.parent, n.name = to, name
	to.children[fat32.FoldName(name)] = n
}

func (n *modelNode) detach() { delete(n.parent.children, fat32.FoldName(n.name)); n.parent = nil }

// modelHandle is an open file.
type modelHandle struct {
	f *fat32.File
	n *modelNode
}

// modelRun drives a volume and its model.
type modelRun struct {
	t        testing.TB
	r        *rand.Rand
	v        *fat32.Volume
	mount    func() *fat32.Volume
	violated func() []string
	verify   func() // of the unmounted device
	root     *modelNode
	handles  []*modelHandle
	fixed    bool // the root directory cannot grow
	biggest  int
	step     int
	counts   map[string]int
}

var modelWords = []string{"a", "B", "readme", "README", "Read Me", "data.bin", "DATA.BIN", "Données", "ПРИВЕТ", "привет", "日本語", "x.tar.gz", ".hidden", "a+b", "longest name that is longer than two slots", "🙂", "NT~1", "file"}

func (m *modelRun) name() string {
	w := modelWords[m.r.IntN(len(modelWords))]
	switch m.r.IntN(4) {
	case 0:
		return w
	case 1:
		return fmt.Sprintf("%s%d", w, m.r.IntN(30))
	case 2:
		return fmt.Sprintf("%s %d.txt", w, m.r.IntN(10))
	}
	return strings.ToUpper(fmt.Sprintf("F%d.%s", m.r.IntN(40), "EXT"))
}

// respell changes the case of some letters.
func (m *modelRun) respell(s string) string {
	return strings.Map(func(c rune) rune {
		if m.r.IntN(3) == 0 && c < 128 {
			if c >= 'a' && c <= 'z' {
				return c - 32
			}
			if c >= 'A' && c <= 'Z' {
				return c + 32
			}
		}
		return c
	}, s)
}

func (m *modelRun) all(keep func(*modelNode) bool) (out []*modelNode) {
	var walk func(n *modelNode)
	walk = func(n *modelNode) {
		if keep(n) {
			out = append(out, n)
		}
		keys := make([]string, 0, len(n.children))
		for k := range n.children {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		for _, k := range keys {
			walk(n.children[k])
		}
	}
	walk(m.root)
	return out
}

func (m *modelRun) pick(keep func(*modelNode) bool) *modelNode {
	list := m.all(keep)
	if len(list) == 0 {
		return nil
	}
	return list[m.r.IntN(len(list))]
}

func isModelFile(n *modelNode) bool { return n.children == nil }
func isModelDir(n *modelNode) bool  { return n.children != nil }

// shortClash reports whether a name may be taken as the short name of another entry.
func shortClash(name string) bool { return strings.Contains(name, "~") }

func (m *modelRun) fatal(format string, a ...any) {
	m.t.Helper()
	m.t.Fatalf("step %d: %s", m.step, fmt.Sprintf(format, a...))
}

// full accepts an error that says the volume or directory is full, if it is.
func (m *modelRun) full(err error, dir *modelNode, free int64, bytes int) bool {
	m.t.Helper()
	cs := m.v.StatFS().ClusterSize
	need := (int64(bytes)+int64(cs)-1)/int64(cs)*int64(cs) + 2*int64(cs)
	switch {
	case errors.Is(err, fat32.ErrNoSpace):
		if free > need {
			m.fatal("%v, with %d bytes free and %d needed", err, free, need)
		}
		m.counts["no space"]++
		return true
	case errors.Is(err, fat32.ErrDirFull) && m.fixed && dir == m.root:
		m.counts["directory full"]++
		return true
	}
	return false
}

func (m *modelRun) open(n *modelNode, flag fat32.OpenFlag) *fat32.File {
	m.t.Helper()
	f, err := m.v.OpenFile(m.respell(n.path()), flag)
	if err != nil {
		m.fatal("open %s: %v", n.path(), err)
	}
	return f
}

func (m *modelRun) run(steps int) {
	for range steps {
		m.step++
		if m.r.IntN(400) == 0 {
			m.remount()
			continue
		}
		type action struct {
			weight int
			name   string
			f      func()
		}
		actions := []action{
			{12, "create", m.create}, {16, "write", m.write}, {8, "truncate", m.truncate}, {12, "remove", m.remove},
			{14, "rename", m.rename}, {5, "mkdir", m.mkdir}, {10, "read", m.read}, {3, "list", m.list}, {4, "sync", m.sync},
			{3, "attr", m.attr}, {5, "handle", m.handle}, {3, "save", m.saveOver}, {6, "link", m.link},
		}
		total := 0
		for _, a := range actions {
			total += a.weight
		}
		pick := m.r.IntN(total)
		for _, a := range actions {
			if pick -= a.weight; pick < 0 {
				m.counts[a.name]++
				a.f()
				if m.violated != nil {
					if x := m.violated(); len(x) > 0 {
						m.fatal("contract of the transactional device after %s: %v", a.name, x)
					}
				}
				break
			}
		}
	}
	m.remount()
}

func (m *modelRun) create() {
	dir := m.pick(isModelDir)
	name := m.name()
	path := dir.path() + "/" + name
	free := m.v.StatFS().FreeBytes
	f, err := m.v.OpenFile(path, fat32.ReadWrite|fat32.Create|fat32.Exclusive)
	old := dir.lookup(name)
	switch {
	case err == nil:
		if old != nil {
			m.fatal("created %s, which exists", path)
		}
		n := &modelNode{attr: fat32.AttrArchive, mtime: testTime}
		n.attach(dir, name)
		m.handles = append(m.handles, &modelHandle{f, n})
		m.dropHandles(12)
	case errors.Is(err, fat32.ErrExist):
		if old == nil && !shortClash(name) {
			m.fatal("%s exists, says %v", path, err)
		}
	case m.full(err, dir, free, 0):
	default:
		m.fatal("create %s: %v", path, err)
	}
}

// dropHandles closes handles beyond n.
func (m *modelRun) dropHandles(n int) {
	for len(m.handles) > n {
		i := m.r.IntN(len(m.handles))
		must(m.t, m.handles[i].f.Close())
		m.handles = slices.Delete(m.handles, i, i+1)
	}
}

// target returns a file to work on: an open one or one of the tree.
func (m *modelRun) target(flag fat32.OpenFlag) (f *fat32.File, n *modelNode, done func()) {
	if len(m.handles) > 0 && m.r.IntN(2) == 0 {
		h := m.handles[m.r.IntN(len(m.handles))]
		return h.f, h.n, func() {}
	}
	n = m.pick(isModelFile)
	if n == nil {
		return nil, nil, nil
	}
	f = m.open(n, flag)
	return f, n, func() { must(m.t, f.Close()) }
}

func (m *modelRun) write() {
	f, n, done := m.target(fat32.ReadWrite)
	if f == nil {
		return
	}
	defer done()
	size := 1 + m.r.IntN(m.biggest)
	if m.r.IntN(2) == 0 {
		size = 1 + m.r.IntN(3000)
	}
	off := len(n.data)
	switch m.r.IntN(4) {
	case 0:
		off = m.r.IntN(len(n.data) + 1)
	case 1:
		off += m.r.IntN(20000)
	case 2:
		off = 0
	}
	data := pattern(m.step, size)
	free := m.v.StatFS().FreeBytes
	if m.r.IntN(8) == 0 {
		if err := f.Reserve(int64(off + size)); err != nil && !errors.Is(err, fat32.ErrNoSpace) {
			m.fatal("reserve: %v", err)
		}
	}
	k, err := f.WriteAt(data, int64(off))
	if err != nil {
		if !m.full(err, nil, free, max(0, off+size-len(n.data))) || k != 0 {
			m.fatal("write %d at %d of %s: %d, %v", size, off, n.path(), k, err)
		}
		return
	}
	if end := off + size; end > len(n.data) {
		n.data = append(n.data, make([]byte, end-len(n.data))...)
	}
	copy(n.data[off:], data)
	n.mtime, n.attr = testTime, n.attr|fat32.AttrArchive
}

func (m *modelRun) truncate() {
	f, n, done := m.target(fat32.ReadWrite)
	if f == nil {
		return
	}
	defer done()
	size := m.r.IntN(len(n.data) + 1)
	switch m.r.IntN(4) {
	case 0:
		size = 0
	case 1:
		size = len(n.data) + m.r.IntN(30000)
	}
	free := m.v.StatFS().FreeBytes
	if err := f.Truncate(int64(size)); err != nil {
		if !m.full(err, nil, free, max(0, size-len(n.data))) {
			m.fatal("truncate %s to %d: %v", n.path(), size, err)
		}
		return
	}
	if size <= len(n.data) {
		n.data = n.data[:size:size]
	} else {
		n.data = append(n.data, make([]byte, size-len(n.data))...)
	}
	n.mtime, n.attr = testTime, n.attr|fat32.AttrArchive
}

func (m *modelRun) remove() {
	n := m.pick(func(n *modelNode) bool { return n.parent != nil })
	if n == nil {
		return
	}
	err := m.v.Remove(m.respell(n.path()))
	if len(n.children) > 0 {
		if !errors.Is(err, fat32.ErrNotEmpty) {
			m.fatal("remove %s, which is not empty: %v", n.path(), err)
		}
		return
	}
	if err != nil {
		m.fatal("remove %s: %v", n.path(), err)
	}
	n.detach()
}

func (m *modelRun) mkdir() {
	dir := m.pick(isModelDir)
	name := m.name()
	if strings.Count(dir.path(), "/") > 6 || len(m.all(isModelDir)) > 40 {
		return
	}
	free := m.v.StatFS().FreeBytes
	err := m.v.Mkdir(dir.path() + "/" + name)
	old := dir.lookup(name)
	switch {
	case err == nil && old == nil:
		n := &modelNode{children: map[string]*modelNode{}, attr: fat32.AttrDirectory, mtime: testTime}
		n.attach(dir, name)
	case errors.Is(err, fat32.ErrExist) && (old != nil || shortClash(name)):
	case err != nil && m.full(err, dir, free, 0):
	default:
		m.fatal("mkdir %s/%s: %v", dir.path(), name, err)
	}
}

func (m *modelRun) rename() {
	n := m.pick(func(n *modelNode) bool { return n.parent != nil })
	dir := m.pick(isModelDir)
	if n == nil {
		return
	}
	name := m.name()
	if m.r.IntN(3) == 0 {
		dir = n.parent
	}
	if m.r.IntN(6) == 0 {
		dir, name = n.parent, m.respell(n.name)
	}
	m.renameTo(n, dir, name, m.r.IntN(4) > 0)
}

func (m *modelRun) renameTo(n, dir *modelNode, name string, replace bool) {
	from, to := n.path(), dir.path()+"/"+name
	free := m.v.StatFS().FreeBytes
	err := m.v.Rename(from, to, replace)
	old := dir.lookup(name)
	inside := false
	for p := dir; p != nil; p = p.parent {
		inside = inside || p == n
	}
	var want error
	switch {
	case inside:
		want = fat32.ErrInvalid
	case old == nil || old == n:
	case !replace:
		want = fat32.ErrExist
	case isModelDir(n) && !isModelDir(old):
		want = fat32.ErrNotDir
	case !isModelDir(n) && isModelDir(old):
		want = fat32.ErrIsDir
	case len(old.children) > 0:
		want = fat32.ErrNotEmpty
	}
	switch {
	case want != nil:
		if !errors.Is(err, want) {
			m.fatal("rename %s -> %s: %v, want %v", from, to, err, want)
		}
	case err == nil:
		if old != nil && old != n {
			old.detach()
		}
		n.detach()
		n.attach(dir, name)
	case m.full(err, dir, free, 0):
	case old == nil && shortClash(name): // the short name of somebody else
	default:
		m.fatal("rename %s -> %s: %v", from, to, err)
	}
}

// link writes a file without a name, now and then leaves it so, and links it.
func (m *modelRun) link() {
	var datas [][]byte
	for i := range 1 + m.r.IntN(4) {
		datas = append(datas, pattern(m.step+i, m.r.IntN(5000)))
	}
	total := 0
	for _, p := range datas {
		total += len(p) + m.v.StatFS().ClusterSize
	}
	free := m.v.StatFS().FreeBytes
	files, err := m.v.WriteUnnamed(datas)
	if err != nil {
		if !m.full(err, nil, free, total) {
			m.fatal("write %d files without a name: %v", len(datas), err)
		}
		return
	}
	for i, f := range files {
		m.linkOne(f, datas[i])
	}
}

func (m *modelRun) linkOne(f *fat32.File, data []byte) {
	defer func() { must(m.t, f.Close()) }()
	got := make([]byte, len(data))
	if n, err := f.ReadAt(got, 0); n != len(data) || !bytes.Equal(got, data) {
		m.fatal("file without a name reads %d of %d bytes, %v, equal %v", n, len(data), err, bytes.Equal(got, data))
	}
	free := m.v.StatFS().FreeBytes
	if more := pattern(m.step+9, m.r.IntN(3000)); m.r.IntN(4) == 0 {
		if _, err := f.WriteAt(more, int64(len(data))); err != nil {
			if !m.full(err, nil, free, len(more)) {
				m.fatal("write without a name: %v", err)
			}
			return
		}
		data = append(data, more...)
	}
	switch m.r.IntN(6) {
	case 0:
		return
	case 1:
		must(m.t, m.v.Sync())
	case 2:
		data = data[:len(data)/2]
		must(m.t, f.Truncate(int64(len(data))))
	}
	dir, name, replace := m.pick(isModelDir), m.name(), m.r.IntN(3) > 0
	if old := m.pick(isModelFile); old != nil && m.r.IntN(3) == 0 {
		dir, name = old.parent, m.respell(old.name)
	}
	free = m.v.StatFS().FreeBytes
	err := f.Link(dir.path()+"/"+name, replace)
	old := dir.lookup(name)
	switch {
	case old != nil && !replace:
		if !errors.Is(err, fat32.ErrExist) {
			m.fatal("link %s/%s, which exists: %v", dir.path(), name, err)
		}
	case old != nil && isModelDir(old):
		if !errors.Is(err, fat32.ErrIsDir) {
			m.fatal("link over directory %s/%s: %v", dir.path(), name, err)
		}
	case err == nil:
		if old != nil {
			old.detach()
		}
		n := &modelNode{attr: fat32.AttrArchive, mtime: testTime, data: data}
		n.attach(dir, name)
	case m.full(err, dir, free, 0):
	case old == nil && shortClash(name): // the short name of somebody else
	default:
		m.fatal("link %s/%s: %v", dir.path(), name, err)
	}
}

// saveOver writes a new file and renames it over an old one, as editors do.
func (m *modelRun) saveOver() {
	n := m.pick(isModelFile)
	if n == nil || n.parent.lookup("save.tmp") != nil {
		return
	}
	free := m.v.StatFS().FreeBytes
	data := pattern(m.step, m.r.IntN(5000))
	tmp := n.parent.path() + "/save.tmp"
	f, err := m.v.OpenFile(tmp, fat32.ReadWrite|fat32.Create|fat32.Exclusive)
	if err != nil {
		if !m.full(err, n.parent, free, 0) {
			m.fatal("create %s: %v", tmp, err)
		}
		return
	}
	t := &modelNode{attr: fat32.AttrArchive, mtime: testTime}
	t.attach(n.parent, "save.tmp")
	if _, err = f.WriteAt(data, 0); err == nil {
		t.data = data
	} else if !m.full(err, nil, free, len(data)) {
		m.fatal("write: %v", err)
	}
	must(m.t, f.Close())
	m.renameTo(t, n.parent, n.name, true)
}

func (m *modelRun) read() {
	f, n, done := m.target(fat32.ReadOnly)
	if f == nil {
		return
	}
	defer done()
	off := m.r.IntN(len(n.data) + 100)
	p := make([]byte, 1+m.r.IntN(m.biggest))
	k, err := f.ReadAt(p, int64(off))
	want := n.data[min(off, len(n.data)):]
	want = want[:min(len(want), len(p))]
	if !bytes.Equal(p[:k], want) {
		m.fatal("read %d at %d of %s (%d bytes): %d bytes that differ, %v", len(p), off, n.name, len(n.data), k, err)
	}
	if (k < len(p)) != (err == io.EOF) || err != nil && err != io.EOF {
		m.fatal("read %d at %d of %d: %d, %v", len(p), off, len(n.data), k, err)
	}
}

func (m *modelRun) list() { m.compareDir(m.pick(isModelDir)) }

func (m *modelRun) compareDir(n *modelNode) {
	list, err := m.v.ReadDir(n.path())
	if err != nil {
		m.fatal("list %s: %v", n.path(), err)
	}
	if len(list) != len(n.children) {
		m.fatal("%s has %d entries, want %d", n.path(), len(list), len(n.children))
	}
	ids := map[uint64]bool{}
	for _, i := range list {
		c := n.lookup(i.Name)
		if c == nil || c.name != i.Name || i.IsDir() != isModelDir(c) || i.Size != int64(len(c.data)) || i.Attr != c.attr || !i.ModTime.Equal(c.mtime) {
			m.fatal("%s lists %+v, want %+v", n.path(), i, c)
		}
		if ids[i.ID] {
			m.fatal("%s: identity %x twice", n.path(), i.ID)
		}
		ids[i.ID] = true
	}
}

func (m *modelRun) sync() { must(m.t, m.v.Sync()) }

func (m *modelRun) attr() {
	n := m.pick(func(n *modelNode) bool { return n.parent != nil })
	if n == nil {
		return
	}
	a := fat32.AttrHidden * fat32.Attr(m.r.IntN(2))
	must(m.t, m.v.SetAttr(n.path(), a|fat32.AttrSystem))
	n.attr = n.attr&fat32.AttrDirectory | a | fat32.AttrSystem
	mtime := time.Date(1980+m.r.IntN(128), time.Month(1+m.r.IntN(12)), 1+m.r.IntN(28), m.r.IntN(24), m.r.IntN(60), 2*m.r.IntN(30), 0, time.UTC)
	must(m.t, m.v.SetTimes(n.path(), fat32.Times{Modify: mtime.Add(1999 * time.Millisecond)}))
	n.mtime = mtime
}

// handle opens or closes a file.
func (m *modelRun) handle() {
	if n := m.pick(isModelFile); n != nil && len(m.handles) < 12 {
		m.handles = append(m.handles, &modelHandle{m.open(n, fat32.ReadWrite), n})
		return
	}
	m.dropHandles(6)
}

// remount compares everything, unmounts, checks and mounts again.
func (m *modelRun) remount() {
	m.compareAll()
	m.dropHandles(m.r.IntN(2) * m.r.IntN(5))
	must(m.t, m.v.Close())
	for _, h := range m.handles {
		_ = h.f.Close()
	}
	m.handles = nil
	m.verify()
	m.v = m.mount()
	m.compareAll()
}

func (m *modelRun) compareAll() {
	var used int64
	cs := int64(m.v.StatFS().ClusterSize)
	for _, n := range m.all(func(*modelNode) bool { return true }) {
		if isModelDir(n) {
			m.compareDir(n)
			continue
		}
		if got := get(m.t, m.v, n.path()); !bytes.Equal(got, n.data) {
			m.fatal("%s differs", n.path())
		}
		used += (int64(len(n.data)) + cs - 1) / cs * cs
	}
	if s := m.v.StatFS(); s.FreeBytes > s.TotalBytes-used {
		m.fatal("%d of %d bytes free, %d used by files", s.FreeBytes, s.TotalBytes, used)
	}
}

// modelDevice prepares the device of one run.
func modelDevice(t testing.TB, m *blocktest.Mem, transactional bool) (dev block.Device, verify func()) {
	if !transactional {
		return m, func() { fsck(t, m); selfCheck(t, m) }
	}
	x := blocktest.NewTxn(m, blocktest.TxnOptions{LimitBytes: 8 << 20, CapacityBytes: 32 << 20})
	return x, func() {
		if v := x.Violations(); len(v) > 0 {
			t.Fatalf("contract of the transactional device: %v", v)
		}
		fsck(t, x.Crash())
		selfCheck(t, x.Crash())
	}
}

func TestModel(t *testing.T) {
	steps := 8000
	if testing.Short() {
		steps = 1500
	}
	for _, transactional := range []bool{false, true} {
		for i, k := range append(kinds, kinds[4]) {
			name := fmt.Sprintf("%s/%d/transactional=%v", k.name, i, transactional)
			t.Run(name, func(t *testing.T) {
				m := format(t, k.size, k.o)
				dev, verify := modelDevice(t, m, transactional)
				run := &modelRun{t: t, r: rand.New(rand.NewPCG(uint64(i), 7)), root: &modelNode{children: map[string]*modelNode{}}, counts: map[string]int{}, verify: verify, biggest: int(min(k.size/40, 200000))}
				if x, ok := dev.(*blocktest.Txn); ok {
					run.violated = x.Violations
				}
				run.mount = func() *fat32.Volume { return mount(t, dev) }
				run.v = run.mount()
				run.fixed = run.v.Geometry().Type != fat32.FAT32
				run.run(steps)
				must(t, run.v.Close())
				t.Log(run.counts)
			})
		}
	}
}
