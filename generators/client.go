package generators

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubewright/kubewright/generators/model"
	"github.com/kubewright/kubewright/generators/output"
	"github.com/kubewright/kubewright/generators/render"
)

const clientGenName = "client-gen"

// clientGen makes a clientset: its scheme, a client for each group version and
// kind, and fakes of all that.
type clientGen struct {
	generator
	ClientOptions
	// configs are the types that this run makes apply configurations of, nil
	// if it makes none.
	configs map[model.TypeName]bool
}

func newClientGen(options ClientOptions, api *model.API) *clientGen {
	g := &clientGen{ClientOptions: options, generator: generator{
		name: clientGenName, dir: options.Dir, pkg: render.Package{Path: options.Package},
		kinds:       map[*model.Version][]*model.Kind{},
		groupFolder: func(group *model.Group) string { return strings.ToLower(group.PackageName) },
	}}
	if api.Apply != nil {
		g.configs = api.Apply.Configured()
	}
	if options.Lean {
		g.ApplyConfigurationPackage = ""
	}
	for _, group := range api.Groups {
		for _, v := range group.Versions {
			if v.Package.Client {
				g.versions = append(g.versions, v)
				g.kinds[v] = v.Kinds
			}
		}
	}
	return g
}

// Where the typed clients of a version are, and their fakes.
const (
	typedFolder     = "typed/{group}/{version}"
	fakeTypedFolder = typedFolder + "/fake"
)

func (g *clientGen) files(h header) []render.File {
	typed, fake := !g.ClientsetOnly, g.Fake
	return g.expand([]row{
		{"clientset.go", "client/clientset.tmpl", true, g.clientset},
		{"scheme/doc.go", "client/doc.tmpl", true, doc("scheme", "Package scheme knows the types of the clientset.")},
		{"scheme/register.go", "scheme/register.tmpl", true, g.scheme},

		{typedFolder + "/doc.go", "client/doc.tmpl", typed, g.typedDoc},
		{typedFolder + "/{Group}_client.go", "client/group.tmpl", typed, g.group},
		{typedFolder + "/{kind}.go", "client/kind.tmpl", typed, g.kind},
		{typedFolder + "/generated_expansion.go", "client/expansion.tmpl", typed, g.expansion},

		{"fake/doc.go", "client/doc.tmpl", fake, doc("fake", "Package fake is a clientset for unit tests: it talks to no server.")},
		{"fake/clientset_generated.go", "fake/clientset.tmpl", fake, g.fakeClientset},
		{"fake/register.go", "scheme/register.tmpl", fake, g.fakeScheme},

		{fakeTypedFolder + "/doc.go", "client/doc.tmpl", typed && fake, doc("fake", "Package fake has clients for unit tests: they talk to no server.")},
		{fakeTypedFolder + "/fake_{Group}_client.go", "fake/group.tmpl", typed && fake, g.group},
		{fakeTypedFolder + "/fake_{kind}.go", "fake/kind.tmpl", typed && fake, g.kind},
	}, h)
}

func doc(name, comment string) func(scope) any {
	return func(scope) any { return docView{PackageName: name, Comment: comment} }
}

func (g *clientGen) typedDoc(at scope) any {
	name := at.version.PackageName
	return docView{PackageName: name, Comment: "Package " + name + " has the clients of " + groupVersion(at.version) + "."}
}

func (g *clientGen) expansion(at scope) any {
	return expansionView{PackageName: at.version.PackageName, Kinds: g.withoutExpansion(at.version, typedFolder)}
}

// withoutExpansion are the kinds of a version that have no hand-written
// <kind>_expansion.go in the folder.
func (g *generator) withoutExpansion(v *model.Version, folder string) []*model.Kind {
	dir := filepath.Join(g.dir, filepath.FromSlash(g.fill(folder, scope{group: v.Group, version: v})))
	return slices.DeleteFunc(slices.Clone(g.kinds[v]), func(k *model.Kind) bool {
		return output.Exists(filepath.Join(dir, k.Lower+"_expansion.go"))
	})
}

// clientsetView is clientset.go.
type clientsetView struct {
	PackageName string
	// Lean is true without discovery.
	Lean     bool
	Versions []versionClientView
}

// versionClientView is a group version as a clientset sees it.
type versionClientView struct {
	// Method is the method of the clientset, Field the field behind it.
	Method, Field string
	// GroupVersion is for people.
	GroupVersion string
	// Client and FakeClient are the packages of the clients.
	Client, FakeClient render.Package
}

func (g *clientGen) clientset(scope) any {
	return clientsetView{PackageName: path.Base(g.Package), Lean: g.Lean, Versions: g.versionViews()}
}

