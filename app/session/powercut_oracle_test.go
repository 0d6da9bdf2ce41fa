package session

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"coffer/container/block/blocktest"
	"coffer/fat32"
)

// node is a file or folder as an operation left it. Files keep their id when they are moved, so that what may be mixed
// and what must not be lost is told by file and not by name.
type node struct {
	id     int
	folder bool
	whole  bool // never seen in part: a copy that got its final name
	data   string
}

// tree is what a volume holds, by absolute path.
type tree map[string]node

// below says whether path is dir or lies in it.
func below(path, dir string) bool { return path == dir || strings.HasPrefix(path, dir+"/") }

// moved is the tree after a rename, with everything below a folder.
func (s tree) moved(from, to string) tree {
	next := tree{}
	for path, n := range s {
		if !below(path, from) {
			next[path] = n
		}
	}
	for path, n := range s {
		if below(path, from) {
			next[to+path[len(from):]] = n
		}
	}
	return next
}

// with is the tree with one more or another node.
func (s tree) with(path string, n node) tree {
	next := maps.Clone(s)
	next[path] = n
	return next
}

// without is the tree without one path.
func (s tree) without(path string) tree {
	next := maps.Clone(s)
	delete(next, path)
	return next
}

// place is a name in a folder. What a cut leaves is judged by places and not by paths: when a folder is moved and something
// in it is changed, each may have reached the disk without the other.
type place struct {
	folder int // its id; 0 is the root
	name   string
}

// history is every state a volume went through. State 0 is durable before the recording begins.
//
// What is known of a place after a cut: before the operation that touched it, it is as the last acknowledged state says (set
// or unset); between that operation and the next acknowledgement it may be as in any state of that time, and bytes of one
// file from several of these states may be mixed.
type history struct {
	states []tree
	places []map[place]node // of the states, as far as they were needed
	// These say since which state a file and a place are uncertain because an operation on them failed. Acknowledgements
	// do not make them certain again.
	spoiledFiles  map[int]int
	spoiledPlaces map[place]int
}

func newHistory(base tree) *history {
	return &history{states: []tree{base}, spoiledFiles: map[int]int{}, spoiledPlaces: map[place]int{}}
}

// now is the present state.
func (h *history) now() tree { return h.states[len(h.states)-1] }

// index makes the places of all states.
func (h *history) index() {
	for _, s := range h.states[len(h.places):] {
		all := make(map[place]node, len(s))
		for path, n := range s {
			all[s.place(path)] = n
		}
		h.places = append(h.places, all)
	}
}

// place is where a path is.
func (s tree) place(path string) place {
	slash := strings.LastIndex(path, "/")
	return place{s[path[:slash]].id, path[slash+1:]}
}

// knowledge is what the marks in a log say at some moment.
type knowledge struct {
	synced int            // every state up to this one is acknowledged
	begun  int            // no later state can be on the disk
	files  map[string]int // paths acknowledged one by one, and with which state
}

// readMarks collects the knowledge from events.
func (k *knowledge) readMarks(events []blocktest.Event) {
	for _, e := range events {
		if e.Kind != blocktest.Mark {
			continue
		}
		var state int
		verb, rest, _ := strings.Cut(e.Label, " ")
		number, path, _ := strings.Cut(rest, " ")
		if _, err := fmt.Sscan(number, &state); err != nil {
			continue // of another kind
		}
		switch verb {
		case "begin":
			k.begun = max(k.begun, state)
		case "synced":
			k.synced = max(k.synced, state)
		case "file":
			k.files[path] = state
		}
	}
}

// unfinished are paths that are allowed while a copy runs: what it has not finished yet.
var unfinished = regexp.MustCompile(`/\.coffer-(part|copy)-[^/]*$`)

// recovered are the names that a repair gives to lost chains.
var recovered = regexp.MustCompile(`^/FSCK[0-9]{4}\.REC(/|$)`)

