package fat32_test

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"coffer/fat32"
)

func TestCheckName(t *testing.T) {
	good := []string{"a", "README.TXT", ".hidden", "a.b.c", "a b", " leading", "ünïcödé", "日本語", "🙂🙂", strings.Repeat("x", 255), "con", "~1", "a+b,c;d=e[f]"}
	for _, n := range good {
		if err := fat32.CheckName(n); err != nil {
			t.Errorf("%q: %v", n, err)
		}
	}
	bad := []string{"", ".", "..", "a.", "a ", "a/b", `a\b`, "a:b", "a*", "a?", `"`, "<", ">", "|", "a\x00", "a\n", "\x7f", "bad\xff"}
	for _, n := range bad {
		if err := fat32.CheckName(n); !errors.Is(err, fat32.ErrName) {
			t.Errorf("%q: %v", n, err)
		}
	}
	if err := fat32.CheckName(strings.Repeat("🙂", 128)); !errors.Is(err, fat32.ErrNameTooLong) {
		t.Errorf("256 units: %v", err)
	}
}

func TestDirSlots(t *testing.T) {
	for name, want := range map[string]int{"a": 1, "README.TXT": 1, "readme.txt": 1, "README.txt": 1, "Readme.txt": 2, "a.b.c": 2, ".x": 2, "é": 2, "123456789": 2, strings.Repeat("x", 13): 2, strings.Repeat("x", 14): 3, strings.Repeat("x", 255): 21, strings.Repeat("🙂", 127): 21} {
		if got := fat32.DirSlots(name); got != want {
			t.Errorf("%q takes %d slots, want %d", name, got, want)
		}
	}
}

func TestFoldName(t *testing.T) {
	for _, pair := range [][2]string{{"Straße", "STRAßE"}, {"éÉ", "ÉÉ"}, {"привет", "ПРИВЕТ"}, {"ας", "ΑΣ"}, {"ÿ", "Ÿ"}} {
		if fat32.FoldName(pair[0]) != fat32.FoldName(pair[1]) {
			t.Errorf("%q and %q should collide", pair[0], pair[1])
		}
	}
	for _, pair := range [][2]string{{"ß", "SS"}, {"ı", "I"}, {"ſ", "S"}, {"µ", "Μ"}, {"a", "b"}} {
		if fat32.FoldName(pair[0]) == fat32.FoldName(pair[1]) {
			t.Errorf("%q and %q should not collide", pair[0], pair[1])
		}
	}
}

func TestShortNames(t *testing.T) {
	v := mount(t, format(t, 40<<20, fat32.FormatOptions{}))
	cases := []struct{ name, short string }{
		{"README.TXT", "README.TXT"}, {"readme2.txt", "README2.TXT"}, {"Mixed.Txt", "MIXED.TXT"},
		{"A long name.text", "ALONGN~1.TEX"}, {"A long name.textual", "ALONGN~2.TEX"}, {"a longname.tex", "ALONGN~3.TEX"},
		{".profile", "PROFIL~1"}, {"archive.tar.gz", "ARCHIV~1.GZ"}, {"a+b.c", "A_B~1.C"}, {"日本", "__~1"}, {"été.txt", "_T_~1.TXT"},
		{"...dots", "DOTS~1"}, {"no extension at all", "NOEXTE~1"}, {"x.y z", "X~1.YZ"},
	}
	for _, c := range cases {
		put(t, v, "/"+c.name, nil)
		i, err := v.Stat("/" + c.name)
		must(t, err)
		if i.Name != c.name || i.ShortName != c.short {
			t.Errorf("%q is stored as %q, short %q, want %q", c.name, i.Name, i.ShortName, c.short)
		}
		if j, err := v.Stat("/" + strings.ToLower(c.short)); err != nil || j.ID != i.ID {
			t.Errorf("%q is not found under %q: %v", c.name, c.short, err)
		}
	}
	// Many names of one basis: the hash keeps them apart.
	seen := map[string]bool{}
	for n := range 300 {
		name := fmt.Sprintf("/same beginning %d.dat", n)
		put(t, v, name, nil)
		i, err := v.Stat(name)
		must(t, err)
		if seen[i.ShortName] {
			t.Fatalf("%s twice", i.ShortName)
		}
		seen[i.ShortName] = true
	}
	must(t, v.Close())
}

