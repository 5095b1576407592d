package generators

import (
	"strings"

	"github.com/kubewright/kubewright/generators/internal/model"
	"github.com/kubewright/kubewright/generators/internal/render"
)

// listerGenName is the name of upstream's binary, as in the generated line.
const listerGenName = "lister-gen"

// listerGen makes a lister for each kind with the verbs list and get.
type listerGen struct {
	folderTree
	// viewWriter makes read-only views; it is nil unless the options ask for them.
	*viewWriter
}

// newListerGen returns the generator for the kinds of the API that can have a lister.
func newListerGen(options ListerOptions, api *model.API) *listerGen {
	g := &listerGen{folderTree: folderTree{
		generator: listerGenName, dir: options.Dir, pkg: render.Package{Path: options.Package},
		groupFolder: func(group *model.Group) string { return strings.ToLower(group.PackageName) },
	}}
	g.selectKinds(api, func(p *model.Package) bool { return p.Lister }, (*model.Kind).HasLister)
	// The views need the kinds that were selected.
	if options.ReadOnlyViews {
		g.viewWriter = newViewWriter(g, api.Types)
	}
	return g
}

// listersFolder is the folder of the listers of a version.
const listersFolder = "{group}/{version}"

func (g *listerGen) files(h headers) []render.File {
	return g.expand([]row{
		{listersFolder + "/expansion_generated.go", "lister/expansion.tmpl", true, g.expansion},
		{listersFolder + "/{kind}.go", "lister/kind.tmpl", true, g.kind},
		{listersFolder + "/views_generated.go", "lister/views.tmpl", g.viewWriter != nil, g.views},
	}, h)
}

func (g *listerGen) expansion(at scope) any {
	return expansionView{PackageName: at.version.PackageName, GroupVersion: groupVersion(at.version),
		Kinds: g.withoutExpansion(at.version, listersFolder)}
}

// kindListerView is the lister of a kind.
type kindListerView struct {
	*model.Kind
	PackageName string
	Type        render.Ident
	API         apiView
	// Singular is the resource in NotFound errors: upstream's listers pass the lower-case
	// kind there, not the resource.
	Singular string
}

// kind builds the view of a kind's lister.
func (g *listerGen) kind(at scope) any {
	return kindListerView{
		Kind:        at.kind,
		PackageName: at.version.PackageName,
		Type:        typeIdent(at.kind),
		API:         newAPIView(at.version),
		Singular:    at.kind.Lower,
	}
}
