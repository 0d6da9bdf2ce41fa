//go:build linux

package operations_test

import (
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"strings"

	"coffer/fat32"
)

// item is one file or folder of the model.
type item struct {
	name     string // as stored
	folder   bool
	content  []byte
	parent   *item
	children map[string]*item // by folded name
}

func newFolder(name string) *item {
	return &item{name: name, folder: true, children: map[string]*item{}}
}

// path is where the item is, spelt as stored.
func (i *item) path() string {
	if i.parent == nil {
		return "/"
	}
	return path.Join(i.parent.path(), i.name)
}

func (i *item) child(name string) *item { return i.children[fat32.FoldName(name)] }

func (i *item) add(c *item, name string) {
	c.name, c.parent = name, i
	i.children[fat32.FoldName(name)] = c
}

func (i *item) drop() { delete(i.parent.children, fat32.FoldName(i.name)) }

// inside says whether i is other or below it.
func (i *item) inside(other *item) bool {
	for ; i != nil; i = i.parent {
		if i == other {
			return true
		}
	}
	return false
}

// sorted are the children by name.
func (i *item) sorted() []*item {
	var all []*item
	for _, c := range i.children {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b *item) int { return strings.Compare(a.name, b.name) })
	return all
}

// walk visits i and everything below it.
func (i *item) walk(visit func(*item)) {
	visit(i)
	for _, c := range i.sorted() {
		c.walk(visit)
	}
}

// spellings are names that a case-insensitive file system takes for one, several times.
var spellings = [][]string{
	{"alpha", "Alpha", "ALPHA"}, {"Beta.txt", "beta.TXT", "BETA.TXT"}, {"a longer name, with blanks.dat", "A Longer Name, With Blanks.dat"},
	{"Grüße", "GRÜSSE", "grüße"}, {"naïve café", "NAÏVE CAFÉ"}, {"x", "X"}, {"same"}, {"folder.d", "FOLDER.D"},
}

// someName is a random name in a random spelling.
func someName(r *rand.Rand) string {
	group := spellings[r.IntN(len(spellings))]
	return group[r.IntN(len(group))]
}

// respelt is p with every part in another spelling where there is one.
func respelt(r *rand.Rand, p string) string {
	parts := strings.Split(p, "/")
	for i, part := range parts {
		for _, group := range spellings {
			if slices.Contains(group, part) {
				same := group[r.IntN(len(group))]
				if fat32.FoldName(same) == fat32.FoldName(part) {
					parts[i] = same
				}
			}
		}
	}
	return strings.Join(parts, "/")
}

// someFolder is a random folder of the model, not too deep.
func (w *world) someFolder() *item {
	var all []*item
	w.root.walk(func(i *item) {
		if i.folder && strings.Count(i.path(), "/") < 4 {
			all = append(all, i)
		}
	})
	return all[w.random.IntN(len(all))]
}

// someItem is a random item below the root; nil when there is none.
func (w *world) someItem(files bool) *item {
	var all []*item
	w.root.walk(func(i *item) {
		if i != w.root && (!files || !i.folder) {
			all = append(all, i)
		}
	})
	if len(all) == 0 {
		return nil
	}
	return all[w.random.IntN(len(all))]
}

// someContent is new content.
func (w *world) someContent() []byte {
	content := make([]byte, w.random.IntN(20_000))
	for i := range content {
		content[i] = byte(w.random.Uint32())
	}
	return content
}

// step notes what is done, for the log of a failure.
func (w *world) step(format string, values ...any) {
	w.did = append(w.did, fmt.Sprintf(format, values...))
	if len(w.did) > 30 {
		w.did = w.did[1:]
	}
}
