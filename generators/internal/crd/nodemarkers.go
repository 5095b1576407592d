package crd

import (
	"cmp"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"

	"github.com/kubewright/kubewright/generators/internal/marker"
	"github.com/kubewright/kubewright/generators/internal/model"
)

const (
	validationPrefix = "kubebuilder:validation:"
	preserveKey      = "x-kubernetes-preserve-unknown-fields"
	intOrStringKey   = "x-kubernetes-int-or-string"
)

// priorities are the places of markers among those of a type or a field, as some depend on what others set.
// The place of all others is 3.
var priorities = map[string]int{"Type": 1, "XIntOrString": 2, "listType": 2, "default": 2,
	"AtMostOneOf": 4, "ExactlyOneOf": 5, "AtLeastOneOf": 6}

func priority(name string) int {
	name = strings.TrimPrefix(strings.TrimPrefix(name, marker.ItemsPrefix), validationPrefix)
	return cmp.Or(priorities[strings.TrimPrefix(name, "k8s:")], 3)
}

// ordered returns markers in the order in which they count: by priority, and of those with the same one,
// those of Kubernetes last. Those for the items of a list come after all others.
func ordered(markers []marker.CRDMarker) []marker.CRDMarker {
	rank := func(m marker.CRDMarker) int {
		rank := 2 * priority(m.Name)
		if strings.HasPrefix(m.Name, "k8s:") {
			rank++
		}
		if strings.HasPrefix(m.Name, marker.ItemsPrefix) {
			rank += 100
		}
		return rank
	}
	return slices.SortedStableFunc(slices.Values(markers), func(a, b marker.CRDMarker) int {
		return cmp.Compare(rank(a), rank(b))
	})
}

// mark applies markers to a schema. t is the type that is being read.
func (b *typeBuilder) mark(n *node, markers []marker.CRDMarker, t *model.CRDType) {
	for _, m := range ordered(markers) {
		to := n
		name, isItems := strings.CutPrefix(m.Name, marker.ItemsPrefix)
		if isItems {
			if n.typ() != "array" || n.items == nil {
				b.Errorf(m.Pos, "+%s is for a list, not for %s", m.Name, describeType(n))
				continue
			}
			to = n.items
		}
		name = strings.TrimPrefix(strings.TrimPrefix(name, validationPrefix), "k8s:")
		if problem := applyMarker(to, name, m, t); problem != "" {
			b.Errorf(m.Pos, "+%s %s", m.Name, problem)
		}
	}
}

// describeType names the type of a schema.
func describeType(n *node) string {
	switch {
	case n.typ() != "":
		return "type " + n.typ()
	case n.ref != nil:
		return "the type " + n.ref.name.Name + "; mark that instead"
	}
	return "a value without a type"
}

// limitTypes are the types that a limit is for, by the name of its marker.
var limitTypes = map[string][]string{
	"maximum": {"integer", "number"}, "minimum": {"integer", "number"}, "multipleOf": {"integer", "number"},
	"exclusiveMaximum": {"integer", "number"}, "exclusiveMinimum": {"integer", "number"},
	"maxLength": {"string"}, "minLength": {"string"}, "pattern": {"string"},
	"maxItems": {"array"}, "minItems": {"array"}, "uniqueItems": {"array"},
	"maxProperties": {"object"}, "minProperties": {"object"},
}

// applyMarker applies a marker with that name below its prefix, and returns what is wrong with it.
func applyMarker(n *node, name string, m marker.CRDMarker, t *model.CRDType) string {
	key := strings.ToLower(name[:1]) + name[1:]
	if types := limitTypes[key]; types != nil {
		_, intOrString := n.keys[intOrStringKey]
		if !slices.Contains(types, n.typ()) && (types[0] != "string" || !intOrString) {
			return "is for " + strings.Join(types, " or ") + ", not for " + describeType(n)
		}
		if f, ok := m.Value.(float64); ok {
			if math.IsInf(f, 0) || math.IsNaN(f) || f != math.Trunc(f) && n.typ() == "integer" {
				return fmt.Sprintf("has the value %v, which %s can't have", f, describeType(n))
			}
		}
		n.set(key, m.Value, m.Pos)
		return ""
	}
	switch name {
	case "Enum":
		delete(n.keys, "enum")
		if values := m.Value.([]any); len(values) > 0 {
			n.set("enum", values, m.Pos)
		}
	case "Format", "Type":
		n.set(key, m.Value, m.Pos)
	case "nullable":
		n.set("nullable", true, m.Pos)
	case "XPreserveUnknownFields", "kubebuilder:pruning:PreserveUnknownFields":
		n.set(preserveKey, true, m.Pos)
	case "XEmbeddedResource", "EmbeddedResource":
		n.set("x-kubernetes-embedded-resource", true, m.Pos)
	case "XIntOrString":
		n.set(intOrStringKey, true, m.Pos)
	case "default", "kubebuilder:default":
		if object, ok := m.Value.(map[string]any); ok && len(object) == 0 && n.typ() == "array" &&
			name != "default" {
			n.keys["default"] = keyed{[]any{}, m.Pos}
		} else if m.Value != nil {
			n.keys["default"] = keyed{m.Value, m.Pos}
		}
	case "kubebuilder:example":
		n.keys["example"] = keyed{m.Value, m.Pos}
	case "kubebuilder:title":
		if _, ok := m.Value.(string); !ok {
			return "takes a string; quote it"
		}
		n.set("title", m.Value, m.Pos)
	case "kubebuilder:externalDocs":
		if _, err := url.ParseRequestURI(m.Text("url")); err != nil {
			return fmt.Sprintf("has no URL: %v", err)
		}
		n.keys["externalDocs"] = keyed{nonEmpty(m.Args), m.Pos}
	default:
		return applyList(n, name, m, t)
	}
	return ""
}

