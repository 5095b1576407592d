package crd

import (
	"go/token"
	"slices"
	"strings"

	"github.com/kubewright/kubewright/generators/internal/marker"
	"github.com/kubewright/kubewright/generators/internal/model"
)

// reference refers to a declared type.
type reference struct {
	name model.TypeName
	args []*model.Expr
}

// key identifies a type expression.
func (r *reference) key() string { return exprKey(&model.Expr{Name: r.name, Args: r.args}) }

func exprKey(e *model.Expr) string {
	switch {
	case e == nil:
		return ""
	case e.Form == model.Named:
		key := e.Name.Path + "." + e.Name.Name
		for _, arg := range e.Args {
			key += "[" + exprKey(arg) + "]"
		}
		return key
	}
	return string(rune('0'+e.Form)) + "(" + exprKey(e.Key) + ")" + exprKey(e.Elem) + e.Text
}

// typeBuilder makes schemas of types. What they become is what controller-gen makes of them.
type typeBuilder struct {
	DefinitionOptions
	marker.Reporter
	types *model.CRDs
	// made are the schemas of types, which refer to others; flat those that don't.
	made, flat map[string]*node
	merger     merger
	// within are the types that are being flattened, from the kind on.
	within []string
}

// schemaOf returns the schema of a declared type, which may refer to other types.
func (b *typeBuilder) schemaOf(ref *reference) *node {
	key := ref.key()
	if n := b.made[key]; n != nil {
		return n
	}
	b.made[key] = newNode(token.Position{}, "", "") // for a type that consists of itself
	t := b.types.Type(ref.name).Instance(ref.args)
	n := b.declared(t)
	b.made[key] = n
	return n
}

// declared returns the schema of a type.
func (b *typeBuilder) declared(t *model.CRDType) *node {
	switch t.Marshaler {
	case model.MarshalJSON: // its fields aren't its JSON, unless nothing says what is
		if slices.ContainsFunc(t.Markers, func(m marker.CRDMarker) bool {
			return m.Name == validationPrefix+"Type" && m.Value != ""
		}) {
			n := newNode(t.Pos, "", "")
			b.mark(n, t.Markers, t)
			return n
		}
	case model.MarshalText:
		n := newNode(t.Pos, "string", "")
		b.mark(n, t.Markers, t)
		if n.typ() != "string" {
			b.Errorf(t.Pos, "%s encodes itself as a string (MarshalText), but a marker gives it the type %s; "+
				"remove that", t.Name, n.typ())
		}
		return n
	}
	var n *node
	if t.Expr == nil {
		n = b.structOf(t)
	} else {
		n = b.schema(t.Expr, t.Path, t.Pos)
	}
	n.set("description", t.Doc, t.Pos)
	b.mark(n, t.Markers, t)
	return n
}

// schema returns the schema of a type expression in a package.
func (b *typeBuilder) schema(e *model.Expr, pkg string, at token.Position) *node {
	switch e.Form {
	case model.Named:
		return b.named(e, pkg, at)
	case model.Pointer:
		return b.schema(e.Elem, pkg, at)
	case model.Slice, model.Array:
		if e.Form == model.Slice && e.Elem.Form == model.Named && e.Elem.Name == (model.TypeName{Name: "byte"}) {
			return newNode(at, "string", "byte")
		}
		n := newNode(at, "array", "")
		n.items = b.schema(e.Elem, pkg, at)
		return n
	case model.Map:
		if !b.isKey(e.Key) {
			b.Errorf(at, "the keys of a map have to be strings, or types that encode themselves as text")
		}
		n := newNode(at, "object", "")
		n.values = b.schema(e.Elem, pkg, at)
		return n
	}
	b.Errorf(at, "an interface or a struct without a name has no schema; declare a type, or use JSON of "+
		"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1")
	return newNode(at, "", "")
}

// named returns the schema of a named type: a reference, with the type if markers of fields depend on it.
func (b *typeBuilder) named(e *model.Expr, pkg string, at token.Position) *node {
	if e.Name.Path == "" {
		return b.predeclared(e.Name.Name, at)
	}
	name, args := e.Name, e.Args
	t := b.types.Type(name)
	n := newNode(at, "", "")
	if t != nil && t.Alias && name.Path == pkg {
		switch {
		case t.Expr == nil || t.Expr.Form != model.Named:
			b.Errorf(at, "%s is an alias of a type without a name; declare it without the equals sign", name.Name)
			return n
		case t.Expr.Name.Path == "":
			n = b.predeclared(t.Expr.Name.Name, at)
			n.ref = &reference{name: name}
			return n
		}
		t = t.Instance(args)
		name, args = t.Expr.Name, t.Expr.Args
		t = b.types.Type(name)
	}
	n.ref = &reference{name, args}
	switch {
	case model.KnownCRDType(name):
		return n
	case t == nil:
		why := "; go get its module, if go.mod doesn't have it"
		if reason := b.types.Unfound(name.Path); reason != "" {
			why = ": " + reason
		}
		b.Errorf(at, "the type %s of %s can't be found%s", name.Name, name.Path, why)
		n.ref = nil
		return n
	}
	switch under := b.underlying(t.Instance(args)); {
	case under == nil:
	case under.Form == model.Slice:
		n.set("type", "array", at)
	case under.Form == model.Map:
		n.set("type", "object", at)
	case under.Form == model.Named && under.Name.Path == "" && name.Path == pkg:
		basic := b.schemaOf(n.ref)
		n.set("type", basic.typ(), at)
		n.set("format", basic.text("format"), at)
	}
	return n
}

