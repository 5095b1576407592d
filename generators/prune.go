package generators

import (
	"context"
	"fmt"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubewright/kubewright/generators/marker"
	"github.com/kubewright/kubewright/generators/model"
	"github.com/kubewright/kubewright/generators/output"
)

// A stale file is removed if its source is gone: the API package, or the type, tag or flag. It is
// not removed if its source exists outside of this run: if the package isn't named, or if the
// type's file is a test or excluded by build constraints.

// refusals reports the stale files that are removed only on request (--prune): a problem for
// each API package, or type, that they were made from.
func (c *Config) refusals(ctx context.Context, set output.Set, stale []string, api *model.API,
	trees []place) Problems {
	if len(stale) == 0 {
		return nil
	}
	origins := newOrigins(set, trees, api)
	found := origins.of(stale)
	ofNamed, ofOthers := map[string][]string{}, map[string][]string{}
	for _, file := range stale {
		by := ofOthers
		if slices.ContainsFunc(found[file], origins.isNamed) {
			by = ofNamed
		}
		for _, p := range found[file] {
			by[p] = append(by[p], file)
		}
	}
	var problems Problems
	for p, files := range ofNamed {
		if origins.isNamed(p) {
			problems = append(problems, leftOutTypes(origins.named[p], files)...)
		}
	}
	looked := lookUp(ctx, slices.Sorted(maps.Keys(ofOthers)), trees)
	var dirs []string
	for p := range ofOthers {
		// A package of generated code isn't an API package.
		if l := looked[p]; l.Err == nil && (l.Dir == "" || set.Has(l.Dir, "*.go")) {
			delete(ofOthers, p)
		} else if l.Dir != "" {
			dirs = append(dirs, l.Dir)
		}
	}
	line := c.generateLine(ctx, api, dirs)
	for p, files := range ofOthers {
		problems = append(problems, unnamed(p, looked[p], files, line))
	}
	return problems.Sort()
}

// lookUp looks packages up in the working directory, and the missing ones in the modules of the
// output folders: a run may write to a module that it isn't in.
func lookUp(ctx context.Context, importPaths []string, trees []place) map[string]model.Looked {
	looked := model.LookUp(ctx, "", importPaths)
	here, err := model.FindModule(ctx, "")
	for _, tree := range trees {
		module, treeErr := model.FindModule(ctx, tree.dir)
		if treeErr != nil || err == nil && module.Dir == here.Dir {
			continue
		}
		here, err = module, nil // usually the next tree's module, too
		missing := slices.DeleteFunc(slices.Clone(importPaths), func(p string) bool {
			return looked[p] != model.Looked{}
		})
		maps.Copy(looked, model.LookUp(ctx, module.Dir, missing))
	}
	return looked
}

// leftOutTypes reports the types of a package that files were made from, and that exist only in
// files that the go command leaves out, one problem for each of these.
func leftOutTypes(p *model.Package, files []string) Problems {
	made := map[string][]string{} // by the file that has the type
	types := map[string][]model.LeftOutType{}
	for _, t := range p.LeftOut() {
		of := slices.DeleteFunc(slices.Clone(files), func(file string) bool { return !nameOf(file, t.Name) })
		if len(of) > 0 {
			in := t.Pos.Filename
			made[in], types[in] = append(made[in], of...), append(types[in], t)
		}
	}
	var problems Problems
	for in, types := range types {
		what := "type " + types[0].Name + " is"
		if n := len(types) - 1; n > 0 {
			what = fmt.Sprintf("%s and %s are", types[0].Name, countOf(n, "other type"))
		}
		slices.Sort(made[in])
		made[in] = slices.Compact(made[in])
		problems = append(problems, marker.Problem{Pos: types[0].Pos, Message: fmt.Sprintf(
			"%s only in this file, which the go command leaves out: %s; change that, or --prune removes %s",
			what, types[0].Why, filesOr(made[in]))})
	}
	return problems
}

// nameOf reports whether a generated file has a name that it could have for a type.
func nameOf(file, typeName string) bool {
	base := strings.TrimPrefix(strings.TrimSuffix(filepath.Base(file), ".go"), "fake_")
	return strings.HasPrefix(base+"_", strings.ToLower(typeName)+"_")
}

// unnamed is the problem of files made from an API package that isn't named. line is the advice
// for go generate, if any.
func unnamed(importPath string, looked model.Looked, files []string, line string) marker.Problem {
	at, message := commonFolder(files), ""
	switch {
	case looked.Err != nil:
		message = fmt.Sprintf("made from %s, which can't be looked up (%v); mend that",
			importPath, looked.Err)
	case looked.LeftOut != "":
		at = shorten(looked.LeftOut)
		message = fmt.Sprintf("the go command leaves out this file, and all others of %s: %s; change that",
			importPath, looked.Why)
	default:
		message = fmt.Sprintf("made from %s, which exists and isn't named; name it too%s", importPath, line)
	}
	return marker.Problem{Pos: token.Position{Filename: at},
		Message: fmt.Sprintf("%s, or --prune removes %s", message, filesOr(files))}
}

// generateLine returns advice for a run by go generate: where to put a line that names all
// packages, including those in the folders dirs. It is "" for other runs, or if there is no place
// for such a line.
func (c *Config) generateLine(ctx context.Context, api *model.API, dirs []string) string {
	if !c.goGenerate || len(dirs) == 0 {
		return ""
	}
	for _, p := range api.Packages {
		dirs = append(dirs, p.Dir)
	}
	common := commonDir(dirs)
	module, err := model.FindModule(ctx, common)
	if err != nil {
		return ""
	}
	folder, err := filepath.Rel(module.Dir, common)
	if err != nil {
		return ""
	}
	if folder == "." {
		folder = "the module's root"
	}
	return fmt.Sprintf(" (write //go:generate go tool kubewright generate ./..., with the flags of this line,"+
		" in one Go file in %s)", folder)
}

// commonFolder says where files are: "pkg/client/..." for several folders.
func commonFolder(files []string) string {
	var dirs []string
	for _, file := range files {
		dirs = append(dirs, filepath.Dir(file))
	}
	common := commonDir(dirs)
	switch {
	case !slices.ContainsFunc(dirs, func(dir string) bool { return dir != common }):
		return common
	case common == ".":
		return "./..."
	}
	return filepath.Join(common, "...")
}

// commonDir returns the innermost folder that has all of dirs in it.
func commonDir(dirs []string) string {
	common := dirs[0]
	for _, dir := range dirs[1:] {
		for common != filepath.Dir(common) && dir != common &&
			!strings.HasPrefix(dir, common+string(filepath.Separator)) {
			common = filepath.Dir(common)
		}
	}
	return common
}

// filesOr returns the only file, or the number of files.
func filesOr(files []string) string {
	if len(files) == 1 {
		return files[0]
	}
	return countOf(len(files), "file")
}

// countOf is a number of things with their name in the singular or plural.
func countOf(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
