package generators

import (
	"path"
	"strings"

	"github.com/kubewright/kubewright/generators/marker"
	"github.com/kubewright/kubewright/generators/model"
	"github.com/kubewright/kubewright/generators/render"
)

// kindClientView is the client of a kind, and the fake of it.
type kindClientView struct {
	*model.Kind
	PackageName string
	// GroupMethod is the method of the clientset that leads to the kind.
	GroupMethod string
	// Type is the kind's type, Apply that of its apply configuration.
	Type, Apply render.Ident
	API         apiView
	// Scheme and Client are the packages of the scheme and of the real client.
	Scheme, Client  render.Package
	PrefersProtobuf bool
	// Param is what methods call their object.
	Param string
	// Embedded is the type of the runtime that the client embeds, Constructor
	// the function that makes it, both with their type arguments.
	Embedded, Constructor string
	Methods               []methodView

	verbs map[string]bool
}

// Has reports whether the kind's interface has a verb.
func (v kindClientView) Has(verb string) bool { return v.verbs[verb] }

// methodView is a method beyond the verbs.
type methodView struct {
	*model.Method
	// Kind is the kind that has the method, Resource its resource.
	Kind, Resource string
	// Input is the type of the argument, Apply that of an apply configuration
	// as the argument, Returned that of the result.
	Input, Apply, Returned render.Ident
	// InputPrivate is Input's name as an unexported identifier.
	InputPrivate string
	// NameParam and InputParam are the names of the parameters.
	NameParam, InputParam string
}

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
	apply := g.applies(model.TypeName{Path: at.version.Package.Path, Name: k.Name})
	if apply {
		view.Apply = g.applyIdent(at.version.Package.Path, k.Name)
	}
	if !k.NoVerbs {
		for _, verb := range marker.Verbs() {
			view.verbs[verb.Name] = k.Verb[verb.Name] && (apply || !verb.Apply)
		}
	}
	view.embed()
	if !k.NoVerbs {
		for _, m := range k.Methods {
			if m.Verb != "apply" || g.applies(model.TypeName{Path: m.Input.Path, Name: m.Input.Name}) {
				view.Methods = append(view.Methods, g.method(k, m))
			}
		}
	}
	return view
}

// embed picks the type of the runtime that has the verbs.
func (v *kindClientView) embed() {
	list := render.Ident{Package: v.Type.Package, Name: v.Type.Name + "List"}
	types := []string{"*" + v.Type.String()}
	suffix := ""
	if v.Has("list") {
		suffix = "WithList"
		types = append(types, "*"+list.String())
	}
	if v.Has("apply") {
		suffix += "WithApply"
		types = append(types, "*"+v.Apply.String())
	}
	suffix = strings.Replace(suffix, "WithListWithApply", "WithListAndApply", 1)
	suffix += "[" + strings.Join(types, ", ") + "]"
	v.Embedded, v.Constructor = "Client"+suffix, "New"+suffix
}

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
	if m.Subresource != "" {
		view.NameParam = k.Private + "Name"
	}
	if m.Verb == "list" {
		view.Returned.Name += "List"
	}
	if m.Verb == "apply" {
		view.Apply = g.applyIdent(m.Input.Path, m.Input.Name)
	}
	return view
}

// reference is a type that a method of a kind names.
func (g *clientGen) reference(k *model.Kind, ref model.TypeRef) render.Ident {
	own := apiPackage(k.Version)
	if ref.Path == own.Path {
		return own.Ident(ref.Name)
	}
	return render.Package{Path: ref.Path}.Ident(ref.Name)
}

// applies reports whether a type has an apply configuration: all have, as far as
// one can tell without making them in the same run.
func (g *clientGen) applies(name model.TypeName) bool {
	return g.ApplyConfigurationPackage != "" && (g.configs == nil || g.configs[name])
}

// applyIdent is the apply configuration of a type: it lies in a folder with the
// last two elements of the import path of the type, in lower case.
func (g *clientGen) applyIdent(typePath, name string) render.Ident {
	dir, version := path.Split(typePath)
	group := path.Base(dir)
	if dir == "" {
		group = ""
	}
	pkg := render.Package{Path: g.ApplyConfigurationPackage}.Sub(strings.ToLower(group), strings.ToLower(version))
	pkg.Alias = "apply" + strings.ToLower(group+version)
	return pkg.Ident(name + "ApplyConfiguration")
}
