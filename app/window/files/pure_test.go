package files

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"coffer/app/protocol"
)

func TestSelection(t *testing.T) {
	for name, one := range map[string]struct {
		do             func(s *selection)
		rows           []int
		cursor, anchor int
	}{
		"click":                        {func(s *selection) { s.only(3) }, []int{3}, 3, 3},
		"click elsewhere":              {func(s *selection) { s.only(3); s.only(5) }, []int{5}, 5, 5},
		"ctrl adds":                    {func(s *selection) { s.only(3); s.toggle(1) }, []int{1, 3}, 1, 1},
		"ctrl takes away":              {func(s *selection) { s.only(3); s.toggle(1); s.toggle(3) }, []int{1}, 3, 3},
		"shift down":                   {func(s *selection) { s.only(3); s.extend(6, false) }, []int{3, 4, 5, 6}, 6, 3},
		"shift turns at the anchor":    {func(s *selection) { s.only(3); s.extend(6, false); s.extend(1, false) }, []int{1, 2, 3}, 1, 3},
		"shift forgets others":         {func(s *selection) { s.only(9); s.toggle(3); s.extend(4, false) }, []int{3, 4}, 4, 3},
		"ctrl and shift keep others":   {func(s *selection) { s.only(9); s.toggle(3); s.extend(4, true) }, []int{3, 4, 9}, 4, 3},
		"shift without an anchor":      {func(s *selection) { s.extend(2, false) }, []int{0, 1, 2}, 2, 0},
		"down enters at the top":       {func(s *selection) { s.step(1, false) }, []int{0}, 0, 0},
		"up enters at the end":         {func(s *selection) { s.step(-1, false) }, []int{9}, 9, 9},
		"down":                         {func(s *selection) { s.only(3); s.step(1, false) }, []int{4}, 4, 4},
		"down stops at the end":        {func(s *selection) { s.only(9); s.step(1, false) }, []int{9}, 9, 9},
		"page up stops at the top":     {func(s *selection) { s.only(3); s.step(-20, false) }, []int{0}, 0, 0},
		"shift and arrows":             {func(s *selection) { s.only(3); s.step(1, true); s.step(1, true) }, []int{3, 4, 5}, 5, 3},
		"shift and arrows, back":       {func(s *selection) { s.only(3); s.step(2, true); s.step(-1, true) }, []int{3, 4}, 4, 3},
		"all":                          {func(s *selection) { s.all() }, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, 0, 0},
		"all, the cursor stays":        {func(s *selection) { s.only(3); s.all() }, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, 3, 3},
		"none, the cursor stays":       {func(s *selection) { s.only(3); s.none() }, nil, 3, 3},
		"twice the same is once there": {func(s *selection) { s.only(3); s.set(3, true) }, []int{3}, 3, 3},
	} {
		s := newSelection(10)
		one.do(&s)
		if rows := s.rows(); !slices.Equal(rows, one.rows) || s.count != len(one.rows) || s.cursor != one.cursor || s.anchor != one.anchor {
			t.Errorf("%s: rows %v (count %d), cursor %d, anchor %d; want %v, %d, %d", name, rows, s.count, s.cursor, s.anchor, one.rows, one.cursor, one.anchor)
		}
	}
}

func TestSelectionOfAnEmptyList(t *testing.T) {
	s := newSelection(0)
	s.step(1, false)
	s.step(-1, true)
	s.all()
	if s.count != 0 || s.cursor != -1 || s.has(0) || s.has(-1) {
		t.Errorf("something is chosen of nothing: %+v", s)
	}
}

// list makes items of names; those ending with "/" are folders.
func list(names ...string) []*item {
	var items []*item
	for _, name := range names {
		p, folder := strings.CutSuffix(name, "/")
		items = append(items, newItem(protocol.Entry{Path: "/" + p, Folder: folder}))
	}
	return items
}

func TestSelectionFollowsItsFiles(t *testing.T) {
	before, after := list("a", "b", "c", "d"), list("0", "a", "c", "d", "e")
	s := newSelection(4)
	s.only(1)
	s.toggle(2)
	s.toggle(3)
	if got := s.moved(before, after); !slices.Equal(got.rows(), []int{2, 3}) || got.cursor != 3 || got.count != 2 {
		t.Errorf("b is gone, c and d stay: rows %v, cursor %d", got.rows(), got.cursor)
	}
	s.only(1)
	if got := s.moved(before, after); got.count != 0 || got.cursor != 1 {
		t.Errorf("the one chosen is gone: rows %v, cursor %d, want none and the cursor about there", got.rows(), got.cursor)
	}
	if got := s.moved(before, nil); got.count != 0 || got.cursor != -1 {
		t.Errorf("everything is gone: rows %v, cursor %d", got.rows(), got.cursor)
	}
}

