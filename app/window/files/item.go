package files

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"

	"coffer/app/protocol"
	"coffer/app/window/natural"
	"coffer/app/window/text"
	"coffer/app/window/ui"
)

// item is a file or folder of the list. It is not changed once it is made, so that goroutines may share it.
type item struct {
	protocol.Entry
	name  string // as it is stored: what is used
	shown string // safe to look at: what is shown, and nothing else is
	key   string // by which it is ordered and found
}

func newItem(e protocol.Entry) *item {
	name := path.Base(e.Path)
	return &item{Entry: e, name: name, shown: ui.Clean(name), key: strings.ToLower(name)}
}

// kinds are what endings of names stand for.
var kinds = func() map[string]fyne.ThemeIconName {
	all := map[string]fyne.ThemeIconName{}
	for icon, endings := range map[fyne.ThemeIconName]string{
		theme.IconNameFileImage:       "jpg jpeg png gif bmp tif tiff webp heic svg raw cr2 nef arw dng ico avif",
		theme.IconNameFileVideo:       "mp4 mkv mov avi webm m4v mpg mpeg wmv 3gp ts",
		theme.IconNameFileAudio:       "mp3 flac ogg opus wav m4a aac wma aiff mid",
		theme.IconNameFileText:        "txt md rtf log csv json xml html htm tex doc docx odt pdf epub",
		theme.IconNameFileApplication: "exe msi app bat cmd sh jar deb rpm apk bin",
	} {
		for ending := range strings.FieldsSeq(endings) {
			all["."+ending] = icon
		}
	}
	return all
}()

// icon is the name of the picture of its kind.
func (i *item) icon() fyne.ThemeIconName {
	if i.Folder {
		return theme.IconNameFolder
	}
	if icon, ok := kinds[path.Ext(i.key)]; ok {
		return icon
	}
	return theme.IconNameFile
}

// kind is what it is, in words.
func (i *item) kind() string {
	switch i.icon() {
	case theme.IconNameFolder:
		return text.T("Folder")
	case theme.IconNameFileImage:
		return text.T("Picture")
	case theme.IconNameFileVideo:
		return text.T("Video")
	case theme.IconNameFileAudio:
		return text.T("Sound")
	case theme.IconNameFileText:
		return text.T("Document")
	case theme.IconNameFileApplication:
		return text.T("Program")
	}
	return text.T("File")
}

// modified is the time of its last change as the list shows it; the same in every language, so that columns line up.
func (i *item) modified() string {
	if i.Modified.IsZero() {
		return ""
	}
	return i.Modified.Local().Format("2006-01-02 15:04")
}

// column is a column of the list.
type column int

const (
	byName column = iota
	byFolder
	bySize
	byModified
)

// order is how the list is ordered: folders first whatever it is.
type order struct {
	by   column
	down bool
}

// compare orders two items.
func (o order) compare(a, b *item) int {
	if a.Folder != b.Folder {
		if a.Folder {
			return -1
		}
		return 1
	}
	c := 0
	switch o.by {
	case byFolder:
		c = natural.Compare(strings.ToLower(path.Dir(a.Path)), strings.ToLower(path.Dir(b.Path)))
	case bySize:
		c = cmp.Compare(a.SizeBytes, b.SizeBytes)
	case byModified:
		c = a.Modified.Compare(b.Modified)
	}
	if c == 0 {
		c = natural.Compare(a.key, b.key)
	}
	if c == 0 {
		c = cmp.Compare(a.Path, b.Path)
	}
	if o.down {
		return -c
	}
	return c
}

// sorted is a sorted copy.
func (o order) sorted(items []*item) []*item {
	items = slices.Clone(items)
	slices.SortFunc(items, o.compare)
	return items
}

// merged is a new list of two sorted ones.
func (o order) merged(a, b []*item) []*item {
	if len(a) == 0 || len(b) == 0 {
		return append(a[:len(a):len(a)], b...)
	}
	all := make([]*item, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if o.compare(b[0], a[0]) < 0 {
			all, b = append(all, b[0]), b[1:]
		} else {
			all, a = append(all, a[0]), a[1:]
		}
	}
	return append(append(all, a...), b...)
}

// matcher finds names that hold the words; "*" stands for anything between them.
func matcher(words string) func(*item) bool {
	parts := strings.FieldsFunc(strings.ToLower(words), func(r rune) bool { return r == '*' })
	return func(i *item) bool {
		rest := i.key
		for _, part := range parts {
			_, after, found := strings.Cut(rest, part)
			if !found {
				return false
			}
			rest = after
		}
		return true
	}
}

// outermost leaves out what lies in a folder that is there too: it goes wherever that goes.
func outermost(items []*item) []*item {
	folders := map[string]bool{}
	for _, i := range items {
		if i.Folder {
			folders[i.Path] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(items), func(i *item) bool {
		for p := i.Path; p != "/" && p != "."; {
			if p = path.Dir(p); folders[p] {
				return true
			}
		}
		return false
	})
}

func pathsOf(items []*item) []string {
	paths := make([]string, len(items))
	for n, i := range items {
		paths[n] = i.Path
	}
	return paths
}

// same says whether two lists show the same.
func same(a, b []*item) bool {
	return slices.EqualFunc(a, b, func(x, y *item) bool {
		return x == y || x.Path == y.Path && x.Folder == y.Folder && x.SizeBytes == y.SizeBytes && x.Modified.Equal(y.Modified) &&
			x.ReadOnly == y.ReadOnly && x.Hidden == y.Hidden && x.System == y.System
	})
}
