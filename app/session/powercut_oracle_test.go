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

// history is every state a volume went through. State 0 is durable before the recording begins.
//
// What is known of a path after a cut: before the operation that touched it, it is as the last acknowledged state says (set
// or unset); between that operation and the next acknowledgement it may be as in any state of that time, and bytes of one
// file from several of these states may be mixed.
type history struct {
	states []tree
	// spoiled says since which state a path is uncertain because an operation on it failed. Acknowledgements do not
	// make it certain again.
	spoiled map[string]int
}

func newHistory(base tree) *history {
	return &history{states: []tree{base}, spoiled: map[string]int{}}
}

// now is the present state.
func (h *history) now() tree { return h.states[len(h.states)-1] }

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
var recovered = regexp.MustCompile(`^/FSCK[0-9]{4}\.REC$`)

// judge says whether a volume found after a cut, and a repair, is one that may be.
func (h *history) judge(k knowledge, found tree) error {
	window := h.states[k.synced : k.begun+1]
	paths := map[string]bool{}
	for _, s := range append(slices.Clone(window), found) {
		for path := range s {
			paths[path] = true
		}
	}
	for path := range paths {
		if err := h.judgePath(k, path, found); err != nil {
			return err
		}
	}
	return errors.Join(h.judgeLost(k, found), judgeTwice(found))
}

// candidates are the states that a path may have been left in.
func (h *history) candidates(k knowledge, path string) []tree {
	first := k.synced
	if at, ok := k.files[path]; ok {
		first = max(first, at)
	}
	for spoiled, at := range h.spoiled {
		if below(path, spoiled) {
			first = min(first, at)
		}
	}
	return h.states[first : max(k.begun, first)+1]
}

// judgePath looks at one path.
func (h *history) judgePath(k knowledge, path string, found tree) error {
	got, exists := found[path]
	var versions []node
	missing := false
	for _, s := range h.candidates(k, path) {
		if n, ok := s[path]; ok {
			versions = append(versions, n)
		} else {
			missing = true
		}
	}
	switch {
	case !exists && !missing:
		return fmt.Errorf("%q is missing", path)
	case !exists:
		return nil
	case len(versions) == 0 && (recovered.MatchString(path) || unfinished.MatchString(path) && k.begun > k.synced):
		return nil
	case len(versions) == 0:
		return fmt.Errorf("%q is in no state that could have been left", path)
	}
	var last error
	for _, v := range versions {
		if last = mixOf(versions, v.id, got); last == nil {
			return nil
		}
	}
	return fmt.Errorf("%q: %w", path, last)
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

// judgeLost looks for files that were there all the time and are not any more, under whatever name.
func (h *history) judgeLost(k knowledge, found tree) error {
	certain, wide := h.states[k.synced:k.begun+1], h.states[h.firstSpoiled(k.synced):k.begun+1]
	for id, path := range h.ids(certain) {
		window := certain
		if h.isSpoiled(path) {
			window = wide
		}
		versions, places := track(window, id)
		if len(versions) < len(window) || versions[0].folder {
			continue
		}
		if !slices.ContainsFunc(places, func(path string) bool {
			got, ok := found[path]
			return ok && mixOf(versions, id, got) == nil
		}) {
			return fmt.Errorf("a file is lost: it was %q", slices.Compact(places))
		}
	}
	return nil
}

// ids are the files in some of the states, each with a path it had. A spoiled path is preferred.
func (h *history) ids(states []tree) map[int]string {
	all := map[int]string{}
	for _, s := range states {
		for path, n := range s {
			if _, ok := all[n.id]; !ok || h.isSpoiled(path) {
				all[n.id] = path
			}
		}
	}
	return all
}

// track follows a file through states.
func track(states []tree, id int) (versions []node, places []string) {
	for _, s := range states {
		for path, n := range s {
			if n.id == id {
				versions, places = append(versions, n), append(places, path)
			}
		}
	}
	return versions, places
}

// firstSpoiled is the earliest state since which some path is uncertain, at most synced.
func (h *history) firstSpoiled(synced int) int {
	for _, at := range h.spoiled {
		synced = min(synced, at)
	}
	return synced
}

func (h *history) isSpoiled(path string) bool {
	for spoiled := range h.spoiled {
		if below(path, spoiled) {
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
