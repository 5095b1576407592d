package marker

import (
	"fmt"
	"go/token"
	"maps"
	"slices"
	"strings"
	"sync"
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

// crdTable are the markers: names with commas between them, what these are on (p, t, f), and the type of
// their value or of their arguments. The types are s for strings, i for integers, n for numbers, b for
// booleans, a for anything that the text looks like, I, N and J for integers, numbers and JSON without the
// grammar, with [] in front for lists, and ? behind if it may be missing. Names below validation: are those
// of markers for the items of a list, too.
const crdTable = `
groupName p s?
versionName p s
kubebuilder:skip p
kubebuilder:validation:Optional,kubebuilder:validation:Required pf
kubebuilder:validation:AtMostOneOf,kubebuilder:validation:ExactlyOneOf t []s
kubebuilder:validation:AtLeastOneOf t []s
kubebuilder:validation:EmbeddedResource,kubebuilder:validation:Schemaless,required,optional,nullable f
k8s:required,k8s:optional,k8s:immutable f
kubebuilder:default,kubebuilder:example f a
kubebuilder:title tf a
kubebuilder:pruning:PreserveUnknownFields,k8s:enum,validation:XPreserveUnknownFields tf
validation:XEmbeddedResource,validation:XIntOrString tf
kubebuilder:externalDocs tf url=s description=s?
kubebuilder:subresource:status,kubebuilder:storageversion,kubebuilder:skipversion t
kubebuilder:unservedversion t
kubebuilder:subresource:scale t specpath=s statuspath=s selectorpath=s?
kubebuilder:printcolumn t name=s type=s JSONPath=s description=s? format=s? priority=i?
kubebuilder:resource t path=s? shortName=[]s? categories=[]s? singular=s? scope=s?
kubebuilder:deprecatedversion t warning=s?
kubebuilder:metadata t annotations=[]s? labels=[]s?
kubebuilder:selectablefield t JSONPath=s
default f J
listType,listMapKey,mapType,structType,k8s:listType,k8s:listMapKey,validation:Pattern tf s
validation:Format,validation:Type tf s
k8s:maxItems f I
k8s:minimum,k8s:maximum f N
validation:Maximum,validation:Minimum tf N
validation:ExclusiveMaximum,validation:ExclusiveMinimum,validation:UniqueItems tf b
validation:MultipleOf tf n
validation:MinProperties,validation:MaxProperties,validation:MaxLength,validation:MinLength tf i
validation:MinItems tf i
validation:MaxItems tf I
validation:Enum tf []a
 tf rule=s message=s? messageExpression=s? reason=s? fieldPath=s? optionalOldSelf=b?
validation:XValidation tf rule=s message=s? messageExpression=s? reason=s? fieldPath=s? optionalOldSelf=b?
`

// crdTags are the markers by name.
var crdTags = sync.OnceValue(func() map[string]crdTag {
	targets := map[rune]Target{'p': OnPackage, 't': OnType, 'f': OnField}
	tags := map[string]crdTag{}
	for line := range strings.Lines(strings.TrimPrefix(crdTable, "\n")) {
		cells := strings.Fields(line)
		var tag crdTag
		for _, target := range cells[1] {
			tag.on |= targets[target]
		}
		for _, cell := range cells[2:] {
			arg, text, ok := strings.Cut(cell, "=")
			switch {
			case !ok:
				tag.value = newValueType(cell)
			case tag.args == nil:
				tag.args = map[string]valueType{}
				fallthrough
			default:
				tag.args[arg] = newValueType(text)
			}
		}
		for name := range strings.SplitSeq(cells[0], ",") {
			if below, ok := strings.CutPrefix(name, "validation:"); ok {
				tags[validationPrefix+below], tags[ItemsPrefix+below] = tag, tag
			} else {
				tags[name] = tag
			}
		}
	}
	return tags
})

// newValueType returns the type that a cell of the table stands for.
func newValueType(text string) valueType {
	kinds := map[byte]valueKind{'s': stringValue, 'i': intValue, 'n': numberValue, 'b': boolValue, 'a': anyValue,
		'I': plainInt, 'N': plainNumber, 'J': jsonValue}
	text, optional := strings.CutSuffix(text, "?")
	if item, ok := strings.CutPrefix(text, "[]"); ok {
		return valueType{kind: listValue, elem: &valueType{kind: kinds[item[0]]}, optional: optional}
	}
	return valueType{kind: kinds[text[0]], optional: optional}
}

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

// HasCRD reports whether a marker of that name is among markers.
func HasCRD(markers []CRDMarker, name string) bool {
	return slices.ContainsFunc(markers, func(m CRDMarker) bool { return m.Name == name })
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
		if crdTags()[n].on&on != 0 {
			return n
		}
	}
	return ""
}

// ParseCRD parses a marker of that name, which LookupCRD has found. A problem is at an offset of its text.
func ParseCRD(known, text string) (m CRDMarker, offset int, err error) {
	m = CRDMarker{Name: known}
	tag := crdTags()[known]
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
	arg, at := p.TokenText(), p.Offset
	if !p.expect('=', "an equals sign") {
		return false
	}
	t, ok := tag.args[arg]
	if !ok {
		p.errorf("there is no argument %s%s", arg, Suggest(arg, slices.Sorted(maps.Keys(tag.args))))
		p.offset = at
		return false
	}
	m.Args[arg] = p.value(t, false)
	return p.problem == "" && p.Peek() != scanner.EOF && p.expect(',', "a comma")
}
