package generators

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubewright/kubewright/generators/internal/model"
	"github.com/kubewright/kubewright/generators/internal/output"
	"github.com/kubewright/kubewright/generators/internal/render"
)

// row is a line of a generator's table: a template, and the files that it makes.
type row struct {
	// path is the path of the file below the generator's folder. {group}, {version} and
	// {kind} stand for the folder of a group, the folder of a version and the file of a
	// kind; {Group} stands for a group in the spelling of its input folder. They also
	// determine how many files the row makes: one for each kind, for each version or for
	// each group, or a single one.
	path string
	// template is the path of the template in package templates.
	template string
	// when is false if the options leave the row out.
	when bool
	// view builds the struct that the template prints.
	view func(at scope) any
}

// scope is the group, version and kind that a file is for, nil where its path doesn't
// mention them.
type scope struct {
	group   *model.Group
	version *model.Version
	kind    *model.Kind
}

// folderTree is the output folder of a generator whose files follow from groups, versions
// and kinds.
type folderTree struct {
	// generator is the name of the binary, for the generated line.
	generator string
	// dir and pkg are the folder and its import path.
	dir string
	pkg render.Package
	// versions are the versions that the generator has output for, kinds the kinds of
	// each.
	versions []*model.Version
	kinds    map[*model.Version][]*model.Kind
	// groupFolder returns the name of a group's folder. Upstream's generators differ
	// in whether it is in lower case.
	groupFolder func(*model.Group) string
}

func (t *folderTree) tree() string { return t.dir }

// selectKinds picks the packages and kinds that the generator has output for.
func (t *folderTree) selectKinds(api *model.API, wanted func(*model.Package) bool,
	has func(*model.Kind) bool) {
	t.kinds = map[*model.Version][]*model.Kind{}
	for _, group := range api.Groups {
		for _, v := range group.Versions {
			if !wanted(v.Package) {
				continue
			}
			for _, k := range v.Kinds {
				if has(k) {
					t.kinds[v] = append(t.kinds[v], k)
				}
			}
			if len(t.kinds[v]) > 0 {
				t.versions = append(t.versions, v)
			}
		}
	}
}

// expand lists the files of a table.
func (t *folderTree) expand(table []row, h headers) []render.File {
	var files []render.File
	for _, r := range table {
		if !r.when {
			continue
		}
		for _, at := range t.scopes(r.path) {
			file := t.fill(r.path, at)
			files = append(files, render.File{
				Path:     filepath.Join(t.dir, filepath.FromSlash(file)),
				Package:  t.pkg.Sub(path.Dir(file)).Path,
				Header:   h.with(t.generator, t.record(at)),
				Template: r.template,
				View:     func() any { return r.view(at) },
				Reserved: t.reserved(at),
			})
		}
	}
	return files
}

// scopes lists the scopes that a path is filled in for.
func (t *folderTree) scopes(pattern string) []scope {
	var scopes []scope
	seen := map[*model.Group]bool{}
	// The most specific part of the path decides: a path with {kind} has the others, too.
	for _, v := range t.versions {
		at := scope{group: v.Group, version: v}
		switch {
		case strings.Contains(pattern, "{kind}"):
			for _, k := range t.kinds[v] {
				at.kind = k
				scopes = append(scopes, at)
			}
		case strings.Contains(pattern, "{version}"):
			scopes = append(scopes, at)
		case strings.Contains(pattern, "{group}") && !seen[v.Group]:
			seen[v.Group] = true
			scopes = append(scopes, scope{group: v.Group})
		}
	}
	if !strings.Contains(pattern, "{") {
		scopes = append(scopes, scope{})
	}
	return scopes
}

// record is the record of a file for a scope.
func (t *folderTree) record(at scope) output.Record {
	var record output.Record
	switch {
	case at.kind != nil:
		record.Type = at.kind.Name
		fallthrough
	case at.version != nil:
		record.Packages = []string{at.version.Package.Path}
	case at.group != nil:
		for _, v := range t.versions {
			if v.Group == at.group {
				record.Packages = append(record.Packages, v.Package.Path)
			}
		}
	}
	return record
}

// fill returns a path of the table for a scope.
func (t *folderTree) fill(pattern string, at scope) string {
	if at.group == nil { // a file for the whole tree has no placeholders
		return pattern
	}
	values := []string{"{group}", t.groupFolder(at.group), "{Group}", at.group.PackageName}
	if at.version != nil {
		values = append(values, "{version}", at.version.PackageName)
	}
	if at.kind != nil {
		values = append(values, "{kind}", at.kind.File)
	}
	return strings.NewReplacer(values...).Replace(pattern)
}

// folder is the package of a path of the table.
func (t *folderTree) folder(pattern string, at scope) render.Package {
	return t.pkg.Sub(t.fill(pattern, at))
}

// reserved are the unexported types in the package of a version. An import of the same
// name in one file of the package would not compile.
func (t *folderTree) reserved(at scope) []string {
	var names []string
	for _, k := range t.kinds[at.version] {
		names = append(names, k.PrivatePlural)
	}
	return names
}

// withoutExpansion are the kinds of a version that have no hand-written
// <kind>_expansion.go in the folder: their expansion interfaces have to be generated.
func (t *folderTree) withoutExpansion(v *model.Version, folder string) []*model.Kind {
	dir := filepath.Join(t.dir, filepath.FromSlash(t.fill(folder, scope{group: v.Group, version: v})))
	return slices.DeleteFunc(slices.Clone(t.kinds[v]), func(k *model.Kind) bool {
		return output.Exists(filepath.Join(dir, k.Lower+"_expansion.go"))
	})
}
