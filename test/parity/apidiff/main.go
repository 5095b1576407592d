// Command apidiff compares the exported API of two copies of one module, package by package.
//
//	apidiff -old DIR -new DIR [-missing] [-partial] PATTERN...
//
// It prints one line per change, then totals of the form "N of M", and fails if a package is missing or
// changed; with -missing, only if something is missing or incompatible. It also compares what
// golang.org/x/exp/apidiff leaves out: struct tags and the order of fields of exported struct types. Types
// come from export data, so both copies must build. With -partial, those of the original come from its
// source, and packages that don't compile are reported and left out.
package main

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"golang.org/x/exp/apidiff"
	"golang.org/x/tools/go/packages"
)

// load returns the packages that compile, and for each other package the reason why it doesn't.
func load(dir string, source bool, patterns []string) (map[string]*types.Package, map[string]string) {
	config := &packages.Config{
		Dir: dir,
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedTypes |
			packages.NeedTypesSizes,
	}
	if source {
		config.Mode |= packages.NeedDeps | packages.NeedSyntax | packages.NeedCompiledGoFiles
		config.Env = append(os.Environ(), "CGO_ENABLED=0") // cgo would generate files
		config.ParseFile = parserFor(dir)
	} else {
		config.Mode |= packages.NeedExportFile
	}
	pkgs, err := packages.Load(config, patterns...)
	if err != nil {
		fmt.Fprintf(os.Stderr, "apidiff: loading %s: %v\n", dir, err)
		os.Exit(2)
	}
	out := map[string]*types.Package{}
	bad := map[string]string{}
	for _, p := range pkgs {
		if len(p.GoFiles) == 0 { // only test files
			continue
		}
		if len(p.Errors) > 0 || p.Types == nil || !p.Types.Complete() {
			bad[p.PkgPath] = fmt.Sprint(p.Errors)
			continue
		}
		out[p.PkgPath] = p.Types
	}
	return out, bad
}

// parserFor returns a parser that drops the bodies of functions outside dir: parsing them is most of the
// work, and they don't affect the API.
func parserFor(dir string) func(*token.FileSet, string, []byte) (*ast.File, error) {
	return func(fset *token.FileSet, name string, text []byte) (*ast.File, error) {
		file, err := parser.ParseFile(fset, name, text, parser.SkipObjectResolution)
		if file == nil || strings.HasPrefix(name, dir+string(filepath.Separator)) {
			return file, err
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok {
				f.Body = nil
			}
		}
		return file, err
	}
}

// structs returns, for each exported struct type, its fields with tags in order.
func structs(p *types.Package) map[string][]string {
	out := map[string][]string{}
	for _, name := range p.Scope().Names() {
		tn, ok := p.Scope().Lookup(name).(*types.TypeName)
		if !ok || !tn.Exported() {
			continue
		}
		st, ok := tn.Type().Underlying().(*types.Struct)
		if !ok {
			continue
		}
		fields := []string{}
		for i := 0; i < st.NumFields(); i++ {
			if f := st.Field(i); f.Exported() {
				fields = append(fields, f.Name()+" `"+st.Tag(i)+"`")
			}
		}
		out[name] = fields
	}
	return out
}

func main() {
	oldDir := flag.String("old", "", "folder of the original module")
	newDir := flag.String("new", "", "folder of the other copy")
	missing := flag.Bool("missing", false, "additions are no failure")
	partial := flag.Bool("partial", false, "leave out packages of the original that don't load")
	limit := flag.Int("max", 200, "print at most this many changes")
	flag.Parse()
	if *oldDir == "" || *newDir == "" || flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	oldPkgs, oldBad := load(*oldDir, *partial, flag.Args())
	newPkgs, newBad := load(*newDir, false, flag.Args())
	if len(oldBad) > 0 && !*partial {
		fmt.Fprintf(os.Stderr, "apidiff: the original does not load: %v\n", oldBad)
		os.Exit(2)
	}
	printed := 0
	say := func(format string, args ...any) {
		if printed++; printed <= *limit {
			fmt.Printf("  "+format+"\n", args...)
		}
	}
	for path, reason := range oldBad {
		fmt.Printf("left out: %s: %s\n", path, reason)
	}
	for path, reason := range newBad {
		say("%s: does not load: %s", path, reason)
	}
	var paths []string
	for p := range oldPkgs {
		paths = append(paths, p)
	}
	sort.Strings(paths)

	same, whole, incompatible, added, tagTypes, tagSame := 0, 0, 0, 0, 0, 0
	for _, path := range paths {
		oldStructs := structs(oldPkgs[path])
		tagTypes += len(oldStructs)
		n := newPkgs[path]
		if n == nil {
			say("%s: package missing", path)
			incompatible++
			continue
		}
		changes := apidiff.Changes(oldPkgs[path], n).Changes
		before := incompatible
		for _, c := range changes {
			if c.Compatible {
				added++
				say("%s: (compatible) %s", path, c.Message)
			} else {
				incompatible++
				say("%s: %s", path, c.Message)
			}
		}
		if incompatible == before {
			whole++
		}
		if len(changes) == 0 {
			same++
		}
		newStructs := structs(n)
		for name, fields := range oldStructs {
			if strings.Join(fields, "\n") == strings.Join(newStructs[name], "\n") {
				tagSame++
			} else {
				say("%s: %s: field order or tags changed", path, name)
			}
		}
	}
	extra := 0
	for p := range newPkgs {
		if oldPkgs[p] == nil && oldBad[p] == "" {
			extra++
			say("%s: (compatible) package added", p)
		}
	}
	if printed > *limit {
		fmt.Printf("  ... %d more\n", printed-*limit)
	}
	verdict := "unchanged"
	if *missing {
		same, verdict = whole, "have all of the original's"
	}
	fmt.Printf("apidiff: %d of %d packages %s (%d incompatible changes, %d compatible, %d packages added)\n",
		same, len(paths), verdict, incompatible, added, extra)
	fmt.Printf("struct tags: %d of %d exported struct types unchanged\n", tagSame, tagTypes)
	if incompatible > 0 || tagSame != tagTypes || same != len(paths) {
		os.Exit(1)
	}
}
