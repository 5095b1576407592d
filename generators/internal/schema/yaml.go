package schema

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// YAML returns the schema as YAML, sorted by type, with one line for each field so that
// changes make short diffs. The text has no backtick, so it fits into a raw string of Go.
func (s Schema) YAML() string {
	// A copy: the caller may go on adding types.
	types := maps.Clone(s)
	types.addCommon()
	var b strings.Builder
	b.WriteString("types:\n")
	for _, name := range slices.Sorted(maps.Keys(types)) {
		b.WriteString("- name: " + quote(name) + "\n")
		atom := types[name]
		// The fields of a named type get a line each; inline types are on one line.
		object := atom.Map
		if object != nil && len(object.Fields) > 0 {
			atom.Map = nil
		}
		for _, entry := range atomEntries(atom) {
			b.WriteString("  " + entry + "\n")
		}
		if object == atom.Map {
			continue
		}
		b.WriteString("  map:\n    fields:\n")
		for _, f := range object.Fields {
			b.WriteString("    - " + flow(fieldEntries(f)) + "\n")
		}
		for _, entry := range restEntries(object) {
			b.WriteString("    " + entry + "\n")
		}
	}
	return b.String()
}

// flow returns a mapping in YAML's flow style.
func flow(entries []string) string { return "{" + strings.Join(entries, ", ") + "}" }

// flowList returns a list in YAML's flow style.
func flowList[T any](items []T, text func(T) string) string {
	var texts []string
	for _, item := range items {
		texts = append(texts, text(item))
	}
	return "[" + strings.Join(texts, ", ") + "]"
}

// atomEntries returns the entries of the mapping for an atom.
func atomEntries(a Atom) []string {
	var entries []string
	if a.Scalar != "" {
		entries = append(entries, "scalar: "+a.Scalar)
	}
	if a.List != nil {
		list := []string{"elementType: " + flow(refEntries(a.List.Element))}
		list = appendRelationship(list, a.List.Relationship)
		if len(a.List.Keys) > 0 {
			list = append(list, "keys: "+flowList(a.List.Keys, quote))
		}
		entries = append(entries, "list: "+flow(list))
	}
	if a.Map != nil {
		var object []string
		if len(a.Map.Fields) > 0 {
			object = append(object, "fields: "+flowList(a.Map.Fields,
				func(f Field) string { return flow(fieldEntries(f)) }))
		}
		entries = append(entries, "map: "+flow(append(object, restEntries(a.Map)...)))
	}
	return entries
}

// fieldEntries returns the entries of the mapping for a field. JSON is YAML, so the default
// can be copied.
func fieldEntries(f Field) []string {
	entries := []string{"name: " + quote(f.Name), "type: " + flow(refEntries(f.Type))}
	if f.Default != "" {
		entries = append(entries, "default: "+escapeBacktick(f.Default))
	}
	return entries
}

// restEntries returns the entries of the mapping for an object, except its fields.
func restEntries(m *Map) []string {
	var entries []string
	if len(m.Unions) > 0 {
		entries = append(entries, "unions: "+flowList(m.Unions, union))
	}
	if !m.Element.IsZero() {
		entries = append(entries, "elementType: "+flow(refEntries(m.Element)))
	}
	return appendRelationship(entries, m.Relationship)
}

// union returns the mapping for a union.
func union(u Union) string {
	var entries []string
	if u.Discriminator != "" {
		entries = append(entries, "discriminator: "+quote(u.Discriminator))
	}
	return flow(append(entries, "fields: "+flowList(u.Fields, func(f [2]string) string {
		return flow([]string{"fieldName: " + quote(f[0]), "discriminatorValue: " + quote(f[1])})
	})))
}

// refEntries returns the entries of the mapping for a type: a name or an inline type.
func refEntries(r Ref) []string {
	var entries []string
	if r.Name != "" {
		entries = append(entries, "namedType: "+quote(r.Name))
	}
	return appendRelationship(append(entries, atomEntries(r.Inline)...), r.Relationship)
}

// appendRelationship appends the entry for a relationship, unless it is the default.
func appendRelationship(entries []string, r string) []string {
	if r == "" {
		return entries
	}
	return append(entries, "elementRelationship: "+r)
}

// reserved are the words that YAML 1.1 reads as booleans or null.
var (
	plain    = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*$`)
	reserved = regexp.MustCompile(`(?i)^(y|n|yes|no|on|off|true|false|null)$`)
)

// quote quotes strings that YAML would parse as something else. A JSON string is a YAML
// string.
func quote(s string) string {
	if plain.MatchString(s) && !reserved.MatchString(s) {
		return s
	}
	return jsonString(s)
}

// jsonString returns a quoted string.
func jsonString(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string can be marshalled
	}
	return escapeBacktick(string(text))
}

// escapeBacktick escapes backticks in JSON, where they occur in strings only.
func escapeBacktick(text string) string { return strings.ReplaceAll(text, "`", `\u0060`) }
