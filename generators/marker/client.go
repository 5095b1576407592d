package marker

import (
	"go/token"
	"maps"
	"slices"
	"strings"
)

// Verbs are the verbs of a client that tags can name, in the order in which
// clients list them.
var Verbs = []string{"create", "update", "updateStatus", "delete", "deleteCollection", "get", "list", "watch", "patch", "apply", "applyStatus"}

// ReadOnlyVerbs are what +genclient:readonly leaves.
var ReadOnlyVerbs = []string{"get", "list", "watch"}

// clientTags are all names that start with "genclient", and whether each takes a value.
var clientTags = map[string]bool{
	"genclient":               false,
	"genclient:nonNamespaced": false,
	"genclient:noVerbs":       false,
	"genclient:noStatus":      false,
	"genclient:readonly":      false,
	"genclient:onlyVerbs":     true,
	"genclient:skipVerbs":     true,
	"genclient:method":        true,
}

// Client is what the tags of one type say.
type Client struct {
	// Generate is true when there is a +genclient, and Pos is its place.
	Generate bool
	Pos      token.Position

	NonNamespaced, NoVerbs, NoStatus bool
	// Skipped are the verbs that the client is not to have, after onlyVerbs,
	// readonly and skipVerbs were put together (the first two win over the third).
	Skipped []string
	// ResourceName is +resourceName's value, "" when there is none.
	ResourceName string
	// Methods are the extra methods, in the order of their tags.
	Methods []Method
}

// HasVerb reports whether verb is left. It knows neither NoVerbs nor whether
// the type has a status.
func (c Client) HasVerb(verb string) bool { return !slices.Contains(c.Skipped, verb) }

// IsClientTag reports whether a tag of that name is one of +genclient's
// family, known or not.
func IsClientTag(name string) bool { return strings.HasPrefix(name, "genclient") }

// ParseClient reads the tags of a type. What upstream refuses is a problem
// always; what it takes though it can't mean anything is one that is a
// warning unless strict. The result is what upstream makes of the tags, as
// far as there is one.
func ParseClient(tags []Tag, strict bool) (Client, Problems) {
	p := reader{strict: strict}
	var c Client
	first := map[string]Tag{}
	for _, tag := range tags {
		p.shape(tag)
		if _, seen := first[tag.Name]; !seen {
			first[tag.Name] = tag
		} else if tag.Name == "genclient:onlyVerbs" || tag.Name == "genclient:skipVerbs" || tag.Name == "resourceName" {
			p.lax(tag.Pos, "+%s is given twice and the first one counts; put it all on one line", tag.Name)
		}
		switch tag.Name {
		case "genclient:nonNamespaced":
			c.NonNamespaced = true
		case "genclient:noVerbs":
			c.NoVerbs = true
		case "genclient:noStatus":
			c.NoStatus = true
		case "genclient:method":
			c.Methods = append(c.Methods, p.method(tag))
		}
	}
	if tag, ok := first["genclient"]; ok {
		c.Generate, c.Pos = true, tag.Pos
	} else {
		for _, tag := range tags {
			if _, known := clientTags[tag.Name]; known {
				// Not for the strict either: the types that people copy to start
				// their own API from have such a tag on a list.
				p.warn(tag.Pos, "+%s has no effect without +genclient on the same type; add // +genclient above the type, or remove it", tag.Name)
			}
		}
	}
	if c.NoVerbs && len(c.Methods) > 0 {
		p.lax(c.Methods[0].Pos, "+genclient:method has no effect beside +genclient:noVerbs; remove one of the two")
	}
	c.ResourceName = first["resourceName"].Value
	c.Skipped = p.skipped(first)
	return c, p.problems
}

// resourceLetters are those of a DNS label, which a CustomResourceDefinition's
// names must be.
const resourceLetters = "abcdefghijklmnopqrstuvwxyz0123456789-"

