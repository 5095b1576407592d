package marker

import (
	"fmt"
	"go/token"
	"maps"
	"slices"
	"strings"
	"text/scanner"
)

// Target is what a marker is about.
type Target uint8

// The targets of markers.
const (
	OnPackage Target = 1 << iota
	OnType
	OnField
)

// crdTag is a marker that controller-gen reads for definitions.
type crdTag struct {
	on Target
	// value is the type of the value after the equals sign, of kind noValue if there is none; args are the
	// types of arguments.
	value valueType
	args  map[string]valueType
}

// ItemsPrefix begins the names of markers for the items of a list.
const ItemsPrefix = validationPrefix + "items:"

const validationPrefix = "kubebuilder:validation:"

// crdTags are the markers by name. controller-gen has several of the name k8s:enum, of which this is one.
var crdTags = func() map[string]crdTag {
	one := func(kind valueKind) valueType { return valueType{kind: kind} }
	maybe := func(kind valueKind) valueType { return valueType{kind: kind, optional: true} }
	of := func(kind valueKind) valueType { return valueType{kind: listValue, elem: &valueType{kind: kind}} }
	texts := of(stringValue)
	texts.optional = true
	type args = map[string]valueType
	tags := map[string]crdTag{
		"groupName":                       {on: OnPackage, value: maybe(stringValue)},
		"versionName":                     {on: OnPackage, value: one(stringValue)},
		"kubebuilder:skip":                {on: OnPackage},
		validationPrefix + "Optional":     {on: OnPackage | OnField},
		validationPrefix + "Required":     {on: OnPackage | OnField},
		validationPrefix + "AtMostOneOf":  {on: OnType, value: of(stringValue)},
		validationPrefix + "ExactlyOneOf": {on: OnType, value: of(stringValue)},
		validationPrefix + "AtLeastOneOf": {on: OnType, value: of(stringValue)},
		"k8s:enum":                        {on: OnType | OnField},
		"required":                        {on: OnField}, "optional": {on: OnField}, "k8s:required": {on: OnField},
		"k8s:optional": {on: OnField}, "nullable": {on: OnField}, "k8s:immutable": {on: OnField},
		"kubebuilder:default": {on: OnField, value: one(anyValue)}, "default": {on: OnField, value: one(jsonValue)},
		"kubebuilder:example":                       {on: OnField, value: one(anyValue)},
		validationPrefix + "EmbeddedResource":       {on: OnField},
		validationPrefix + "Schemaless":             {on: OnField},
		"k8s:maxItems":                              {on: OnField, value: one(plainInt)},
		"k8s:minimum":                               {on: OnField, value: one(plainNumber)},
		"k8s:maximum":                               {on: OnField, value: one(plainNumber)},
		"kubebuilder:pruning:PreserveUnknownFields": {on: OnType | OnField},
		"kubebuilder:title":                         {on: OnType | OnField, value: one(anyValue)},
		"kubebuilder:subresource:status":            {on: OnType},
		"kubebuilder:subresource:scale": {on: OnType, args: args{"specpath": one(stringValue),
			"statuspath": one(stringValue), "selectorpath": maybe(stringValue)}},
		"kubebuilder:printcolumn": {on: OnType, args: args{"name": one(stringValue), "type": one(stringValue),
			"JSONPath": one(stringValue), "description": maybe(stringValue), "format": maybe(stringValue),
			"priority": maybe(intValue)}},
		"kubebuilder:resource": {on: OnType, args: args{"path": maybe(stringValue), "shortName": texts,
			"categories": texts, "singular": maybe(stringValue), "scope": maybe(stringValue)}},
		"kubebuilder:storageversion": {on: OnType}, "kubebuilder:skipversion": {on: OnType},
		"kubebuilder:unservedversion":   {on: OnType},
		"kubebuilder:deprecatedversion": {on: OnType, args: args{"warning": maybe(stringValue)}},
		"kubebuilder:metadata":          {on: OnType, args: args{"annotations": texts, "labels": texts}},
		"kubebuilder:selectablefield":   {on: OnType, args: args{"JSONPath": one(stringValue)}},
		"kubebuilder:externalDocs": {on: OnType | OnField, args: args{"url": one(stringValue),
			"description": maybe(stringValue)}},
	}
	for _, name := range []string{"listType", "listMapKey", "mapType", "structType", "k8s:listType",
		"k8s:listMapKey"} {
		tags[name] = crdTag{on: OnType | OnField, value: one(stringValue)}
	}
	validation := map[string]crdTag{
		"Maximum": {value: one(plainNumber)}, "Minimum": {value: one(plainNumber)},
		"ExclusiveMaximum": {value: one(boolValue)}, "ExclusiveMinimum": {value: one(boolValue)},
		"MultipleOf": {value: one(numberValue)}, "MinProperties": {value: one(intValue)},
		"MaxProperties": {value: one(intValue)}, "MaxLength": {value: one(intValue)},
		"MinLength": {value: one(intValue)}, "Pattern": {value: one(stringValue)},
		"MaxItems": {value: one(plainInt)}, "MinItems": {value: one(intValue)},
		"UniqueItems": {value: one(boolValue)}, "Enum": {value: of(anyValue)},
		"Format": {value: one(stringValue)}, "Type": {value: one(stringValue)},
		"XPreserveUnknownFields": {}, "XEmbeddedResource": {}, "XIntOrString": {},
		"XValidation": {args: args{"rule": one(stringValue), "message": maybe(stringValue),
			"messageExpression": maybe(stringValue), "reason": maybe(stringValue), "fieldPath": maybe(stringValue),
			"optionalOldSelf": maybe(boolValue)}},
	}
	for name, tag := range validation {
		tag.on = OnType | OnField
		tags[validationPrefix+name], tags[ItemsPrefix+name] = tag, tag
	}
	return tags
}()

