package crd

import (
	"encoding/json"
	"go/token"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	yaml2 "go.yaml.in/yaml/v2"
	"go.yaml.in/yaml/v3"
)

// Definitions made of types are trees of YAML, like those that are read from manifests, so that the same
// checks run over both. Their positions are those of types, fields and markers: the field HeadComment of a
// node, which these trees have no other use for, is the name of the file.

// at sets the position of a node.
func at(n *yaml.Node, pos token.Position) *yaml.Node {
	n.HeadComment, n.Line, n.Column = pos.Filename, pos.Line, pos.Column
	return n
}

// treeOf returns a value as a tree: a string, bool, number, []any, map[string]any, keyed, or a tree.
func treeOf(value any, pos token.Position) *yaml.Node {
	scalar := func(tag, text string) *yaml.Node {
		return at(&yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: text}, pos)
	}
	switch value := value.(type) {
	case *yaml.Node:
		return value
	case keyed:
		return treeOf(value.value, value.pos)
	case string:
		n := scalar("!!str", value)
		n.Style = yaml.DoubleQuotedStyle
		return n
	case bool:
		return scalar("!!bool", strconv.FormatBool(value))
	case []any:
		n := at(&yaml.Node{Kind: yaml.SequenceNode}, pos)
		for _, item := range value {
			n.Content = append(n.Content, treeOf(item, pos))
		}
		return n
	case map[string]any:
		n := at(&yaml.Node{Kind: yaml.MappingNode}, pos)
		for _, key := range slices.Sorted(maps.Keys(value)) {
			child := treeOf(value[key], pos)
			name := treeOf(key, token.Position{Filename: child.HeadComment, Line: child.Line, Column: child.Column})
			n.Content = append(n.Content, name, child)
		}
		return n
	}
	text := jsonOf(value) // a number
	if strings.ContainsAny(text, ".eE") {
		return scalar("!!float", text)
	}
	return scalar("!!int", text)
}

// plain returns a tree as values that YAML is written from. Trees share parts, and so do the values.
func plain(n *yaml.Node, made map[*yaml.Node]any) any {
	switch n.Kind {
	case yaml.MappingNode:
		if object, ok := made[n]; ok {
			return object
		}
		object := make(map[string]any, len(n.Content)/2)
		for i := 0; i < len(n.Content); i += 2 {
			object[n.Content[i].Value] = plain(n.Content[i+1], made)
		}
		made[n] = object
		return object
	case yaml.SequenceNode:
		items := make([]any, len(n.Content))
		for i, item := range n.Content {
			items[i] = plain(item, made)
		}
		return items
	}
	switch n.Tag {
	case "!!bool":
		return n.Value == "true"
	case "!!int", "!!float":
		return number(n.Value)
	}
	return n.Value
}

// number returns a number of JSON as YAML has it.
func number(text string) any {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	if n, err := strconv.ParseUint(text, 10, 64); err == nil {
		return n
	}
	n, _ := json.Number(text).Float64()
	return n
}

// yamlOf returns a tree as a document of YAML, with the text of sigs.k8s.io/yaml.
func yamlOf(n *yaml.Node) ([]byte, error) {
	text, err := yaml2.Marshal(plain(n, map[*yaml.Node]any{}))
	return append([]byte("---\n"), text...), err
}

// schemaTrees makes trees of schemas.
type schemaTrees struct {
	made map[*node]*yaml.Node
	// maxDescription is the length of the longest description in bytes, less than zero for no limit.
	maxDescription int
}

// tree returns the tree of a merged schema. above is the position of what has it.
func (t schemaTrees) tree(n *node, above token.Position) *yaml.Node {
	if tree, ok := t.made[n]; ok {
		return tree
	}
	pos := n.pos
	if !pos.IsValid() {
		pos = above
	}
	fields := map[string]any{}
	for key, value := range n.keys {
		if !value.pos.IsValid() {
			value.pos = pos
		}
		fields[key] = value
	}
	if text, ok := n.keys["description"]; ok {
		if text.value = shorten(n.text("description"), t.maxDescription); text.value == "" {
			delete(fields, "description")
		} else {
			fields["description"] = text
		}
	}
	if len(n.required) > 0 {
		var names []any
		for _, name := range n.required {
			names = append(names, name)
		}
		fields["required"] = names
	}
	if len(n.rules) > 0 {
		var rules []any
		for _, rule := range n.rules {
			rules = append(rules, rule)
		}
		fields["x-kubernetes-validations"] = rules
	}
	if len(n.properties) > 0 {
		properties := map[string]any{}
		for name, property := range n.properties {
			properties[name] = t.tree(property, pos)
		}
		fields["properties"] = properties
	}
	if n.items != nil {
		fields["items"] = t.tree(n.items, pos)
	}
	if n.values != nil {
		fields["additionalProperties"] = t.tree(n.values, pos)
	} else if n.anyValues {
		fields["additionalProperties"] = true
	}
	for key, parts := range map[string][]*node{"allOf": n.allOf, "anyOf": n.anyOf} {
		if len(parts) > 0 {
			var trees []any
			for _, part := range parts {
				trees = append(trees, t.tree(part, pos))
			}
			fields[key] = trees
		}
	}
	tree := treeOf(fields, pos)
	t.made[n] = tree
	return tree
}

// shorten cuts a description off: after the last sentence that fits, or before the last white space.
func shorten(text string, limit int) string {
	if limit < 0 || len(text) <= limit {
		return text
	}
	text = text[:limit]
	if i := strings.LastIndexFunc(text, func(r rune) bool { return unicode.Is(unicode.STerm, r) }); i > 0 {
		return text[:i+1]
	}
	if i := strings.LastIndexFunc(text, unicode.IsSpace); i > 0 {
		return text[:i] + "..."
	}
	if limit == 0 {
		return ""
	}
	return text + "..."
}
