package fat32_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"coffer/container/block/blocktest"
	"coffer/fat32"
	"coffer/fat32/fattest"
)

// tree is what a volume holds: content by path; directories end in "/".
type tree map[string]string

// crashOp is an operation of a crash workload, on a volume and on a tree. It
// is left out where the tree does not have what it needs.
type crashOp struct {
	name string
	ok   func(tree) bool
	do   func(*fat32.Volume) error
	set  func(tree)
	// mixes: a cut may leave old and new bytes of these files mixed.
	mixes []string
	parts []crashOp // compounds
	moves [2]string // from, to
}

func has(paths ...string) func(tree) bool {
	return func(s tree) bool {
		for _, p := range paths {
			if _, ok := s[p]; !ok {
				return false
			}
		}
		return true
	}
}

func all(conds ...func(tree) bool) func(tree) bool {
	return func(s tree) bool {
		for _, c := range conds {
			if !c(s) {
				return false
			}
		}
		return true
	}
}

func lacks(paths ...string) func(tree) bool {
	return func(s tree) bool {
		for p := range s {
			for _, q := range paths {
				if strings.EqualFold(strings.TrimSuffix(p, "/"), strings.TrimSuffix(q, "/")) {
					return false
				}
			}
		}
		return true
	}
}

func emptyDir(dir string) func(tree) bool {
	return func(s tree) bool {
		for p := range s {
			if strings.HasPrefix(p, dir) && p != dir {
				return false
			}
		}
		return true
	}
}

// move renames in a tree, what is below a directory too.
func (s tree) move(from, to string) {
	moved := tree{}
	for p, c := range s {
		if p == from || strings.HasSuffix(from, "/") && strings.HasPrefix(p, from) {
			moved[to+p[len(from):]] = c
			delete(s, p)
		}
	}
	maps.Copy(s, moved)
}

func writeFile(v *fat32.Volume, path string, off int64, data string, flag fat32.OpenFlag) error {
	f, err := v.OpenFile(path, fat32.ReadWrite|flag)
	if err != nil {
		return err
	}
	defer f.Close()
	if len(data) == 0 {
		return nil
	}
	_, err = f.WriteAt([]byte(data), off)
	return err
}

func truncateFile(v *fat32.Volume, path string, size int64) error {
	f, err := v.OpenFile(path, fat32.ReadWrite)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Truncate(size)
}

// linkFile writes a file without a name, lets something happen in between, and links it.
func linkFile(v *fat32.Volume, path, data string, between func(*fat32.Volume) error) error {
	f, err := v.CreateUnnamed()
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte(data), 0); err != nil {
		return err
	}
	if between != nil {
		if err := between(v); err != nil {
			return err
		}
	}
	return f.Link(path, true)
}

func text(seed, n int) string { return string(pattern(seed, n)) }

const longA, longB = "/dir/A file with a rather long name, more than one slot of it.text", "/dir/Another name that takes quite a number of slots, to lie in two units.text"

