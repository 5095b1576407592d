package generators

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/version"

	"github.com/kubewright/kubewright/generators/internal/model"
	"github.com/kubewright/kubewright/generators/internal/output"
)

// kindSource is a kind in the newest of its group's versions that have it.
type kindSource struct {
	dir, group, version, kind string
	files                     []*sourceFile
	// types is the file that declares the kind.
	types *sourceFile
}

// sourceFile is a hand-written Go file of a version.
type sourceFile struct {
	name   string
	text   []byte
	syntax *ast.File
	fset   *token.FileSet
	decls  []sourceDecl
}

// newestVersion returns the newest of the versions in a group's folder that wanted accepts, "" for none.
func newestVersion(folder string, wanted func(dir string) (bool, error)) (newest string, err error) {
	for _, name := range output.Folders(folder) {
		ok, err := wanted(filepath.Join(folder, name))
		if err != nil {
			return "", err
		}
		if ok && (newest == "" || version.CompareKubeAwareVersionStrings(name, newest) > 0) {
			newest = name
		}
	}
	return newest, nil
}

// handWritten reports whether a file isn't kubewright's.
func handWritten(file string) bool { return !strings.HasPrefix(file, "zz_generated.") }

// joinGroup sets the group to that of the APIs that has the kind in a version, or else to the only one.
// Without APIs, or with several that lack the kind, it sets none.
func (i *Init) joinGroup(begun *Begun) error {
	var having, all []string
	folders := map[string]string{}
	for _, name := range output.Folders(i.apis) {
		folder := filepath.Join(i.apis, name)
		group, err := groupOf(folder)
		if err != nil {
			return err
		}
		if group == "" {
			continue
		}
		newest, err := newestVersion(folder, func(dir string) (bool, error) {
			return model.Declared(dir, handWritten)[i.kind] != "", nil
		})
		if err != nil {
			return err
		}
		if newest != "" && !slices.Contains(having, group) {
			having = append(having, group)
		}
		if !slices.Contains(all, group) {
			all = append(all, group)
		}
		folders[group] = folder
	}
	switch {
	case len(having) > 1:
		return fmt.Errorf("--group is missing, and the groups %s have a kind %s; give one of them, or another",
			strings.Join(having, " and "), i.kind)
	case len(having) == 1:
		i.group = having[0]
	case len(all) == 1:
		i.group = all[0]
	default:
		return nil
	}
	begun.DefaultGroup, begun.DefaultFrom = i.group, "that of "+filepath.ToSlash(folders[i.group])
	return nil
}

// findKind returns the kind in another version than that of the folder dir, nil if no version has it.
func findKind(dir, group, kind string) (*kindSource, error) {
	found, err := newestVersion(filepath.Dir(dir), func(other string) (bool, error) {
		return other != dir && model.Declared(other, handWritten)[kind] != "", nil
	})
	if found == "" || err != nil {
		return nil, err
	}
	s := &kindSource{dir: filepath.Join(filepath.Dir(dir), found), group: group, version: found, kind: kind}
	names, err := filepath.Glob(filepath.Join(s.dir, "*.go"))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") || !handWritten(filepath.Base(name)) || !output.IsFile(name) {
			continue
		}
		text, err := output.Read(name)
		if err != nil {
			return nil, err
		}
		f := &sourceFile{name: filepath.Base(name), text: []byte(text), fset: token.NewFileSet()}
		if f.syntax, err = parser.ParseFile(f.fset, name, text, parser.ParseComments); err != nil {
			return nil, err
		}
		f.readDecls()
		if slices.ContainsFunc(f.decls, func(d sourceDecl) bool { return slices.Contains(d.names, kind) }) {
			s.types = f
		}
		s.files = append(s.files, f)
	}
	return s, nil
}

// tag returns the value of a tag of the kind, such as that of +resourceName=.
func (s *kindSource) tag(name string) (value string, ok bool) {
	pattern := regexp.MustCompile(`(?m)^//\s*\+` + name + `(?:=(\S+))?\s*$`)
	for _, d := range s.types.decls {
		if m := pattern.FindStringSubmatch(d.text); m != nil && slices.Contains(d.names, s.kind) {
			return m[1], true
		}
	}
	return "", false
}

