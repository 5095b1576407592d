package generators

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubewright/kubewright/generators/model"
	"github.com/kubewright/kubewright/generators/output"
	"github.com/kubewright/kubewright/generators/render"
	"github.com/kubewright/kubewright/generators/schema"
)

const applyGenName = "applyconfiguration-gen"

// metaApply is where the apply configurations of meta/v1 are that everybody's use.
const metaApply = "k8s.io/client-go/applyconfigurations/meta/v1"

const metaPath = "k8s.io/apimachinery/pkg/apis/meta/v1"

var (
	typeMeta   = model.TypeName{Path: metaPath, Name: "TypeMeta"}
	objectMeta = model.TypeName{Path: metaPath, Name: "ObjectMeta"}
)

// defaultExternals are the types of meta/v1 whose apply configurations are
// client-go's.
func defaultExternals() map[model.TypeName]string {
	externals := map[model.TypeName]string{}
	for _, name := range []string{"Condition", "DeleteOptions", "LabelSelector", "LabelSelectorRequirement",
		"ManagedFieldsEntry", "ObjectMeta", "OwnerReference", "TypeMeta"} {
		externals[model.TypeName{Path: metaPath, Name: name}] = metaApply
	}
	return externals
}

// applyGen makes an apply configuration for each type that one can lead to, a
// function that finds them by kind, and the schema of what they configure.
type applyGen struct {
	ApplyOptions
	pkg render.Package
	api *model.Apply
	// places has the package with the apply configuration of each type that has one.
	places map[model.TypeName]string
	// schema is what extraction and server-side apply go by, roots the names
	// of kinds in it.
	schema schema.Schema
	roots  map[*model.ApplyType]string
	// aliases are what to call the packages of the input.
	aliases map[string]string
}

func newApplyGen(options ApplyOptions, api *model.API) (*applyGen, error) {
	g := &applyGen{ApplyOptions: options, pkg: render.Package{Path: options.Package}, api: api.Apply,
		places: options.externals(), roots: map[*model.ApplyType]string{}, aliases: map[string]string{}}
	for _, p := range g.api.Packages {
		g.aliases[p.Path] = applyAPIPackage(p).Alias
		for _, t := range p.Types {
			if !t.Elsewhere {
				g.places[t.TypeName] = g.folder(p).Path
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
			if !t.Root {
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
		// Fakes with field management want to know the others, too.
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

// openAPIName is what OpenAPI calls a Go type that doesn't say it: its import
// path with the host reversed, dots for slashes.
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

// declared is the type that an expression names, nil if nothing is known of it.
func (g *applyGen) declared(e *model.Expr) *model.Type {
	return g.api.Types[e.Name].Instance(e.Args)
}

func (g *applyGen) folder(p *model.ApplyPackage) render.Package {
	folder := g.pkg.Sub(p.Folder)
	folder.Alias = "apply" + strings.ToLower(p.GoGroupName+p.Name)
	return folder
}

func (g *applyGen) internal() render.Package { return g.pkg.Sub("internal") }

// files are one for each type, and two for all.
func (g *applyGen) files(h header) []render.File {
	above := h.mustAbove(applyGenName)
	file := func(place, template string, view func() any) render.File {
		return render.File{
			Path: filepath.Join(g.Dir, filepath.FromSlash(place)), Package: g.pkg.Sub(path.Dir(place)).Path,
			Header: above, Template: template, View: view,
		}
	}
	files := []render.File{
		file("utils.go", "applyconfig/utils.tmpl", func() any { return g.utils() }),
		file("internal/internal.go", "applyconfig/internal.tmpl", func() any { return schemaView{YAML: g.schema.YAML()} }),
	}
	for _, p := range g.api.Packages {
		for _, t := range p.Types {
			files = append(files, file(path.Join(p.Folder, t.File+".go"), "applyconfig/type.tmpl", func() any { return g.view(p, t) }))
		}
	}
	return files
}

// schemaView is internal/internal.go.
type schemaView struct{ YAML string }

// applyUtilsView is utils.go.
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

func (g *applyGen) utils() applyUtilsView {
	view := applyUtilsView{PackageName: path.Base(g.Package), Internal: g.internal()}
	for _, p := range g.api.Packages {
		v := applyVersionView{API: apiView{Package: applyAPIPackage(p), HasSchemeGroupVersion: p.HasSchemeGroupVersion, Group: p.Group, Version: p.APIVersion}}
		for _, t := range p.Types {
			folder := g.folder(p)
			if t.Elsewhere {
				folder = render.Package{Path: g.places[t.TypeName]}
			}
			v.Types = append(v.Types, applyKindView{t.TypeName.Name, folder.Ident(configName(t.TypeName.Name))})
		}
		view.Versions = append(view.Versions, v)
	}
	return view
}

// applyAPIPackage is the package of the types, called corev1 or the like.
func applyAPIPackage(p *model.ApplyPackage) render.Package {
	return render.Package{Path: p.Path, Alias: strings.ToLower(p.GoGroupName + p.Name)}
}

// configName is the apply configuration of a type.
func configName(name string) string { return exported(name) + "ApplyConfiguration" }

// exported is an identifier with a capital first letter.
func exported(name string) string { return strings.ToUpper(name[:1]) + name[1:] }

// applyTypeView is the apply configuration of a type.
type applyTypeView struct {
	PackageName string
	// Name is the type's name, Config that of its configuration.
	Name, Config string
	Doc          []string
	Fields       []applyFieldView
	// Client is true for types with a client, whose configurations are made
	// with a name.
	Client, Namespaced bool
	// Kind and APIVersion are set by the constructor unless they are "".
	Kind, APIVersion string
	// Marked is true for what is an apply configuration of an object.
	Marked  bool
	Extract *applyExtractView
	Setters []applySetterView
	Getters []applyGetterView
}

// applyFieldView is a field of the struct. An embedded one has no Name.
type applyFieldView struct {
	Doc             []string
	Name, Type, Tag string
}

// applySetterView is a With method.
type applySetterView struct {
	Name, Type string
	// Holder is the struct that has the field: b or something in it.
	Holder string
	// Function is the function of the runtime that fills in the field.
	Function string
	// One is true for a method that takes one value, Entries for one that
	// takes a map, Copies for one that takes pointers to what it copies. The
	// others take values.
	One, Entries, Copies bool
	// Pointer is true where the field is to point to the one value.
	Pointer bool
	// Named is true for functions that are told the method's name, Indirect
	// for pointers to lists.
	Named, Indirect bool
}

// applyGetterView is a Get method.
type applyGetterView struct{ Name, Type, Holder string }

func (g *applyGen) view(p *model.ApplyPackage, t *model.ApplyType) applyTypeView {
	name := exported(t.TypeName.Name)
	view := applyTypeView{PackageName: p.Name, Name: name, Config: configName(name), Doc: declarationDoc(t.Lines)}
	hasTypeMeta := t.Embeds(typeMeta)
	if hasTypeMeta {
		view.Kind, view.APIVersion = name, p.APIVersion
		if p.Group != "" {
			view.APIVersion = p.Group + "/" + p.APIVersion
		}
	}
	view.Marked = hasTypeMeta || t.Kind != nil
	w := &applyWriter{g: g, view: &view, taken: map[string]bool{}}
	w.fields(t.Type)
	w.methods(t.Type, "b")
	w.getters(t.Type, "b")
	if t.Kind != nil {
		view.Client, view.Namespaced = true, t.Kind.Namespaced
		if g.roots[t] != "" {
			view.Extract = g.extract(p, t)
		}
	}
	return view
}
