package generators

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubewright/kubewright/generators/internal/model"
	"github.com/kubewright/kubewright/generators/internal/output"
	"github.com/kubewright/kubewright/generators/internal/render"
	"github.com/kubewright/kubewright/generators/internal/schema"
)

// applyGenName is the name of upstream's binary, as in the generated line.
const applyGenName = "applyconfiguration-gen"

// metaApply is the package with the apply configurations of meta/v1, which all others
// embed.
const metaApply = "k8s.io/client-go/applyconfigurations/meta/v1"

const metaPath = "k8s.io/apimachinery/pkg/apis/meta/v1"

var (
	typeMeta   = model.TypeName{Path: metaPath, Name: "TypeMeta"}
	objectMeta = model.TypeName{Path: metaPath, Name: "ObjectMeta"}
)

// defaultExternals are the types of meta/v1 whose apply configurations are in client-go, as
// in New of applyconfiguration-gen's args.go.
func defaultExternals() map[model.TypeName]string {
	externals := map[model.TypeName]string{}
	for _, name := range []string{"Condition", "DeleteOptions", "LabelSelector", "LabelSelectorRequirement",
		"ManagedFieldsEntry", "ObjectMeta", "OwnerReference", "TypeMeta"} {
		externals[model.TypeName{Path: metaPath, Name: name}] = metaApply
	}
	return externals
}

// applyGen makes apply configurations, a function that returns the one for a kind, and the
// schema of the types.
type applyGen struct {
	ApplyOptions
	pkg render.Package
	api *model.Apply
	// typed is the package of structured-merge-diff for Parser, "" to have none.
	typed string
	// packages maps each type with an apply configuration to the package of the
	// configuration.
	packages map[model.TypeName]string
	// schema controls extraction, and merges by server-side apply in fakes. roots has the
	// names of kinds in it.
	schema schema.Schema
	roots  map[*model.ApplyType]string
	// aliases are the aliases of the packages of the input, by import path.
	aliases map[string]string
}

// newApplyGen returns the generator for the types that package model found. It fails if the
// OpenAPI document can't be used.
func newApplyGen(options ApplyOptions, api *model.API) (*applyGen, error) {
	g := &applyGen{ApplyOptions: options, pkg: render.Package{Path: options.Package}, api: api.Apply,
		packages: options.allExternals(), roots: map[*model.ApplyType]string{}, aliases: map[string]string{}}
	// The apply configurations of this run override external ones, except for types that
	// are marked as Elsewhere.
	for _, p := range g.api.Packages {
		g.aliases[p.Path] = applyAPIPackage(p).Alias
		for _, t := range p.Types {
			if !t.Elsewhere {
				g.packages[t.TypeName] = g.folder(p).Path
			}
		}
	}
	return g, g.loadSchema()
}

// loadSchema reads the schema from the OpenAPI document, or derives it from the
// Go types if there is none.
func (g *applyGen) loadSchema() error {
	derived := deriver{types: g.api.Types, schema: schema.Schema{}}
	var names []string
	for _, p := range g.api.Packages {
		for _, t := range p.Types {
			if !t.Root { // Extract functions exist for kinds that are applied
				continue
			}
			if g.OpenAPISchema == "" {
				g.roots[t] = derived.named(t.TypeName)
				continue
			}
			g.roots[t] = openAPIName(t.TypeName)
			names = append(names, g.roots[t])
		}
	}
	if g.OpenAPISchema == "" {
		// Fakes with field management need the schema of the other kinds, too.
		for _, name := range g.api.Kinds {
			derived.named(name)
		}
		g.schema = derived.schema
		return nil
	}
	text, err := output.Read(g.OpenAPISchema)
	if err != nil {
		return fmt.Errorf("OpenAPI schema: %w", err)
	}
	document, err := schema.ParseOpenAPI([]byte(text))
	if err == nil {
		g.schema, err = document.Schema(names)
	}
	if err != nil {
		return fmt.Errorf("OpenAPI schema: %s: %w", g.OpenAPISchema, err)
	}
	return nil
}

// openAPIName is the name in OpenAPI of a Go type without a method OpenAPIModelName: its
// import path with the host reversed and with dots for slashes. This is
// ToRESTFriendlyName of k8s.io/kube-openapi/pkg/util.
func openAPIName(name model.TypeName) string {
	host, rest, _ := strings.Cut(name.Path, "/")
	if strings.Contains(host, ".") {
		labels := strings.Split(host, ".")
		slices.Reverse(labels)
		host = strings.Join(labels, ".")
	}
	if rest != "" {
		host += "." + strings.ReplaceAll(rest, "/", ".")
	}
	return host + "." + name.Name
}

