package generators

import (
	"go/doc/comment"
	"go/token"
	"maps"
	"path"
	"strings"
	"unicode"

	"github.com/kubewright/kubewright/generators/model"
	"github.com/kubewright/kubewright/generators/render"
)

// applyWriter fills in the parts of a view that follow from the fields.
type applyWriter struct {
	g    *applyGen
	view *applyTypeView
	// taken are the fields, embedded ones among them, that have a With method
	// or are not to have one.
	taken map[string]bool
}

// embedding says what becomes of an embedded field.
type embedding int

const (
	notEmbedded embedding = iota
	// embedConfig embeds an apply configuration, by pointer if it has a key.
	embedConfig
	// embedType embeds the Go type as it is.
	embedType
	// flatten makes the fields of the embedded struct the configuration's own.
	flatten
	// asField makes it a field with a name.
	asField
)

// embedding decides as upstream does where the result compiles. A configuration
// has pointers where Go structs have values: fields of an embedded struct that
// has no configuration of its own are then taken one by one, or the struct as a
// whole if it has a key.
func (g *applyGen) embedding(f *model.Field, j model.JSON) embedding {
	switch {
	case !f.Embedded:
		return notEmbedded
	case g.isConfig(f.Type):
		return embedConfig
	case !j.Inline:
		return asField
	case f.Type.Form == model.Pointer || g.fits(g.declared(f.Type), 0):
		return embedType
	}
	return flatten
}

// fits reports whether With methods can fill in the fields of a Go struct: those
// that hold nothing until they are set, of types that are no configurations'.
func (g *applyGen) fits(t *model.Type, hops int) bool {
	if t == nil || hops > 16 {
		return true // without fields that are known there are no methods
	}
	for _, f := range t.Fields {
		j, ok := f.JSON()
		switch {
		case !ok:
		case f.Embedded:
			if !j.Inline || g.isConfig(f.Type) || f.Type.Form != model.Pointer && !g.fits(g.declared(f.Type), hops+1) {
				return false
			}
		case !token.IsExported(f.Name):
			return false
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

// blocked reports whether a field has no place in apply configurations: what the
// server keeps account of, and what is about to be removed from an API.
func blocked(t *model.Type, f *model.Field) bool {
	return t.TypeName == objectMeta && (f.Name == "ManagedFields" || f.Name == "SelfLink") || strings.HasPrefix(f.Name, "ZZZ_")
}

// member is a field of a configuration.
type member struct {
	*model.Field
	json      model.JSON
	embedding embedding
}

// members are the fields that the configuration of a struct has: its own, and
// those of embedded structs that are taken one by one unless its own hide them.
func (g *applyGen) members(t *model.Type) []member {
	return g.flattened(t, map[string]bool{}, 0)
}

func (g *applyGen) flattened(t *model.Type, hidden map[string]bool, hops int) []member {
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
		m := member{f, j, g.embedding(f, j)}
		if m.embedding != flatten {
			members = append(members, m)
		} else if hops < 16 {
			inner := g.flattened(g.embedded(f), own, hops+1)
			for _, m := range inner {
				own[m.Name] = true
			}
			members = append(members, inner...)
		}
	}
	return members
}

// embedded is the struct that a field embeds, without fields if nothing is
// known of it.
func (g *applyGen) embedded(f *model.Field) *model.Type {
	if t := g.declared(f.Type); t != nil && f.Type.Form == model.Named {
		return t
	}
	return &model.Type{}
}

// fields adds the fields of the configuration's struct.
func (w *applyWriter) fields(t *model.Type) {
	for _, m := range w.g.members(t) {
		view := applyFieldView{Doc: fieldDoc(m.Lines), Name: m.Name, Type: "*" + w.g.configType(m.Type), Tag: m.json.Name + ",omitempty"}
		switch {
		case m.embedding == embedConfig || m.embedding == embedType:
			view.Name = ""
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

// methods adds With methods. The first of several fields of one name has it, as
// upstream has it.
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

// inner is the embedded configuration of a field: what has a key is nil until
// it is needed.
func (m member) inner(holder string) string {
	inner := holder + "." + configName(m.Type.Deref().Name.Name)
	if m.json.Inline {
		return inner
	}
	return render.Package{Path: applyPath}.Ident("Ensure").String() + "(&" + inner + ")"
}

func (w *applyWriter) getters(t *model.Type, holder string) {
	for _, m := range w.g.members(t) {
		switch {
		case m.embedding == embedConfig:
			w.getters(w.g.embedded(m.Field), m.inner(holder))
		case t.TypeName == objectMeta && (m.Name == "Name" || m.Name == "Namespace"),
			t.TypeName == typeMeta && (m.Name == "Kind" || m.Name == "APIVersion"):
			w.view.Getters = append(w.view.Getters, applyGetterView{Name: m.Name, Type: "*" + w.g.configType(m.Type), Holder: holder})
		}
	}
}

// setter picks the function of the runtime that gets a value into its field.
func (w *applyWriter) setter(f *model.Field, holder string) applySetterView {
	g := w.g
	view := applySetterView{Name: f.Name, Holder: holder}
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

// nillable reports whether a type has a value that stands for none; others get
// one by way of a pointer.
func nillable(e *model.Expr) bool { return e.Form == model.Slice || e.Form == model.Map }

// isConfig reports whether a type, or what it points to, has an apply
// configuration.
func (g *applyGen) isConfig(e *model.Expr) bool {
	return g.hasConfig(e.Deref())
}

func (g *applyGen) hasConfig(e *model.Expr) bool {
	return e.Form == model.Named && len(e.Args) == 0 && g.places[e.Name] != ""
}

// configType is the type of a configuration's field: pointers go, structs become
// configurations where they have one, also as elements of lists and maps.
func (g *applyGen) configType(e *model.Expr) string {
	e = e.Deref()
	switch {
	case g.hasConfig(e):
		return g.configPackage(e.Name).Ident(configName(e.Name.Name)).String()
	case e.Form == model.Slice && g.hasConfig(e.Elem):
		return "[]" + g.configType(e.Elem)
	case e.Form == model.Map && g.hasConfig(e.Elem):
		return "map[" + g.typeText(e.Key) + "]" + g.configType(e.Elem)
	}
	return g.typeText(e)
}

func (g *applyGen) configPackage(name model.TypeName) render.Package {
	pkg := render.Package{Path: g.places[name]}
	dir, version := path.Split(pkg.Path)
	pkg.Alias = "apply" + strings.ToLower(path.Base(dir)+version)
	return pkg
}

// typeText is a type as it is.
func (g *applyGen) typeText(e *model.Expr) string { return typeText(g.aliases, e) }

// fieldDoc are the lines of a comment that are no markers.
func fieldDoc(lines []string) []string {
	var doc []string
	for _, line := range lines {
		if line = strings.TrimSpace(line); !strings.HasPrefix(line, "+") {
			doc = append(doc, strings.TrimSpace("// "+line))
		}
	}
	return doc
}

// declarationDoc is the same for what is declared: such comments gofmt formats.
func declarationDoc(lines []string) []string {
	var text []string
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
	for i, line := range doc {
		if strings.HasPrefix(line, "\t") {
			doc[i] = "//" + line
		} else {
			doc[i] = strings.TrimSpace("// " + line)
		}
	}
	return doc
}

func isNameRune(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
