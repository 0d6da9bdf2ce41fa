//go:build unix

package cli_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// sameCommands are run, in this order, in two folders that hold the same: in one the container is locked and every command
// opens it, in the other it is unlocked and every command goes through its agent. PW stands for the password options.
var sameCommands = []string{
	"mkdir p.img:/one p.img:/two PW",
	"mkdir --json -p p.img:/three/four/five p.img:/one PW",
	"mkdir p.img:/one PW",
	"mkdir p.img:/x/y PW",
	"mkdir p.img:/a:b PW",
	"mkdir p.img:/new p.img:/one p.img:/never PW",
	"ls p.img PW", "ls -R p.img:/ PW", "ls -R --json p.img:/three PW", "ls p.img:/nothing PW", "ls --json p.img:/nothing PW",
	"copy pw p.img:/one/hello.txt PW", "copy pw p.img:/one/hello.txt PW", "copy --force --json pw p.img:/one/HELLO.txt PW",
	"ls p.img:/one PW", "ls p.img:/ONE/Hello.TXT PW",
	"cat p.img:/one/hello.txt PW", "cat --json p.img:/one/hello.txt p.img:/ONE/hello.TXT PW", "cat p.img:/one PW",
	"cat --json p.img:/one/hello.txt p.img:/missing PW", "cat p.img:/one/hello.txt p.img:/missing PW",
	"copy --json --verify --label word tree p.img:/ PW", "copy tree p.img:/ PW", "copy --resume tree p.img:/ PW",
	"copy tree/. p.img:/contents PW", "copy tree/missing p.img:/ PW", "copy tree pw p.img:/one/hello.txt PW",
	"copy tree p.img:/one/hello.txt PW", "copy tree p.img:/no/such PW", "copy big p.img:/ PW", "copy --json big p.img:/ PW",
	"copy --quiet p.img:/tree out PW", "copy p.img:/tree/. ./more/ PW", "copy --json --resume p.img:/tree out PW", "copy p.img:/tree out/a PW",
	"copy --force --report r.json p.img:/tree/a . PW", "copy p.img:/one p.img:/two PW", "copy p.img:/one p.img:/one/inside PW",
	"copy p.img:/one p.img:/one PW", "copy --move --json p.img:/one p.img:/moved PW", "copy --move moving p.img:/ PW",
	"copy p.img:/nothing . PW", "copy pw p.img PW", "copy p.img:/tree /no/such/folder PW",
	"copy --verify --window 50ms p.img:/tree p.img:/again PW",
	"copy links p.img:/ PW", "copy --json links p.img:/ PW",
	"mv p.img:/moved p.img:/Moved PW", "mv --json p.img:/tree/a p.img:/tree/A PW", "mv p.img:/tree/b p.img:/tree/A PW",
	"mv -f p.img:/tree/b p.img:/tree/a PW", "mv p.img:/nothing p.img:/other PW", "mv p.img:/tree p.img:/again p.img:/two PW",
	"mv p.img:/two p.img:/two/inside PW", "mv p.img:/tree p.img:/two p.img:/nowhere PW",
	"rm p.img:/two PW", "rm -r --json p.img:/two PW", "rm p.img:/nothing PW", "rm -r p.img:/ PW", "rm p.img:/contents/a p.img:/nothing PW",
	"check p.img PW", "check p.img --json PW", "check p.img --salvage rescued PW", "check p.img --salvage rescued PW",
	"check p.img --repair --salvage x PW", "dump p.img whole.fat PW", "dump p.img whole.fat PW", "dump p.img - --json PW",
	"info p.img PW", "info p.img --json PW", "key list p.img", "ls p.img:/ --format nonsense PW", "ls q.img:/ PW",
	"rm -r -f p.img:/ PW", "ls -R p.img:/ PW", "copy -f tree p.img:/ PW", "copy --split p.img:/ whole PW", "report list",
}

