package generators

import (
	"path"
	"path/filepath"
	"strings"

	"github.com/kubewright/kubewright/generators/model"
	"github.com/kubewright/kubewright/generators/render"
)

// row is a line of a generator's table: a template, and the files that it makes.
type row struct {
	// path is where the file goes below the generator's folder. {group},
	// {version} and {kind} stand for the folder of a group, the folder of a
	// version and a kind in lower case; {Group} for a group as its folder
	// among the inputs spells it. They also say how often the template is
	// used: once for each kind, version or group, or once in all.
	path string
	// template is the template's path in package templates.
	template string
	// when says whether the row applies.
	when bool
	// view makes the struct that the template is a view of.
	view func(at scope) any
}

// scope is what a file is about: of the three the ones that its path mentions.
type scope struct {
	group   *model.Group
	version *model.Version
	kind    *model.Kind
}

// generator is what all generators have in common.
type generator struct {
	// name is the binary's, for the generated line.
	name string
	// dir and pkg are the folder and the import path of the output.
	dir string
	pkg render.Package
	// versions are those that the generator makes something of, with kinds
	// the kinds of each that it does.
	versions []*model.Version
	kinds    map[*model.Version][]*model.Kind
	// groupFolder spells the folder of a group.
	groupFolder func(*model.Group) string
}

// expand lists the files of a table.
func (g *generator) expand(table []row, h header) []render.File {
	var files []render.File
	above, err := h.above(g.name)
	if err != nil {
		panic(err) // newHeader has seen that it can be formatted
	}
	for _, r := range table {
		if !r.when {
			continue
		}
		for _, at := range g.scopes(r.path) {
			file := g.fill(r.path, at)
			files = append(files, render.File{
				Path:     filepath.Join(g.dir, filepath.FromSlash(file)),
				Package:  g.pkg.Sub(path.Dir(file)).Path,
				Header:   above,
				Template: r.template,
				View:     func() any { return r.view(at) },
				Reserved: g.reserved(at),
			})
		}
	}
	return files
}

// scopes lists what a path is to be filled in with.
func (g *generator) scopes(pattern string) []scope {
	var scopes []scope
	seen := map[*model.Group]bool{}
	for _, v := range g.versions {
		at := scope{group: v.Group, version: v}
		switch {
		case strings.Contains(pattern, "{kind}"):
			for _, k := range g.kinds[v] {
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

func (g *generator) fill(pattern string, at scope) string {
	if at.group == nil {
		return pattern
	}
	values := []string{"{group}", g.groupFolder(at.group), "{Group}", at.group.PackageName}
	if at.version != nil {
		values = append(values, "{version}", at.version.PackageName)
	}
	if at.kind != nil {
		values = append(values, "{kind}", at.kind.File)
	}
	return strings.NewReplacer(values...).Replace(pattern)
}

// reserved are the unexported identifiers, declared by the files of a version,
// that could be taken for the name of an import.
func (g *generator) reserved(at scope) []string {
	var names []string
	for _, k := range g.kinds[at.version] {
		names = append(names, k.PrivatePlural)
	}
	return names
}

// folder is the package in a path of the table.
func (g *generator) folder(pattern string, at scope) render.Package {
	return g.pkg.Sub(g.fill(pattern, at))
}
