package generators

import (
	"go/token"
	"maps"
	"slices"
	"strings"

	"github.com/kubewright/kubewright/generators/internal/model"
	"github.com/kubewright/kubewright/generators/internal/render"
)

// viewWriter makes read-only views of the kinds with a lister and of the structs in the same
// packages that are reachable from those. Structs of other packages are copied by the
// getters instead: another run may generate their views, or none.
type viewWriter struct {
	types map[model.TypeName]*model.Type
	// packages are the packages of views, by the import path of the types.
	packages map[string]render.Package
	// aliases are the aliases of the types' packages, by import path.
	aliases map[string]string
	// viewed are the types that get a view.
	viewed map[model.TypeName]bool
}

// newViewWriter returns a viewWriter for the kinds of a lister generator.
func newViewWriter(g *listerGen, types map[model.TypeName]*model.Type) *viewWriter {
	w := &viewWriter{types: types, packages: map[string]render.Package{}, aliases: map[string]string{},
		viewed: map[model.TypeName]bool{}}
	for _, v := range g.versions {
		pkg := g.folder(listersFolder, scope{group: v.Group, version: v})
		pkg.Alias = versionAlias("listers", v)
		w.packages[v.Package.Path], w.aliases[v.Package.Path] = pkg, apiPackage(v).Alias
	}
	for _, v := range g.versions {
		for _, k := range g.kinds[v] {
			w.reach(&model.Expr{Name: model.TypeName{Path: v.Package.Path, Name: k.Name}})
		}
	}
	return w
}

// reach marks the structs that are reachable from a type.
func (w *viewWriter) reach(e *model.Expr) {
	if e == nil {
		return
	}
	// The keys of maps are scalars in every API, so the elements are enough.
	e = w.resolve(e.Deref())
	w.reach(e.Elem)
	t := w.types[e.Name]
	if e.Form != model.Named || len(e.Args) > 0 || w.viewed[e.Name] || t == nil || !t.Struct ||
		w.packages[e.Name.Path].Path == "" || !token.IsExported(e.Name.Name) {
		return
	}
	w.viewed[e.Name] = true // before its fields, which may refer to it
	for _, f := range t.Fields {
		w.reach(f.Type)
	}
}

// resolve follows the names of types other than structs.
func (w *viewWriter) resolve(e *model.Expr) *model.Expr {
	for range 16 {
		t := w.types[e.Name]
		if e.Form != model.Named || len(e.Args) > 0 || t == nil || t.Struct || t.Underlying == nil {
			break
		}
		e = t.Underlying
	}
	return e
}

// viewsView is the view of views_generated.go.
type viewsView struct {
	PackageName string
	Types       []viewTypeView
	Kinds       []kindListerView
}

// viewTypeView is a read-only view of a type.
type viewTypeView struct {
	Name string
	Type render.Ident
	// Meta is true for types that embed ObjectMeta. Copies is true for types without a
	// field DeepCopy, whose getter would collide with the method.
	Meta, Copies bool
	Getters      []viewGetterView
}

// viewGetterView is a method that returns a field.
type viewGetterView struct {
	Doc []string
	// Name is the name of the field and of the method, Result the type of the method's
	// result, Value the expression for it.
	Name, Result, Value string
}

// views builds the view of a version's views_generated.go.
func (g *listerGen) views(at scope) any {
	w, path := g.viewWriter, at.version.Package.Path
	view := viewsView{PackageName: at.version.PackageName}
	names := slices.SortedFunc(maps.Keys(w.viewed),
		func(a, b model.TypeName) int { return strings.Compare(a.Name, b.Name) })
	for _, name := range names {
		if name.Path == path {
			view.Types = append(view.Types, w.view(w.types[name], apiPackage(at.version).Ident(name.Name)))
		}
	}
	for _, k := range g.kinds[at.version] {
		at.kind = k
		view.Kinds = append(view.Kinds, g.kind(at).(kindListerView))
	}
	return view
}

// view builds the view of a type.
func (w *viewWriter) view(t *model.Type, name render.Ident) viewTypeView {
	view := viewTypeView{Name: t.Name, Type: name, Copies: t.Field("DeepCopy") == nil}
	for _, f := range t.Fields {
		switch {
		case f.Embedded && f.Type.Form == model.Named && f.Type.Name == objectMeta:
			view.Meta = true
		// TypeMeta is empty in objects that a client has decoded.
		case token.IsExported(f.Name) && !(f.Embedded && f.Type.Name == typeMeta):
			getter := w.getter(f)
			getter.Doc, getter.Name = declarationDoc(f.Lines, 0), f.Name
			if len(getter.Doc) == 0 {
				getter.Doc = []string{"// " + f.Name + " returns the field " + f.Name + "."}
			}
			view.Getters = append(view.Getters, getter)
		}
	}
	return view
}

