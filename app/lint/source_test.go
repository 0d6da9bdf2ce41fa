package lint

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	maxFileLines = 600 // of a source file; one concept each
	maxTestLines = 800
	maxFuncLines = 120 // of a function; 60 is the aim
	maxMainLines = 60  // of a package main: it only calls
)

// sources returns every Go file of the module but generated testdata, as paths below root.
func sources(t *testing.T) (string, []string) {
	t.Helper()
	top := root(t)
	var found []string
	err := filepath.WalkDir(top, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "testdata") && path != top {
			return fs.SkipDir
		}
		if strings.HasSuffix(path, ".go") {
			relative, err := filepath.Rel(top, path)
			if err != nil {
				return err
			}
			found = append(found, relative)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) < 20 {
		t.Fatalf("%d source files: the checks look in the wrong place", len(found))
	}
	return top, found
}

func TestFilesAreFormattedAndShort(t *testing.T) {
	top, files := sources(t)
	for _, name := range files {
		text, err := os.ReadFile(filepath.Join(top, name))
		if err != nil {
			t.Fatal(err)
		}
		formatted, err := format.Source(text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if !bytes.Equal(text, formatted) {
			t.Errorf("%s: gofmt would change it", name)
		}
		lines, limit := bytes.Count(text, []byte("\n")), maxFileLines
		if strings.HasSuffix(name, "_test.go") {
			limit = maxTestLines
		} else if strings.HasPrefix(name, "app/") && bytes.Contains(append([]byte("\n"), text...), []byte("\npackage main\n")) {
			limit = maxMainLines // tools of developers elsewhere are programs of their own
		}
		if lines > limit {
			t.Errorf("%s: %d lines, at most %d", name, lines, limit)
		}
	}
}

func TestExportedIsDocumentedAndFunctionsAreShort(t *testing.T) {
	top, files := sources(t)
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(top, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, missing := range undocumented(t, name, text) {
			t.Error(missing)
		}
		for _, long := range longFunctions(t, name, text) {
			t.Error(long)
		}
	}
}

// longFunctions returns "file:line: name" of every function over maxFuncLines.
func longFunctions(t *testing.T, name string, text []byte) []string {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, text, 0)
	if err != nil {
		t.Fatal(err)
	}
	var long []string
	for _, declaration := range file.Decls {
		if d, ok := declaration.(*ast.FuncDecl); ok {
			if lines := set.Position(d.End()).Line - set.Position(d.Pos()).Line + 1; lines > maxFuncLines {
				long = append(long, fmt.Sprintf("%s: %s has %d lines, at most %d", set.Position(d.Pos()), d.Name.Name, lines, maxFuncLines))
			}
		}
	}
	return long
}

// undocumented returns "file:line: name" of every exported declaration without a comment.
func undocumented(t *testing.T, name string, text []byte) []string {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, text, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var missing []string
	report := func(at token.Pos, what string) {
		missing = append(missing, fmt.Sprintf("%s: %s has no doc comment", set.Position(at), what))
	}
	for _, declaration := range file.Decls {
		switch d := declaration.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && d.Doc == nil && exportedReceiver(d) && !wellKnown(d) {
				report(d.Pos(), d.Name.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					if s.Name.IsExported() && d.Doc == nil && s.Doc == nil {
						report(s.Pos(), s.Name.Name)
					}
				case *ast.ValueSpec:
					if s.Names[0].IsExported() && d.Doc == nil && s.Doc == nil && s.Comment == nil {
						report(s.Pos(), s.Names[0].Name)
					}
				}
			}
		}
	}
	return missing
}

// wellKnown says whether a function is a method whose meaning the standard library defines.
func wellKnown(d *ast.FuncDecl) bool {
	switch d.Name.Name {
	case "Error", "String", "Unwrap", "Is", "Len", "Less", "Swap":
		return d.Recv != nil
	}
	return false
}

// exportedReceiver says whether a function is a plain one or a method of an exported type.
func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	kind := d.Recv.List[0].Type
	if star, ok := kind.(*ast.StarExpr); ok {
		kind = star.X
	}
	if generic, ok := kind.(*ast.IndexExpr); ok {
		kind = generic.X
	}
	identifier, ok := kind.(*ast.Ident)
	return ok && identifier.IsExported()
}

func TestDocumentationCheckCanFail(t *testing.T) {
	source := "package p\n\nfunc Bare() {}\n\n// Told says so.\nfunc Told() {}\n\ntype T struct{}\n\nfunc (T) Bare() {}\n\n" +
		"type t struct{}\n\nfunc (t) Fine() {}\n\nconst A = 1\n\n// B is told.\nconst B = 1\n\nvar C, d int // C is told\n"
	if got := undocumented(t, "p.go", []byte(source)); len(got) != 4 {
		t.Errorf("found %q, want four: Bare, T, T.Bare, A", got)
	}
	if got := longFunctions(t, "p.go", []byte("package p\n\nfunc f() {\n"+strings.Repeat("\n", maxFuncLines)+"}\n")); len(got) != 1 {
		t.Errorf("a long function was not found: %q", got)
	}
}

// TestSkips: a test that skips is one that .ci/test.sh runs where it cannot, by its name.
func TestSkips(t *testing.T) {
	top, files := sources(t)
	made, err := os.ReadFile(filepath.Join(top, ".ci", "test.sh"))
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, name := range files {
		if !strings.HasSuffix(name, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(top, name), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			f, is := d.(*ast.FuncDecl)
			if !is {
				continue
			}
			ast.Inspect(f, func(n ast.Node) bool {
				s, is := n.(*ast.SelectorExpr)
				if !is || s.Sel.Name != "Skip" && s.Sel.Name != "Skipf" && s.Sel.Name != "SkipNow" {
					return true
				}
				found++
				if !bytes.Contains(made, []byte("test_as_root "+f.Name.Name+" ./"+filepath.ToSlash(filepath.Dir(name))+"\n")) {
					t.Errorf("%s: %s may skip, and .ci/test.sh does not make sure that it runs", name, f.Name.Name)
				}
				return true
			})
		}
	}
	if found == 0 {
		t.Error("not even the test that is known to skip was found: the check looks in the wrong place")
	}
}