// applyList is applyMarker for markers about lists, maps, enumerations, and rules.
func applyList(n *node, name string, m marker.CRDMarker, t *model.CRDType) string {
	value, _ := m.Value.(string)
	switch name {
	case "listType":
		if n.typ() != "array" {
			return "is for a list, not for " + describeType(n)
		}
		if !slices.Contains([]string{"map", "set", "atomic"}, value) {
			return "takes map, set or atomic"
		}
		n.set("x-kubernetes-list-type", value, m.Pos)
	case "listMapKey":
		if n.text("x-kubernetes-list-type") != "map" {
			return "is for a list with +listType=map"
		}
		keys, _ := n.keys["x-kubernetes-list-map-keys"].value.([]any)
		if !slices.Contains(keys, any(value)) {
			n.keys["x-kubernetes-list-map-keys"] = keyed{append(slices.Clip(keys), value), m.Pos}
		}
	case "mapType", "structType":
		if n.typ() != "object" && (n.typ() != "" || name == "mapType") {
			return "is for an object, not for " + describeType(n)
		}
		if value != "atomic" && value != "granular" {
			return "takes atomic or granular"
		}
		n.set("x-kubernetes-map-type", value, m.Pos)
	case "required":
		if strings.HasPrefix(m.Name, "k8s:") {
			n.requireContent(m)
		}
	case "enum":
		return applyEnum(n, m, t)
	case "immutable":
		n.rules = append(n.rules, keyed{map[string]any{"rule": "self == oldSelf", "message": "field is immutable"},
			m.Pos})
	case "XValidation":
		reasons := []string{"FieldValueRequired", "FieldValueInvalid", "FieldValueForbidden", "FieldValueDuplicate"}
		if reason := m.Text("reason"); reason != "" && !slices.Contains(reasons, reason) {
			return fmt.Sprintf("has the reason %q; servers know %s%s", reason, strings.Join(reasons, ", "),
				marker.Suggest(reason, reasons))
		}
		rule := nonEmpty(m.Args)
		rule["rule"] = m.Text("rule")
		n.rules = append(n.rules, keyed{rule, m.Pos})
	case "AtMostOneOf", "ExactlyOneOf", "AtLeastOneOf":
		n.oneOf(name, m)
	}
	return ""
}

// nonEmpty returns the arguments of a marker but for empty strings, which are left out of definitions.
func nonEmpty(args map[string]any) map[string]any {
	given := map[string]any{}
	for arg, value := range args {
		if value != "" {
			given[arg] = value
		}
	}
	return given
}

// requireContent sets the limit by which a required value isn't empty, unless there is one.
func (n *node) requireContent(m marker.CRDMarker) {
	key := map[string]string{"string": "minLength", "array": "minItems", "object": "minProperties"}[n.typ()]
	if key == "" && n.ref != nil { // of whatever type, as controller-gen does it
		key = "minProperties"
	}
	if _, ok := n.keys[key]; key != "" && !ok {
		n.keys[key] = keyed{1, m.Pos}
	}
}

// applyEnum sets the values of an enumeration: the string constants of the type.
func applyEnum(n *node, m marker.CRDMarker, t *model.CRDType) string {
	switch {
	case t == nil || !slices.ContainsFunc(t.Markers, func(o marker.CRDMarker) bool { return o.Pos == m.Pos }):
		return "is for types, not for fields"
	case n.typ() != "string":
		return "is for types that are strings, not for " + describeType(n)
	case len(t.Values) == 0:
		return "is for a type with constants, but there is none that is a string literal of the type " + t.Name
	}
	var values []any
	for _, value := range slices.SortedFunc(slices.Values(t.Values), func(a, b string) int {
		return strings.Compare(jsonOf(a), jsonOf(b))
	}) {
		values = append(values, value)
	}
	n.set("enum", values, m.Pos)
	return ""
}

// oneOf adds the rule of a marker for fields of which some exclude each other.
func (n *node) oneOf(name string, m marker.CRDMarker) {
	fields := m.Value.([]any)
	if len(fields) == 0 {
		return
	}
	join := func(format, separator string) string {
		var terms []string
		for _, field := range fields {
			terms = append(terms, fmt.Sprintf(format, field))
		}
		return strings.Join(terms, separator)
	}
	rule, message := join("(has(self.%s)?1:0)", "+")+" <= 1", "at most one of the fields in %v may be set"
	switch name {
	case "ExactlyOneOf":
		rule, message = join("(has(self.%s)?1:0)", "+")+" == 1", "exactly one of the fields in %v must be set"
	case "AtLeastOneOf":
		rule, message = join("has(self.%s)", "||"), "at least one of the fields in %v must be set"
	}
	message = fmt.Sprintf(message, fields)
	n.rules = append(n.rules, keyed{map[string]any{"rule": rule, "message": message}, m.Pos})
}