// getter returns the method that reads a field without letting the caller change the object:
// scalars by value, structs that have a view by their view, lists and maps through types of
// the runtime, anything else as a deep copy.
func (w *viewWriter) getter(f *model.Field) viewGetterView {
	field := "v.object." + f.Name
	of := func(function string) string { return render.Package{Path: viewPath}.Ident(function).String() }
	e := w.resolve(f.Type)
	switch {
	case w.scalar(f.Type):
		return viewGetterView{Result: w.text(f.Type), Value: field}
	case w.viewed[e.Name] && e.Form == model.Named:
		typ, view := w.element(e)
		return viewGetterView{Result: typ, Value: view + "(&" + field + ")"}
	case !w.named(f.Type): // the method can't name the type, so it returns a copy as any
		return viewGetterView{Result: "any", Value: of("Copy") + "[any](" + field + ")"}
	case e.Form == model.Pointer && w.scalar(e.Elem):
		return viewGetterView{Result: "(" + w.text(e.Elem) + ", bool)",
			Value: of("Optional") + "(" + field + ")"}
	case e.Form == model.Pointer && w.viewed[e.Elem.Name]:
		typ, view := w.element(e.Elem)
		return viewGetterView{Result: "(" + typ + ", bool)",
			Value: of("Pointer") + "(" + field + ", " + view + ")"}
	case e.Form == model.Slice && w.scalar(e.Elem):
		return viewGetterView{Result: of("List") + "[" + w.text(e.Elem) + "]",
			Value: of("ListOf") + "(" + field + ")"}
	case e.Form == model.Slice:
		typ, view := w.element(e.Elem)
		return viewGetterView{Result: of("List") + "[" + typ + "]",
			Value: of("Views") + "(" + field + ", " + view + ")"}
	case e.Form == model.Map && w.scalar(e.Elem):
		return viewGetterView{Result: of("Map") + "[" + w.text(e.Key) + ", " + w.text(e.Elem) + "]",
			Value: of("MapOf") + "(" + field + ")"}
	case e.Form == model.Map:
		typ, view := w.element(e.Elem)
		return viewGetterView{Result: of("Map") + "[" + w.text(e.Key) + ", " + typ + "]",
			Value: of("MapViews") + "(" + field + ", " + view + ")"}
	}
	return viewGetterView{Result: w.text(f.Type), Value: of("Copy") + "(" + field + ")"}
}

// element returns the type that an element of a list or a map is shown as, and the function
// that converts a pointer to the element.
func (w *viewWriter) element(e *model.Expr) (typ, view string) {
	if e.Form == model.Named && w.viewed[e.Name] {
		pkg := w.packages[e.Name.Path]
		return pkg.Ident(e.Name.Name + "View").String(), pkg.Ident("New" + e.Name.Name + "View").String()
	}
	text := w.text(e)
	return text, render.Package{Path: viewPath}.Ident("CopyOf").String() + "[" + text + "]"
}

// scalar reports whether an assignment copies values of a type completely. It is false for
// types that aren't known.
func (w *viewWriter) scalar(e *model.Expr) bool {
	if !w.named(e) {
		return false
	}
	switch e = w.resolve(e); {
	// resolve stops at a declared type that is a struct or isn't known.
	case e.Form != model.Named || e.Name.Path != "":
		return false
	default:
		return e.Name.Name != "any" && e.Name.Name != "error"
	}
}

// named reports whether another package can name a type: whether it has no unexported names.
func (w *viewWriter) named(e *model.Expr) bool {
	switch {
	case e == nil:
		return true
	case e.Form == model.Literal && e.Text == "any", e.Form == model.Named && e.Name.Path != "" &&
		!token.IsExported(e.Name.Name):
		return false
	}
	return w.named(e.Key) && w.named(e.Elem) &&
		!slices.ContainsFunc(e.Args, func(arg *model.Expr) bool { return !w.named(arg) })
}

func (w *viewWriter) text(e *model.Expr) string { return typeText(w.aliases, e) }
