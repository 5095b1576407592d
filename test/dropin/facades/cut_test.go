package facades

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"testing"
)

// parse parses a file. Positions are offsets, counted from 1.
func parse(t *testing.T, text string) *ast.File {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "", text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// functions returns the functions and methods of a file.
func functions(file *ast.File) (all []*ast.FuncDecl) {
	for _, decl := range file.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok {
			all = append(all, f)
		}
	}
	return all
}

// cut returns the text without the functions that drop chooses, and without methods of types of other files,
// which another package can't declare.
func cut(t *testing.T, text string, drop func(*ast.FuncDecl) bool) string {
	t.Helper()
	file := parse(t, text)
	types := map[string]bool{}
	for _, decl := range file.Decls {
		if d, ok := decl.(*ast.GenDecl); ok {
			for _, spec := range d.Specs {
				if s, ok := spec.(*ast.TypeSpec); ok {
					types[s.Name.Name] = true
				}
			}
		}
	}
	var gone [][2]token.Pos
	for _, f := range functions(file) {
		if !drop(f) && (f.Recv == nil || types[receiver(f)]) {
			continue
		}
		from := f.Pos()
		if f.Doc != nil {
			from = f.Doc.Pos()
		}
		gone = append(gone, [2]token.Pos{from, f.End()})
	}
	return without(text, gone)
}

// receiver returns the name of a method's type.
func receiver(f *ast.FuncDecl) string {
	expr := f.Recv.List[0].Type
	for {
		switch e := expr.(type) {
		case *ast.StarExpr:
			expr = e.X
		case *ast.IndexExpr:
			expr = e.X
		case *ast.Ident:
			return e.Name
		default:
			return ""
		}
	}
}

// without returns the text without some ranges, which are in order.
func without(text string, ranges [][2]token.Pos) string {
	for _, r := range slices.Backward(ranges) {
		text = text[:r[0]-1] + text[r[1]-1:]
	}
	return text
}

// version matches a last element of an import path that isn't the name of its package.
var version = regexp.MustCompile(`^v[0-9]+$`)

// withoutUnusedImports returns the text without the imports that it no longer uses.
func withoutUnusedImports(t *testing.T, text string) string {
	t.Helper()
	file := parse(t, text)
	used := map[string]bool{".": true, "_": true}
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok {
				used[x.Name] = true
			}
		}
		return true
	})
	var gone [][2]token.Pos
	for _, spec := range file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		name := path.Base(imported)
		// The package of k8s.io/api/core/v1 is v1, that of k8s.io/klog/v2 is klog.
		needed := used[name] || version.MatchString(name) && used[path.Base(path.Dir(imported))]
		if spec.Name != nil {
			needed = used[spec.Name.Name]
		}
		if !needed {
			gone = append(gone, [2]token.Pos{spec.Pos(), spec.End()})
		}
	}
	return without(text, gone)
}