// CRDMarker is a marker of a definition, with its value.
type CRDMarker struct {
	// Name is the name without the plus sign.
	Name string
	Pos  token.Position
	// Value is the value, nil if the marker has none; Args are the arguments. Values are string, int, float64,
	// bool, []any and map[string]any.
	Value any
	Args  map[string]any
}

// Text returns an argument that is a string, "" without it.
func (m CRDMarker) Text(arg string) string {
	text, _ := m.Args[arg].(string)
	return text
}

// splitCRD splits a marker into the text before the first equals sign, the same without the part after its
// last colon, and the text after the equals sign.
func splitCRD(text string) (name, short, value string) {
	name, value, ok := strings.Cut(text, "=")
	short = name
	if i := strings.LastIndex(name, ":"); ok && i >= 0 {
		short = name[:i]
	}
	return name, short, value
}

// LookupCRD returns the name of the marker of definitions that a text without the plus sign is, "" if it is
// none for that target. The name may end before the last colon: an argument follows that.
func LookupCRD(text string, on Target) string {
	name, short, _ := splitCRD(text)
	for _, n := range []string{name, short} {
		if crdTags[n].on&on != 0 {
			return n
		}
	}
	return ""
}

// ParseCRD parses a marker of that name, which LookupCRD has found. A problem is at an offset of its text.
func ParseCRD(known, text string) (m CRDMarker, offset int, err error) {
	m = CRDMarker{Name: known}
	tag := crdTags[known]
	name, short, value := splitCRD(text)
	switch tag.value.kind {
	case plainInt, plainNumber, jsonValue:
		m.Value, err = plain(tag.value.kind, name, value)
		return m, min(len(name)+1, len(text)), err
	}
	if tag.args != nil && len(name) > len(short) {
		value = name[len(short)+1:] + "=" + value
	}
	p := newValueParser(value)
	missing := map[string]valueType{}
	switch {
	case tag.args != nil:
		m.Args = map[string]any{}
		missing = maps.Clone(tag.args)
		for more := p.Peek() != scanner.EOF; more; more = p.argument(tag, &m) {
		}
		maps.DeleteFunc(missing, func(arg string, _ valueType) bool { _, given := m.Args[arg]; return given })
	case tag.value.kind != noValue && p.Peek() != scanner.EOF:
		m.Value = p.value(tag.value, false)
	case tag.value.optional:
		m.Value = "" // the core group
	case tag.value.kind != noValue:
		missing["a value"] = tag.value
	}
	if p.Scan() != scanner.EOF {
		p.errorf("too much: %q", value[p.Offset:])
	}
	for _, arg := range slices.Sorted(maps.Keys(missing)) {
		if !missing[arg].optional {
			p.errorf("%s is missing", arg)
		}
	}
	if p.problem != "" {
		err = fmt.Errorf("%s", p.problem)
	}
	return m, len(text) - len(value) + max(p.offset, 0), err
}

// argument parses an argument, and the comma after it. It returns false if there can't be another one.
func (p *valueParser) argument(tag crdTag, m *CRDMarker) bool {
	if !p.expect(scanner.Ident, "the name of an argument") {
		return false
	}
	arg := p.TokenText()
	if !p.expect('=', "an equals sign") {
		return false
	}
	t, ok := tag.args[arg]
	if !ok {
		p.errorf("there is no argument %s%s", arg, Suggest(arg, slices.Sorted(maps.Keys(tag.args))))
		return false
	}
	m.Args[arg] = p.value(t, false)
	return p.problem == "" && p.Peek() != scanner.EOF && p.expect(',', "a comma")
}