// sourceDecl is a declaration at the top level, with its comment.
type sourceDecl struct {
	names []string
	// of is the type of a method or of constants, "" for other declarations.
	of       string
	isMethod bool
	text     string
	node     ast.Decl
}

// readDecls reads the declarations of a file except imports.
func (f *sourceFile) readDecls() {
	for _, node := range f.syntax.Decls {
		d := sourceDecl{node: node}
		var doc *ast.CommentGroup
		switch node := node.(type) {
		case *ast.FuncDecl:
			doc, d.names = node.Doc, []string{node.Name.Name}
			if node.Recv != nil {
				d.of, d.isMethod = typeName(node.Recv.List[0].Type), true
			}
		case *ast.GenDecl:
			if node.Tok == token.IMPORT {
				continue
			}
			doc = node.Doc
			for _, spec := range node.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					d.names = append(d.names, spec.Name.Name)
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						d.names = append(d.names, name.Name)
					}
					if name := typeName(spec.Type); name != "" {
						d.of = name
					}
				}
			}
		}
		from := node.Pos()
		if doc != nil {
			from = doc.Pos()
		}
		d.text = string(f.text[f.offset(from):f.offset(node.End())])
		f.decls = append(f.decls, d)
	}
}

func (f *sourceFile) offset(p token.Pos) int { return f.fset.Position(p).Offset }

// typeName returns the name of a type or of what it points to, "" if it has none.
func typeName(t ast.Expr) string {
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	if ident, ok := t.(*ast.Ident); ok {
		return ident.Name
	}
	return ""
}

// conversions are methods that controller-runtime looks for: only one version is the hub.
var conversions = []string{"Hub", "ConvertTo", "ConvertFrom"}

// needed returns the declarations that the kind and its list consist of, by file: types, their methods and
// constants, and what these use. What is in taken is left out.
func (s *kindSource) needed(taken map[string]string) map[*sourceFile][]sourceDecl {
	names := map[string]bool{s.kind: true, s.kind + "List": true}
	chosen := map[ast.Decl]bool{}
	for grown := true; grown; {
		grown = false
		for _, f := range s.files {
			for _, d := range f.decls {
				if chosen[d.node] || d.exists(taken) || !d.belongs(names) {
					continue
				}
				chosen[d.node], grown = true, true
				maps.Copy(names, identifiers(d.node))
			}
		}
	}
	all := map[*sourceFile][]sourceDecl{}
	for _, f := range s.files {
		for _, d := range f.decls {
			if chosen[d.node] {
				all[f] = append(all[f], d)
			}
		}
	}
	return all
}

// exists reports whether a name of a declaration, or the type of a method, is taken.
func (d sourceDecl) exists(taken map[string]string) bool {
	return taken[d.of] != "" || !d.isMethod && slices.ContainsFunc(d.names,
		func(name string) bool { return taken[name] != "" })
}

// belongs reports whether a declaration is one of those with the names, or belongs to a type of that name.
func (d sourceDecl) belongs(names map[string]bool) bool {
	if d.isMethod {
		return names[d.of] && !slices.Contains(conversions, d.names[0])
	}
	return names[d.of] || slices.ContainsFunc(d.names, func(name string) bool { return names[name] })
}

// identifiers returns the names that a declaration uses. The names of its fields, parameters and methods are
// its own.
func identifiers(node ast.Node) map[string]bool {
	names := map[string]bool{}
	var own *ast.Ident
	ast.Inspect(node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			own = n.Name
		case *ast.Field:
			maps.Copy(names, identifiers(n.Type))
			return false
		case *ast.SelectorExpr:
			for name := range identifiers(n.X) {
				names[name] = true
			}
			return false
		case *ast.Ident:
			if n != own {
				names[n.Name] = true
			}
		}
		return true
	})
	delete(names, "init")
	delete(names, "_")
	return names
}