// crashOps are the operations of the table in the architecture, and the
// compounds that programs make of them.
func crashOps() []crashOp {
	create := func(name, path, data string) crashOp {
		return crashOp{name, lacks(path), func(v *fat32.Volume) error { return writeFile(v, path, 0, data, fat32.Create|fat32.Exclusive) }, func(s tree) { s[path] = data }, []string{path}, nil, [2]string{}}
	}
	rename := func(name, from, to string, conds ...func(tree) bool) crashOp {
		// Another spelling of the target would have to be told from it in the tree.
		spelling := func(s tree) bool { return has(to)(s) || strings.EqualFold(from, to) || lacks(to)(s) }
		return crashOp{name, all(append(conds, has(from), spelling)...), func(v *fat32.Volume) error { return v.Rename(from, to, true) }, func(s tree) { s.move(from, to) }, nil, nil, [2]string{from, to}}
	}
	write := func(name, path string, off int, data string) crashOp {
		return crashOp{name, func(s tree) bool { return has(path)(s) && len(s[path]) >= off }, func(v *fat32.Volume) error { return writeFile(v, path, int64(off), data, 0) }, func(s tree) {
			old := s[path]
			s[path] = old[:off] + data + old[min(len(old), off+len(data)):]
		}, []string{path}, nil, [2]string{}}
	}
	cut := func(name, path string, size int) crashOp {
		return crashOp{name, has(path), func(v *fat32.Volume) error { return truncateFile(v, path, int64(size)) }, func(s tree) {
			old := s[path]
			s[path] = old[:min(size, len(old))] + strings.Repeat("\x00", max(0, size-len(old)))
		}, []string{path}, nil, [2]string{}}
	}
	remove := func(name, path string, conds ...func(tree) bool) crashOp {
		return crashOp{name, all(append(conds, has(path))...), func(v *fat32.Volume) error { return v.Remove(strings.TrimSuffix(path, "/")) }, func(s tree) { delete(s, path) }, nil, nil, [2]string{}}
	}
	// Unlike what is created, a linked file has all of its content or is not there: it mixes nothing.
	link := func(name, path, data string, between func(*fat32.Volume) error, conds ...func(tree) bool) crashOp {
		return crashOp{name, all(conds...), func(v *fat32.Volume) error { return linkFile(v, path, data, between) }, func(s tree) { s[path] = data }, nil, nil, [2]string{}}
	}
	then := func(name string, a, b crashOp) crashOp {
		return crashOp{name: name, ok: a.ok, parts: []crashOp{a, b}}
	}
	many := crashOp{"grow directory", lacks("/dir/grow00 with a long name.txt"), func(v *fat32.Volume) error {
		for i := range 12 {
			if err := writeFile(v, fmt.Sprintf("/dir/grow%02d with a long name.txt", i), 0, text(50+i, 40), fat32.Create); err != nil {
				return err
			}
		}
		return nil
	}, func(s tree) {
		for i := range 12 {
			s[fmt.Sprintf("/dir/grow%02d with a long name.txt", i)] = text(50+i, 40)
		}
	}, nil, nil, [2]string{}}
	saveOver := then("save over", create("", "/dir/tmp", text(10, 1300)), rename("", "/dir/tmp", "/dir/b"))
	saveOver.ok = func(s tree) bool { return lacks("/dir/tmp")(s) && (has("/dir/b")(s) || lacks("/dir/b")(s)) }
	return []crashOp{
		create("create empty", "/dir/EMPTY", ""),
		create("create", longB, text(1, 700)),
		create("create in new name", "/dir/x1", text(2, 1500)),
		write("append within cluster", "/dir/a", 1000, text(3, 20)),
		write("append clusters", "/dir/a", 1000, text(4, 3000)),
		write("append to full cluster", "/dir/b", 2048, text(5, 600)),
		write("overwrite", "/dir/a", 100, text(6, 800)),
		cut("truncate to 0", "/dir/a", 0),
		cut("truncate", "/dir/a", 300),
		cut("extend", "/dir/b", 4000),
		then("truncate and rewrite", cut("", "/dir/a", 0), write("", "/dir/a", 0, text(7, 900))),
		then("shorten and append", cut("", "/dir/b", 700), write("", "/dir/b", 700, text(8, 2000))),
		remove("unlink", "/dir/a"),
		remove("unlink long", longA),
		then("delete and create", remove("", "/dir/a"), create("", "/dir/a", text(9, 1200))),
		{"mkdir", lacks("/dir/new"), func(v *fat32.Volume) error { return v.Mkdir("/dir/new") }, func(s tree) { s["/dir/new/"] = "" }, nil, nil, [2]string{}},
		remove("rmdir", "/dir/empty/", emptyDir("/dir/empty/")),
		rename("rename in place", "/dir/a", "/dir/c", lacks("/dir/c")),
		rename("rename to long name", "/dir/a", longB, lacks(longB)),
		rename("rename long to short", longA, "/dir/c", lacks("/dir/c")),
		rename("rename case", "/dir/b", "/dir/B", has("/dir/b")),
		rename("rename elsewhere", "/dir/a", "/other/a", lacks("/other/a")),
		rename("rename to root", longA, "/root file with a long name.txt", lacks("/root file with a long name.txt")),
		rename("rename over", "/dir/a", "/dir/b", has("/dir/b")),
		rename("rename over elsewhere", "/dir/a", "/other/target", has("/other/target")),
		rename("rename long over", longA, "/dir/b", has("/dir/b")),
		saveOver,
		link("link", "/dir/linked", text(20, 1900), nil, lacks("/dir/linked")),
		link("link long after sync", longB, text(21, 600), (*fat32.Volume).Sync, lacks(longB)),
		link("link empty", "/dir/EMPTY", "", nil, lacks("/dir/EMPTY")),
		link("link over", "/dir/b", text(22, 1400), nil, has("/dir/b")),
		link("link over after sync", "/dir/a", text(23, 2500), (*fat32.Volume).Sync, has("/dir/a")),
		then("delete and link", remove("", "/dir/a"), link("", "/dir/a", text(24, 1100), nil)),
		then("link and append", link("", "/dir/linked", text(20, 1900), nil, lacks("/dir/linked")), write("", "/dir/linked", 1900, text(25, 900))),
		{"write and link together", lacks("/dir/t0", "/dir/t1", "/other/t2 with a long name.txt"), func(v *fat32.Volume) error {
			files, err := v.WriteUnnamed([][]byte{[]byte(text(30, 700)), nil, []byte(text(32, 1200))})
			for i, path := range []string{"/dir/t0", "/dir/t1", "/other/t2 with a long name.txt"} {
				if err == nil {
					err = errors.Join(files[i].Link(path, false), files[i].Close())
				}
			}
			return err
		}, func(s tree) {
			s["/dir/t0"], s["/dir/t1"], s["/other/t2 with a long name.txt"] = text(30, 700), "", text(32, 1200)
		}, nil, nil, [2]string{}},
		{"write without a name", func(tree) bool { return true }, func(v *fat32.Volume) error {
			f, err := v.CreateUnnamed()
			if err == nil {
				_, err = f.WriteAt([]byte(text(26, 1600)), 0)
			}
			return err // left open
		}, func(tree) {}, nil, nil, [2]string{}},
		rename("move directory", "/dir/sub/", "/other/sub/", lacks("/other/sub")),
		rename("move directory over", "/dir/sub/", "/dir/empty/", has("/dir/empty/"), emptyDir("/dir/empty/")),
		rename("move out of directory", "/dir/sub/inner", "/dir/c", lacks("/dir/c")),
		many,
	}
}

