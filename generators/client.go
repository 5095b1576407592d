package generators

import (
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubewright/kubewright/generators/internal/marker"
	"github.com/kubewright/kubewright/generators/internal/model"
	"github.com/kubewright/kubewright/generators/internal/output"
	"github.com/kubewright/kubewright/generators/internal/render"
)

// clientGenName is the name of upstream's binary, as in the generated line.
const clientGenName = "client-gen"

// clientGen makes a clientset: its scheme, a client for each group version and each kind,
// and fakes of all of them.
type clientGen struct {
	folderTree
	ClientOptions
	// configs are the types that get an apply configuration in this run, nil if the run
	// generates none.
	configs map[model.TypeName]bool
}

// newClientGen returns the generator for the versions of the API that don't opt out.
func newClientGen(options ClientOptions, api *model.API) *clientGen {
	g := &clientGen{ClientOptions: options, folderTree: folderTree{
		generator: clientGenName, dir: options.Dir, pkg: render.Package{Path: options.Package},
		kinds:       map[*model.Version][]*model.Kind{},
		groupFolder: func(group *model.Group) string { return strings.ToLower(group.PackageName) },
	}}
	if api.Apply != nil {
		g.configs = api.Apply.Configured()
	}
	if options.Lean { // everything that depends on apply configurations follows from this
		g.ApplyConfigurationPackage = ""
	}
	// Unlike listers and informers, a version has a client even without kinds.
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

// The folders of the typed clients of a version and of their fakes.
const (
	typedFolder     = "typed/{group}/{version}"
	fakeTypedFolder = typedFolder + "/fake"
)

// files is the table of client-gen. The names of files and folders are upstream's: hand-written
// expansions, and the files of custom schemes, are in the same folders.
func (g *clientGen) files(h headers) []render.File {
	typed, fake := !g.ClientsetOnly, g.Fake
	return g.expand([]row{
		{"clientset.go", "client/clientset.tmpl", true, g.clientset},
		{"scheme/doc.go", "client/doc.tmpl", true,
			doc("scheme", "Package scheme contains the runtime.Scheme of the clientset, with its API types.")},
		{"scheme/register.go", "scheme/register.tmpl", true, g.scheme},

		{typedFolder + "/doc.go", "client/doc.tmpl", typed, g.typedDoc},
		// In this file name upstream keeps the case of the group's folder.
		{typedFolder + "/{Group}_client.go", "client/group.tmpl", typed, g.group},
		{typedFolder + "/{kind}.go", "client/kind.tmpl", typed, g.kind},
		{typedFolder + "/generated_expansion.go", "client/expansion.tmpl", typed, g.expansion},

		{"fake/doc.go", "client/doc.tmpl", fake,
			doc("fake", "Package fake contains a fake clientset for unit tests. It sends no requests to a server.")},
		{"fake/clientset_generated.go", "fake/clientset.tmpl", fake, g.fakeClientset},
		{"fake/register.go", "scheme/register.tmpl", fake, g.fakeScheme},

		{fakeTypedFolder + "/doc.go", "client/doc.tmpl", typed && fake, fakeTypedDoc},
		{fakeTypedFolder + "/fake_{Group}_client.go", "fake/group.tmpl", typed && fake, g.group},
		{fakeTypedFolder + "/fake_{kind}.go", "fake/kind.tmpl", typed && fake, g.kind},
	}, h)
}

// doc returns the view of a doc.go.
func doc(name, comment string) func(scope) any {
	return func(scope) any { return docView{PackageName: name, Comment: comment} }
}

func (g *clientGen) typedDoc(at scope) any {
	name := at.version.PackageName
	return docView{PackageName: name,
		Comment: "Package " + name + " contains the typed clients of " + groupVersion(at.version) + "."}
}

func fakeTypedDoc(at scope) any {
	return docView{PackageName: "fake",
		Comment: "Package fake contains the fake clients of " + groupVersion(at.version) + " for unit tests."}
}

func (g *clientGen) expansion(at scope) any {
	return expansionView{PackageName: at.version.PackageName, GroupVersion: groupVersion(at.version),
		Kinds: g.withoutExpansion(at.version, typedFolder)}
}

// clientsetView is the view of clientset.go.
type clientsetView struct {
	PackageName string
	// Lean is true for a clientset without discovery.
	Lean     bool
	Versions []versionClientView
}

// versionClientView is a group version in a clientset.
type versionClientView struct {
	// Method is the method of the clientset, Field the field that it returns.
	Method, Field string
	// GroupVersion is the form of the group version in comments.
	GroupVersion string
	// Client and FakeClient are the packages of the clients.
	Client, FakeClient render.Package
	API                apiView
	Kinds              []*model.Kind
}

func (g *clientGen) clientset(scope) any {
	return clientsetView{PackageName: path.Base(g.Package), Lean: g.Lean, Versions: g.versionViews()}
}

// versionViews are the versions in the order of the model, which is that of the methods.
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
			API:          newAPIView(v),
			Kinds:        g.kinds[v],
		})
	}
	return views
}

