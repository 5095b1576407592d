package marker

import (
	"go/token"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Method is one +genclient:method=Name,verb=...,subresource=...,input=...,result=...
type Method struct {
	Name, Verb, Subresource string
	// Input and Result are type names, "Scale" or
	// "k8s.io/api/autoscaling/v1.Scale", or "".
	Input, Result string
	// Pos is the tag's place; InputPos and ResultPos those of the two types.
	Pos, InputPos, ResultPos token.Position
}

// methodVerbs are the verbs that an extra method can have, all of which may
// have a result; inputVerbs are those where input= is allowed.
var (
	methodVerbs = []string{"create", "update", "get", "list", "patch", "apply"}
	inputVerbs  = []string{"create", "update", "apply"}
	methodKeys  = []string{"verb", "subresource", "input", "result"}
)

// method reads one method tag. Blanks are allowed around names and values.
func (p *reader) method(tag Tag) Method {
	m := Method{Pos: tag.Pos}
	before := len(p.problems)
	name, rest, more := strings.Cut(tag.Value, ",")
	m.Name = strings.TrimSpace(name)
	switch {
	case m.Name == "":
		p.fail(tag.Pos, "+genclient:method names no method; write +genclient:method=Name,verb=create")
	case !token.IsIdentifier(m.Name) || !token.IsExported(m.Name):
		p.fail(tag.ValueAt(0), "method name %q is not an exported Go identifier", m.Name)
	}
	if more {
		p.methodKeys(tag, &m, rest, len(name)+1)
	}
	if len(p.problems) == before || m.Verb != "" {
		p.methodVerb(m, rest)
	}
	return m
}

// methodKeys reads the part key=value,key=value of a method tag, which starts
// at the byte at of the tag's value.
func (p *reader) methodKeys(tag Tag, m *Method, keys string, at int) {
	seen := map[string]bool{}
	for part := range strings.SplitSeq(keys, ",") {
		name, value, ok := strings.Cut(part, "=")
		here, there := tag.ValueAt(at), tag.ValueAt(at+len(name)+1)
		at += len(part) + 1
		key, value := strings.TrimSpace(name), strings.TrimSpace(value)
		switch {
		case !ok || strings.Contains(value, "="):
			p.fail(here, "%q in +genclient:method is not key=value", strings.TrimSpace(part))
			continue
		case !slices.Contains(methodKeys, key):
			p.fail(here, "unknown key %q in +genclient:method%s", key, Suggest(key, methodKeys))
			continue
		case value == "":
			p.fail(here, "%s= of method %s has no value", key, m.Name)
		case seen[key]:
			p.lax(here, "%s= of method %s is given twice and the last one counts; remove one", key, m.Name)
		}
		seen[key] = true
		switch key {
		case "verb":
			m.Verb = value
		case "subresource":
			m.Subresource = value
		case "input":
			m.Input, m.InputPos = value, there
		case "result":
			m.Result, m.ResultPos = value, there
		}
	}
}

// methodVerb checks that the verb is one for methods, and that it suits input=.
// keys is what the tag says after the name.
func (p *reader) methodVerb(m Method, keys string) {
	switch {
	case m.Verb == "":
		if keys != "" {
			keys = "," + keys
		}
		p.fail(m.Pos, "method %s has no verb; write +genclient:method=%s,verb=%s%s", m.Name, m.Name, m.likelyVerb(), keys)
	case slices.Contains(methodVerbs, m.Verb):
		if m.Input != "" && !slices.Contains(inputVerbs, m.Verb) {
			p.fail(m.InputPos, "input= of method %s has no place in verb %q; only %s take one", m.Name, m.Verb, strings.Join(inputVerbs, ", "))
		}
	case slices.Contains(Verbs, m.Verb):
		p.fail(m.Pos, "method %s can't have verb %q; methods have one of %s", m.Name, m.Verb, strings.Join(methodVerbs, ", "))
	default:
		p.fail(m.Pos, "unknown verb %q of method %s%s", m.Verb, m.Name, Suggest(m.Verb, methodVerbs))
	}
}

// likelyVerb is the verb that a method's name begins with, "create" when it
// begins with another word.
func (m Method) likelyVerb() string {
	for _, verb := range methodVerbs {
		rest, ok := strings.CutPrefix(m.Name, strings.ToUpper(verb[:1])+verb[1:])
		if first, _ := utf8.DecodeRuneInString(rest); ok && !unicode.IsLower(first) && (m.Input == "" || slices.Contains(inputVerbs, verb)) {
			return verb
		}
	}
	return "create"
}