// judgement is one volume found after a cut, and a repair, and what is known about it.
type judgement struct {
	h      *history
	k      knowledge
	places []map[place]node
	since  map[int]int   // by id: the first state that a file may be in, where that is not k.synced
	at     map[place]int // the same by place
	found  map[place]node
	paths  map[place]string
}

// judge says whether a volume is one that the cut may have left.
func (h *history) judge(k knowledge, found tree) error {
	h.index()
	j := &judgement{h: h, k: k, places: h.places[:k.begun+1], since: map[int]int{}, at: map[place]int{}, found: map[place]node{}, paths: map[place]string{}}
	for path, state := range k.files {
		if n, ok := h.states[state][path]; ok && state > k.synced {
			j.since[n.id], j.at[h.states[state].place(path)] = state, state
		}
	}
	for id, state := range h.spoiledFiles {
		j.since[id] = min(state, k.synced)
	}
	for at, state := range h.spoiledPlaces {
		j.at[at] = min(state, k.synced)
	}
	if err := j.resolve(found); err != nil {
		return err
	}
	return errors.Join(j.lost(), j.missing(), judgeTwice(found))
}

// resolve finds the place of everything found, and looks whether it may be there.
func (j *judgement) resolve(found tree) error {
	folders := map[string]int{"": 0}
	for _, path := range slices.SortedFunc(maps.Keys(found), func(a, b string) int { return len(a) - len(b) }) {
		slash := strings.LastIndex(path, "/")
		folder, known := folders[path[:slash]]
		if recovered.MatchString(path) || unfinished.MatchString(path) && j.k.begun > j.k.synced {
			continue
		}
		if !known {
			return fmt.Errorf("%q lies in something unexpected", path)
		}
		at := place{folder, path[slash+1:]}
		n, err := j.identify(at, found[path])
		if err != nil {
			return fmt.Errorf("%q: %w", path, err)
		}
		if n.folder {
			folders[path] = n.id
		}
		j.found[at], j.paths[at] = n, path
	}
	return nil
}

// identify tells which file is at a place. The result has its id and the content found.
func (j *judgement) identify(at place, got node) (node, error) {
	first := j.k.synced
	if state, ok := j.at[at]; ok {
		first = state
	}
	var versions []node
	for state := first; state < len(j.places); state++ {
		if n, ok := j.places[state][at]; ok && state >= j.since[n.id] {
			versions = append(versions, n)
		}
	}
	if len(versions) == 0 {
		return got, errors.New("in no state that could have been left")
	}
	var err error
	for _, v := range versions {
		// All contents the file had, also under other names.
		if err = mixOf(j.versions(v.id), v.id, got); err == nil {
			got.id = v.id
			return got, nil
		}
	}
	return got, err
}

// first is the first state a file may be in.
func (j *judgement) first(id int) int {
	if state, ok := j.since[id]; ok {
		return state
	}
	return j.k.synced
}

// versions are what a file was in the states it may be in.
func (j *judgement) versions(id int) []node {
	var list []node
	for _, places := range j.places[j.first(id):] {
		for _, n := range places {
			if n.id == id {
				list = append(list, n)
			}
		}
	}
	return list
}

// lost looks for files and folders that were there all the time and are not any more, under whatever name.
func (j *judgement) lost() error {
	here := map[int]bool{}
	for _, n := range j.found {
		here[n.id] = true
	}
	for at, n := range j.places[j.k.begun] {
		if !here[n.id] && len(j.versions(n.id)) == len(j.places)-j.first(n.id) {
			return fmt.Errorf("%q, in folder %d, is lost, under whatever name; found is %+v", at.name, at.folder, slices.Sorted(maps.Values(j.paths)))
		}
	}
	return nil
}

// missing looks for names that were there all the time, with one file or another, and are not any more.
func (j *judgement) missing() error {
	for at := range j.places[j.k.begun] {
		first := j.k.synced
		if state, ok := j.at[at]; ok {
			first = state
		}
		always := true
		for _, places := range j.places[first:] {
			_, ok := places[at]
			always = always && ok
		}
		if _, ok := j.found[at]; always && !ok {
			return fmt.Errorf("%q is missing in its folder", at.name)
		}
	}
	return nil
}