func TestCaseRules(t *testing.T) {
	m := format(t, 40<<20, fat32.FormatOptions{})
	v := mount(t, m)
	put(t, v, "/Name.Txt", []byte("1"))
	if _, err := v.OpenFile("/NAME.TXT", fat32.ReadWrite|fat32.Create|fat32.Exclusive); !errors.Is(err, fs.ErrExist) {
		t.Fatalf("exclusive create: %v", err)
	}
	if err := v.Mkdir("/nAME.tXT"); !errors.Is(err, fat32.ErrExist) {
		t.Fatalf("mkdir: %v", err)
	}
	put(t, v, "/NAME.TXT", []byte("22"))
	if got := names(t, v, "/"); len(got) != 1 || got[0] != "Name.Txt" {
		t.Fatalf("listing %q", got)
	}
	must(t, v.Rename("/NAME.txt", "/name.TXT", false))
	if got := names(t, v, "/"); len(got) != 1 || got[0] != "name.TXT" {
		t.Fatalf("after a rename of the case: %q", got)
	}
	put(t, v, "/other", []byte("333"))
	must(t, v.Rename("/other", "/NAME.txt", true))
	if got := names(t, v, "/"); len(got) != 1 || got[0] != "NAME.txt" {
		t.Fatalf("after a replacing rename: %q", got)
	}
	must(t, v.Close())
	fsck(t, m)
	v = mount(t, m)
	if got := names(t, v, "/"); len(got) != 1 || got[0] != "NAME.txt" || string(get(t, v, "/name.txt")) != "333" {
		t.Fatalf("after a remount: %q", got)
	}
}

func TestDirectoryLimits(t *testing.T) {
	t.Run("fixed root", func(t *testing.T) {
		m := format(t, 5<<20, fat32.FormatOptions{Type: fat32.FAT16, ClusterSize: 512})
		v := mount(t, m)
		n := 0
		for ; n < 600; n++ {
			f, err := v.OpenFile(fmt.Sprintf("/F%d", n), fat32.WriteOnly|fat32.Create)
			if errors.Is(err, fat32.ErrDirFull) {
				break
			}
			must(t, err)
			must(t, f.Close())
		}
		if n != v.Geometry().RootEntries {
			t.Fatalf("%d files in a root of %d slots", n, v.Geometry().RootEntries)
		}
		must(t, v.Remove("/F7"))
		put(t, v, "/F7X", nil) // the slot of a removed file is used again
		must(t, v.Close())
		fsck(t, m)
	})
	t.Run("65,536 slots", func(t *testing.T) {
		m := format(t, 300<<20, fat32.FormatOptions{ClusterSize: 4096})
		v := mount(t, m)
		must(t, v.Mkdir("/d"))
		// 21,844 names of three slots and two of one fill 65,534 exactly.
		for i := range 21844 {
			f, err := v.OpenFile(fmt.Sprintf("/d/A name of 3 slots %05d", i), fat32.WriteOnly|fat32.Create)
			must(t, err)
			must(t, f.Close())
		}
		put(t, v, "/d/ONE", nil)
		put(t, v, "/d/TWO", nil)
		if _, err := v.OpenFile("/d/THREE", fat32.WriteOnly|fat32.Create); !errors.Is(err, fat32.ErrDirFull) {
			t.Fatalf("65,535th slot: %v", err)
		}
		must(t, v.Remove("/d/A name of 3 slots 00777"))
		put(t, v, "/d/Again three slots here", nil)
		must(t, v.Close())
		fsck(t, m)
		selfCheck(t, m)
		v = mount(t, m)
		if n := len(names(t, v, "/d")); n != 21846 {
			t.Fatalf("%d entries", n)
		}
	})
}