// typedPackage is the package of a version's clients. Its alias needs a prefix in files that
// import the package of the API types, too.
func (g *clientGen) typedPackage(v *model.Version, prefix string) render.Package {
	typed := g.folder(typedFolder, scope{group: v.Group, version: v})
	typed.Alias = versionAlias(prefix, v)
	return typed
}

func (g *clientGen) schemePackage() render.Package { return g.pkg.Sub("scheme") }

// groupClientView is the view of <group>_client.go and of its fake.
type groupClientView struct {
	PackageName string
	// Method is the method of the clientset, with which all names start.
	Method string
	// GroupVersion is the form of the group version in comments.
	GroupVersion string
	// Internal is true for types without a version; Group is their API group.
	Internal bool
	Group    string
	API      apiView
	// APIPath is the root path of requests.
	APIPath string
	// Scheme is the package of the scheme, Client that of the client that a fake
	// replaces.
	Scheme, Client render.Package
	Kinds          []*model.Kind
}

// group builds the view of a group version's client and of its fake.
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
		view.APIPath = "/api" // the core group is older than API groups
	}
	return view
}

// fakeClientsetView is the view of fake/clientset_generated.go.
type fakeClientsetView struct {
	PackageName string
	// Clientset is the package of the clientset that the fake replaces.
	Clientset render.Package
	// NewTypeConverter is the function of the apply configurations; its Name is "" if
	// there are none.
	NewTypeConverter render.Ident
	// Lean is true for a clientset without discovery.
	Lean     bool
	Versions []versionClientView
}

// fakeClientset builds the view of the fake clientset.
func (g *clientGen) fakeClientset(scope) any {
	view := fakeClientsetView{PackageName: "fake", Clientset: g.pkg, Lean: g.Lean, Versions: g.versionViews()}
	view.Clientset.Alias = "clientset"
	if g.ApplyConfigurationPackage != "" {
		view.NewTypeConverter = render.Package{Path: g.ApplyConfigurationPackage}.Ident("NewTypeConverter")
	}
	return view
}

// schemeView is the view of register.go.
type schemeView struct {
	PackageName string
	// Scheme and Codecs are the names of the variables. A private scheme, the one of
	// the fake, has no ParameterCodec.
	Scheme, Codecs string
	Private        bool
	// Install is true for the scheme of an internal clientset. Packages are then those
	// that install a group, otherwise those of the types.
	Install  bool
	Packages []render.Package
	// Custom is true if there is a hand-written register_custom.go, which registers
	// more types.
	Custom bool
}

// scheme builds the view of the clientset's scheme.
func (g *clientGen) scheme(scope) any {
	view := schemeView{
		PackageName: "scheme", Scheme: "Scheme", Codecs: "Codecs",
		Packages: g.typesPackages(),
		Custom:   output.Exists(filepath.Join(g.dir, "scheme", "register_custom.go")),
	}
	// One internal type makes the clientset internal (internalClient in upstream's
	// targetForScheme).
	if slices.ContainsFunc(g.versions, func(v *model.Version) bool { return v.Name == "" }) {
		view.Install, view.Packages = true, g.installPackages()
	}
	return view
}

// fakeScheme builds the view of the fake's scheme, which is unexported: tests build objects
// with the clientset's.
func (g *clientGen) fakeScheme(scope) any {
	return schemeView{PackageName: "fake", Scheme: "scheme", Codecs: "codecs", Private: true,
		Packages: g.typesPackages()}
}

