package crd

import (
	"go/token"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// oneVersion are fields that servers report below spec, and not below a version, if a definition has one
// version.
var oneVersion = map[string]string{".spec.validation": ".spec.versions[0].schema",
	".spec.subresources":             ".spec.versions[0].subresources",
	".spec.additionalPrinterColumns": ".spec.versions[0].additionalPrinterColumns",
	".spec.selectableFields":         ".spec.versions[0].selectableFields"}

// At returns the position of a field, by its path as servers write it: .name, [index], or [key] of a map. It
// is that of the last part of the path that is there.
func (m *Made) At(path string) token.Position {
	n, rest := m.tree, "."+path
	for field, instead := range oneVersion {
		if after, ok := isBelow(rest, field); ok {
			rest = instead + after
			break
		}
	}
	for {
		var child *yaml.Node
		longest := len(rest) + 1
		for i, c := range n.Content {
			names := []string{"[" + strconv.Itoa(i) + "]"}
			if n.Kind == yaml.MappingNode {
				if i%2 == 1 {
					continue
				}
				c, names = n.Content[i+1], []string{"." + c.Value, "[" + c.Value + "]"}
			}
			for _, name := range names {
				if after, ok := isBelow(rest, name); ok && len(after) < longest {
					child, longest = c, len(after)
				}
			}
		}
		if child == nil {
			return token.Position{Filename: n.HeadComment, Line: n.Line, Column: n.Column}
		}
		n, rest = child, rest[len(rest)-longest:]
	}
}

// isBelow reports whether a path begins with all of a field's, and returns the rest of it.
func isBelow(path, field string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(path, field)
	return rest, ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}
