package move

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/scanner"
	"go/token"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"
)

// unit is a folder with a package of the module and its tests: it moves as a whole or not at all.
type unit struct {
	path string // of the package that isn't a test
	// files are the names of its files, sorted.
	files []string
	// problems are what the go command says about the package.
	problems []problem
}

// problem is an error with its place.
type problem struct {
	file    string
	line    int
	message string
}

// program is the module with everything that it imports.
type program struct {
	*module
	units []*unit
	// packages are those that are checked from their source, with their variants for tests, by their IDs.
	packages map[string]*packages.Package
	// sources are the files of these packages, as they are on the disk.
	sources map[string]*source
	// files and trees are for type checks: the syntax of files as they are on the disk.
	files *token.FileSet
	trees map[string]*ast.File
	// tested has the paths of packages with tests in them, local those of the module's packages.
	tested, local map[string]bool
	library       *library
}

// extra is a package that exists only in plans: it imports what the moved module may need.
const extra = "kubewright_move_needs_these"

// withExtra adds the package extra to a plan. It imports client-go's packages and ours.
func (p *plan) withExtra(managed bool) (imports []string) {
	for _, m := range moves {
		imports = append(imports, m.from, m.to)
	}
	if managed {
		imports = append(imports, managers, ownManagers)
	}
	var text strings.Builder
	text.WriteString("package extra\n\nimport (\n")
	for _, path := range imports {
		fmt.Fprintf(&text, "\t_ %q\n", path)
	}
	text.WriteString(")\n")
	p.files[p.path(filepath.Join(extra, "extra.go"))] = []byte(text.String())
	return imports
}

// load lists the packages of a plan and parses those of the module.
func (p *plan) load(ctx context.Context, imports []string) (*program, error) {
	flags, env, overlay, err := p.listing()
	if err != nil {
		return nil, err
	}
	config := &packages.Config{Context: ctx, Dir: p.root, Env: env, BuildFlags: flags, Overlay: overlay,
		Tests: true, Mode: packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedDeps |
			packages.NeedModule | packages.NeedForTest}
	roots, err := packages.Load(config, "./...")
	if err != nil {
		return nil, err
	}
	g := &program{module: p.module, packages: map[string]*packages.Package{}, sources: map[string]*source{},
		files: token.NewFileSet(), trees: map[string]*ast.File{}, tested: map[string]bool{},
		local: map[string]bool{}}
	if err := g.collect(roots); err != nil {
		return nil, err
	}
	g.library, err = loadLibrary(config, g.foreign(imports))
	return g, err
}

// collect takes the packages to check from all that were listed: those of the module, and those of others
// that import these.
func (g *program) collect(roots []*packages.Package) error {
	units := map[string]*unit{}
	for _, pkg := range roots {
		if strings.HasSuffix(pkg.ID, ".test") || path.Base(pkg.PkgPath) == extra {
			continue
		}
		g.packages[pkg.ID] = pkg
		name := unitOf(pkg)
		g.local[name] = true
		if pkg.ForTest == pkg.PkgPath {
			g.tested[pkg.PkgPath] = true
		}
		u := units[name]
		if u == nil {
			u = &unit{path: name}
			units[name] = u
		}
		u.files = append(u.files, pkg.GoFiles...)
		u.addProblems(pkg.Errors)
	}
	for _, name := range slices.Sorted(maps.Keys(units)) {
		u := units[name]
		slices.Sort(u.files)
		u.files = slices.Compact(u.files)
		g.units = append(g.units, u)
	}
	packages.Visit(roots, nil, func(pkg *packages.Package) { // after its imports
		for _, i := range pkg.Imports {
			if g.packages[i.ID] != nil && !strings.HasSuffix(pkg.ID, ".test") {
				g.packages[pkg.ID] = pkg
			}
		}
	})
	return g.parse()
}

// unitOf returns the path of the unit of a package.
func unitOf(pkg *packages.Package) string {
	if pkg.ForTest != "" && strings.HasSuffix(pkg.PkgPath, "_test") {
		return pkg.ForTest
	}
	return pkg.PkgPath
}

func (u *unit) addProblems(all []packages.Error) {
	for _, e := range all {
		file, line := placeOf(e.Pos)
		p := problem{file, line, e.Msg}
		if !slices.Contains(u.problems, p) {
			u.problems = append(u.problems, p)
		}
	}
}

// placeOf takes a position of go/packages apart: file:line:column.
func placeOf(pos string) (file string, line int) {
	file, rest, _ := strings.Cut(pos, ":")
	number, _, _ := strings.Cut(rest, ":")
	line, _ = strconv.Atoi(number) // 0 if there is none
	return file, line
}

func (g *program) parse() error {
	var all error
	for _, pkg := range g.packages {
		for _, name := range pkg.GoFiles {
			if g.sources[name] != nil {
				continue
			}
			s, err := readSource(name)
			if err != nil {
				all = errors.Join(all, g.syntaxError(err))
				continue
			}
			g.sources[name] = s
		}
	}
	return all
}

// syntaxError returns the first error in a file, with a path for messages.
func (g *program) syntaxError(err error) error {
	if list, ok := errors.AsType[scanner.ErrorList](err); ok && len(list) > 0 {
		at := list[0].Pos
		return fmt.Errorf("%s:%d:%d: %s", g.relative(at.Filename), at.Line, at.Column, list[0].Msg)
	}
	return err
}

// foreign returns the packages that are imported by those to check but aren't among these, with some more.
func (g *program) foreign(more []string) []string {
	found := map[string]bool{}
	for _, path := range more {
		found[path] = true
	}
	for _, pkg := range g.packages {
		for _, i := range pkg.Imports {
			if g.packages[i.ID] == nil && i.PkgPath != "unsafe" {
				found[i.PkgPath] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}
