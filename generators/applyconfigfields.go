package generators

import (
	"go/doc/comment"
	"go/token"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/kubewright/kubewright/generators/internal/model"
	"github.com/kubewright/kubewright/generators/internal/render"
)

// applyWriter builds the parts of a view that follow from the fields of the type.
type applyWriter struct {
	g    *applyGen
	view *applyTypeView
	// taken are the fields, including embedded ones, that were visited: a promoted field
	// of the same name gets no With method.
	taken map[string]bool
}

// embedding is the form of an embedded field in the apply configuration.
type embedding int

const (
	notEmbedded embedding = iota
	// embedConfig embeds the apply configuration of the type, as a pointer if the field
	// has a JSON key.
	embedConfig
	// embedType embeds the Go type.
	embedType
	// flatten declares the fields of the embedded struct in the configuration itself.
	flatten
	// asField declares a named field.
	asField
)

// embedding decides as upstream does (generateStruct) if the result of that compiles. The
// With methods set pointers, but most fields of a Go struct are values. So a struct without
// an apply configuration, which upstream embeds, is flattened, or becomes a named field if
// it has a JSON key.
// of is the type whose configuration it is.
func (g *applyGen) embedding(of *model.Type, f *model.Field, j model.JSON) embedding {
	switch {
	case !f.Embedded:
		return notEmbedded
	case g.isConfig(f.Type):
		return embedConfig
	case !j.Inline:
		// Upstream embeds a pointer to the Go type and generates With methods for its
		// fields that don't compile.
		return asField
	// Go promotes none of several methods of one name, so the type is encoded by its fields. The method of
	// the one that the configuration embeds would be promoted.
	case g.marshals(f.Type) && of.Marshaler == "":
		return flatten
	case f.Type.Form == model.Pointer || g.fits(g.declared(f.Type), 0):
		return embedType
	}
	return flatten
}

// marshals reports whether a type, or the target of a pointer type, encodes itself.
func (g *applyGen) marshals(e *model.Expr) bool {
	t := g.declared(e.Deref())
	return t != nil && t.Marshaler != ""
}

// fits reports whether With methods can set the fields of a Go struct: fields whose zero
// value means that they aren't set, and whose types have no apply configurations.
func (g *applyGen) fits(t *model.Type, hops int) bool {
	if t == nil || hops > 16 {
		return true // no known fields, so no methods
	}
	for _, f := range t.Fields {
		j, ok := f.JSON()
		switch {
		case !ok:
		case f.Embedded:
			if !j.Inline || g.isConfig(f.Type) || f.Type.Form != model.Pointer &&
				!g.fits(g.declared(f.Type), hops+1) {
				return false
			}
		case !token.IsExported(f.Name):
			return false
		// A value has no unset state.
		case f.Type.Form == model.Named, f.Type.Form == model.Array, f.Type.Form == model.Literal:
			return false
		case f.Type.Form == model.Slice && f.Type.Elem.Form == model.Pointer:
			return false
		case f.Type.Form == model.Pointer && f.Type.Elem.Form == model.Pointer:
			return false
		case g.configType(f.Type.Deref()) != g.typeText(f.Type.Deref()):
			return false
		}
	}
	return true
}

// blocked reports whether apply configurations leave a field out: the server manages the
// first two, and the prefix marks fields that are about to be removed from an API
// (blocklisted in upstream's applyconfiguration.go).
func blocked(t *model.Type, f *model.Field) bool {
	return t.TypeName == objectMeta && (f.Name == "ManagedFields" || f.Name == "SelfLink") ||
		strings.HasPrefix(f.Name, "ZZZ_")
}

// member is a field of an apply configuration.
type member struct {
	*model.Field
	json      model.JSON
	embedding embedding
}

// members are the fields of the apply configuration of a struct: its own, and those of
// flattened structs that its own don't hide.
func (g *applyGen) members(t *model.Type) []member {
	return g.flattened(t, t, map[string]bool{}, 0)
}