// shape checks what a single tag can show: its name and whether it has a value.
func (p *reader) shape(tag Tag) {
	switch tag.Name {
	case "nonNamespaced", "readonly":
		// Forms of long ago, which upstream still recognises by their value.
		if tag.Value != "" {
			p.fail(tag.Pos, "+%s is not a tag any more; write +genclient:%s", tag.Text, tag.Name)
		}
		return
	case "resourceName":
		switch {
		case tag.Value == "":
			p.lax(tag.Pos, "+resourceName names nothing; write +resourceName=plural")
		case strings.Trim(tag.Value, resourceLetters) != "":
			p.lax(tag.Pos, "no server has a resource %q: names of resources have lower-case letters, digits and hyphens; write +resourceName=plural", tag.Value)
		}
		return
	}
	if !IsClientTag(tag.Name) {
		if trimmed := strings.TrimLeft(tag.Name, " \t"); trimmed != tag.Name && IsClientTag(trimmed) {
			p.lax(tag.Pos, "a blank after the plus sign hides the tag; write +%s", trimmed)
		} else if hint := Suggest(tag.Name, append(clientTagNames(), "resourceName")); hint != "" {
			p.lax(tag.Pos, "unknown tag +%s%s", tag.Name, hint)
		}
		return
	}
	takesValue, known := clientTags[tag.Name]
	switch {
	case !known:
		p.unknown(tag)
	case tag.Name == "genclient" && tag.Value != "":
		p.fail(tag.Pos, "+%s is not allowed; write +genclient for a client, or remove the line for none", tag.Text)
	case !takesValue && tag.HasValue && tag.Name != "genclient":
		p.lax(tag.Pos, "+%s takes no value and %q is ignored; write +%s", tag.Name, tag.Value, tag.Name)
	case takesValue && tag.Value == "" && tag.Name != "genclient:method":
		p.lax(tag.Pos, "+%s names no verb; write +%s=get,list", tag.Name, tag.Name)
	}
}

// unknown reports a tag of +genclient's family that there isn't.
func (p *reader) unknown(tag Tag) {
	if word, _, ok := strings.Cut(tag.Name, " "); ok {
		if _, known := clientTags[word]; known {
			p.fail(tag.Pos, "%q after +%s is not allowed; a tag has its line to itself", strings.TrimSpace(tag.Text[len(word):]), word)
			return
		}
	}
	p.fail(tag.Pos, "unknown tag +%s%s", tag.Name, Suggest(tag.Name, clientTagNames()))
}

func clientTagNames() []string { return slices.Sorted(maps.Keys(clientTags)) }

// skipped puts readonly, onlyVerbs and skipVerbs together.
func (p *reader) skipped(first map[string]Tag) []string {
	skip, hasSkip := first["genclient:skipVerbs"]
	only, hasOnly := first["genclient:onlyVerbs"]
	_, readOnly := first["genclient:readonly"]
	skipVerbs, onlyVerbs := p.verbs(skip), p.verbs(only)
	if !hasOnly && !readOnly {
		return skipVerbs
	}
	if hasSkip {
		other := "onlyVerbs"
		if !hasOnly {
			other = "readonly"
		}
		both := false
		for _, verb := range skipVerbs {
			if slices.Contains(onlyVerbs, verb) {
				both = true
				p.lax(skip.Pos, "verb %q is in both +genclient:onlyVerbs and +genclient:skipVerbs, of which only the first counts; remove the second", verb)
			}
		}
		if !both {
			p.lax(skip.Pos, "+genclient:skipVerbs has no effect beside +genclient:%s; remove it", other)
		}
	}
	if readOnly {
		onlyVerbs = append(onlyVerbs, ReadOnlyVerbs...)
	}
	var skipped []string
	for _, verb := range Verbs {
		if !slices.Contains(onlyVerbs, verb) {
			skipped = append(skipped, verb)
		}
	}
	return skipped
}

// verbs splits a list of verbs and reports those that there aren't.
func (p *reader) verbs(tag Tag) []string {
	if tag.Value == "" {
		return nil
	}
	verbs := strings.Split(tag.Value, ",")
	at := 0
	for _, verb := range verbs {
		switch trimmed := strings.TrimSpace(verb); {
		case slices.Contains(Verbs, verb):
		case slices.Contains(Verbs, trimmed):
			p.lax(tag.ValueAt(at), "verb %q is not recognised because of the blank; write %q", verb, trimmed)
		default:
			p.lax(tag.ValueAt(at), "unknown verb %q in +%s%s", verb, tag.Name, Suggest(trimmed, Verbs))
		}
		at += len(verb) + 1
	}
	return verbs
}