// declared returns the type that an expression names, nil if it isn't known.
func (g *applyGen) declared(e *model.Expr) *model.Type {
	return g.api.Types[e.Name].Instance(e.Args)
}

// folder is the package of the apply configurations of an API package.
func (g *applyGen) folder(p *model.ApplyPackage) render.Package {
	folder := g.pkg.Sub(p.Folder)
	folder.Alias = "apply" + strings.ToLower(p.GoGroupName+p.Name)
	return folder
}

// internal is the package of the schema.
func (g *applyGen) internal() render.Package { return g.pkg.Sub("internal") }

func (g *applyGen) tree() string { return g.Dir }

// files has no table: which types get a file, and in which folder, follows from
// [model.Apply] rather than from groups, versions and kinds.
func (g *applyGen) files(h headers) []render.File {
	file := func(place, template string, record output.Record, view func() any) render.File {
		return render.File{
			Path: filepath.Join(g.Dir, filepath.FromSlash(place)), Package: g.pkg.Sub(path.Dir(place)).Path,
			Header: h.with(applyGenName, record), Template: template, View: view,
		}
	}
	files := []render.File{
		file("utils.go", "applyconfig/utils.tmpl", output.Record{}, func() any { return g.utils() }),
		file("internal/internal.go", "applyconfig/internal.tmpl", output.Record{},
			func() any { return schemaView{YAML: g.schema.YAML(), ByJSON: g.byJSON()} }),
	}
	if g.typed != "" {
		files = append(files, file("internal/parser.go", "applyconfig/parser.tmpl", output.Record{},
			func() any { return parserView{render.Package{Path: g.typed}} }))
	}
	for _, p := range g.api.Packages {
		for i, t := range p.Types {
			files = append(files, file(path.Join(p.Folder, t.File+".go"), "applyconfig/type.tmpl",
				output.Record{Packages: []string{p.Path}, Type: t.TypeName.Name},
				func() any {
					view := g.view(p, t)
					if i == 0 {
						view.TypesPath = p.Path
					}
					return view
				}))
		}
	}
	return files
}

// schemaView is the view of internal/internal.go.
type schemaView struct {
	YAML string
	// ByJSON is true if only encoding/json encodes and decodes all types as they do.
	ByJSON bool
}

// parserView is the view of internal/parser.go.
type parserView struct {
	// Typed is the package of structured-merge-diff that has the type of the parser.
	Typed render.Package
}

// byJSON reports whether the configurations have a type in their fields that managedfields doesn't
// encode or decode as the type does: that knows MarshalJSON, and UnmarshalJSON of types that aren't
// scalars. It is false if upstream's configurations are wanted, which don't decode what such types
// write.
func (g *applyGen) byJSON() bool {
	differs := false
	for name, t := range g.api.Types {
		scalar := !t.Struct && (t.Underlying == nil || t.Underlying.Form == model.Named ||
			t.Underlying.Form == model.Array)
		if t.Marshaler != "" && g.packages[name] != "" {
			return false
		}
		differs = differs || t.Marshaler == model.MarshalText || t.Marshaler != "" && scalar
	}
	return differs
}

// applyUtilsView is the view of utils.go.
type applyUtilsView struct {
	PackageName string
	Internal    render.Package
	Versions    []applyVersionView
}

// applyVersionView is a package of API types.
type applyVersionView struct {
	API   apiView
	Types []applyKindView
}

// applyKindView is a type and its apply configuration.
type applyKindView struct {
	Kind   string
	Config render.Ident
}

// utils builds the view of utils.go.
func (g *applyGen) utils() applyUtilsView {
	view := applyUtilsView{PackageName: path.Base(g.Package), Internal: g.internal()}
	for _, p := range g.api.Packages {
		v := applyVersionView{API: apiView{
			Package:               applyAPIPackage(p),
			HasSchemeGroupVersion: p.HasSchemeGroupVersion,
			Group:                 p.Group,
			Version:               p.APIVersion,
		}}
		for _, t := range p.Types {
			folder := g.folder(p)
			if t.Elsewhere { // ForKind returns the type that others refer to
				folder = render.Package{Path: g.packages[t.TypeName]}
			}
			name := t.TypeName.Name
			v.Types = append(v.Types, applyKindView{name, folder.Ident(configName(name))})
		}
		view.Versions = append(view.Versions, v)
	}
	return view
}