// underlying follows declarations to a type that isn't declared, nil for a struct or an unknown type.
func (b *typeBuilder) underlying(t *model.CRDType) *model.Expr {
	for range 16 {
		if t == nil || t.Expr == nil || t.Expr.Form != model.Named || t.Expr.Name.Path == "" {
			break
		}
		args := t.Expr.Args
		if t = b.types.Type(t.Expr.Name); t != nil {
			t = t.Instance(args)
		}
	}
	if t == nil {
		return nil
	}
	return t.Expr
}

// isKey reports whether a type can be the key of a map.
func (b *typeBuilder) isKey(e *model.Expr) bool {
	if e.Form != model.Named {
		return false
	}
	if e.Name.Path == "" {
		return e.Name.Name == "string"
	}
	t := b.types.Type(e.Name)
	if t == nil {
		return false
	}
	under := b.underlying(t)
	return t.Marshaler == model.MarshalText || !t.Alias && under != nil && under.Form == model.Named &&
		under.Name == model.TypeName{Name: "string"}
}

// predeclared returns the schema of a predeclared type.
func (b *typeBuilder) predeclared(name string, at token.Position) *node {
	switch name {
	case "bool":
		return newNode(at, "boolean", "")
	case "string":
		return newNode(at, "string", "")
	case "int32", "uint32", "rune":
		return newNode(at, "integer", "int32")
	case "int64", "uint64":
		return newNode(at, "integer", "int64")
	case "int", "int8", "int16", "uint", "uint8", "uint16", "byte", "uintptr":
		return newNode(at, "integer", "")
	case "float32", "float64":
		if !b.AllowFloats {
			b.Errorf(at, "%s is read differently by different languages; use a string, a whole number or a "+
				"resource.Quantity, or allow it with --crds-allow-floats", name)
		}
		return newNode(at, "number", "")
	}
	b.Errorf(at, "the type %s has no schema; use JSON of "+
		"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1 for any value", name)
	return newNode(at, "", "")
}

// structOf returns the schema of a struct.
func (b *typeBuilder) structOf(t *model.CRDType) *node {
	n := newNode(t.Pos, "object", "")
	n.properties = map[string]*node{}
	exclusive := b.exclusive(t)
	var immutable []*model.CRDField
	for _, f := range t.Fields {
		if f.Name != "" && !token.IsExported(f.Name) || f.Ignored {
			continue
		}
		if !f.Tagged {
			b.Errorf(f.Pos, "a field of %s has no json tag that Go can read; write one, or `json:\"-\"` to leave "+
				"the field out", t.Name)
			continue
		}
		if f.Inline && (f.Name != "" || f.Key != "") { // as controller-gen has it, unlike encoding/json
			b.StrictErrorf(f.Pos, "a definition would have what is in this field in %s itself, but JSON has a key "+
				"for it; embed the type, or give its json tag a key and no inline", t.Name)
		}
		if required, by := isRequired(f, t.Package); required {
			if exclusive[f.Key] {
				b.Errorf(f.Pos, "%s of %s is one of several fields of which not all are given, and can't be required%s",
					f.Key, t.Name, by)
			}
			n.required = append(n.required, f.Key)
		}
		property := newNode(f.Pos, "", "")
		if !marker.HasCRD(f.Markers, validationPrefix+"Schemaless") {
			property = b.schema(f.Type, t.Path, f.Pos)
		}
		property.set("description", f.Doc, f.Pos)
		b.mark(property, f.Markers, nil)
		if f.Inline {
			n.allOf = append(n.allOf, property)
			continue
		}
		if marker.HasCRD(f.Markers, "k8s:immutable") {
			immutable = append(immutable, f)
		}
		if n.properties[f.Key] != nil {
			own := slices.ContainsFunc(b.types.Packages, func(p *model.CRDPackage) bool { return p.Path == t.Path })
			b.Report(!own || !b.DefinitionOptions.Strict, f.Pos, "two fields of %s have the key %q, so that JSON has "+
				"neither; give one of them another key", t.Name, f.Key)
		}
		n.properties[f.Key] = property
	}
	slices.Sort(n.required)
	for _, f := range immutable { // the rule of an optional field doesn't run when the field is removed
		if !slices.Contains(n.required, f.Key) {
			n.rules = append(n.rules, keyed{map[string]any{
				"rule":    "!has(oldSelf." + f.Key + ") || has(self." + f.Key + ")",
				"message": "field " + f.Key + " is immutable once set"}, f.Pos})
		}
	}
	return n
}

