package lint

import (
	"debug/elf"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// goPackage is what these rules need of `go list -json`.
type goPackage struct {
	ImportPath string
	Standard   bool
	Imports    []string // direct, without tests
	Deps       []string // all, without tests
}

// root is the folder of go.mod.
func root(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		t.Fatalf("go env GOMOD: %v", err)
	}
	return filepath.Dir(strings.TrimSpace(string(out)))
}

// list returns every package below the module with its dependencies, and all packages they need.
func list(t *testing.T) map[string]goPackage {
	t.Helper()
	command := exec.Command("go", "list", "-deps", "-json=ImportPath,Standard,Imports,Deps", "./...")
	command.Dir = root(t)
	out, err := command.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	packages := map[string]goPackage{}
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		packages[p.ImportPath] = p
	}
	return packages
}

// in says whether path is one of the trees or below one.
func in(path string, trees ...string) bool {
	return slices.ContainsFunc(trees, func(tree string) bool { return path == tree || strings.HasPrefix(path, tree+"/") })
}

// formatTrees are the packages of one container format each.
var formatTrees = []string{"coffer/container/native", "coffer/container/luks", "coffer/container/veracrypt",
	"coffer/container/geli", "coffer/container/plain"}

// violations returns every breach of the import rules of the architecture, one sentence each.
func violations(packages map[string]goPackage) []string {
	var found []string
	forbid := func(p goPackage, what string, trees ...string) {
		for _, dep := range p.Deps {
			if in(dep, trees...) && !in(dep, p.ImportPath) {
				found = append(found, p.ImportPath+" depends on "+dep+": "+what)
			}
		}
	}
	for _, p := range packages {
		switch {
		case in(p.ImportPath, "coffer/fat32"):
			for _, dep := range p.Deps {
				if !packages[dep].Standard && !in(dep, "coffer/fat32") {
					found = append(found, p.ImportPath+" depends on "+dep+": fat32 knows the standard library only")
				}
			}
		case in(p.ImportPath, "coffer/container"):
			forbid(p, "container is below nothing but the host", "coffer/fat32", "coffer/transfer", "coffer/vfs", "coffer/app")
		case in(p.ImportPath, "coffer/transfer/lab"): // measures both against each other
			forbid(p, "the lab is below the program", "coffer/vfs", "coffer/app")
		case in(p.ImportPath, "coffer/transfer"):
			forbid(p, "transfer knows fat32 only", "coffer/container", "coffer/vfs", "coffer/app")
		case in(p.ImportPath, "coffer/vfs"):
			forbid(p, "vfs knows fat32 only", "coffer/container", "coffer/transfer", "coffer/app")
		case in(p.ImportPath, "coffer/app/coffer-window", "coffer/app/window"):
			forbid(p, "the window is only a client", "coffer/container", "coffer/fat32", "coffer/vfs")
		case in(p.ImportPath, "coffer/app/client", "coffer/app/protocol", "coffer/app/recovery"):
			forbid(p, "a front end's packages open nothing", "coffer/container", "coffer/fat32", "coffer/vfs", "coffer/app/session", "coffer/app/agent/operations")
		}
		if !in(p.ImportPath, "coffer/app/window", "coffer/app/coffer-window") && in(p.ImportPath, "coffer") {
			forbid(p, "only the window has fyne", "fyne.io")
		}
		for _, path := range p.Imports {
			if in(path, "gonum.org") && !in(p.ImportPath, "coffer/transfer/report/picture", "gonum.org") && in(p.ImportPath, "coffer") {
				found = append(found, p.ImportPath+" imports "+path+": only pictures of reports draw with gonum/plot")
			}
		}
		if in(p.ImportPath, "coffer/transfer/report", "coffer/transfer/rate") {
			for _, dep := range p.Deps {
				if in(dep, "coffer") && !in(dep, "coffer/transfer/report", "coffer/transfer/rate") ||
					dep == "gonum.org/v1/plot" || in(dep, "html/template") {
					found = append(found, p.ImportPath+" depends on "+dep+": reports know rates only, and neither plots nor templates, which make the program large")
				}
			}
		}
		meets := func(tree string) bool {
			return slices.ContainsFunc(p.Imports, func(path string) bool { return in(path, tree) })
		}
		if meets("coffer/fat32") && meets("coffer/container") && !in(p.ImportPath, "coffer/app/session", "coffer/transfer/lab") {
			found = append(found, p.ImportPath+" imports fat32 and container: they meet only in app/session and transfer/lab")
		}
		if in(p.ImportPath, "coffer/container/ciphers") {
			for _, dep := range p.Deps {
				if !packages[dep].Standard && !in(dep, "coffer/container/ciphers", "golang.org/x/crypto", "golang.org/x/sys") {
					found = append(found, p.ImportPath+" depends on "+dep+": ciphers know the standard library and x/crypto only")
				}
			}
		}
		if in(p.ImportPath, "coffer/app") && meets("coffer/container/ciphers") {
			found = append(found, p.ImportPath+" imports container/ciphers: only formats and the lab do")
		}
		for _, own := range formatTrees {
			if in(p.ImportPath, own) {
				forbid(p, "a format never imports another", slices.DeleteFunc(slices.Clone(formatTrees),
					func(tree string) bool { return tree == own })...)
			}
		}
	}
	slices.Sort(found)
	return found
}