// crashBase fills a volume with acknowledged files.
func crashBase(t testing.TB, v *fat32.Volume) tree {
	s := tree{"/dir/": "", "/other/": "", "/dir/sub/": "", "/dir/empty/": "", "/keep/": ""}
	for _, d := range []string{"/dir", "/other", "/dir/sub", "/dir/empty", "/keep"} {
		must(t, v.Mkdir(d))
	}
	for p, n := range map[string]int{"/dir/a": 1000, "/dir/b": 2048, longA: 1700, "/dir/sub/inner": 600, "/other/target": 1300, "/keep/one of the files that nobody touches": 3000, "/keep/two": 10, "/three": 512} {
		s[p] = text(100+n, n)
		put(t, v, p, []byte(s[p]))
	}
	return s
}

// readTree reads everything in a volume.
func readTree(v *fat32.Volume) (tree, error) {
	s := tree{}
	var walk func(dir string) error
	walk = func(dir string) error {
		list, err := v.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, i := range list {
			p := dir + i.Name
			if i.IsDir() {
				s[p+"/"] = ""
				err = walk(p + "/")
			} else {
				var data []byte
				data, err = slurp(v, p)
				s[p] = string(data)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	return s, walk("/")
}

// crashAllowed are the kinds of damage the table in the architecture lists.
var crashAllowed = map[string]bool{
	fat32.CodeDirty: true, fat32.CodeFreeCount: true, fat32.CodeFATDiffer: true, fat32.CodeLostChain: true,
	fat32.CodeChainLong: true, fat32.CodeLongNameParts: true, fat32.CodeTwoNames: true,
	fat32.CodeDirCycle: true, // two names of one directory; that no real cycle came about, the trees show
}

// oracle tells whether a tree found after a cut is one that the states may leave.
type oracle struct {
	states []tree // acknowledged one first
	mixes  map[string]bool
	was    map[string]string // name a mixed file had before
	parts  []crashOp         // what led from each state to the next
	// unordered: operations that were not synced may have reached the disk in any
	// combination.
	unordered bool
	choices   map[int]choices // by the number of operations not synced
}

// choices are the contents each path may have; absent ones are "absent".
type choices map[string][]string

const absent = "\x00absent"

func choicesOf(list []tree) choices {
	c := choices{}
	for _, s := range list {
		for p := range s {
			c[p] = nil
		}
	}
	for p := range c {
		for _, s := range list {
			content, ok := s[p]
			if !ok {
				content = absent
			}
			if !slices.Contains(c[p], content) {
				c[p] = append(c[p], content)
			}
		}
	}
	return c
}

// possible returns what a cut may leave, if it comes after o.states[0] was synced.
func (o *oracle) possible() choices {
	n := len(o.states) - 1 // operations not synced
	if c, ok := o.choices[n]; ok {
		return c
	}
	list := o.states
	if o.unordered {
		list = o.states[:1:1]
		for _, part := range o.parts[len(o.parts)-n:] {
			for _, s := range list {
				if part.ok(s) {
					s = maps.Clone(s)
					part.set(s)
					list = append(list, s)
				}
			}
		}
	}
	o.choices[n] = choicesOf(list)
	return o.choices[n]
}

func (o *oracle) judge(found tree) error {
	c := o.possible()
	for p := range found {
		if _, ok := c[p]; !ok {
			return fmt.Errorf("%q is in no state", p)
		}
	}
	for p := range c {
		if err := o.judgePath(p, c, found); err != nil {
			return err
		}
	}
	// What every state has, under whatever name, must not be lost.
	for _, content := range o.states[0] {
		if content == "" {
			continue
		}
		always := true
		for _, s := range o.states[1:] {
			always = always && slices.Contains(slices.Collect(maps.Values(s)), content)
		}
		if always && !slices.Contains(slices.Collect(maps.Values(found)), content) {
			return fmt.Errorf("a file of %d bytes is lost", len(content))
		}
	}
	return nil
}

func (o *oracle) judgePath(p string, c choices, found tree) error {
	got, exists := found[p]
	if !exists {
		got = absent
	}
	if slices.Contains(c[p], got) {
		return nil
	}
	if !exists {
		return fmt.Errorf("%q is missing", p)
	}
	if !o.mixes[p] {
		return fmt.Errorf("%q has %d bytes that no state has", p, len(got))
	}
	versions := slices.DeleteFunc(append(slices.Clone(c[p]), c[o.was[p]]...), func(s string) bool { return s == absent })
	least, most := 1<<62, 0
	for _, c := range versions {
		least, most = min(least, len(c)), max(most, len(c))
	}
	if len(got) < least || len(got) > most {
		return fmt.Errorf("%q has %d bytes, want %d to %d", p, len(got), least, most)
	}
	for i := range len(got) {
		if !slices.ContainsFunc(versions, func(c string) bool { return i < len(c) && c[i] == got[i] }) {
			return fmt.Errorf("%q byte %d is from no state", p, i)
		}
	}
	return nil
}

// crashWorkload records a run of ops with a sync at the end, and returns the
// log and the states after each.
func crashWorkload(t testing.TB, base *blocktest.Mem, start tree, ops []crashOp, syncAfter func(int) bool) (log *blocktest.Crash, o *oracle, ok bool) {
	log = blocktest.NewCrash(base.Clone())
	o = &oracle{states: []tree{start}, choices: map[int]choices{}, mixes: map[string]bool{}, was: map[string]string{}}
	now := maps.Clone(start)
	v := mount(t, log)
	v.StatFS() // a write that has to wait for the scan of the FAT may flush in between
	for i, op := range ops {
		if !op.ok(now) {
			return nil, nil, false
		}
		if op.parts == nil {
			op.parts = []crashOp{op}
		}
		for _, part := range op.parts {
			if err := part.do(v); err != nil {
				t.Fatalf("%s: %v", op.name, err)
			}
			now = maps.Clone(now)
			part.set(now)
			o.states, o.parts = append(o.states, now), append(o.parts, part)
			for _, p := range part.mixes {
				o.mixes[p] = true
			}
			if from, to := part.moves[0], part.moves[1]; o.mixes[from] {
				o.mixes[to], o.was[to] = true, from // what was mixed before may be mixed there
			}
		}
		if i+1 < len(ops) && syncAfter(i) {
			must(t, v.Sync())
			log.Mark(strconv.Itoa(len(o.states) - 1))
		}
	}
	must(t, v.Sync())
	log.Mark(strconv.Itoa(len(o.states) - 1))
	found, err := readTree(v)
	must(t, err)
	if !maps.Equal(found, now) {
		t.Fatalf("%v: the volume does not hold what was done: %v", opNames(ops), diffTrees(found, now))
	}
	must(t, v.Close())
	return log, o, true
}

func opNames(ops []crashOp) string {
	var list []string
	for _, op := range ops {
		list = append(list, op.name)
	}
	return strings.Join(list, ", then ")
}

func diffTrees(got, want tree) (out []string) {
	for p, c := range got {
		if w, ok := want[p]; !ok {
			out = append(out, "has "+p)
		} else if w != c {
			out = append(out, "differs "+p)
		}
	}
	for p := range want {
		if _, ok := got[p]; !ok {
			out = append(out, "lacks "+p)
		}
	}
	return out
}

// judgeCut repairs the image of a cut and compares it with what it may hold.
func judgeCut(t testing.TB, log *blocktest.Crash, o *oracle, cut blocktest.Cut, m *blocktest.Mem) error {
	r, err := fat32.Check(context.Background(), m, fat32.CheckOptions{Repair: true})
	if err != nil {
		return fmt.Errorf("check: %w", err)
	}
	for _, f := range r.Findings {
		if !crashAllowed[f.Code] {
			return fmt.Errorf("check finds what the table does not list: %+v (all: %+v)", f, r.Findings)
		}
	}
	again, err := fat32.Check(context.Background(), m, fat32.CheckOptions{})
	if err != nil || !again.Clean() {
		return fmt.Errorf("not sound after repair: %v, %+v", err, again)
	}
	v, err := fat32.Mount(m, fat32.MountOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer v.Close()
	found, err := readTree(v)
	if err != nil {
		return err
	}
	judge := *o
	for _, mark := range log.Marks(cut.At) {
		synced, _ := strconv.Atoi(mark) // the mark is the number of the state made durable
		judge.states = o.states[synced:]
		if synced == len(o.states)-1 {
			judge.mixes = nil
		}
	}
	if err := judge.judge(found); err != nil {
		return fmt.Errorf("%w; findings %+v", err, r.Findings)
	}
	return nil
}

// TestCrash cuts the power at every write of every workload of one and two
// operations.
func TestCrash(t *testing.T) {
	volumes := []struct {
		name string
		size int64
		o    fat32.FormatOptions
		pair int // of the pairs, every so many only
	}{
		{"FAT12", 1 << 20, fat32.FormatOptions{}, 1},
		{"FAT16", 5 << 20, fat32.FormatOptions{Type: fat32.FAT16, ClusterSize: 512}, 19},
		{"FAT32", 34 << 20, fat32.FormatOptions{}, 37},
	}
	for _, k := range volumes {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			base := format(t, k.size, k.o)
			v := mount(t, base)
			start := crashBase(t, v)
			must(t, v.Close())
			c := &crashSweep{t: t, base: base, start: start, subsets: 3}
			if testing.Short() {
				c.subsets = 1
			}
			never, always := func(int) bool { return false }, func(int) bool { return true }
			ops, number := crashOps(), 0
			single := []string{"link empty", "link over", "link and append", "write without a name"} // and in sequences
			for _, a := range ops {
				c.run(never, a)
				for _, b := range ops {
					if slices.Contains(single, a.name) || slices.Contains(single, b.name) {
						continue
					}
					if number++; number%k.pair == 0 && (!testing.Short() || number%7 == 0) {
						c.run(never, a, b)
						c.run(always, a, b)
					}
				}
			}
			t.Logf("%d states of %d workloads", c.states, c.workloads)
		})
	}
}

// crashSweep cuts the power in workloads on one volume.
type crashSweep struct {
	t                 *testing.T
	base              *blocktest.Mem
	start             tree
	subsets           int
	unordered         bool
	states, workloads int
}

// run judges every cut of one workload, unless its operations do not fit.
func (c *crashSweep) run(syncAfter func(int) bool, ops ...crashOp) {
	log, o, ok := crashWorkload(c.t, c.base, c.start, ops, syncAfter)
	if !ok {
		return
	}
	c.workloads++
	o.unordered = c.unordered
	for cut, m := range log.States(blocktest.StateOptions{Subsets: c.subsets, Torn: true, Seed: uint64(c.workloads)}) {
		c.states++
		var bad string
		if err := judgeCut(c.t, log, o, cut, m); err != nil {
			bad = err.Error()
		} else if c.states%101 == 0 {
			bad = fattest.FsckDevice(c.t, m)
		}
		if bad != "" {
			c.t.Errorf("%s: %v: %s", opNames(ops), cut, bad)
			for _, e := range log.Events() {
				c.t.Log(e)
			}
			c.t.FailNow()
		}
	}
}

// TestCrashSequences cuts the power in random sequences of operations, so that
// what waits in one flush is more than two of them.
func TestCrashSequences(t *testing.T) {
	base := format(t, 1<<20, fat32.FormatOptions{})
	v := mount(t, base)
	start := crashBase(t, v)
	must(t, v.Close())
	c := &crashSweep{t: t, base: base, start: start, subsets: 2, unordered: true}
	sequences := 100
	if testing.Short() {
		sequences = 25
	}
	all := crashOps()
	for seed := range sequences {
		r := rand.New(rand.NewPCG(uint64(seed), 99))
		now := maps.Clone(start)
		var ops []crashOp
		for tries := 0; len(ops) < 7 && tries < 100; tries++ {
			op := all[r.IntN(len(all))]
			if !op.ok(now) {
				continue
			}
			if op.parts == nil {
				op.set(now)
			}
			for _, part := range op.parts {
				part.set(now)
			}
			ops = append(ops, op)
		}
		c.run(func(int) bool { return r.IntN(5) == 0 }, ops...)
	}
	t.Logf("%d states of %d workloads", c.states, c.workloads)
}

// TestCrashFullVolume cuts the power while files are saved on a volume without
// a free cluster, where every save has to wait for the clusters of the old file.
func TestCrashFullVolume(t *testing.T) {
	base := format(t, 512<<10, fat32.FormatOptions{})
	v := mount(t, base)
	start := crashBase(t, v)
	rest := int(v.StatFS().FreeBytes)
	start["/rest"] = text(77, rest)
	put(t, v, "/rest", []byte(start["/rest"]))
	must(t, v.Close())
	step := func(name string, do func(*fat32.Volume) error, set func(tree), mixes ...string) crashOp {
		return crashOp{name: name, ok: func(tree) bool { return true }, do: do, set: set, mixes: mixes}
	}
	empty := step("truncate", func(v *fat32.Volume) error { return truncateFile(v, "/dir/b", 0) }, func(s tree) { s["/dir/b"] = "" }, "/dir/b")
	remove := step("delete", func(v *fat32.Volume) error { return v.Remove("/dir/b") }, func(s tree) { delete(s, "/dir/b") })
	create := step("create", func(v *fat32.Volume) error { return writeFile(v, "/dir/b", 0, "", fat32.Create) }, func(s tree) { s["/dir/b"] = "" }, "/dir/b")
	write := step("write", func(v *fat32.Volume) error { return writeFile(v, "/dir/b", 0, text(78, 2048), 0) }, func(s tree) { s["/dir/b"] = text(78, 2048) }, "/dir/b")
	over := step("rename over", func(v *fat32.Volume) error { return v.Rename("/dir/a", "/dir/b", true) }, func(s tree) { s.move("/dir/a", "/dir/b") })
	never := func(int) bool { return false }
	c := &crashSweep{t: t, base: base, start: start, subsets: 6}
	c.run(never, empty, write)
	c.run(never, remove, create, write)
	c.run(never, over, create, write)
	c.run(never, remove, create, write, empty, write, remove, create, write)
	if c.workloads != 4 {
		t.Fatalf("%d workloads", c.workloads)
	}
	t.Logf("%d states", c.states)
}
