package planted

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// source is a file.
type source struct {
	path, pkg, text string
}

// function is a part of a file.
type function struct {
	source   *source
	from, to int
}

func (f function) text() string { return f.source.text[f.from:f.to] }

// functionsBelow returns the functions of the packages below a folder, tests left out, each by its name and
// by its name after the package's.
func functionsBelow(root string) (map[string][]function, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	functions := map[string][]function{}
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			if path != root && (entry.Name() == "testdata" || isModule(path)) {
				return fs.SkipDir
			}
			return nil
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		default:
			return addFunctions(functions, path)
		}
	})
	return functions, err
}

func isModule(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

func addFunctions(functions map[string][]function, path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, text, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	s := &source{path, file.Name.Name, string(text)}
	for _, decl := range file.Decls {
		decl, ok := decl.(*ast.FuncDecl)
		if !ok {
			continue
		}
		f := function{s, files.Position(decl.Type.Pos()).Offset, files.Position(decl.End()).Offset}
		for _, name := range []string{nameOf(decl), s.pkg + "." + nameOf(decl)} {
			functions[name] = append(functions[name], f)
		}
	}
	return nil
}

// nameOf returns f, T.f or (*T).f.
func nameOf(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	receiver := f.Recv.List[0].Type
	pointer, isPointer := receiver.(*ast.StarExpr)
	if isPointer {
		receiver = pointer.X
	}
	switch generic := receiver.(type) {
	case *ast.IndexExpr:
		receiver = generic.X
	case *ast.IndexListExpr:
		receiver = generic.X
	}
	name := receiver.(*ast.Ident).Name
	if isPointer {
		name = "(*" + name + ")"
	}
	return name + "." + f.Name.Name
}