// TestUnlockedIsTheSame runs every command that works on files both ways and compares all that a person or a script sees:
// standard output, standard error, exit code, and at last what is inside and on the host.
func TestUnlockedIsTheSame(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", private(t))
	folders := [2]string{sameFolder(t), sameFolder(t)}
	run(t, folders[1], 0, "unlock", "p.img", "--no-mount", "--password-file", "pw", "--quiet")
	t.Cleanup(func() { run(t, folders[1], 0, "lock", "--all", "--force") })
	failed := 0
	for _, command := range sameCommands {
		var seen [2]string
		for i, folder := range folders {
			args := strings.Fields(strings.ReplaceAll(command, "PW", "--password-file pw"))
			if i == 1 { // nobody needs it, nor is asked
				args = strings.Fields(strings.ReplaceAll(command, "PW", ""))
			}
			var code int
			if seen[i], code = outcome(t, folder, args); code != 0 {
				failed++
			}
		}
		if seen[0] != seen[1] {
			t.Errorf("coffer %s\n--- locked, opened for the command:\n%s\n--- unlocked, through its agent:\n%s", command, seen[0], seen[1])
		}
	}
	if failed < 60 || failed > len(sameCommands)*4/3 {
		t.Errorf("%d runs failed: the list compares too few mistakes, or nothing else", failed)
	}
	run(t, folders[1], 0, "lock", "p.img")
	if out, _ := run(t, folders[1], 0, "check", "p.img", "--password-file", "pw"); !strings.Contains(out, "is clean") {
		t.Errorf("check after locking: %s", out)
	}
	if a, b := hostTree(t, folders[0]), hostTree(t, folders[1]); !maps.Equal(a, b) {
		t.Errorf("on the host:\n%v\n%v", a, b)
	}
}

// twoCommands copy between two containers.
var twoCommands = []string{
	"copy --verify p.img:/tree second.img:/", "copy --json p.img:/tree second.img:/", "copy --resume p.img:/tree second.img:/",
	"copy --force p.img:/tree/a second.img:/b", "copy p.img:/nothing second.img:/", "copy p.img:/tree/a/. second.img:/", "copy p.img:/ second.img:/all",
	"copy p.img:/tree/a p.img:/tree/deep second.img:/none", "copy --json p.img:/big second.img:/", "copy --move --json p.img:/tree second.img:/moved",
	"copy second.img:/moved p.img:/", "ls -R p.img:/", "ls -R second.img:/", "check p.img", "check second.img",
}

// TestTwoContainersAreTheSame: so does a copy between two containers, whichever of them is unlocked.
func TestTwoContainersAreTheSame(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", private(t))
	var want []string
	for _, unlocked := range [][]string{nil, {"p.img"}, {"second.img"}, {"p.img", "second.img"}} {
		folder := sameFolder(t)
		run(t, folder, 0, "create", "second.img", "--size", "60MiB", "--kdf-memory=64KiB", "--kdf-time=1", "--password-file", "pw", "--quiet")
		run(t, folder, 9, "copy", "tree", "p.img:/", "--password-file", "pw", "--quiet")
		for _, image := range unlocked {
			run(t, folder, 0, "unlock", image, "--no-mount", "--password-file", "pw", "--quiet")
		}
		for i, command := range twoCommands {
			args := append(strings.Fields(command), "--password-file", "pw")
			if strings.HasPrefix(command, "copy") {
				args = append(args, "--from-password-file", "pw")
			}
			got, _ := outcome(t, folder, args)
			switch {
			case unlocked == nil:
				want = append(want, got)
			case got != want[i]:
				t.Errorf("coffer %s\n--- both locked:\n%s\n--- unlocked: %v\n%s", command, want[i], unlocked, got)
			}
		}
		if len(unlocked) > 0 {
			run(t, folder, 0, "lock", "--all")
		}
		if left, err := filepath.Glob(filepath.Join(os.Getenv("XDG_RUNTIME_DIR"), "coffer", "*.*")); err != nil || len(left) > 0 {
			t.Errorf("left in the runtime folder: %v, %v", left, err)
		}
	}
}

