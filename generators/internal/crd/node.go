package crd

import (
	"go/token"
	"maps"
	"reflect"
	"slices"
)

// node is a schema that is being made of a type. Until it is flattened it may refer to another type.
type node struct {
	pos token.Position
	ref *reference
	// keys are the keywords but for those below.
	keys          map[string]keyed
	rules         []keyed
	properties    map[string]*node
	required      []string
	items, values *node
	anyValues     bool
	allOf, anyOf  []*node
}

// keyed is the value of a keyword, and the position of the marker or the field that gives it.
type keyed struct {
	value any
	pos   token.Position
}

func newNode(pos token.Position, typ, format string) *node {
	n := &node{pos: pos, keys: map[string]keyed{}}
	n.set("type", typ, pos)
	n.set("format", format, pos)
	return n
}

// set sets a keyword. A zero value removes it, as it does for controller-gen, unless it is a number.
func (n *node) set(key string, value any, pos token.Position) {
	if value == "" || value == false {
		delete(n.keys, key)
		return
	}
	n.keys[key] = keyed{value, pos}
}

// text returns a keyword that is a string, "" without it.
func (n *node) text(key string) string {
	text, _ := n.keys[key].value.(string)
	return text
}

func (n *node) typ() string { return n.text("type") }

// clone returns a copy that can be changed. The schemas inside are shared.
func (n *node) clone() *node {
	c := *n
	c.keys, c.properties = maps.Clone(n.keys), maps.Clone(n.properties)
	c.required, c.rules = slices.Clone(n.required), slices.Clone(n.rules)
	c.allOf, c.anyOf = slices.Clone(n.allOf), slices.Clone(n.anyOf)
	return &c
}

// docKeys are the keywords that a field has instead of its type if it has them.
var docKeys = []string{"description", "title", "example", "externalDocs"}

// over returns the schema of a field of a type with that schema: the keywords of both count.
func (n *node) over(typ *node) *node {
	n = n.clone()
	both := newNode(n.pos, "", "")
	for _, key := range docKeys {
		if value, ok := typ.keys[key]; ok {
			both.keys[key] = value
		}
		if value, ok := n.keys[key]; ok {
			both.keys[key] = value
			delete(n.keys, key)
		}
	}
	n.ref = nil
	both.allOf = []*node{typ, n}
	return both
}

// merger merges schemas that count together.
type merger struct {
	done map[*node]*node
	// conflict is called for types that differ.
	conflict func(at token.Position, a, b string)
	// at is the position of the schema whose parts are being merged.
	at token.Position
}

// merge returns a schema in which all of allOf is merged that can be.
func (m *merger) merge(n *node) *node {
	if n == nil {
		return nil
	}
	if merged, ok := m.done[n]; ok {
		return merged
	}
	merged := n.clone()
	merged.allOf = nil
	for _, part := range n.allOf {
		m.at = n.pos
		m.add(merged, part)
	}
	merged.items, merged.values = m.merge(merged.items), m.merge(merged.values)
	for name, property := range merged.properties {
		merged.properties[name] = m.merge(property)
	}
	for i, part := range merged.allOf {
		merged.allOf[i] = m.merge(part)
	}
	m.done[n] = merged
	return merged
}

// The keywords of which two values don't always stay in allOf: the same one twice is one, or the second wins.
var (
	equalKeys = []string{"minProperties", "maxProperties", "format", "pattern", "exclusiveMinimum",
		"exclusiveMaximum", "uniqueItems", "nullable", "x-kubernetes-embedded-resource",
		"x-kubernetes-int-or-string"}
	lastKeys = []string{"x-kubernetes-preserve-unknown-fields", "x-kubernetes-map-type",
		"x-kubernetes-list-type", "x-kubernetes-list-map-keys"}
)

// add merges a schema into n, which nobody else has.
func (m *merger) add(n, more *node) {
	for _, part := range more.allOf {
		m.add(n, part)
	}
	before, after := newNode(n.pos, "", ""), newNode(more.pos, "", "") // what stays apart
	for _, key := range slices.Sorted(maps.Keys(more.keys)) {
		has, found := n.keys[key]
		adds := more.keys[key]
		switch {
		case slices.Contains(docKeys, key):
		case !found || slices.Contains(lastKeys, key):
			n.keys[key] = adds
		case key == "enum", slices.Contains(equalKeys, key) && reflect.DeepEqual(has.value, adds.value):
		case key == "type":
			if has.value != adds.value {
				at := m.at // one of them may be in another module
				if adds.pos.Filename == at.Filename {
					at = adds.pos
				}
				m.conflict(at, has.value.(string), adds.value.(string))
			}
		default:
			before.keys[key], after.keys[key] = has, adds
			delete(n.keys, key)
		}
	}
	if n.items != nil && more.items != nil {
		before.items, after.items, n.items = n.items, more.items, nil
	} else if more.items != nil {
		n.items = more.items
	}
	if len(n.anyOf) > 0 && len(more.anyOf) > 0 {
		before.anyOf, after.anyOf, n.anyOf = n.anyOf, more.anyOf, nil
	} else if len(more.anyOf) > 0 {
		n.anyOf = more.anyOf
	}
	m.addValues(n, more)
	n.rules = append(slices.Clone(more.rules), n.rules...)
	if n.properties == nil {
		n.properties = map[string]*node{}
	}
	for name, property := range more.properties {
		if has := n.properties[name]; has != nil {
			both := has.clone()
			m.add(both, property)
			property = both
		}
		n.properties[name] = property
	}
	n.required = append(n.required, more.required...)
	slices.Sort(n.required)
	n.required = slices.Compact(n.required)
	if len(before.keys) > 0 || before.items != nil || before.anyOf != nil {
		n.allOf = append(n.allOf, before, after)
	}
}

// addValues merges the schemas of the values of maps.
func (m *merger) addValues(n, more *node) {
	switch {
	case more.values == nil:
		n.anyValues = n.anyValues || more.anyValues && n.values == nil
	case n.values == nil && !n.anyValues:
		n.values = more.values
	default:
		values := newNode(n.pos, "", "")
		if n.values != nil {
			values = n.values.clone()
		}
		m.add(values, more.values)
		n.values, n.anyValues = values, false
	}
}
