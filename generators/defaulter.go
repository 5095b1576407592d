package generators

import (
	"github.com/kubewright/kubewright/generators/internal/model"
	"github.com/kubewright/kubewright/generators/internal/render"
)

// defaulterGenName is the name of upstream's binary, as in the generated line.
const defaulterGenName = "defaulter-gen"

// newDefaulterGen returns the generator of functions that set the defaults of API types.
func newDefaulterGen(packages []*model.DefaultsPackage) *helperGen {
	g := &helperGen{name: defaulterGenName, template: "defaulter/package.tmpl"}
	for _, p := range packages {
		g.add(p.HelperPackage, func() any { return newDefaulterView(p) })
	}
	return g
}

// defaulterView is a package with functions that set defaults.
type defaulterView struct {
	PackageName string
	Runtime     render.Package
	Types       []defaultedTypeView
}

// defaultedTypeView is a type with such a function.
type defaultedTypeView struct {
	Name string
	Type render.Ident
	// Short is true if gofmt leaves the function that is registered on one line.
	Short bool
	// Body is the text of the function.
	Body string
}

// newDefaulterView builds the view of a package.
func newDefaulterView(p *model.DefaultsPackage) any {
	names := newImportNames(p.Path)
	view := defaulterView{PackageName: p.Name, Runtime: names.packageFor("k8s.io/apimachinery/pkg/runtime")}
	for _, t := range p.Types {
		typ := names.packageFor(t.Path).Ident(t.Name)
		written := len(t.Name)
		if typ.Package.Alias != "" {
			written += len(typ.Package.Alias) + len(".")
		}
		view.Types = append(view.Types, defaultedTypeView{Name: t.Name, Type: typ,
			Short: len("func(obj interface{})SetObjectDefaults_(obj.(*))")+len(t.Name)+written <= 100})
	}
	for i, t := range p.Types { // after all registrations: upstream names imports in the order of their use
		view.Types[i].Body = defaultsBody(names, t.Root)
	}
	return view
}