// mixOf says whether got can have come from the versions of file id.
func mixOf(versions []node, id int, got node) error {
	least, most := 1<<62, 0
	var own []string
	for _, v := range versions {
		switch {
		case v.id != id:
		case v.folder != got.folder:
			return errors.New("a folder is a file or the other way round")
		case v.data == got.data:
			return nil
		case !v.whole:
			own = append(own, v.data)
			least, most = min(least, len(v.data)), max(most, len(v.data))
		}
	}
	if len(own) < 2 {
		return fmt.Errorf("%d bytes differ from what they must be", len(got.data))
	}
	if len(got.data) < least || len(got.data) > most {
		return fmt.Errorf("%d bytes long, must be %d to %d", len(got.data), least, most)
	}
	for i := range len(got.data) {
		if !slices.ContainsFunc(own, func(s string) bool { return i < len(s) && s[i] == got.data[i] }) {
			return fmt.Errorf("byte %d of %d is from no state", i, len(got.data))
		}
	}
	return nil
}

// spoil makes paths, and the files that were there in a state from since on, uncertain.
func (h *history) spoil(paths []string, since int) {
	for _, path := range paths {
		for _, s := range h.states[since:] {
			if n, ok := s[path]; ok {
				if _, known := h.spoiledFiles[n.id]; !known {
					h.spoiledFiles[n.id] = since
				}
				if _, known := h.spoiledPlaces[s.place(path)]; !known {
					h.spoiledPlaces[s.place(path)] = since
				}
			}
		}
	}
}

// isSpoiled says whether an operation on what is at path now, or on a folder above, has failed.
func (h *history) isSpoiled(path string) bool {
	s := h.now()
	for ; path != ""; path = path[:strings.LastIndex(path, "/")] {
		_, file := h.spoiledFiles[s[path].id]
		_, at := h.spoiledPlaces[s.place(path)]
		if file || at {
			return true
		}
	}
	return false
}

// judgeTwice looks for one content under two names: all contents of these tests differ.
func judgeTwice(found tree) error {
	where := map[string]string{}
	for path, n := range found {
		if len(n.data) < 64 || strings.Count(n.data, "\x00") == len(n.data) || recovered.MatchString(path) || unfinished.MatchString(path) {
			continue
		}
		if other, ok := where[n.data]; ok {
			return fmt.Errorf("%q and %q have the same content: one file under two names", path, other)
		}
		where[n.data] = path
	}
	return nil
}

// readTree reads everything in a volume.
func readTree(v *fat32.Volume) (tree, error) {
	s := tree{}
	var walk func(dir string) error
	walk = func(dir string) error {
		list, err := v.ReadDir(dir + "/")
		if err != nil {
			return err
		}
		for _, i := range list {
			path := dir + "/" + i.Name
			if i.IsDir() {
				s[path] = node{folder: true}
				err = walk(path)
			} else {
				var data string
				data, err = slurp(v, path)
				s[path] = node{data: data}
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	return s, walk("")
}

// slurp reads a file whole.
func slurp(v *fat32.Volume, path string) (string, error) {
	f, err := v.OpenFile(path, fat32.ReadOnly)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	p := make([]byte, info.Size)
	if n, err := f.ReadAt(p, 0); n != len(p) {
		return "", fmt.Errorf("read %d of %d bytes of %s: %w", n, len(p), path, err)
	}
	return string(p), nil
}

// differ says where two trees differ in names, kinds and content; "" if they do not.
func differ(got, want tree) string {
	var list []string
	for path, n := range want {
		if g, ok := got[path]; !ok {
			list = append(list, "lacks "+path)
		} else if g.folder != n.folder || g.data != n.data {
			list = append(list, fmt.Sprintf("%s differs, has %d bytes, want %d", path, len(g.data), len(n.data)))
		}
	}
	for path := range got {
		if _, ok := want[path]; !ok {
			list = append(list, "has "+path)
		}
	}
	slices.Sort(list)
	return strings.Join(list, "; ")
}
