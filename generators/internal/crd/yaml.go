package crd

import (
	"encoding/json"
	"fmt"
	"go/token"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"

	"github.com/kubewright/kubewright/generators/internal/marker"
)

// Source is a file of manifests: YAML, or JSON, which is YAML.
type Source struct {
	// Name is the name of the file in problems.
	Name string
	Text []byte
}

// reader collects the problems of a source.
type reader struct {
	marker.Reporter
	file string
	// visits counts the values that were read, long ones several times: aliases can make a short text endless.
	// maxVisits limits them.
	visits, maxVisits int
	// reported are the problems that were reported: a value has each of them once, even if several aliases
	// refer to it.
	reported map[problemOf]bool
	// fromTypes is true for a definition that was made of types; see tree.go.
	fromTypes bool
}

// problemOf is a message about a value, or about a field that it lacks. step is the last step of the path.
type problemOf struct {
	*yaml.Node
	step, message string
}

// endless reports whether the source was found, and reported, to be too big.
func (r *reader) endless() bool { return r.visits > 2*r.maxVisits }

// The limits for reading manifests. Those of an API server (3 MB for an object) are far below.
const (
	maxDepth = 100
	// visitText is how many bytes of text count as a visit: of a path, of which each value has a copy, and of
	// a scalar, which is copied wherever an alias refers to it.
	visitText = 256
	// maxMessage is the length at which messages are cut off: values can have any length.
	maxMessage = 2000
)

// newReader returns a reader. A text has fewer values than bytes, and each is read a few times at most.
func newReader(source Source) *reader {
	return &reader{file: source.Name, maxVisits: 1<<17 + 4*len(source.Text), reported: map[problemOf]bool{}}
}

// errors counts the problems that are not just warnings.
func (r *reader) errors() (n int) {
	for _, p := range r.Problems {
		if !p.Warning {
			n++
		}
	}
	return n
}

// value is a value of a manifest, and where it is.
type value struct {
	*yaml.Node
	r     *reader
	path  string
	depth int
}

// resolve follows an alias.
func (v value) resolve() value {
	for v.Kind == yaml.AliasNode {
		v.Node = v.Alias
	}
	return v
}

func (v value) pos() token.Position {
	if v.r.fromTypes {
		return token.Position{Filename: v.HeadComment, Line: v.Line, Column: v.Column}
	}
	return token.Position{Filename: v.r.file, Line: v.Line, Column: v.Column}
}

// errorf reports a problem of the value, with its path in the manifest.
func (v value) errorf(format string, args ...any) { v.report(false, format, args...) }

func (v value) report(warning bool, format string, args ...any) {
	if v.r.endless() {
		return
	}
	message := fmt.Sprintf(format, args...)
	if len(message) > maxMessage {
		message = strings.ToValidUTF8(message[:maxMessage], "") + "..."
	}
	path := v.path
	problem := problemOf{v.Node, path[max(0, strings.LastIndexAny(path, ".[")):], message}
	if v.r.reported[problem] {
		return
	}
	v.r.reported[problem] = true
	if n := len(path); n > 500 {
		path = path[:200] + "..." + path[n-200:]
	}
	if path != "" {
		message = path + ": " + message
	}
	v.r.Report(warning, v.pos(), "%s", message)
}

func (v value) isNull() bool { return v.Kind == yaml.ScalarNode && v.ShortTag() == "!!null" }

// empty reports whether servers treat the value like a missing field.
func (v value) empty() bool {
	if v.Kind != yaml.ScalarNode {
		return len(v.Content) == 0
	}
	parsed := v.json()
	return parsed == nil || parsed == "" || parsed == false
}

// child is a value inside this one.
func (v value) child(node *yaml.Node, step string) value {
	if v.path == "" {
		step = strings.TrimPrefix(step, ".")
	}
	return value{node, v.r, v.path + step, v.depth + 1}.resolve()
}

// entry is a value of an object, and its key.
type entry struct {
	key string
	value
}

// plainKey matches the keys that need no quotes in a path.
var plainKey = regexp.MustCompile(`^[\w$-]+$`)

// tooBig counts visits, and reports once that there are too many.
func (v value) tooBig(visits int) bool {
	switch {
	case v.r.endless():
		return true
	case v.r.visits+visits <= v.r.maxVisits && v.depth <= maxDepth:
		v.r.visits += visits
		return false
	}
	v.errorf("too big or too deep; are there aliases of aliases?")
	v.r.visits = 2*v.r.maxVisits + 1
	return true
}

// content returns the visits for the values inside an object or a list. Each of them has a copy of this path.
func (v value) content() int { return len(v.Content) * (1 + len(v.path)/visitText) }

