package generators

import (
	"context"
	"fmt"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubewright/kubewright/generators/internal/marker"
	"github.com/kubewright/kubewright/generators/internal/model"
)

// A stale file is removed if its source is gone: the API package, or the type, tag or flag. It is
// not removed if its source exists outside of this run: if the package isn't named, or if the
// type's file is a test or excluded by build constraints.

// refusals reports the stale files that are removed only on request (--prune): a problem for
// each API package, or type, that they were made from.
func (c *Config) refusals(ctx context.Context, changes *Changes, api *model.API, trees []string) Problems {
	byPackage, byType := map[string][]string{}, map[model.TypeName][]string{}
	for _, file := range changes.Stale {
		record := changes.Records[file]
		for _, p := range record.Packages {
			byPackage[p] = append(byPackage[p], file)
			name := model.TypeName{Path: p, Name: record.Type}
			byType[name] = append(byType[name], file)
		}
	}
	var problems Problems
	for _, p := range api.Packages {
		if byPackage[p.Path] != nil {
			problems = append(problems, leftOutTypes(p, byType)...)
			delete(byPackage, p.Path)
		}
	}
	if len(byPackage) == 0 {
		return problems.Sort()
	}
	looked := lookUp(ctx, slices.Sorted(maps.Keys(byPackage)), trees)
	var dirs []string
	for _, l := range looked {
		if l.Dir != "" {
			dirs = append(dirs, l.Dir)
		}
	}
	line := c.generateLine(ctx, api, dirs)
	for p, files := range byPackage {
		if looked[p] != (model.Looked{}) { // else it is gone
			problems = append(problems, unnamed(p, looked[p], files, line))
		}
	}
	return problems.Sort()
}

// lookUp looks packages up in the working directory, and the missing ones in the modules of the
// output folders: a run may write to a module that it isn't in.
func lookUp(ctx context.Context, importPaths []string, trees []string) map[string]model.Looked {
	looked := model.LookUp(ctx, "", importPaths)
	here, err := model.FindModule(ctx, "")
	for _, tree := range trees {
		module, treeErr := model.FindModule(ctx, tree)
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
func leftOutTypes(p *model.Package, made map[model.TypeName][]string) Problems {
	// Both are by the file that has the types.
	files, types := map[string][]string{}, map[string][]model.LeftOutType{}
	for _, t := range p.LeftOut() {
		if of := made[model.TypeName{Path: p.Path, Name: t.Name}]; len(of) > 0 {
			in := t.Pos.Filename
			files[in], types[in] = append(files[in], of...), append(types[in], t)
		}
	}
	var problems Problems
	for in, types := range types {
		what := "type " + types[0].Name + " is"
		if n := len(types) - 1; n > 0 {
			what = fmt.Sprintf("%s and %s are", types[0].Name, countOf(n, "other type"))
		}
		problems = append(problems, marker.Problem{Pos: types[0].Pos, Message: fmt.Sprintf(
			"%s only in this file, which the go command leaves out: %s; change that, or --prune removes %s",
			what, types[0].Why, filesOr(files[in]))})
	}
	return problems
}

// unrecorded warns of generated files that stay because they have no record.
func unrecorded(files []string) Problems {
	if len(files) == 0 {
		return nil
	}
	return Problems{{Warning: true, Pos: token.Position{Filename: commonFolder(files)}, Message: fmt.Sprintf(
		"not made by this run, but kept, as no line // Source: says what it was made from; --prune removes %s",
		filesOr(files))}}
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

// commonFolder says where files are: "pkg/client/..." for several folders, and one of the files if the
// only folder that has all of these is the working directory, or one above it.
func commonFolder(files []string) string {
	var dirs []string
	for _, file := range files {
		dirs = append(dirs, filepath.Dir(file))
	}
	common := commonDir(dirs)
	switch {
	case !slices.ContainsFunc(dirs, func(dir string) bool { return dir != common }):
		return common
	case strings.Trim(common, string(filepath.Separator)+".") == "": // It says nothing.
		return slices.Min(files)
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
