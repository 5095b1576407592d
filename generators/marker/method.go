package marker

import (
	"go/token"
	"slices"
	"strings"
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

// methodVerbs are the verbs that an extra method can have; inputVerbs and
// resultVerbs those where input= and result= are allowed.
var (
	methodVerbs = []string{"create", "update", "get", "list", "patch", "apply"}
	inputVerbs  = []string{"create", "update", "apply"}
	resultVerbs = []string{"create", "update", "get", "list", "patch", "apply"}
	methodKeys  = []string{"verb", "subresource", "input", "result"}
)

// method reads one method tag. Blanks are allowed around names and values.
func (p *parser) method(tag Tag) Method {
	m := Method{Pos: tag.Pos}
	name, rest, _ := strings.Cut(tag.Value, ",")
	m.Name = strings.TrimSpace(name)
	switch {
	case m.Name == "":
		p.fail(tag.Pos, "+genclient:method names no method; write +genclient:method=Name,verb=create")
	case !token.IsIdentifier(m.Name) || !token.IsExported(m.Name):
		p.fail(tag.ValueAt(0), "method name %q is not an exported Go identifier", m.Name)
	}
	if len(name) == len(tag.Value) {
		rest = ""
	}
	at := len(name) + 1
	seen := map[string]bool{}
	for part := range strings.SplitSeq(rest, ",") {
		if len(name) == len(tag.Value) {
			break
		}
		key, value, ok := strings.Cut(part, "=")
		pos := tag.ValueAt(at + len(key) + 1)
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		switch {
		case !ok || strings.Contains(value, "="):
			p.fail(tag.ValueAt(at), "%q in +genclient:method is not key=value", strings.TrimSpace(part))
		case value == "":
			p.fail(tag.ValueAt(at), "%s= of method %s has no value", key, m.Name)
		case seen[key]:
			p.lax(tag.ValueAt(at), "%s= of method %s is given twice and the last one counts; remove one", key, m.Name)
		}
		seen[key] = true
		switch key {
		case "verb":
			m.Verb = value
		case "subresource":
			m.Subresource = value
		case "input":
			m.Input, m.InputPos = value, pos
		case "result":
			m.Result, m.ResultPos = value, pos
		default:
			if ok {
				p.fail(tag.ValueAt(at), "unknown key %q in +genclient:method%s", key, Suggest(key, methodKeys))
			}
		}
		at += len(part) + 1
	}
	p.methodVerb(m)
	return m
}

// methodVerb checks that the verb exists for methods and that input and result suit it.
func (p *parser) methodVerb(m Method) {
	switch {
	case m.Verb == "":
		p.fail(m.Pos, "method %s has no verb; write +genclient:method=%s,verb=create", m.Name, m.Name)
		return
	case slices.Contains(methodVerbs, m.Verb):
	case slices.Contains(Verbs, m.Verb):
		p.fail(m.Pos, "method %s can't have verb %q; methods have one of %s", m.Name, m.Verb, strings.Join(methodVerbs, ", "))
		return
	default:
		p.fail(m.Pos, "unknown verb %q of method %s%s", m.Verb, m.Name, Suggest(m.Verb, methodVerbs))
		return
	}
	if m.Input != "" && !slices.Contains(inputVerbs, m.Verb) {
		p.fail(m.InputPos, "input= of method %s has no place in verb %q; only %s take one", m.Name, m.Verb, strings.Join(inputVerbs, ", "))
	}
	if m.Result != "" && !slices.Contains(resultVerbs, m.Verb) {
		p.fail(m.ResultPos, "result= of method %s has no place in verb %q; only %s have one", m.Name, m.Verb, strings.Join(resultVerbs, ", "))
	}
}