// entries returns the entries of an object, none for null. Anything else is reported.
func (v value) entries() []entry {
	if v.isNull() {
		return nil
	}
	if v.Kind != yaml.MappingNode {
		v.errorf("is %s, not an object", v.kind())
		return nil
	}
	if v.tooBig(v.content()) {
		return nil
	}
	var all []entry
	lines := map[string]int{}
	for i := 0; i+1 < len(v.Content); i += 2 {
		key := v.Content[i]
		step := "." + key.Value
		if !plainKey.MatchString(key.Value) {
			step = "[" + strconv.Quote(key.Value) + "]"
		}
		at := v.child(key, step)
		switch {
		case key.Kind != yaml.ScalarNode || key.ShortTag() == "!!merge":
			at.errorf("not a plain key; write the object out")
			continue
		case key.Style == 0 && oldBool.MatchString(key.Value):
			at.errorf("kubectl reads this key as true or false; quote it")
			continue
		case lines[key.Value] > 0:
			at.errorf("given twice, first in line %d; remove one", lines[key.Value])
			continue
		}
		lines[key.Value] = key.Line
		child := v.child(v.Content[i+1], step)
		all = append(all, entry{key.Value, child})
	}
	return all
}

// field returns a field of an object. It doesn't check the others: the object may be for another tool.
func (v value) field(key string) (field value, ok bool) {
	if v.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(v.Content); i += 2 {
			if v.Content[i].Value == key {
				return v.child(v.Content[i+1], "."+key), true
			}
		}
	}
	return value{}, false
}

// is reports whether the value is a string that begins with prefix.
func (v value) is(prefix string) bool {
	return v.Kind == yaml.ScalarNode && strings.HasPrefix(v.Value, prefix)
}

// object returns the entries of an object by key.
func (v value) object() map[string]value {
	all := map[string]value{}
	for _, e := range v.entries() {
		all[e.key] = e.value
	}
	return all
}

// list returns the items of a list, none for null. Anything else is reported.
func (v value) list() []value {
	if v.isNull() {
		return nil
	}
	if v.Kind != yaml.SequenceNode {
		v.errorf("is %s, not a list", v.kind())
		return nil
	}
	if v.tooBig(v.content()) {
		return nil
	}
	var items []value
	for i, node := range v.Content {
		items = append(items, v.child(node, "["+strconv.Itoa(i)+"]"))
	}
	return items
}

// text returns a string, "" for null. Anything else is reported.
func (v value) text() string {
	switch s, ok := v.json().(string); {
	case ok:
		return s
	case !v.isNull():
		v.errorf("is %s, not a string", v.kind())
	}
	return ""
}

// line returns a string that can stand in a line of a comment. One that can't is reported.
func (v value) line() string {
	text := v.text()
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		v.errorf("%q has a character that can't stand in a comment", text)
	}
	return text
}

// lines returns a list of strings of which each can stand in a line of a comment.
func (v value) lines() []string {
	var texts []string
	for _, item := range v.list() {
		texts = append(texts, item.line())
	}
	return texts
}

// texts returns a list of strings.
func (v value) texts() []string {
	var texts []string
	for _, item := range v.list() {
		texts = append(texts, item.text())
	}
	return texts
}

// flag returns a boolean, false for null. Anything else is reported.
func (v value) flag() bool {
	switch b, ok := v.json().(bool); {
	case ok:
		return b
	case !v.isNull():
		v.errorf("is %s, not true or false", v.kind())
	}
	return false
}

// oldBool matches the plain words that kubectl, whose YAML is 1.1, reads as booleans.
var oldBool = regexp.MustCompile(`^(?:(y|Y|yes|Yes|YES|on|On|ON)|n|N|no|No|NO|off|Off|OFF)$`)

// json returns the value as kubectl sends it: with json.Number for numbers.
func (v value) json() any {
	switch v.Kind {
	case yaml.MappingNode:
		object := map[string]any{}
		for _, e := range v.entries() {
			object[e.key] = e.json()
		}
		return object
	case yaml.SequenceNode:
		list := []any{}
		for _, item := range v.list() {
			list = append(list, item.json())
		}
		return list
	}
	if v.tooBig(len(v.Value) / visitText) {
		return nil
	}
	if m := oldBool.FindStringSubmatch(v.Value); m != nil && v.Style == 0 {
		return m[1] != ""
	}
	switch v.ShortTag() {
	case "!!null":
		return nil
	case "!!str", "!!timestamp", "!!binary":
		return v.Value
	}
	var parsed any
	if v.Decode(&parsed) != nil {
		v.errorf("%q is no value of the type %s", v.Value, v.ShortTag())
		return nil
	}
	text, err := json.Marshal(parsed)
	if err != nil { // an infinite number
		v.errorf("%s is nothing that JSON has", v.Value)
		return nil
	}
	if text[0] == 't' || text[0] == 'f' {
		return parsed
	}
	return json.Number(text)
}

// kind describes a value, for problems.
func (v value) kind() string {
	switch v.Kind {
	case yaml.MappingNode:
		return "an object"
	case yaml.SequenceNode:
		return "a list"
	}
	switch v.json().(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean (" + v.Value + ")"
	case json.Number:
		return "a number (" + v.Value + ")"
	}
	return "a string"
}
