package generators

import (
	"cmp"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubewright/kubewright/generators/model"
	"github.com/kubewright/kubewright/generators/render"
)

const informerGenName = "informer-gen"

// informerGen makes a factory of informers, and an informer for each kind that
// can be listed and watched.
type informerGen struct {
	generator
	// clientset and listers are what the informers use.
	clientset, listers render.Package
	// metadata asks for informers of metadata, too.
	metadata bool
}

// tree is the folder and the import path of the informers of internal types, or
// of the others.
func (o InformerOptions) tree(internal bool) (dir, pkg string) {
	if o.SingleDirectory {
		return o.Dir, o.Package
	}
	folder := "externalversions"
	if internal {
		folder = "internalversion"
	}
	return filepath.Join(o.Dir, folder), path.Join(o.Package, folder)
}

// newInformerGens makes one generator for internal types and one for the others,
// each if there are any.
func newInformerGens(options InformerOptions, api *model.API) []*informerGen {
	var gens []*informerGen
	for _, internal := range []bool{false, true} {
		dir, pkg := options.tree(internal)
		clientset := options.VersionedClientset
		if internal {
			clientset = options.InternalClientset
		}
		g := &informerGen{
			generator: generator{
				name: informerGenName, dir: dir, pkg: render.Package{Path: pkg},
				kinds:       map[*model.Version][]*model.Kind{},
				groupFolder: func(group *model.Group) string { return group.PackageName },
			},
			clientset: render.Package{Path: clientset},
			listers:   render.Package{Path: options.Listers},
			metadata:  options.Metadata,
		}
		g.take(api, func(p *model.Package) bool { return p.Informer && p.Version.Internal == internal }, (*model.Kind).HasInformer)
		if len(g.versions) > 0 {
			gens = append(gens, g)
		}
	}
	return gens
}

// informersFolder is where the informers of a version are.
const informersFolder = "{group}/{version}"

func (g *informerGen) files(h header) []render.File {
	return g.expand([]row{
		{"factory.go", "informer/factory.tmpl", true, g.all},
		{"generic.go", "informer/generic.tmpl", true, g.all},
		{"internalinterfaces/factory_interfaces.go", "informer/interfaces.tmpl", true, g.all},
		{"{group}/interface.go", "informer/group.tmpl", true, g.group},
		{informersFolder + "/interface.go", "informer/version.tmpl", true, g.version},
		{informersFolder + "/{kind}.go", "informer/kind.tmpl", true, g.kind},
		{informersFolder + "/{kind}_metadata.go", "informer/metadata.tmpl", g.metadata, g.kind},
	}, h)
}

// informerView is all informers: factory.go, generic.go, factory_interfaces.go.
type informerView struct {
	PackageName string
	// Clientset is the package of the clientset, Interfaces that of the
	// interfaces that factory and informers share.
	Clientset, Interfaces render.Package
	// Groups are in the order of their folders.
	Groups []groupInformersView
	// Sorted are the versions of all groups in the order of their API groups.
	Sorted []versionInformersView
}

// groupInformersView is a group: <group>/interface.go.
type groupInformersView struct {
	PackageName string
	GoName      string
	// Informers is the package of the group.
	Informers, Interfaces render.Package
	Versions              []versionInformersView
}

// versionInformersView is a group version: <group>/<version>/interface.go.
type versionInformersView struct {
	PackageName string
	// Group and Version name the API; GroupVersion is for people.
	Group, Version, GroupVersion string
	// GroupGoName and Name are the methods of the factory that lead there.
	GroupGoName, Name string
	API               apiView
	// Informers is the package of the version.
	Informers, Interfaces render.Package
	Kinds                 []*model.Kind
}

func (g *informerGen) interfaces() render.Package { return g.pkg.Sub("internalinterfaces") }

func (g *informerGen) all(scope) any {
	view := informerView{PackageName: path.Base(filepath.ToSlash(g.dir)), Clientset: g.clientset, Interfaces: g.interfaces()}
	for _, v := range g.versions {
		if at := (scope{group: v.Group}); v.Group != g.previous(v) {
			view.Groups = append(view.Groups, g.group(at).(groupInformersView))
		}
		view.Sorted = append(view.Sorted, g.versionView(v))
	}
	slices.SortFunc(view.Groups, func(a, b groupInformersView) int { return strings.Compare(a.Informers.Path, b.Informers.Path) })
	slices.SortStableFunc(view.Sorted, func(a, b versionInformersView) int {
		return cmp.Or(strings.Compare(strings.ToLower(a.Group), strings.ToLower(b.Group)), strings.Compare(a.Version, b.Version))
	})
	return view
}

// previous is the group of the version before v.
func (g *informerGen) previous(v *model.Version) *model.Group {
	if i := slices.Index(g.versions, v); i > 0 {
		return g.versions[i-1].Group
	}
	return nil
}

func (g *informerGen) group(at scope) any {
	view := groupInformersView{
		PackageName: at.group.GoPackage,
		GoName:      at.group.GoName,
		Informers:   g.folder("{group}", at),
		Interfaces:  g.interfaces(),
	}
	view.Informers.Alias = strings.ToLower(at.group.GoName)
	for _, v := range g.versions {
		if v.Group == at.group {
			view.Versions = append(view.Versions, g.versionView(v))
		}
	}
	return view
}

func (g *informerGen) version(at scope) any { return g.versionView(at.version) }

func (g *informerGen) versionView(v *model.Version) versionInformersView {
	informers := g.folder(informersFolder, scope{group: v.Group, version: v})
	informers.Alias = versionAlias("", v)
	return versionInformersView{
		PackageName:  v.PackageName,
		Group:        nonEmptyGroup(v.Group),
		Version:      v.PackageName,
		GroupVersion: groupVersion(v),
		GroupGoName:  v.Group.GoName,
		Name:         v.GoName,
		API:          newAPIView(v),
		Informers:    informers,
		Interfaces:   g.interfaces(),
		Kinds:        g.kinds[v],
	}
}

// kindInformerView is the informer of a kind.
type kindInformerView struct {
	*model.Kind
	PackageName string
	// GroupMethod is the method of the clientset that leads to the kind.
	GroupMethod           string
	Type                  render.Ident
	API                   apiView
	Clientset, Interfaces render.Package
	// Lister and NewLister are the kind's lister and its constructor.
	Lister, NewLister render.Ident
}

func (g *informerGen) kind(at scope) any {
	listers := g.listers.Sub(strings.ToLower(at.group.PackageName), at.version.PackageName)
	listers.Alias = versionAlias("listers", at.version)
	return kindInformerView{
		Kind:        at.kind,
		PackageName: at.version.PackageName,
		GroupMethod: methodName(at.version),
		Type:        typeIdent(at.kind),
		API:         newAPIView(at.version),
		Clientset:   g.clientset,
		Interfaces:  g.interfaces(),
		Lister:      listers.Ident(at.kind.Name + "Lister"),
		NewLister:   listers.Ident("New" + at.kind.Name + "Lister"),
	}
}