// applyAPIPackage is the package of the types, with an alias such as corev1.
func applyAPIPackage(p *model.ApplyPackage) render.Package {
	return render.Package{Path: p.Path, Alias: strings.ToLower(p.GoGroupName + p.Name)}
}

// configName is the name of a type's apply configuration.
func configName(name string) string { return exported(name) + "ApplyConfiguration" }

// applyTypeView is the view of the apply configuration of a type.
type applyTypeView struct {
	PackageName string
	// TypesPath is the import path of the types, for the comment of the package, which the
	// file of the first type has. It is "" in the others.
	TypesPath string
	// Name is the name of the type, Config that of its apply configuration.
	Name, Config string
	Doc          []string
	Fields       []applyFieldView
	// Client is true for types with a client, whose constructors take a name.
	Client, Namespaced bool
	// Kind and APIVersion are set by the constructor unless they are "".
	Kind, APIVersion string
	// Marked is true for types with a method IsApplyConfiguration: those of objects.
	Marked  bool
	Extract *applyExtractView
	Setters []applySetterView
	Getters []applyGetterView
}

// applyFieldView is a field of the struct. An embedded field has no Name.
type applyFieldView struct {
	Doc             []string
	Name, Type, Tag string
}

// applySetterView is a With method.
type applySetterView struct {
	Name, Type string
	// Holder is the struct that has the field: b, or a struct embedded in it.
	Holder string
	// Function is the function of the runtime that sets the field.
	Function string
	// One is true for a method with a single value, Entries for one with a map, Copies
	// for one with pointers whose targets are copied. Other methods have variadic
	// values.
	One, Entries, Copies bool
	// Pointer is true if the field is a pointer to the single value.
	Pointer bool
	// Named is true if the function takes the method's name, for its panics. Indirect
	// is true if the field is a pointer to a list.
	Named, Indirect bool
}

// applyGetterView is a Get method.
type applyGetterView struct{ Name, Type, Holder string }

// view builds the view of an apply configuration.
func (g *applyGen) view(p *model.ApplyPackage, t *model.ApplyType) applyTypeView {
	name := exported(t.TypeName.Name)
	view := applyTypeView{PackageName: p.Name, Name: name, Config: configName(name),
		Doc: declarationDoc(t.Lines, 1)}
	hasTypeMeta := t.Embeds(typeMeta)
	if hasTypeMeta {
		view.Kind, view.APIVersion = name, p.APIVersion
		if p.Group != "" { // the core group has no name
			view.APIVersion = p.Group + "/" + p.APIVersion
		}
	}
	// Upstream marks both, although only kinds can be applied.
	view.Marked = hasTypeMeta || t.Kind != nil
	w := &applyWriter{g: g, view: &view, taken: map[string]bool{}}
	w.fields(t.Type)
	w.methods(t.Type, "b")
	w.getters(t.Type, "b")
	if t.Kind != nil {
		view.Client, view.Namespaced = true, t.Kind.Namespaced
		if g.roots[t] != "" && !t.NoExtract {
			view.Extract = g.extract(p, t)
		}
	}
	return view
}

// applyExtractView is the part of a view for the Extract functions.
type applyExtractView struct {
	// Param is the name of the parameter for the object, Type its type. Name and Namespace are its name and
	// its namespace.
	Param           string
	Name, Namespace string
	Type            render.Ident
	// Internal is the package of the schema, SchemaName the name of the type in it.
	Internal     render.Package
	SchemaName   string
	Subresources []model.Extract
}

// extract builds the part of a view for the Extract functions.
func (g *applyGen) extract(p *model.ApplyPackage, t *model.ApplyType) *applyExtractView {
	param := applyParameter(private(t.TypeName.Name))
	meta := func(name string) string {
		if t.Field(name) != nil { // a field of the type itself hides that of ObjectMeta
			return param + ".Get" + name + "()"
		}
		return param + "." + name
	}
	return &applyExtractView{Param: param, Name: meta("Name"), Namespace: meta("Namespace"),
		Type:     applyAPIPackage(p).Ident(t.TypeName.Name),
		Internal: g.internal(), SchemaName: g.roots[t], Subresources: t.Extracts()}
}

// applyParameter is [parameter] for the object of the Extract functions.
func applyParameter(name string) string {
	if slices.Contains([]string{"b", "err", "fieldManager", "subresource", "string", "error", "nil"}, name) {
		return name + "_"
	}
	return parameter(name)
}
