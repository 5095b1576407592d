package marker

import (
	"go/token"
	"strings"
)

// The tags of defaulter-gen. The first selects types in doc.go, is true or false above a type, and
// is covers above a function.
const (
	DefaultsTag      = "k8s:defaulter-gen"
	defaultsInputTag = DefaultsTag + "-input"
)

// Defaults is the meaning of defaulter-gen's tags in a package's doc.go.
type Defaults struct {
	// On is true if the package asks for functions that set defaults. Fields are the values of the
	// tag: types with a field of one of these names get a function.
	On     bool
	Fields []string
	// Pos is the position of the tag.
	Pos token.Position
	// Input is the import path of the package that has the types, "" if it is the package itself.
	Input    string
	InputPos token.Position
}

// ParseDefaults parses the tags of doc.go. Tags that upstream refuses are errors for every command.
func ParseDefaults(tags []Tag) (Defaults, Problems) {
	var p tagParser
	var d Defaults
	values, problems := Values(tags, DefaultsTag)
	p.Problems = problems
	off := func(v Value) bool { return v.Text == "false" }
	for _, v := range values {
		if off(v) != off(values[0]) {
			p.Errorf(v.Pos, "+%s is both false and another value; remove one", DefaultsTag)
		}
		if d.Pos = v.Pos; !off(v) {
			d.On, d.Fields = true, append(d.Fields, v.Text)
		}
	}
	inputs, problems := Values(tags, defaultsInputTag)
	p.Problems = append(p.Problems, problems...)
	for i, v := range inputs {
		switch {
		case i > 0:
			p.Errorf(v.Pos, "+%s is given twice; remove one", defaultsInputTag)
		case strings.HasPrefix(v.Text, "./") || strings.HasPrefix(v.Text, "../"):
			p.Errorf(v.Pos, "+%s takes an import path, not the folder %s", defaultsInputTag, v.Text)
		default:
			d.Input, d.InputPos = v.Text, v.Pos
		}
	}
	return d, p.Problems
}

// Value is the value of a tag.
type Value struct {
	Text string
	// Pos is the position of the tag.
	Pos token.Position
}

// Values returns the values of all tags of a name, by the grammar of gengo's codetags.
func Values(tags []Tag, name string) ([]Value, Problems) {
	var p tagParser
	var values []Value
	for _, tag := range tags {
		if codetag(tag.Text) != name {
			continue
		}
		if text, ok := p.codetagValue(tag, name); ok {
			values = append(values, Value{text, tag.Pos})
		}
	}
	return values, p.Problems
}