// private is a runtime folder.
func private(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	if err := os.Chmod(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	return folder
}

// sameFolder is a folder with a container and things to copy.
func sameFolder(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	when := time.Date(2020, 5, 4, 3, 2, 2, 0, time.UTC)
	for name, content := range map[string][]byte{
		"pw": []byte("correct horse\n"), "tree/a": randomBytes(3_000_000, 1), "tree/b": nil, "tree/deep/er/c": []byte("c"),
		"tree/x:y": []byte("no name for FAT"), "big": randomBytes(40_000_000, 2), "moving/m": []byte("m"), "q.img": []byte("no container"),
		"links/file": []byte("file"),
	} {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, when, when); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("file", filepath.Join(folder, "links/link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(folder, "more"), 0o700); err != nil {
		t.Fatal(err)
	}
	run(t, folder, 0, "create", "p.img", "--size", "52MiB", "--kdf-memory=64KiB", "--kdf-time=1", "--password-file", "pw", "--quiet")
	return folder
}

// What differs from run to run, or rightly between the two ways.
var untamed = []struct {
	what *regexp.Regexp
	with string
}{
	{regexp.MustCompile(`\d{8}T\d{9}Z-[0-9a-f]+`), "ID"},
	{regexp.MustCompile(`\d+\.\d+ s +average=.*`), "RATES"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`), "TIME"},
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]+`), "UUID"},
	{regexp.MustCompile(`clusters: \d+ used, \d+ free`), "clusters: USED"}, // removed names take room until they are written down
	{regexp.MustCompile(`serial [0-9A-F]{8}`), "SERIAL"},
	{regexp.MustCompile(`(?m)^file system: .*\n^clusters: .*\n^free: .*\n`), "FILESYSTEM\n"},
	{regexp.MustCompile(`(?m)^coffer: note: (p|second).img is unlocked: what programs write to it waits until this is done\n`), ""},
	{regexp.MustCompile(`(?m)^\{"event":"(progress|stage|durable)".*\n`), ""},
	{regexp.MustCompile(`(?m)^\{"event":"note","detail":"[a-z]+.img is unlocked: .*\n`), ""},
}

// volatile are fields of JSON documents that differ from run to run.
var volatile = []string{"id", "start", "end", "seconds", "rates", "cpu", "machine", "uuid", "serialNumber", "modified", "dirty", "device",
	"allocatedBytes", "clustersUsed", "clustersFree", "freeBytes"}

// tame takes out of an output what may differ.
func tame(text, folder string) string {
	for _, u := range untamed {
		text = u.what.ReplaceAllString(text, u.with)
	}
	var document any
	if strings.HasPrefix(text, "{") && json.Unmarshal([]byte(text), &document) == nil {
		strip(document)
		if tamed, err := json.MarshalIndent(document, "", " "); err == nil {
			text = string(tamed)
		}
	}
	return strings.ReplaceAll(text, folder, "FOLDER")
}

// tameListing is tame for `ls`, whose order is that of the slots on the disk: a removed name keeps its slot until it is
// written down.
func tameListing(text, folder string) string {
	lines := strings.SplitAfter(tame(text, folder), "\n")
	slices.Sort(lines)
	return strings.Join(lines, "")
}

// outcome is what a run shows, with nothing in it that may differ.
func outcome(t *testing.T, folder string, args []string) (shown string, code int) {
	t.Helper()
	code, stdout, stderr := start(t, folder, args...).wait()
	show := tame
	if args[0] == "ls" {
		show = tameListing
	}
	return fmt.Sprintf("exit code %d\n%s---\n%s", code, show(stdout, folder), tame(stderr, folder)), code
}

func strip(value any) {
	switch v := value.(type) {
	case map[string]any:
		for _, name := range volatile {
			if _, ok := v[name]; ok {
				v[name] = "VOLATILE"
			}
		}
		for _, one := range v {
			strip(one)
		}
	case []any:
		for _, one := range v {
			strip(one)
		}
	}
}

// hostTree lists what is below a folder, with sizes and modes; not what holds times.
func hostTree(t *testing.T, folder string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		name := strings.TrimPrefix(path, folder)
		if err != nil || strings.HasPrefix(name, "/data") || strings.HasPrefix(name, "/coffer") || name == "" {
			return err
		}
		all[name] = fmt.Sprint(info.Mode())
		if info.Mode().IsRegular() && name != "/r.json" {
			all[name] += fmt.Sprint(" ", info.Size())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
