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
	// Input and Result are type names such as "Scale" or
	// "k8s.io/api/autoscaling/v1.Scale", "" if the tag doesn't set them.
	Input, Result string
	// Pos is the position of the tag; InputPos and ResultPos are those of the
	// two type names.
	Pos, InputPos, ResultPos token.Position
}

// methodKeys are the keys of a +genclient:method, after its name.
var methodKeys = []string{"verb", "subresource", "input", "result"}

// method parses one method tag by the rules of parseClientExtensions in
// code-generator, which allows blanks around keys and values.
func (p *tagParser) method(tag Tag) Method {
	m := Method{Pos: tag.Pos}
	before := len(p.Problems)
	name, rest, more := strings.Cut(tag.Value, ",")
	m.Name = strings.TrimSpace(name)
	switch {
	case m.Name == "":
		p.Errorf(tag.Pos, "+genclient:method names no method; write +genclient:method=Name,verb=create")
	case !token.IsIdentifier(m.Name) || !token.IsExported(m.Name):
		p.Errorf(tag.ValueAt(0), "method name %q is not an exported Go identifier", m.Name)
	}
	if more {
		p.methodKeys(tag, &m, rest, len(name)+1)
	}
	// After another problem a missing verb isn't reported: it may be in the part that
	// couldn't be parsed.
	if len(p.Problems) == before || m.Verb != "" {
		p.methodVerb(m, rest)
	}
	return m
}

// methodKeys parses the key=value,key=value part of a method tag. The part starts
// at byte at of the tag's value.
func (p *tagParser) methodKeys(tag Tag, m *Method, keys string, at int) {
	seen := map[string]bool{}
	for part := range strings.SplitSeq(keys, ",") {
		name, value, ok := strings.Cut(part, "=")
		here, there := tag.ValueAt(at), tag.ValueAt(at+len(name)+1)
		at += len(part) + 1
		key, value := strings.TrimSpace(name), strings.TrimSpace(value)
		switch {
		case !ok || strings.Contains(value, "="):
			p.Errorf(here, "%q in +genclient:method is not key=value", strings.TrimSpace(part))
			continue
		case !slices.Contains(methodKeys, key):
			p.Errorf(here, "unknown key %q in +genclient:method%s", key, Suggest(key, methodKeys))
			continue
		case value == "":
			p.Errorf(here, "%s= of method %s has no value", key, m.Name)
		case seen[key]:
			p.StrictErrorf(here,
				"%s= of method %s is given twice and the last one counts; remove one", key, m.Name)
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

// methodVerb checks that methods can have the verb, and that input= goes with it.
// keys is the part of the tag after the name; the message repeats it, so that the
// suggested line can be copied.
func (p *tagParser) methodVerb(m Method, keys string) {
	switch {
	case m.Verb == "":
		if keys != "" {
			keys = "," + keys
		}
		p.Errorf(m.Pos,
			"method %s has no verb; write +genclient:method=%s,verb=%s%s",
			m.Name, m.Name, m.likelyVerb(), keys)
	case slices.Contains(methodVerbs, m.Verb):
		if m.Input != "" && !slices.Contains(inputVerbs, m.Verb) {
			p.Errorf(m.InputPos,
				"method %s has input=, which verb %q doesn't take; only %s do",
				m.Name, m.Verb, strings.Join(inputVerbs, ", "))
		}
	case slices.Contains(allVerbs, m.Verb):
		p.Errorf(m.Pos,
			"method %s can't have verb %q; methods have one of %s",
			m.Name, m.Verb, strings.Join(methodVerbs, ", "))
	default:
		p.Errorf(m.Pos, "unknown verb %q of method %s%s", m.Verb, m.Name, Suggest(m.Verb, methodVerbs))
	}
}

// likelyVerb is the verb that the method's name starts with, "create" if it starts
// with none: Getaway is not a get.
func (m Method) likelyVerb() string {
	for _, verb := range methodVerbs {
		rest, ok := strings.CutPrefix(m.Name, strings.ToUpper(verb[:1])+verb[1:])
		if first, _ := utf8.DecodeRuneInString(rest); ok && !unicode.IsLower(first) &&
			(m.Input == "" || slices.Contains(inputVerbs, verb)) {
			return verb
		}
	}
	return "create"
}