// typesPackages are the packages of the API types.
func (g *clientGen) typesPackages() []render.Package {
	var packages []render.Package
	for _, v := range g.versions {
		packages = append(packages, apiPackage(v))
	}
	return packages
}

// installPackages are the packages that register all versions of a group: by convention
// the folder install below that of the internal types.
func (g *clientGen) installPackages() []render.Package {
	var packages []render.Package
	seen := map[*model.Group]bool{}
	for _, v := range g.versions {
		if seen[v.Group] {
			continue
		}
		seen[v.Group] = true
		// Below the internal types, which are one folder above those of a version.
		hub := v.Package.Path
		if v.Name != "" {
			hub = path.Dir(hub)
		}
		packages = append(packages, render.Package{Path: hub + "/install",
			Alias: strings.ToLower(v.GoGroupName)})
	}
	return packages
}

// kindClientView is the view of the client of a kind and of its fake.
type kindClientView struct {
	*model.Kind
	PackageName string
	// GroupMethod is the method of the clientset that returns the kind's group version.
	GroupMethod string
	// Type is the type of the kind, Apply its apply configuration.
	Type, Apply render.Ident
	API         apiView
	// Scheme is the package of the scheme, Client that of the client that a fake
	// replaces.
	Scheme, Client  render.Package
	PrefersProtobuf bool
	// Param is the name of the parameter for an object.
	Param string
	// Embedded is the type that the client embeds, Constructor the function that makes
	// it: those of a [clientBase] with their type arguments.
	Embedded, Constructor string
	Methods               []methodView

	verbs map[string]bool
}

// Has reports whether the client has a verb.
func (v kindClientView) Has(verb string) bool { return v.verbs[verb] }

// HasVerbs reports whether the client has any verb.
func (v kindClientView) HasVerbs() bool {
	return slices.Contains(slices.Collect(maps.Values(v.verbs)), true)
}

// methodView is an extra method, from a +genclient:method.
type methodView struct {
	*model.Method
	// Kind is the kind that has the method, Resource its resource.
	Kind, Resource string
	// Input is the type of the argument, Apply its apply configuration for the verb
	// apply, Returned the type of the result.
	Input, Apply, Returned render.Ident
	// InputPrivate is the name of Input as an unexported identifier.
	InputPrivate string
	// NameParam and InputParam are the names of the parameters.
	NameParam, InputParam string
}

// Wraps reports whether the parameters of the method take two lines.
func (v methodView) Wraps() bool {
	return v.Verb == "apply" || v.Verb == "patch" ||
		v.Subresource != "" && (v.Verb == "create" || v.Verb == "update")
}

// kind builds the view of a kind's client and of its fake.
func (g *clientGen) kind(at scope) any {
	k := at.kind
	view := kindClientView{
		Kind:            k,
		PackageName:     at.version.PackageName,
		GroupMethod:     methodName(at.version),
		Type:            typeIdent(k),
		API:             newAPIView(at.version),
		Scheme:          g.schemePackage(),
		Client:          g.typedPackage(at.version, "typed"),
		PrefersProtobuf: g.PrefersProtobuf,
		Param:           parameter(k.Private),
		verbs:           map[string]bool{},
	}
	// A kind without an apply configuration keeps its other verbs.
	apply := g.applies(model.TypeName{Path: at.version.Package.Path, Name: k.Name})
	if apply {
		view.Apply = g.applyIdent(at.version.Package.Path, k.Name)
	}
	if !k.NoVerbs {
		for _, verb := range marker.Verbs() {
			view.verbs[verb.Name] = k.Verb[verb.Name] && (apply || !verb.Apply)
		}
	}
	view.Embedded, view.Constructor = view.base()
	if !k.NoVerbs {
		for _, m := range k.Methods {
			// The input of a method may lack one even if the kind has one, and vice versa.
			config, ok := g.inputConfig(m)
			if m.Verb == "apply" && !ok {
				continue
			}
			method := g.method(k, m)
			method.Apply = config
			view.Methods = append(view.Methods, method)
		}
	}
	return view
}