// exclusive are the keys of fields that markers of a type say exclude each other.
func (b *typeBuilder) exclusive(t *model.CRDType) map[string]bool {
	keys := map[string]bool{}
	for _, m := range t.Markers {
		switch m.Name {
		case validationPrefix + "AtMostOneOf", validationPrefix + "ExactlyOneOf", validationPrefix + "AtLeastOneOf":
			for _, key := range m.Value.([]any) {
				if strings.Contains(key.(string), ".") {
					b.Errorf(m.Pos, "+%s can't have %s: it takes the fields of the type itself", m.Name, key)
				}
				keys[key.(string)] = true
			}
		}
	}
	return keys
}

// isRequired reports whether a field is required, and how to make it optional.
func isRequired(f *model.CRDField, pkg *model.CRDPackage) (required bool, remedy string) {
	has := func(name string) bool { return marker.HasCRD(f.Markers, name) }
	switch {
	case has(validationPrefix + "Optional"):
		return false, ""
	case has(validationPrefix + "Required"):
		return true, "; remove the marker"
	case has("optional"), has("k8s:optional"):
		return false, ""
	case has("required"), has("k8s:required"):
		return true, "; remove the marker"
	}
	return !pkg.Optional && !f.Inline && !f.Omitted, "; add omitempty to its json tag"
}

// flatten returns the schema of a declared type without references to other types. at is where the type is
// referred to.
func (b *typeBuilder) flatten(ref *reference, at token.Position) *node {
	key := ref.key()
	if n := b.flat[key]; n != nil {
		return n
	}
	if known := b.known(ref.name); known != nil {
		b.flat[key] = known
		return known
	}
	if i := slices.Index(b.within, key); i >= 0 || len(b.within) > maxDepth { // of ever new generic types
		b.Errorf(at, "%s consists of itself%s, which no schema can express; mark a field of the circle with "+
			"+kubebuilder:validation:Schemaless and +kubebuilder:pruning:PreserveUnknownFields", ref.name.Name,
			through(b.within[max(i, len(b.within)-3)+1:]))
		return newNode(at, "", "")
	}
	b.within = append(b.within, key)
	n := b.resolve(b.schemaOf(ref))
	b.within = b.within[:len(b.within)-1]
	b.flat[key] = n
	return n
}

// through names the types of a circle.
func through(keys []string) string {
	var names []string
	for _, key := range keys {
		key, _, _ = strings.Cut(key, "[") // without the arguments of a generic type
		names = append(names, key[strings.LastIndexAny(key, "./")+1:])
	}
	if len(names) == 0 {
		return ""
	}
	return " through " + strings.Join(names, ", ")
}

// resolve returns a copy of a schema in which references are replaced by the schemas of their types.
func (b *typeBuilder) resolve(n *node) *node {
	if n == nil {
		return nil
	}
	if n.ref != nil {
		return n.over(b.flatten(n.ref, n.pos))
	}
	n = n.clone()
	n.items, n.values = b.resolve(n.items), b.resolve(n.values)
	for i, part := range n.allOf {
		n.allOf[i] = b.resolve(part)
	}
	for name, property := range n.properties {
		n.properties[name] = b.resolve(property)
	}
	return n
}

// known returns the schema of a type of Kubernetes that isn't read from its declaration, nil for others.
func (b *typeBuilder) known(name model.TypeName) *node {
	if !model.KnownCRDType(name) {
		return nil
	}
	var pos token.Position
	n := newNode(pos, "object", "")
	switch name.Name {
	case "Time", "MicroTime":
		return newNode(pos, "string", "date-time")
	case "Duration":
		return newNode(pos, "string", "")
	case "Fields":
		n.anyValues = true
	case "RawExtension":
		n.set(preserveKey, true, pos)
	case "JSON":
		n = newNode(pos, "", "")
		n.set(preserveKey, true, pos)
	case "Quantity", "IntOrString":
		n = newNode(pos, "", "")
		n.set(intOrStringKey, true, pos)
		n.anyOf = []*node{newNode(pos, "integer", ""), newNode(pos, "string", "")}
		if name.Name == "Quantity" {
			const number = `(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))`
			n.set("pattern", `^(\+|-)?`+number+`(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?`+number+`))?$`, pos)
		}
	case "ObjectMeta":
		if b.EmbeddedMetadata {
			text := func() *node { return newNode(pos, "string", "") }
			texts, list := newNode(pos, "object", ""), newNode(pos, "array", "")
			texts.values, list.items = text(), text()
			n.properties = map[string]*node{"name": text(), "namespace": text(), "annotations": texts,
				"labels": texts, "finalizers": list}
		}
	}
	return n
}