// copied returns the types of the kind for another version, as a file. It leaves out those that the version
// has.
func (s *kindSource) copied(to string, taken map[string]string) ([]byte, error) {
	var body strings.Builder
	imports := map[string]string{} // paths by name
	needed := s.needed(taken)
	for _, f := range s.files {
		for name, importPath := range f.imports(needed[f]) {
			if imports[name] != "" && imports[name] != importPath {
				return nil, fmt.Errorf("%s: %s is %s in one file and %s in another; copy the types to %s by"+
					" hand", shorten(s.dir), name, imports[name], importPath, to)
			}
			imports[name] = importPath
		}
		for _, d := range needed[f] {
			body.WriteString("\n" + d.text + "\n")
		}
	}
	text := s.types.header() + "package " + to + "\n\n" + importBlock(imports) +
		storageMarker.ReplaceAllString(body.String(), "")
	return format.Source([]byte(renamedVersion(text, s.group, s.version, to)))
}

// importBlock returns the imports, those of the standard library first.
func importBlock(imports map[string]string) string {
	var library, others string
	for _, name := range slices.SortedFunc(maps.Keys(imports), func(a, b string) int {
		return strings.Compare(imports[a], imports[b])
	}) {
		spec := "\t" + strconv.Quote(imports[name]) + "\n"
		if path.Base(imports[name]) != name {
			spec = "\t" + name + " " + strconv.Quote(imports[name]) + "\n"
		}
		if first, _, _ := strings.Cut(imports[name], "/"); strings.Contains(first, ".") {
			others += spec
		} else {
			library += spec
		}
	}
	return "import (\n" + library + "\n" + others + ")\n"
}

// renamedVersion replaces a version in the comments and the package clause of a file.
func renamedVersion(text, group, from, to string) string {
	for _, prefix := range []string{group + "/", "Package ", "package ", "+versionName="} {
		pattern := regexp.MustCompile(regexp.QuoteMeta(prefix+from) + `\b`)
		text = pattern.ReplaceAllLiteralString(text, prefix+to)
	}
	return text
}

// storageMarker is the marker of the one version that is stored.
var storageMarker = regexp.MustCompile(`(?m)^// \+kubebuilder:storageversion\n`)

// header returns the comment above a file that isn't about the package, such as a licence.
func (f *sourceFile) header() string {
	end := f.syntax.Package
	if f.syntax.Doc != nil {
		end = f.syntax.Doc.Pos()
	}
	if text := bytes.TrimSpace(f.text[:f.offset(end)]); len(text) > 0 {
		return string(text) + "\n\n"
	}
	return ""
}

// imports returns the imports that declarations use, by name.
func (f *sourceFile) imports(decls []sourceDecl) map[string]string {
	used := map[string]bool{}
	for _, d := range decls {
		maps.Copy(used, identifiers(d.node))
	}
	imports := map[string]string{}
	for _, spec := range f.syntax.Imports {
		importPath, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue // it parsed
		}
		name := nameOfImport(importPath)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		if used[name] || name == "." {
			imports[name] = importPath
		}
	}
	return imports
}

// nameOfImport returns the usual name of a package.
func nameOfImport(importPath string) string {
	name := path.Base(importPath)
	if majorVersion.MatchString(name) && strings.Contains(path.Dir(importPath), ".") &&
		!strings.HasPrefix(importPath, "k8s.io/api") {
		name = path.Base(path.Dir(importPath))
	}
	name, _, _ = strings.Cut(name, ".v")
	return strings.TrimPrefix(name, "go-")
}

// newestDoc returns a file doc.go for a new version, like that of the group's newest one: its comment and
// package clause. It is "" if no version has one, or if that is of imported types.
func newestDoc(folder, group, to string) (string, error) {
	newest, err := newestVersion(folder, func(dir string) (bool, error) {
		found, err := groupIn(dir)
		return found == group && output.IsFile(filepath.Join(dir, "doc.go")), err
	})
	if newest == "" || err != nil {
		return "", err
	}
	text, err := output.Read(filepath.Join(folder, newest, "doc.go"))
	clause := regexp.MustCompile(`(?m)^package ` + newest + `\b`).FindStringIndex(text)
	if err != nil || clause == nil || strings.Contains(text, "+kubebuilder:skip") {
		return "", err
	}
	return renamedVersion(text[:clause[1]], group, newest, to) + "\n", nil
}