// clientBase is a generic type that clients embed. Packages gen/client and gen/fake of the runtime
// both have one for each set of capabilities, with the same name and constructor. They correspond
// to gentype of client-go.
type clientBase struct{ name, constructor string }

// capabilities are the verbs of a client that need type parameters of their own: one for its
// lists, and one for its apply configurations.
type capabilities struct{ list, apply bool }

// clientBases has the base for each set of capabilities.
var clientBases = map[capabilities]clientBase{
	{}:                        {"Client", "New"},
	{list: true}:              {"ClientWithList", "NewWithList"},
	{apply: true}:             {"ClientWithApply", "NewWithApply"},
	{list: true, apply: true}: {"ClientWithListAndApply", "NewWithListAndApply"},
}

// base returns the type that the client embeds, and its constructor, with their type
// arguments: the type of the kind, then one for each capability.
func (v *kindClientView) base() (embedded, constructor string) {
	has := capabilities{list: v.Has("list"), apply: v.Has("apply") || v.Has("applyStatus")}
	types := []render.Ident{v.Type}
	if has.list {
		types = append(types, v.Type.Package.Ident(v.Type.Name+"List"))
	}
	if has.apply {
		types = append(types, v.Apply)
	}
	var arguments []string
	for _, typ := range types {
		arguments = append(arguments, "*"+typ.String())
	}
	base, list := clientBases[has], "["+strings.Join(arguments, ", ")+"]"
	if has.apply { // too long for one line
		list = "[\n\t\t" + strings.Join(arguments, ",\n\t\t") + ",\n\t]"
	}
	return base.name + list, base.constructor + list
}

// method builds the view of an extra method. The names of parameters are upstream's, as far
// as they are legal.
func (g *clientGen) method(k *model.Kind, m *model.Method) methodView {
	view := methodView{
		Method:       m,
		Kind:         k.Name,
		Resource:     k.Resource,
		Input:        g.reference(k, m.Input),
		Returned:     g.reference(k, m.Result),
		InputPrivate: private(m.Input.Name),
		NameParam:    "name",
		InputParam:   parameter(private(m.Input.Name)),
	}
	// The input for a subresource is an object of another kind. As in upstream's code, the name
	// of the parameter says that it names the parent.
	if m.Subresource != "" {
		view.NameParam = k.Private + "Name"
	}
	if m.Verb == "list" {
		view.Returned.Name += "List"
	}
	return view
}

// reference returns a type that a method of a kind refers to.
func (g *clientGen) reference(k *model.Kind, ref model.TypeRef) render.Ident {
	own := apiPackage(k.Version)
	if ref.Path == own.Path { // with the alias that the rest of the file uses
		return own.Ident(ref.Name)
	}
	return render.Package{Path: ref.Path}.Ident(ref.Name)
}

// applies reports whether a type has an apply configuration. If this run doesn't generate
// them, it assumes that all types have one, as client-gen does.
func (g *clientGen) applies(name model.TypeName) bool {
	return g.ApplyConfigurationPackage != "" && (g.configs == nil || g.configs[name])
}

// inputConfig returns the apply configuration of a method's input, ok false if there is none.
func (g *clientGen) inputConfig(m *model.Method) (config render.Ident, ok bool) {
	if m.InputConfig != "" && g.ApplyConfigurationPackage != "" {
		return configPackage(m.InputConfig).Ident(configName(m.Input.Name)), true
	}
	ok = g.applies(model.TypeName{Path: m.Input.Path, Name: m.Input.Name})
	return g.applyIdent(m.Input.Path, m.Input.Name), ok
}

// applyIdent returns the apply configuration of a type. Its folder has the last two elements
// of the import path of the type, in lower case: the convention by which upstream's
// generators find each other's output (ParsePathGroupVersion).
func (g *clientGen) applyIdent(typePath, name string) render.Ident {
	dir, version := path.Split(typePath)
	group := path.Base(dir)
	if dir == "" {
		group = ""
	}
	pkg := render.Package{Path: g.ApplyConfigurationPackage}.Sub(strings.ToLower(group),
		strings.ToLower(version))
	pkg.Alias = "apply" + strings.ToLower(group+version)
	return pkg.Ident(name + "ApplyConfiguration")
}
