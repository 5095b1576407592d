package generators

import (
	"go/token"
	"path"
	"strings"

	"github.com/kubewright/kubewright/generators/internal/model"
	"github.com/kubewright/kubewright/generators/internal/render"
)

// importNames names the imports of a file as gengo does: by the end of the path, as short as
// possible, in the order in which the file mentions them. The names have to be those in
// upstream's output.
type importNames struct {
	own   string
	names map[string]string // by path
	taken map[string]bool
}

// newImportNames returns the names for a file of the package of that path. No import has the name
// of the package itself, which would be confusing.
func newImportNames(own string) *importNames {
	return &importNames{own: own, names: map[string]string{}, taken: map[string]bool{path.Base(own): true}}
}

// packageFor returns the package of that path, with its name.
func (n *importNames) packageFor(importPath string) render.Package {
	if importPath == n.own {
		return render.Package{Path: importPath}
	}
	if n.names[importPath] == "" {
		n.names[importPath] = n.name(importPath)
	}
	return render.Package{Path: importPath, Alias: n.names[importPath]}
}

// name picks a name for a path. It returns "" if all names are taken, where gengo gives up;
// render then finds a name.
func (n *importNames) name(importPath string) string {
	elements := strings.Split(importPath, "/")
	for first := len(elements) - 1; first >= 0; first-- {
		name := strings.NewReplacer("_", "", ".", "", "-", "").Replace(strings.Join(elements[first:], ""))
		if n.taken[name] {
			continue
		}
		if token.IsKeyword(name) {
			name = "_" + name
		}
		n.taken[name] = true
		return name
	}
	return ""
}

// typ returns a type as Go source.
func (n *importNames) typ(e *model.Expr) string {
	n.mention(e)
	return typeText(n.names, e)
}

// mention names the packages of a type, in the order of its text.
func (n *importNames) mention(e *model.Expr) {
	if e == nil {
		return
	}
	if e.Form == model.Named && e.Name.Path != "" {
		n.packageFor(e.Name.Path)
	}
	for _, arg := range e.Args {
		n.mention(arg)
	}
	n.mention(e.Key)
	n.mention(e.Elem)
}
