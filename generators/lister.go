package generators

import (
	"strings"

	"github.com/kubewright/kubewright/generators/model"
	"github.com/kubewright/kubewright/generators/render"
)

const listerGenName = "lister-gen"

// listerGen makes a lister for each kind that can be listed and read.
type listerGen struct {
	generator
	// viewWriter makes read-only views, too; nil if they are not asked for.
	*viewWriter
}

func newListerGen(options ListerOptions, api *model.API) *listerGen {
	g := &listerGen{generator: generator{
		name: listerGenName, dir: options.Dir, pkg: render.Package{Path: options.Package},
		kinds:       map[*model.Version][]*model.Kind{},
		groupFolder: func(group *model.Group) string { return strings.ToLower(group.PackageName) },
	}}
	g.take(api, func(p *model.Package) bool { return p.Lister }, (*model.Kind).HasLister)
	if options.ReadOnlyViews {
		g.viewWriter = newViewWriter(g, api.Types)
	}
	return g
}

// take picks the versions and kinds that the generator is for.
func (g *generator) take(api *model.API, wanted func(*model.Package) bool, has func(*model.Kind) bool) {
	for _, group := range api.Groups {
		for _, v := range group.Versions {
			if !wanted(v.Package) {
				continue
			}
			for _, k := range v.Kinds {
				if has(k) {
					g.kinds[v] = append(g.kinds[v], k)
				}
			}
			if len(g.kinds[v]) > 0 {
				g.versions = append(g.versions, v)
			}
		}
	}
}

// listersFolder is where the listers of a version are.
const listersFolder = "{group}/{version}"

func (g *listerGen) files(h header) []render.File {
	return g.expand([]row{
		{listersFolder + "/expansion_generated.go", "lister/expansion.tmpl", true, g.expansion},
		{listersFolder + "/{kind}.go", "lister/kind.tmpl", true, g.kind},
		{listersFolder + "/views_generated.go", "lister/views.tmpl", g.viewWriter != nil, g.views},
	}, h)
}

func (g *listerGen) expansion(at scope) any {
	return expansionView{PackageName: at.version.PackageName, Kinds: g.withoutExpansion(at.version, listersFolder)}
}

// kindListerView is the lister of a kind.
type kindListerView struct {
	*model.Kind
	PackageName string
	Type        render.Ident
	API         apiView
	// Singular is the resource that NotFound errors name.
	Singular string
}

func (g *listerGen) kind(at scope) any {
	return kindListerView{
		Kind:        at.kind,
		PackageName: at.version.PackageName,
		Type:        typeIdent(at.kind),
		API:         newAPIView(at.version),
		Singular:    at.kind.Lower,
	}
}