// flattened is members of t, as a part of the configuration of another type, without the hidden fields, to
// which it adds its own.
func (g *applyGen) flattened(of, t *model.Type, hidden map[string]bool, hops int) []member {
	// Go's rule for promoted fields: the outer one hides those further in.
	own := maps.Clone(hidden)
	for _, f := range t.Fields {
		own[f.Name] = true
	}
	var members []member
	for _, f := range t.Fields {
		j, ok := f.JSON()
		if !ok || blocked(t, f) || hidden[f.Name] {
			continue
		}
		hidden[f.Name] = true
		m := member{f, j, g.embedding(of, f, j)}
		if m.embedding != flatten {
			members = append(members, m)
		} else if target := g.declared(f.Type.Deref()); target != nil && hops < 16 {
			inner := g.flattened(of, target, own, hops+1)
			for _, m := range inner {
				own[m.Name] = true
			}
			members = append(members, inner...)
		}
	}
	return members
}

// embedded returns the struct that a field embeds, an empty one if it isn't known.
func (g *applyGen) embedded(f *model.Field) *model.Type {
	if t := g.declared(f.Type); t != nil && f.Type.Form == model.Named {
		return t
	}
	return &model.Type{}
}

// fields adds the fields of the struct.
func (w *applyWriter) fields(t *model.Type) {
	for _, m := range w.g.members(t) {
		view := applyFieldView{Doc: fieldDoc(m.Lines), Name: m.Name, Type: "*" + w.g.configType(m.Type),
			Tag: m.json.Name + ",omitempty"}
		switch {
		case m.embedding == embedConfig || m.embedding == embedType:
			view.Name = ""
			// By value if it is inlined and by pointer if it has a key, as upstream has it.
			if m.json.Inline {
				view.Type, view.Tag = w.g.configType(m.Type), ""
				if m.json.Has("omitempty") {
					view.Tag = ",omitempty"
				}
			}
		case nillable(m.Type):
			view.Type = w.g.configType(m.Type)
		}
		w.view.Fields = append(w.view.Fields, view)
	}
}

// methods adds the With methods. Of several fields with one name, only the first gets a
// method, as in upstream's generateWithFuncs.
func (w *applyWriter) methods(t *model.Type, holder string) {
	for _, m := range w.g.members(t) {
		if w.taken[m.Name] {
			continue
		}
		w.taken[m.Name] = true
		switch m.embedding {
		case embedConfig:
			w.methods(w.g.embedded(m.Field), m.inner(holder))
		case embedType:
			w.methods(w.g.embedded(m.Field), holder+"."+m.Name)
		default:
			w.view.Setters = append(w.view.Setters, w.setter(m.Field, holder))
		}
	}
}

// inner returns the expression for the embedded apply configuration of a field. With a JSON
// key it is a pointer, which is nil until a method needs it.
func (m member) inner(holder string) string {
	inner := holder + "." + configName(m.Type.Deref().Name.Name)
	if m.json.Inline {
		return inner
	}
	return render.Package{Path: applyPath}.Ident("Ensure").String() + "(&" + inner + ")"
}

// getters adds the Get methods, which upstream generates for the fields that clients read:
// name, namespace, kind and API version (needsGetter).
func (w *applyWriter) getters(t *model.Type, holder string) {
	for _, m := range w.g.members(t) {
		switch {
		case m.embedding == embedConfig:
			w.getters(w.g.embedded(m.Field), m.inner(holder))
		case t.TypeName == objectMeta && (m.Name == "Name" || m.Name == "Namespace"),
			t.TypeName == typeMeta && (m.Name == "Kind" || m.Name == "APIVersion"):
			w.view.Getters = append(w.view.Getters,
				applyGetterView{Name: m.Name, Type: "*" + w.g.configType(m.Type), Holder: holder})
		}
	}
}

