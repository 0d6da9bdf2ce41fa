package session

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// world is a host on which a.img and b:/c.img are files and dir: is a folder.
func world(name string) hostKind {
	switch name {
	case "a.img", "b:/c.img", "x:/y":
		return kindFile
	case "dir:", "b:":
		return kindFolder
	}
	return kindNothing
}

func TestParsePlace(t *testing.T) {
	for argument, want := range map[string]Place{
		"a.img":             {Path: "a.img"},
		"a.img:/":           {Image: "a.img", Path: "/", Folder: true},
		"a.img:/x/y":        {Image: "a.img", Path: "/x/y"},
		"a.img:/x//y/":      {Image: "a.img", Path: "/x/y", Folder: true},
		"a.img:/../../etc":  {Image: "a.img", Path: "/etc"},
		"a.img:/x:/y":       {Image: "a.img", Path: "/x:/y"},
		"b:/c.img:/d":       {Image: "b:/c.img", Path: "/d"},
		"b:/c.img":          {Path: "b:/c.img"},
		"dir:/new":          {Path: "dir:/new"},
		"x:/y":              {Path: "x:/y"},
		"a.img:x":           {Path: "a.img:x"},
		":/x":               {Path: ":/x"},
		"plain/folder/":     {Path: "plain/folder/", Folder: true},
		"/absolute/path.go": {Path: "/absolute/path.go"},
	} {
		got, err := parsePlace(argument, world)
		if err != nil || got != want {
			t.Errorf("%q: %+v, %v; want %+v", argument, got, err, want)
		}
	}
	for _, argument := range []string{"missing.img:/", "missing.img:/a", "c:/x:/y", "", "a\x00b", "a.img:/\x00"} {
		if got, err := parsePlace(argument, world); err == nil {
			t.Errorf("%q was taken as %+v", argument, got)
		}
	}
	var missing *NoImageError
	if _, err := parsePlace("missing.img:/a", world); !errors.As(err, &missing) || missing.Image != "missing.img" {
		t.Errorf("missing image: %v", err)
	}
}

func FuzzParsePlace(f *testing.F) {
	for _, seed := range []string{"a.img:/x", "b:/c.img:/../..", ":/:/:/", "C:/x", "a.img:///", "a.img:/\x00", "é:/b:/"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, argument string) {
		place, err := parsePlace(argument, world)
		if err != nil {
			return
		}
		if !place.Inside() {
			if place.Path != argument {
				t.Fatalf("%q became the host path %q", argument, place.Path)
			}
			return
		}
		if world(place.Image) != kindFile || !strings.HasPrefix(argument, place.Image+":/") {
			t.Fatalf("%q: image %q", argument, place.Image)
		}
		if place.Path != path.Clean(place.Path) || place.Path[0] != '/' || strings.Contains(place.Path, "\x00") {
			t.Fatalf("%q: path %q", argument, place.Path)
		}
		for _, part := range strings.Split(place.Path[1:], "/") {
			if part == ".." || part == "." || part == "" && place.Path != "/" {
				t.Fatalf("%q: path %q", argument, place.Path)
			}
		}
	})
}

// TestAbsolutePlaces: what a person wrote means the same in a process with another working folder.
func TestAbsolutePlaces(t *testing.T) {
	folder := t.TempDir()
	t.Chdir(folder)
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	slash := string(filepath.Separator)
	for typed, want := range map[string]string{
		"a": here + slash + "a", "a/b/": here + slash + filepath.Join("a", "b") + slash, "a/.": here + slash + "a" + slash + ".",
		".": here + slash + ".", "..": filepath.Dir(here) + slash + ".", "./a": here + slash + "a", here: here, here + slash: here + slash,
	} {
		place, err := ParsePlace(typed)
		if err != nil {
			t.Fatal(err)
		}
		got, err := place.Absolute()
		if err != nil || got.Path != want || got.Folder != place.Folder || got.String() != typed {
			t.Errorf("%q: %+v, %v; want the path %q, shown as typed", typed, got, err, want)
		}
	}
	inside := Place{Image: "a.img", Path: "/x"}
	if got, err := inside.Absolute(); err != nil || got != inside {
		t.Errorf("a place inside became %+v, %v", got, err)
	}
}
