// Package source finds the texts of the window in its source: the literals in calls of text.T and text.N. The test of the
// translations and the command that collects them for translators share it.
package source

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// textPackage is the package with T and N.
const textPackage = "coffer/app/window/text"

// Text is one text, with the first place where it stands.
type Text struct {
	Key   string
	Place string // file:line
}

// Texts finds what the Go files below a folder say, whatever system they are for, without tests; sorted. faults are calls that
// cannot be translated: what is no literal, verbs without values.
func Texts(folder string) (texts []Text, faults []string, err error) {
	found := map[string]string{}
	err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		f := finder{files: files, name: imported(file), found: found}
		if f.name != "" {
			f.tooEarly(file)
			ast.Inspect(file, f.look)
			faults = append(faults, f.faults...)
		}
		return nil
	})
	for key, place := range found {
		texts = append(texts, Text{Key: key, Place: place})
	}
	slices.SortFunc(texts, func(a, b Text) int { return strings.Compare(a.Key, b.Key) })
	return texts, faults, err
}

// imported is the name under which a file knows package text; "" if it does not.
func imported(file *ast.File) string {
	for _, one := range file.Imports {
		if path, _ := strconv.Unquote(one.Path.Value); path == textPackage {
			if one.Name != nil {
				return one.Name.Name
			}
			return "text"
		}
	}
	return ""
}

type finder struct {
	files  *token.FileSet
	name   string            // of package text
	found  map[string]string // texts and their places
	faults []string
}

// tooEarly finds texts of variables of a package: those would be made before a language is chosen, and stay English.
func (f *finder) tooEarly(file *ast.File) {
	for _, declaration := range file.Decls {
		if _, ok := declaration.(*ast.GenDecl); !ok {
			continue
		}
		ast.Inspect(declaration, func(n ast.Node) bool {
			if n, ok := n.(ast.Expr); ok && f.function(n) != "" {
				f.fault(n, "the text is made before a language is chosen")
			}
			_, function := n.(*ast.FuncLit)
			return !function
		})
	}
}

// look takes what is in the calls; T and N anywhere else, say as a value of a function, cannot be followed.
func (f *finder) look(n ast.Node) bool {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		if f.function(n) != "" {
			f.fault(n, "text.%s is not called", f.function(n))
		}
		return true
	}
	switch f.function(call.Fun) {
	case "T":
		f.call(call, call.Args[:1], len(call.Args)-1)
	case "N":
		f.call(call, call.Args[1:], 1)
	default:
		return true
	}
	for _, argument := range call.Args {
		ast.Inspect(argument, f.look)
	}
	return false
}

// function is T or N if an expression is that function of package text, else "".
func (f *finder) function(n ast.Node) string {
	if s, ok := n.(*ast.SelectorExpr); ok && (s.Sel.Name == "T" || s.Sel.Name == "N") {
		if x, ok := s.X.(*ast.Ident); ok && x.Name == f.name {
			return s.Sel.Name
		}
	}
	return ""
}

// call takes the texts of a call with so many values. The last text must have a verb for each; the first of two ("1 file")
// has none.
func (f *finder) call(call *ast.CallExpr, arguments []ast.Expr, values int) {
	for i, argument := range arguments {
		key, ok := literal(argument)
		if !ok {
			f.fault(argument, "the text is no literal")
			continue
		}
		want := values
		if i < len(arguments)-1 {
			want = 0
		}
		switch verbs, err := Verbs(key); {
		case err != nil:
			f.fault(argument, "%q: %v", key, err)
		case len(verbs) != want && !call.Ellipsis.IsValid():
			f.fault(argument, "%q has verbs for %d values and gets %d", key, len(verbs), want)
		}
		if _, known := f.found[key]; !known {
			f.found[key] = f.place(argument)
		}
	}
}

func (f *finder) place(n ast.Node) string {
	at := f.files.Position(n.Pos())
	return fmt.Sprintf("%s:%d", at.Filename, at.Line)
}

func (f *finder) fault(n ast.Node, format string, values ...any) {
	f.faults = append(f.faults, f.place(n)+": "+fmt.Sprintf(format, values...))
}

// literal is the value of a string literal, or of several put together with +.
func literal(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		value, err := strconv.Unquote(e.Value)
		return value, err == nil && e.Kind == token.STRING
	case *ast.BinaryExpr:
		left, ok := literal(e.X)
		right, also := literal(e.Y)
		return left + right, ok && also && e.Op == token.ADD
	case *ast.ParenExpr:
		return literal(e.X)
	}
	return "", false
}

// Verbs are the verbs of a format by the number of the value they print, from 1: {1: "s", 2: ".1f"}. A value printed twice must
// be printed alike.
func Verbs(format string) (map[int]string, error) {
	verbs, next := map[int]string{}, 1
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			continue
		}
		rest := format[i+1:]
		if strings.HasPrefix(rest, "%") {
			i++
			continue
		}
		end := strings.IndexAny(rest, "dsqvxXfgeceUtTp")
		if end < 0 || strings.Trim(rest[:end], "+-#0123456789.[]") != "" {
			return nil, fmt.Errorf("a %% is no verb; a percent sign is %%%%")
		}
		verb := rest[:end+1]
		if from, to := strings.IndexByte(verb, '['), strings.IndexByte(verb, ']'); from >= 0 && to > from {
			n, err := strconv.Atoi(verb[from+1 : to])
			if err != nil || n < 1 {
				return nil, fmt.Errorf("%%%s names no value", verb)
			}
			next, verb = n, verb[:from]+verb[to+1:]
		}
		if before, twice := verbs[next]; twice && before != verb {
			return nil, fmt.Errorf("value %d is printed as %%%s and as %%%s", next, before, verb)
		}
		verbs[next], next = verb, next+1
		i += end + 1
	}
	return verbs, nil
}
