package recovery

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

func TestGenerate(t *testing.T) {
	shape := regexp.MustCompile(`^([0-9A-HJKMNP-TV-Z]{5}-){6}[0-9A-HJKMNP-TV-Z]{5}$`)
	seen := map[string]bool{}
	used := map[byte]bool{}
	for range 500 {
		key := Generate()
		if !shape.Match(key) || len(key) != Length {
			t.Fatalf("%s does not have the shape of a key", key)
		}
		if seen[string(key)] {
			t.Fatalf("%s came twice", key)
		}
		seen[string(key)] = true
		for _, c := range key {
			used[c] = true
		}
		same, err := Normalise(key)
		if err != nil || !bytes.Equal(same, key) {
			t.Fatalf("%s is read as %s, %v", key, same, err)
		}
	}
	if len(used) != len(alphabet)+1 {
		t.Errorf("%d of %d characters are ever used", len(used)-1, len(alphabet))
	}
}

// A key of today is read tomorrow: the check characters must never change.
const fixed = "00001-ABCDP-ZZZZZ-0123T-K7QM9-WXYZ0-99999"

func TestChecksDoNotChange(t *testing.T) {
	key := []byte(fixed)
	for group := range Groups {
		start := group * (GroupLength + 1)
		key[start+GroupLength-1] = alphabet[check(group, key[start:start+GroupLength-1])]
	}
	if want := "00005-ABCD6-ZZZZ2-0123J-K7QMF-WXYZJ-9999E"; string(key) != want {
		t.Errorf("the checks give %s, want %s", key, want)
	}
}

func TestHowPeopleType(t *testing.T) {
	key := Generate()
	want := string(key)
	for name, typed := range map[string]string{
		"lower case":     strings.ToLower(want),
		"no hyphens":     strings.ReplaceAll(want, "-", ""),
		"blanks":         " " + strings.ReplaceAll(want, "-", "  ") + "\t",
		"long hyphens":   strings.ReplaceAll(want, "-", " \u2013 "),
		"look-alikes":    strings.NewReplacer("0", "o", "1", "l", "V", "u").Replace(want),
		"another letter": strings.ReplaceAll(want, "1", "I"),
		"dots":           strings.ReplaceAll(want, "-", "."),
	} {
		got, err := Normalise([]byte(typed))
		if err != nil || string(got) != want {
			t.Errorf("%s: %q is read as %q, %v", name, typed, got, err)
		}
		if Check([]byte(typed)) != nil {
			t.Errorf("%s: Check refuses it", name)
		}
	}
}

func TestMistakesAreFoundInTheirGroup(t *testing.T) {
	key := Generate()
	for at, c := range key {
		if c == '-' {
			continue
		}
		group := at/(GroupLength+1) + 1
		for _, wrong := range []byte(alphabet) {
			if wrong != c {
				mustBlame(t, key, group, func(k []byte) { k[at] = wrong })
			}
		}
		for other := at + 1; other < len(key) && key[other] != '-'; other++ {
			if key[other] != c {
				mustBlame(t, key, group, func(k []byte) { k[at], k[other] = k[other], k[at] })
			}
		}
	}
	for a := range Groups {
		for b := a + 1; b < Groups; b++ {
			if bytes.Equal(Group(key, a+1)[:4], Group(key, b+1)[:4]) {
				continue
			}
			mustBlame(t, key, a+1, func(k []byte) {
				first := bytes.Clone(Group(k, a+1))
				copy(Group(k, a+1), Group(k, b+1))
				copy(Group(k, b+1), first)
			})
		}
	}
}

func mustBlame(t *testing.T, key []byte, group int, damage func([]byte)) {
	t.Helper()
	wrong := bytes.Clone(key)
	damage(wrong)
	var found *GroupError
	if err := Check(wrong); !errors.As(err, &found) || found.Group != group {
		t.Fatalf("%s for %s: %v, want group %d", wrong, key, err, group)
	}
}

func TestWhatIsNoKey(t *testing.T) {
	key := Generate()
	for typed, want := range map[string]error{
		"":                              ErrLength,
		string(key[:GroupLength]):       ErrLength,
		string(key[:Length-1]):          ErrLength,
		string(key) + "7":               ErrLength,
		"correct horse, battery":        ErrCharacter,
		string(key[:Length-1]) + "\xff": ErrCharacter,
		string(key[:Length-1]) + "é":    ErrCharacter,
	} {
		if got, err := Normalise([]byte(typed)); !errors.Is(err, want) || got != nil {
			t.Errorf("%q: %q, %v; want %v", typed, got, err, want)
		}
	}
}

func TestSameGroup(t *testing.T) {
	key := Generate()
	for group := 1; group <= Groups; group++ {
		right := string(Group(key, group))
		for _, typed := range []string{right, strings.ToLower(right), " " + right + " ", strings.ReplaceAll(right, "0", "O")} {
			if !SameGroup(key, group, typed) {
				t.Errorf("%q is not taken for group %d of %s", typed, group, key)
			}
		}
		for _, typed := range []string{"", right[:4], right + "0", "?" + right[1:]} {
			if SameGroup(key, group, typed) {
				t.Errorf("%q is taken for group %d of %s", typed, group, key)
			}
		}
	}
}

func TestSheet(t *testing.T) {
	key := Generate()
	s := &Sheet{Language: "en", Title: "Recovery key", Facts: [][2]string{{"Container", `<img src="x">.img`}}, Key: key, Sentences: []string{"Keep it safe & dry."}}
	page := string(s.HTML())
	for _, group := range strings.Split(string(key), "-") {
		if !strings.Contains(page, "<code>"+group+"</code>") {
			t.Errorf("group %s is not on the page", group)
		}
	}
	for _, bad := range []string{`<img`, "<script", "http://", "https://", "url(", "@import"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page has %q in it", bad)
		}
	}
	for _, need := range []string{"default-src 'none'", "&lt;img src=", "safe &amp; dry"} {
		if !strings.Contains(page, need) {
			t.Errorf("the page lacks %q", need)
		}
	}
	path := filepath.Join(t.TempDir(), "key.html")
	if err := s.Write(path); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the file has mode %v, %v", info.Mode(), err)
	}
	if err := s.Write(path); !errors.Is(err, os.ErrExist) {
		t.Errorf("a second sheet at the same path: %v", err)
	}
	if written, _ := os.ReadFile(path); string(written) != page {
		t.Error("the file is not the page, or was replaced")
	}
}
