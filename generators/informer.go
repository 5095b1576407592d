package generators

import (
	"cmp"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubewright/kubewright/generators/internal/model"
	"github.com/kubewright/kubewright/generators/internal/render"
)

// informerGenName is the name of upstream's binary, as in the generated line.
const informerGenName = "informer-gen"

// informerGen makes a factory of informers, and an informer for each kind with the verbs
// list and watch.
type informerGen struct {
	folderTree
	// clientset and listers are the packages that the informers use.
	clientset, listers render.Package
	// metadata adds informers that keep only metadata.
	metadata bool
}

// output returns the folder and the import path of the informers of internal types, or of
// the others. Informer-gen has two trees because internal types need another clientset.
func (o InformerOptions) output(internal bool) (dir, pkg string) {
	if o.SingleDirectory { // both trees in one folder, as upstream has it
		return o.Dir, o.Package
	}
	folder := "externalversions"
	if internal {
		folder = "internalversion"
	}
	return filepath.Join(o.Dir, folder), path.Join(o.Package, folder)
}

// newInformerGens returns a generator for the internal types, if there are any, and one for
// the others. If there are no types, it returns the latter, which then lists no files, so that
// stale files in its folder are found. A folder without a generator may be another run's.
func newInformerGens(options InformerOptions, api *model.API) ([]*informerGen, error) {
	internal := newInformerGen(options, api, true)
	if len(internal.versions) > 0 && options.InternalClientset == "" {
		// Upstream generates an import of the package "", which doesn't compile.
		return nil, fmt.Errorf("--internal-clientset-package must be specified: %s has internal types",
			internal.versions[0].Package.Path)
	}
	external := newInformerGen(options, api, false)
	switch {
	case len(internal.versions) == 0:
		return []*informerGen{external}, nil
	case len(external.versions) == 0:
		return []*informerGen{internal}, nil
	}
	return []*informerGen{external, internal}, nil
}

// newInformerGen returns the generator for internal types, or for the others.
func newInformerGen(options InformerOptions, api *model.API, internal bool) *informerGen {
	dir, pkg := options.output(internal)
	clientset := options.VersionedClientset
	if internal {
		clientset = options.InternalClientset
	}
	g := &informerGen{
		folderTree: folderTree{
			generator: informerGenName, dir: dir, pkg: render.Package{Path: pkg},
			groupFolder: func(group *model.Group) string { return group.PackageName },
		},
		clientset: render.Package{Path: clientset},
		listers:   render.Package{Path: options.Listers},
		metadata:  options.Metadata,
	}
	wanted := func(p *model.Package) bool { return p.Informer && p.Version.Internal == internal }
	g.selectKinds(api, wanted, (*model.Kind).HasInformer)
	return g
}

// informersFolder is the folder of the informers of a version.
const informersFolder = "{group}/{version}"

func (g *informerGen) files(h headers) []render.File {
	if len(g.versions) == 0 {
		return nil // upstream makes no factory without informers
	}
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

// informerView is the view of factory.go, generic.go and factory_interfaces.go.
type informerView struct {
	PackageName string
	// Clientset is the package of the clientset, Interfaces that of the interfaces
	// that the factory and the informers share.
	Clientset, Interfaces render.Package
	// Groups are sorted by folder.
	Groups []groupInformersView
	// Sorted are the versions of all groups, sorted by API group.
	Sorted []versionInformersView
}

// groupInformersView is the view of <group>/interface.go.
type groupInformersView struct {
	PackageName string
	GoName      string
	// Group is the API group.
	Group string
	// Informers is the package of the group's informers.
	Informers, Interfaces render.Package
	Versions              []versionInformersView
}

// versionInformersView is the view of <group>/<version>/interface.go.
type versionInformersView struct {
	PackageName string
	// Group and Version are the API group and version; GroupVersion is their form in
	// comments.
	Group, Version, GroupVersion string
	// GroupGoName and Name are the methods by which the factory returns the version.
	GroupGoName, Name string
	API               apiView
	// Informers is the package of the version's informers.
	Informers, Interfaces render.Package
	Kinds                 []*model.Kind
}

// interfaces is the package of the types that the factory and the informers share. The
// informers can't import the factory, which imports them.
func (g *informerGen) interfaces() render.Package { return g.pkg.Sub("internalinterfaces") }

// all builds the view of the files for the whole factory.
func (g *informerGen) all(scope) any {
	view := informerView{PackageName: path.Base(filepath.ToSlash(g.dir)), Clientset: g.clientset,
		Interfaces: g.interfaces()}
	// The versions of a group are adjacent.
	for _, v := range g.versions {
		if at := (scope{group: v.Group}); v.Group != g.previous(v) {
			view.Groups = append(view.Groups, g.group(at).(groupInformersView))
		}
		view.Sorted = append(view.Sorted, g.versionView(v))
	}
	// Upstream's factory.go has the groups in the order of their packages, and generic.go in
	// that of group names, in lower case.
	slices.SortFunc(view.Groups, func(a, b groupInformersView) int {
		return strings.Compare(a.Informers.Path, b.Informers.Path)
	})
	slices.SortStableFunc(view.Sorted, func(a, b versionInformersView) int {
		return cmp.Or(strings.Compare(strings.ToLower(a.Group), strings.ToLower(b.Group)),
			strings.Compare(a.Version, b.Version))
	})
	return view
}

// previous returns the group of the version before v, nil for the first.
func (g *informerGen) previous(v *model.Version) *model.Group {
	if i := slices.Index(g.versions, v); i > 0 {
		return g.versions[i-1].Group
	}
	return nil
}

// group builds the view of a group.
func (g *informerGen) group(at scope) any {
	view := groupInformersView{
		PackageName: at.group.GoPackage,
		GoName:      at.group.GoName,
		Group:       model.NonEmptyGroup(at.group.Name),
		Informers:   g.folder("{group}", at),
		Interfaces:  g.interfaces(),
	}
	// The Go name is unique among the groups of a factory; the folder may not be a valid name.
	view.Informers.Alias = strings.ToLower(at.group.GoName)
	for _, v := range g.versions {
		if v.Group == at.group {
			view.Versions = append(view.Versions, g.versionView(v))
		}
	}
	return view
}

func (g *informerGen) version(at scope) any { return g.versionView(at.version) }

// versionView builds the view of a group version.
func (g *informerGen) versionView(v *model.Version) versionInformersView {
	informers := g.folder(informersFolder, scope{group: v.Group, version: v})
	informers.Alias = versionAlias("", v)
	return versionInformersView{
		PackageName:  v.PackageName,
		Group:        model.NonEmptyGroup(v.Group.Name),
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

// kindInformerView is the view of the informer of a kind.
type kindInformerView struct {
	*model.Kind
	PackageName string
	// GroupMethod is the method of the clientset that returns the kind's group version.
	GroupMethod           string
	Type                  render.Ident
	API                   apiView
	Clientset, Interfaces render.Package
	// Lister and NewLister are the lister of the kind and its constructor.
	Lister, NewLister render.Ident
}

// kind builds the view of a kind's informer.
func (g *informerGen) kind(at scope) any {
	// Lister-gen has folders in lower case, informer-gen doesn't.
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
