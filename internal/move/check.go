package move

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/packages"
)

// checked is the result of a type check of the module: what fails, by the paths of units, and what each
// name in a file means.
type checked struct {
	problems map[string][]problem
	files    *token.FileSet
	bodies   []*checkedPackage
}

// checkedPackage is a package whose functions were checked, too.
type checkedPackage struct {
	unit   string
	syntax []*ast.File
	types  *types.Package
	info   *types.Info
}

// checker checks the packages of a program, each after those that it imports.
type checker struct {
	*program
	texts  map[string][]byte         // of the files that differ from the disk
	parsed map[string]*ast.File      // those in texts
	done   map[string]*types.Package // by ID
	result *checked
}

// check checks the types of the module's packages in memory, with other texts for some of the files.
func (g *program) check(texts map[string][]byte) *checked {
	c := &checker{program: g, texts: texts, parsed: map[string]*ast.File{}, done: map[string]*types.Package{},
		result: &checked{problems: map[string][]problem{}, files: g.files}}
	ids := make([]string, 0, len(g.packages))
	for id := range g.packages {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		c.check(g.packages[id])
	}
	return c.result
}

// importer resolves the imports of a package.
type importer struct {
	*checker
	of *packages.Package
}

func (i importer) Import(path string) (*types.Package, error) {
	if pkg := i.of.Imports[path]; pkg != nil && i.packages[pkg.ID] != nil {
		return i.check(pkg), nil
	}
	if pkg := i.of.Imports[path]; pkg != nil { // the standard library's vendored packages have other paths
		path = pkg.PkgPath
	}
	return i.library.Import(path)
}

func (c *checker) check(pkg *packages.Package) *types.Package {
	if done, ok := c.done[pkg.ID]; ok {
		return done
	}
	c.done[pkg.ID] = types.NewPackage(pkg.PkgPath, pkg.Name) // against import cycles, which are errors anyway
	unit := unitOf(pkg)
	var syntax []*ast.File
	for _, name := range pkg.GoFiles {
		if file := c.parse(name); file != nil {
			syntax = append(syntax, file)
		}
	}
	// The variant of a package for its own tests has all its files, so the package itself needs no second look
	// at what functions do, and neither do variants that other packages' tests need.
	bodies := c.local[unit] && (pkg.ForTest == "" && !c.tested[pkg.PkgPath] || pkg.ForTest == unit)
	info := &types.Info{}
	if bodies {
		info = &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}}
	}
	config := types.Config{Importer: importer{c, pkg}, FakeImportC: true, IgnoreFuncBodies: !bodies,
		Sizes: types.SizesFor("gc", c.arch), GoVersion: goVersion(pkg), Error: func(err error) {
			if e, ok := err.(types.Error); ok && !e.Soft || ok && bodies {
				at := e.Fset.PositionFor(e.Pos, false)
				c.problem(unit, problem{at.Filename, at.Line, e.Msg})
			}
		}}
	result, _ := config.Check(pkg.PkgPath, c.result.files, syntax, info) // Error has all errors
	c.done[pkg.ID] = result
	if bodies {
		c.result.bodies = append(c.result.bodies, &checkedPackage{unit, syntax, result, info})
	}
	return result
}

func (c *checker) problem(unit string, p problem) {
	if c.local[unit] && !slices.Contains(c.result.problems[unit], p) {
		c.result.problems[unit] = append(c.result.problems[unit], p)
	}
}

func (c *checker) parse(name string) *ast.File {
	text, changed := c.texts[name]
	known := c.parsed
	if !changed {
		text, known = c.sources[name].text, c.trees
	}
	if known[name] == nil {
		// The text was parsed before, so there is no error.
		known[name], _ = parser.ParseFile(c.files, name, text, parser.ParseComments|parser.SkipObjectResolution)
	}
	return known[name]
}

// goVersion returns the version of Go that a package's module asks for.
func goVersion(pkg *packages.Package) string {
	if pkg.Module == nil || pkg.Module.GoVersion == "" {
		return ""
	}
	return "go" + pkg.Module.GoVersion
}

// String returns the problem as compilers print it.
func (p problem) String() string { return fmt.Sprintf("%s:%d: %s", p.file, p.line, p.message) }