func (g *clientGen) versionViews() []versionClientView {
	var views []versionClientView
	for _, v := range g.versions {
		fake := g.folder(fakeTypedFolder, scope{group: v.Group, version: v})
		fake.Alias = versionAlias("fake", v)
		views = append(views, versionClientView{
			Method:       methodName(v),
			Field:        private(methodName(v)),
			GroupVersion: groupVersion(v),
			Client:       g.typedPackage(v, ""),
			FakeClient:   fake,
		})
	}
	return views
}

func (g *clientGen) typedPackage(v *model.Version, prefix string) render.Package {
	typed := g.folder(typedFolder, scope{group: v.Group, version: v})
	typed.Alias = versionAlias(prefix, v)
	return typed
}

func (g *clientGen) schemePackage() render.Package { return g.pkg.Sub("scheme") }

// groupClientView is <group>_client.go, and the fake of it.
type groupClientView struct {
	PackageName string
	// Method is the method of the clientset, and the stem of all names.
	Method string
	// GroupVersion is for people.
	GroupVersion string
	// Internal is true for types without a version; Group is their API group.
	Internal bool
	Group    string
	API      apiView
	// APIPath is what requests begin with.
	APIPath string
	// Scheme and Client are the packages of the scheme and of the real client.
	Scheme, Client render.Package
	Kinds          []*model.Kind
}

func (g *clientGen) group(at scope) any {
	v := at.version
	view := groupClientView{
		PackageName:  v.PackageName,
		Method:       methodName(v),
		GroupVersion: groupVersion(v),
		Internal:     v.Name == "",
		Group:        v.Group.Name,
		API:          newAPIView(v),
		APIPath:      g.APIPath,
		Scheme:       g.schemePackage(),
		Client:       g.typedPackage(v, "typed"),
		Kinds:        g.kinds[v],
	}
	if v.Group.Name == "" {
		view.APIPath = "/api" // the core group is older than groups
	}
	return view
}

// fakeClientsetView is fake/clientset_generated.go.
type fakeClientsetView struct {
	PackageName string
	// Clientset is the package of the real clientset.
	Clientset render.Package
	// NewTypeConverter is the function of the apply configurations; without
	// them its name is "".
	NewTypeConverter render.Ident
	// Lean is true without discovery.
	Lean     bool
	Versions []versionClientView
}

func (g *clientGen) fakeClientset(scope) any {
	view := fakeClientsetView{PackageName: "fake", Clientset: g.pkg, Lean: g.Lean, Versions: g.versionViews()}
	view.Clientset.Alias = "clientset"
	if g.ApplyConfigurationPackage != "" {
		view.NewTypeConverter = render.Package{Path: g.ApplyConfigurationPackage}.Ident("NewTypeConverter")
	}
	return view
}

// schemeView is register.go.
type schemeView struct {
	PackageName string
	// Scheme and Codecs are the names of the variables. A private scheme has
	// no ParameterCodec.
	Scheme, Codecs string
	Private        bool
	// Install is true for the scheme of an internal clientset: then Packages
	// are those that install a group, else those of the types.
	Install  bool
	Packages []render.Package
	// Custom is true when a hand-written register_custom.go has more to add.
	Custom bool
}

func (g *clientGen) scheme(scope) any {
	view := schemeView{
		PackageName: "scheme", Scheme: "Scheme", Codecs: "Codecs",
		Packages: g.typesPackages(),
		Custom:   output.Exists(filepath.Join(g.dir, "scheme", "register_custom.go")),
	}
	if slices.ContainsFunc(g.versions, func(v *model.Version) bool { return v.Name == "" }) {
		view.Install, view.Packages = true, g.installPackages()
	}
	return view
}

func (g *clientGen) fakeScheme(scope) any {
	return schemeView{PackageName: "fake", Scheme: "scheme", Codecs: "codecs", Private: true, Packages: g.typesPackages()}
}

func (g *clientGen) typesPackages() []render.Package {
	var packages []render.Package
	for _, v := range g.versions {
		packages = append(packages, apiPackage(v))
	}
	return packages
}

// installPackages are the packages that register all versions of a group: they
// lie in the folder install beside the internal types.
func (g *clientGen) installPackages() []render.Package {
	var packages []render.Package
	seen := map[*model.Group]bool{}
	for _, v := range g.versions {
		if seen[v.Group] {
			continue
		}
		seen[v.Group] = true
		hub := v.Package.Path
		if v.Name != "" {
			hub = path.Dir(hub)
		}
		packages = append(packages, render.Package{Path: hub + "/install", Alias: strings.ToLower(v.GoGroupName)})
	}
	return packages
}