func TestNames(t *testing.T) {
	taken := func(folded string) bool { return folded == "there" }
	for name, why := range map[string]string{
		"a":                               "",
		"Ünï cødé 漢字.txt":                 "",
		".hidden":                         "",
		"a.b.c":                           "",
		"plus + comma , = [ ] ; ok":       "",
		"":                                "Type",
		"a/b":                             "any of",
		`a\b`:                             "any of",
		"what?":                           "any of",
		"a*":                              "any of",
		"a:b":                             "any of",
		`a"b`:                             "any of",
		"<a>":                             "any of",
		"a|b":                             "any of",
		"a\x00b":                          "control",
		"a\nb":                            "control",
		"a\x7f":                           "control",
		"end.":                            "dot",
		"..":                              "dot",
		"end ":                            "space",
		"bad\xff":                         "valid",
		strings.Repeat("x", 255):          "",
		strings.Repeat("x", 256):          "too long by 1",
		strings.Repeat("\U0001f600", 127): "",
		strings.Repeat("\U0001f600", 128): "too long by 1", // two units each
		"there":                           "already",
		"THERE":                           "already",
	} {
		if got := nameFault(name, taken); (why == "") != (got == "") || !strings.Contains(got, why) {
			t.Errorf("%q: %q, want something about %q", name, got, why)
		}
	}
	if got := freeName("New folder", func(folded string) bool { return folded == "new folder" || folded == "new folder 2" }); got != "New folder 3" {
		t.Errorf("the free name is %q", got)
	}
}

func TestOrder(t *testing.T) {
	at := func(day int) time.Time { return time.Date(2024, 1, day, 0, 0, 0, 0, time.UTC) }
	items := []*item{
		newItem(protocol.Entry{Path: "/x/b2", SizeBytes: 3, Modified: at(1)}),
		newItem(protocol.Entry{Path: "/B10", SizeBytes: 2, Modified: at(3)}),
		newItem(protocol.Entry{Path: "/a/a", SizeBytes: 2, Modified: at(2)}),
		newItem(protocol.Entry{Path: "/z", Folder: true, Modified: at(9)}),
		newItem(protocol.Entry{Path: "/Y", Folder: true, Modified: at(8)}),
	}
	for o, want := range map[order]string{
		{by: byName}:                 "Y z a b2 B10",
		{by: byName, down: true}:     "z Y B10 b2 a",
		{by: bySize}:                 "Y z a B10 b2",
		{by: bySize, down: true}:     "z Y b2 B10 a",
		{by: byModified}:             "Y z b2 a B10",
		{by: byModified, down: true}: "z Y B10 a b2",
		{by: byFolder}:               "Y z B10 a b2",
	} {
		var names []string
		for _, i := range o.sorted(items) {
			names = append(names, i.name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%+v: %s, want %s", o, got, want)
		}
		half := o.merged(o.sorted(items[:2]), o.sorted(items[2:]))
		if !slices.Equal(half, o.sorted(items)) {
			t.Errorf("%+v: batches merge into another order", o)
		}
	}
}

func TestMatcher(t *testing.T) {
	for words, names := range map[string]string{
		"HOL":      "Holidays.jpg",
		"*.jpg":    "Holidays.jpg",
		"h*s*pg":   "Holidays.jpg",
		"ä":        "Äpfel",
		"day .jpg": "",
	} {
		match := matcher(words)
		var found []string
		for _, i := range list("Holidays.jpg", "Äpfel") {
			if match(i) {
				found = append(found, i.name)
			}
		}
		if got := strings.Join(found, " "); got != names {
			t.Errorf("%q finds %q, want %q", words, got, names)
		}
	}
}

func TestOutermost(t *testing.T) {
	got := pathsOf(outermost(list("a/", "a/b/", "a/b/c", "ab", "d/", "e/f")))
	if want := "[/a /ab /d /e/f]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
}

func TestFileURL(t *testing.T) {
	for _, one := range [][3]string{
		{"/run/user/1/d", "/a b/ü?#.txt", "file:///run/user/1/d/a%20b/%C3%BC%3F%23.txt"},
		{"X:", "/a.txt", "file:///X:/a.txt"},
		{"/mnt/", "/a.txt", "file:///mnt/a.txt"},
	} {
		if got := fileURL(one[0], one[1]).String(); got != one[2] {
			t.Errorf("%s and %s: %s, want %s", one[0], one[1], got, one[2])
		}
	}
}

func TestRemoveQuestion(t *testing.T) {
	for want, items := range map[string][]*item{
		"“a” (":                list("a"),
		"The folder “f”":       list("f/"),
		"2 files":              list("a", "b"),
		"2 folders and":        list("a/", "b/"),
		"2 files and 1 folder": list("a", "b", "c/"),
		"cannot be undone":     list("a"),
		"1 file and 2 folders": list("a", "b/", "c/"),
	} {
		if items != nil && !strings.Contains(removeQuestion(items), want) {
			t.Errorf("%q does not say %q", removeQuestion(items), want)
		}
	}
}