func TestImportsGoOneWay(t *testing.T) {
	packages := list(t)
	for _, needed := range []string{"coffer/app/coffer", "coffer/app/coffer-window", "coffer/app/window/files", "coffer/app/session", "coffer/fat32", "coffer/container", "coffer/transfer"} {
		if _, ok := packages[needed]; !ok {
			t.Errorf("%s was not listed: the rules check nothing", needed)
		}
	}
	for _, sentence := range violations(packages) {
		t.Error(sentence)
	}
}

// TestImportRulesCanFail feeds the rules one breach each.
func TestImportRulesCanFail(t *testing.T) {
	for name, p := range map[string]goPackage{
		"fat32 uses x/text":       {ImportPath: "coffer/fat32", Deps: []string{"golang.org/x/text/unicode/norm"}},
		"container knows fat32":   {ImportPath: "coffer/container/luks", Deps: []string{"coffer/fat32"}},
		"transfer knows luks":     {ImportPath: "coffer/transfer", Deps: []string{"coffer/container/luks"}},
		"vfs knows the program":   {ImportPath: "coffer/vfs", Deps: []string{"coffer/app/session"}},
		"formats know each other": {ImportPath: "coffer/container/luks", Deps: []string{"coffer/container/plain"}},
		"window holds a key":      {ImportPath: "coffer/app/window", Deps: []string{"coffer/container"}},
		"client opens by itself":  {ImportPath: "coffer/app/client", Deps: []string{"coffer/app/session"}},
		"program draws":           {ImportPath: "coffer/app/cli", Deps: []string{"fyne.io/fyne/v2"}},
		"lab uses a mount":        {ImportPath: "coffer/transfer/lab", Deps: []string{"coffer/vfs"}},
		"ciphers know a format":   {ImportPath: "coffer/container/ciphers", Deps: []string{"coffer/container/luks"}},
		"program uses a cipher":   {ImportPath: "coffer/app/cli", Imports: []string{"coffer/container/ciphers"}},
		"lab draws by itself":     {ImportPath: "coffer/transfer/lab", Imports: []string{"gonum.org/v1/plot/vg"}},
		"reports know a lab":      {ImportPath: "coffer/transfer/report", Deps: []string{"coffer/transfer/lab"}},
		"pages grow the program":  {ImportPath: "coffer/transfer/report", Deps: []string{"html/template"}},
		"they meet elsewhere":     {ImportPath: "coffer/app/cli", Imports: []string{"coffer/fat32", "coffer/container/secret"}},
	} {
		if found := violations(map[string]goPackage{p.ImportPath: p}); len(found) != 1 {
			t.Errorf("%s: found %q, want one breach", name, found)
		}
	}
	fine := goPackage{ImportPath: "coffer/container", Imports: []string{"coffer/container/luks"}, Deps: []string{"coffer/container/luks"}}
	if found := violations(map[string]goPackage{fine.ImportPath: fine}); len(found) != 0 {
		t.Errorf("a lawful package was reported: %q", found)
	}
}

// TestProgramIsStatic builds the program as ./run does and reads the executable: no interpreter, no dynamic section.
func TestProgramIsStatic(t *testing.T) {
	program := filepath.Join(t.TempDir(), "coffer")
	command := exec.Command("go", "build", "-o", program, "./app/coffer")
	command.Dir = root(t)
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux")
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	file, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, segment := range file.Progs {
		if segment.Type == elf.PT_INTERP || segment.Type == elf.PT_DYNAMIC {
			t.Errorf("the program has a %v segment: it is a dynamic executable", segment.Type)
		}
	}
}
