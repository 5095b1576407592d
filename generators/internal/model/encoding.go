package model

import (
	"go/ast"
	"go/token"
	"path"
	"reflect"
	"strconv"
	"strings"
)

// checkKeys reports fields of a kind, or of its list, whose json tags have other keys than
// every server and client expects, and fields that take such a key from its owner: objects
// then lose their kind or their metadata, and lists are empty. Internal types have no tags,
// and are never encoded.
func (r *kindReader) checkKeys(p *candidate, name string, st *structType) {
	if method, _ := r.marshaler(TypeName{p.src.path, name}); st.pkg != p.src || method != "" {
		return
	}
	for _, field := range st.fields {
		switch fieldName := plainName(field); fieldName {
		case "TypeMeta":
			// The key is "" without a tag, too, and with `json:""`.
			if key, _ := jsonKey(field); key != "" {
				r.wrongKey(field, "TypeMeta of "+name, key, "apiVersion and kind", `json:",inline"`)
			}
		case "ObjectMeta", "ListMeta":
			if key, _ := jsonKey(field); key != "metadata" {
				r.wrongKey(field, fieldName+" of "+name, key, "metadata", `json:"metadata,omitempty"`)
			}
		case "Items":
			if key, _ := jsonKey(field); key != "items" {
				r.wrongKey(field, "Items of "+name, key, "items", `json:"items"`)
			}
		default:
			if key, _ := jsonKey(field); metaKeys[key] != "" {
				r.StrictErrorf(r.fset.Position(field.Pos()),
					"the field %s of %s has the key %q in JSON, which is that of %s; give it another key",
					fieldName, name, key, metaKeys[key])
			}
		}
	}
}

// metaKeys are the keys in JSON that every object has, and what they are the keys of.
var metaKeys = map[string]string{
	"kind": "TypeMeta", "apiVersion": "TypeMeta", "metadata": "the object's metadata",
}

// checkMarshaler reports a kind, or the list of one, that encodes itself.
func (r *kindReader) checkMarshaler(p *candidate, name string, pos token.Position, what, fields string) {
	method, by := r.marshaler(TypeName{p.src.path, name})
	if method == "" {
		return
	}
	from, advice := "", "remove the method, or move it to the type of a field"
	if by.Name != name || by.Path != p.src.path {
		from, advice = " of the embedded "+by.Path+"."+by.Name, "make that a field with a name"
	}
	r.StrictErrorf(pos,
		"the %s %s encodes itself with the method %s%s, but servers and clients look for its %s among its "+
			"fields; %s",
		what, name, method, from, fields, advice)
}

// wrongKey reports a field with a wrong key, or with none.
func (r *kindReader) wrongKey(field *ast.Field, what, key, lost, tag string) {
	pos := field.Pos()
	if field.Tag != nil {
		pos = field.Tag.Pos()
	}
	has := "has no key in JSON"
	if key != "" {
		has = "has the key " + strconv.Quote(key) + " in JSON"
	}
	r.StrictErrorf(r.fset.Position(pos), "the field %s %s, so clients won't find %s; write `%s`",
		what, has, lost, tag)
}

// checkInternal reports a kind without json tags in the folder of a version.
func (r *kindReader) checkInternal(p *candidate, kind *Kind, st *structType) {
	field := st.field("ObjectMeta")
	if st.pkg == p.src && len(field.Names) == 0 && versionName.MatchString(path.Base(p.src.path)) {
		r.StrictErrorf(r.fset.Position(field.Pos()),
			"the ObjectMeta of %s has no json tag, which makes the type an internal one, although its package "+
				"is a version; write `json:\"metadata,omitempty\"`",
			kind.Name)
	}
}

// checkSpecAndStatus reports a Spec or a Status whose key in JSON is its Go name: servers look for the fields
// spec and status, and treat the latter as a subresource.
func (r *kindReader) checkSpecAndStatus(p *candidate, name string, st *structType) {
	if method, _ := r.marshaler(TypeName{p.src.path, name}); st.pkg != p.src || method != "" {
		return
	}
	for _, field := range st.fields {
		for _, n := range field.Names {
			if key, _ := jsonKey(field); key == "" && (n.Name == "Spec" || n.Name == "Status") {
				r.StrictErrorf(r.fset.Position(n.Pos()), "the field %s of %s has no key in JSON, so servers won't find "+
					"it; write `json:\"%s,omitempty\"`", n.Name, name, strings.ToLower(n.Name))
			}
		}
	}
}

// plainName is the name of a field that is declared alone; an embedded field has the name
// of its type.
func plainName(field *ast.Field) string {
	switch len(field.Names) {
	case 0:
		return typeName(field.Type)
	case 1:
		return field.Names[0].Name
	}
	return ""
}

// jsonKey returns the key in the json tag of a field, "" if it has none, and the options
// after it.
func jsonKey(field *ast.Field) (key, options string) {
	text, err := strconv.Unquote(tagText(field))
	if err != nil {
		return "", ""
	}
	key, options, _ = strings.Cut(reflect.StructTag(text).Get("json"), ",")
	return key, options
}