// setter picks the function of the runtime that sets a field.
func (w *applyWriter) setter(f *model.Field, holder string) applySetterView {
	g := w.g
	view := applySetterView{Name: f.Name, Holder: holder}
	// Pointers to lists are dereferenced only if the elements have apply configurations, as
	// in upstream's generateWithFuncs.
	list := f.Type.Deref()
	switch {
	case list.Form == model.Slice && g.isConfig(list.Elem):
		view.Function, view.Type = "AppendCopies", strings.TrimPrefix(g.configType(list), "[]")
		view.Copies, view.Named, view.Indirect = true, true, f.Type.Form == model.Pointer
	case f.Type.Form == model.Slice && f.Type.Elem.Form == model.Pointer:
		view.Function, view.Type, view.Named = "AppendPointers", g.typeText(f.Type.Elem), true
	case f.Type.Form == model.Slice:
		view.Function, view.Type = "Append", g.typeText(f.Type.Elem)
	case f.Type.Form == model.Map:
		view.Function, view.Type, view.Entries = "Merge", g.configType(f.Type), true
	case g.isConfig(f.Type):
		view.Function, view.Type, view.One = "Set", "*"+g.configType(f.Type), true
	default:
		view.Function, view.Type, view.One, view.Pointer = "Set", g.configType(f.Type), true, true
	}
	return view
}

// nillable reports whether a field of the type needs no pointer to be unset.
func nillable(e *model.Expr) bool { return e.Form == model.Slice || e.Form == model.Map }

// isConfig reports whether a type, or the target of a pointer type, has an apply
// configuration.
func (g *applyGen) isConfig(e *model.Expr) bool {
	return g.hasConfig(e.Deref())
}

// hasConfig reports whether a type itself has an apply configuration. Instances of generic
// types have none.
func (g *applyGen) hasConfig(e *model.Expr) bool {
	return e.Form == model.Named && len(e.Args) == 0 && g.packages[e.Name] != ""
}

// configType returns the type of a field in an apply configuration: without pointers, and
// with apply configurations for the structs that have one, also as elements of lists and
// maps (applyConfigForType in upstream's refgraph.go).
func (g *applyGen) configType(e *model.Expr) string {
	e = e.Deref()
	switch {
	case g.hasConfig(e):
		return configPackage(g.packages[e.Name]).Ident(configName(e.Name.Name)).String()
	case e.Form == model.Slice && g.hasConfig(e.Elem):
		return "[]" + g.configType(e.Elem)
	case e.Form == model.Map && g.hasConfig(e.Elem):
		return "map[" + g.typeText(e.Key) + "]" + g.configType(e.Elem)
	}
	return g.typeText(e)
}

// configPackage returns a package of apply configurations, with an alias such as applycorev1.
func configPackage(importPath string) render.Package {
	pkg := render.Package{Path: importPath}
	dir, version := path.Split(pkg.Path)
	pkg.Alias = "apply" + strings.ToLower(path.Base(dir)+version)
	return pkg
}

// typeText returns a type unchanged.
func (g *applyGen) typeText(e *model.Expr) string { return typeText(g.aliases, e) }

// fieldDoc returns a field's comment without markers.
func fieldDoc(lines []string) []string {
	var doc []string
	for _, line := range lines {
		if line = strings.TrimSpace(line); !strings.HasPrefix(line, "+") {
			doc = append(doc, strings.TrimSpace("// "+line))
		}
	}
	return doc
}

// declarationDoc is fieldDoc for a declaration: gofmt reformats comments of declarations,
// and those only. Whether a line is a heading depends on the paragraphs before it; before
// is their number.
func declarationDoc(lines []string, before int) []string {
	text := slices.Repeat([]string{"Text.", ""}, before)
	for _, line := range lines {
		if line = strings.TrimSpace(line); !strings.HasPrefix(line, "+") {
			text = append(text, line)
		}
	}
	var parser comment.Parser
	var printer comment.Printer
	formatted := strings.TrimRight(string(printer.Comment(parser.Parse(strings.Join(text, "\n")))), "\n")
	if formatted == "" {
		return nil
	}
	doc := strings.Split(formatted, "\n")
	if len(doc) < 2*before {
		return nil // only the paragraphs before
	}
	doc = doc[2*before:]
	for i, line := range doc {
		if strings.HasPrefix(line, "\t") {
			doc[i] = "//" + line
		} else {
			doc[i] = strings.TrimSpace("// " + line)
		}
	}
	return doc
}
