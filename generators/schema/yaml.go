package schema

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// YAML is the schema as text, its types sorted by name. It holds no backtick.
func (s Schema) YAML() string {
	types := maps.Clone(s)
	types.addCommon()
	w := writer{}
	w.line(0, "types:")
	for _, name := range slices.Sorted(maps.Keys(types)) {
		w.line(0, "- name: "+quote(name))
		w.atom(1, types[name])
	}
	return w.String()
}

// writer writes lines of YAML, two blanks a level.
type writer struct{ strings.Builder }

func (w *writer) line(level int, text string) {
	for range level {
		w.WriteString("  ")
	}
	w.WriteString(text)
	w.WriteByte('\n')
}

func (w *writer) atom(level int, a Atom) {
	if a.Scalar != "" {
		w.line(level, "scalar: "+a.Scalar)
	}
	if a.List != nil {
		w.line(level, "list:")
		w.ref(level+1, "elementType:", a.List.Element)
		w.relationship(level+1, a.List.Relationship)
		if len(a.List.Keys) > 0 {
			w.line(level+1, "keys:")
			for _, key := range a.List.Keys {
				w.line(level+1, "- "+quote(key))
			}
		}
	}
	if a.Map != nil {
		w.object(level, a.Map)
	}
}

func (w *writer) object(level int, m *Map) {
	if len(m.Fields)+len(m.Unions) == 0 && m.Element.IsZero() && m.Relationship == "" {
		w.line(level, "map: {}")
		return
	}
	w.line(level, "map:")
	if len(m.Fields) > 0 {
		w.line(level+1, "fields:")
	}
	for _, f := range m.Fields {
		w.line(level+1, "- name: "+quote(f.Name))
		w.ref(level+2, "type:", f.Type)
		if f.Default != "" {
			w.line(level+2, "default: "+escapeBacktick(f.Default))
		}
	}
	if len(m.Unions) > 0 {
		w.line(level+1, "unions:")
	}
	for _, u := range m.Unions {
		w.union(level+1, u)
	}
	if !m.Element.IsZero() {
		w.ref(level+1, "elementType:", m.Element)
	}
	w.relationship(level+1, m.Relationship)
}

func (w *writer) union(level int, u Union) {
	bullet := "- "
	if u.Discriminator != "" {
		w.line(level, bullet+"discriminator: "+quote(u.Discriminator))
		bullet = "  "
	}
	w.line(level, bullet+"fields:")
	for _, f := range u.Fields {
		w.line(level+1, "- fieldName: "+quote(f[0]))
		w.line(level+1, "  discriminatorValue: "+quote(f[1]))
	}
}

func (w *writer) ref(level int, key string, r Ref) {
	w.line(level, key)
	if r.Name != "" {
		w.line(level+1, "namedType: "+quote(r.Name))
	}
	w.atom(level+1, r.Inline)
	w.relationship(level+1, r.Relationship)
}

func (w *writer) relationship(level int, r string) {
	if r != "" {
		w.line(level, "elementRelationship: "+r)
	}
}

var (
	plain    = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*$`)
	reserved = regexp.MustCompile(`(?i)^(y|n|yes|no|on|off|true|false|null)$`)
)

// quote quotes what YAML would take for something other than a string. JSON's
// quotes are YAML's.
func quote(s string) string {
	if plain.MatchString(s) && !reserved.MatchString(s) {
		return s
	}
	return jsonString(s)
}

func jsonString(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // strings can be marshalled
	}
	return escapeBacktick(string(text))
}

// escapeBacktick makes JSON fit into a raw string of Go.
func escapeBacktick(text string) string { return strings.ReplaceAll(text, "`", `\u0060`) }
