package marker

import (
	"go/token"
	"slices"
	"strings"
)

// clientTag is a tag of the +genclient family.
type clientTag struct {
	name string
	// takesValue is true for +name=value.
	takesValue bool
	// set records the tag in the result; it is nil for tags whose meaning depends on other
	// tags.
	set func(*tagParser, *Client, Tag)
}

// clientTags are all tags of the +genclient family: supportedTags of
// cmd/client-gen/generators/util/tags.go in code-generator, which refuses any
// other name that starts with "genclient".
var clientTags = [...]clientTag{
	{name: clientTagName},
	{name: "genclient:nonNamespaced", set: func(_ *tagParser, c *Client, _ Tag) { c.NonNamespaced = true }},
	{name: "genclient:noVerbs", set: func(_ *tagParser, c *Client, _ Tag) { c.NoVerbs = true }},
	{name: "genclient:noStatus", set: func(_ *tagParser, c *Client, _ Tag) { c.NoStatus = true }},
	{name: readOnlyTag},
	{name: onlyVerbsTag, takesValue: true},
	{name: skipVerbsTag, takesValue: true},
	{name: methodTag, takesValue: true, set: func(p *tagParser, c *Client, tag Tag) {
		c.Methods = append(c.Methods, p.method(tag))
	}},
}

// The tags that the code names outside of the table.
const (
	clientTagName = "genclient"
	readOnlyTag   = "genclient:readonly"
	onlyVerbsTag  = "genclient:onlyVerbs"
	skipVerbsTag  = "genclient:skipVerbs"
	methodTag     = "genclient:method"
	// resourceNameTag is parsed with the family, but doesn't belong to it.
	resourceNameTag = "resourceName"
)

// ClientTags returns the names of all tags of the +genclient family, sorted. The
// caller owns the slice.
func ClientTags() []string {
	var names []string
	for _, tag := range clientTags {
		names = append(names, tag.name)
	}
	slices.Sort(names)
	return names
}

// findClientTag returns the tag of that name, ok false if there is none.
func findClientTag(name string) (found clientTag, ok bool) {
	for _, tag := range clientTags {
		if tag.name == name {
			return tag, true
		}
	}
	return clientTag{}, false
}

// Client is the meaning of the tags of one type.
type Client struct {
	// Generate is true if there is a +genclient, and Pos is its position.
	Generate bool
	Pos      token.Position

	NonNamespaced, NoVerbs, NoStatus bool
	// Skipped are the verbs that the client lacks. They follow from onlyVerbs,
	// readonly and skipVerbs together; the first two override the third.
	Skipped []string
	// ResourceName is the value of +resourceName, "" if there is none.
	ResourceName string
	// Methods are the extra methods, in the order of their tags.
	Methods []Method
	// Dead are the tags that have no effect because there is no +genclient.
	Dead []Tag
}

// HasVerb reports whether the tags leave the verb. It takes neither NoVerbs nor a
// missing Status field into account.
func (c Client) HasVerb(verb string) bool { return !slices.Contains(c.Skipped, verb) }

// IsClientTag reports whether name belongs to the +genclient family, known or
// not.
func IsClientTag(name string) bool { return strings.HasPrefix(name, "genclient") }

// tagParser is the state of one call of [ParseClient] or [ParsePackage].
type tagParser struct{ Reporter }

// ParseClient parses the tags of a type. Tags that code-generator refuses are errors; tags
// that it accepts but that have no meaning are errors if strict and warnings otherwise. The
// result is that of code-generator, if it accepts the tags.
func ParseClient(tags []Tag, strict bool) (Client, Problems) {
	p := tagParser{Reporter{Strict: strict}}
	var c Client
	first := map[string]Tag{}
	for _, tag := range tags {
		p.shape(tag)
		if _, seen := first[tag.Name]; !seen {
			first[tag.Name] = tag
		} else if slices.Contains([]string{onlyVerbsTag, skipVerbsTag, resourceNameTag}, tag.Name) {
			p.StrictErrorf(tag.Pos,
				"+%s is given twice and the first one counts; put it all on one line", tag.Name)
		}
		if known, _ := findClientTag(tag.Name); known.set != nil {
			known.set(&p, &c, tag)
		}
	}
	if tag, ok := first[clientTagName]; ok {
		c.Generate, c.Pos = true, tag.Pos
	} else {
		c.Dead = dead(tags)
	}
	if c.NoVerbs && len(c.Methods) > 0 {
		p.StrictErrorf(c.Methods[0].Pos,
			"+genclient:method has no effect beside +genclient:noVerbs; remove one of the two")
	}
	c.ResourceName = first[resourceNameTag].Value
	c.Skipped = p.skipped(first)
	return c, p.Problems
}

// dead returns the tags that have no effect without a +genclient.
func dead(tags []Tag) []Tag {
	var dead []Tag
	for _, tag := range tags {
		if _, known := findClientTag(tag.Name); known {
			dead = append(dead, tag)
		}
	}
	return dead
}

// resourceLetters are those of a DNS label, which the plural name in a
// CustomResourceDefinition has to be.
const resourceLetters = "abcdefghijklmnopqrstuvwxyz0123456789-"

// shape checks what a single tag shows: its name and whether it has a value.
func (p *tagParser) shape(tag Tag) {
	switch {
	case tag.Name == "nonNamespaced", tag.Name == "readonly":
		// The forms from before +genclient had sub-tags. Code-generator refuses
		// them if they have a value and ignores them otherwise.
		if tag.Value != "" {
			p.Errorf(tag.Pos, "+%s is not a tag any more; write +genclient:%s", tag.Text, tag.Name)
		}
	case tag.Name == resourceNameTag:
		p.resourceName(tag)
	case IsClientTag(tag.Name):
		p.clientTag(tag)
	default:
		if trimmed := strings.TrimLeft(tag.Name, " \t"); trimmed != tag.Name && IsClientTag(trimmed) {
			p.StrictErrorf(tag.Pos, "a blank after the plus sign hides the tag; write +%s", trimmed)
		} else if hint := Suggest(tag.Name, append(ClientTags(), resourceNameTag)); hint != "" {
			// Most other tags belong to other tools, so only a name close to one
			// of ours is worth a report.
			p.StrictErrorf(tag.Pos, UnknownTag, tag.Name, hint)
		}
	}
}

// resourceName checks a +resourceName. Upstream accepts any value, and no server serves such
// a resource.
func (p *tagParser) resourceName(tag Tag) {
	switch {
	case tag.Value == "":
		p.StrictErrorf(tag.Pos, "+resourceName has no value; write +resourceName=plural")
	case strings.Trim(tag.Value, resourceLetters) != "":
		p.StrictErrorf(tag.Pos,
			"%q can't be the name of a resource, which has lower-case letters, digits and hyphens only; "+
				"write +resourceName=plural",
			tag.Value)
	}
}

// clientTag checks a tag of the +genclient family.
func (p *tagParser) clientTag(tag Tag) {
	known, ok := findClientTag(tag.Name)
	switch {
	case !ok:
		p.unknown(tag)
	case tag.Name == clientTagName && tag.Value != "":
		// Someone who writes +genclient=false expects no client; code-generator
		// refuses the tag instead of guessing.
		p.Errorf(tag.Pos,
			"+%s is not allowed; write +genclient for a client, or remove the line for none", tag.Text)
	case !known.takesValue && tag.HasValue && tag.Name != clientTagName:
		p.StrictErrorf(tag.Pos,
			"+%s takes no value and %q is ignored; write +%s", tag.Name, tag.Value, tag.Name)
	case known.takesValue && tag.Value == "" && tag.Name != methodTag:
		p.StrictErrorf(tag.Pos, "+%s names no verb; write +%s=get,list", tag.Name, tag.Name)
	}
}

// unknown reports a tag that has the prefix of the +genclient family, but doesn't belong to
// it.
func (p *tagParser) unknown(tag Tag) {
	if word, _, ok := strings.Cut(tag.Name, " "); ok {
		if _, known := findClientTag(word); known {
			p.Errorf(tag.Pos,
				"%q after +%s is not allowed; put nothing else on the line of a tag",
				strings.TrimSpace(tag.Text[len(word):]), word)
			return
		}
	}
	p.Errorf(tag.Pos, UnknownTag, tag.Name, Suggest(tag.Name, ClientTags()))
}

// skipped combines readonly, onlyVerbs and skipVerbs as ParseClientGenTags of
// code-generator does: readonly and onlyVerbs add up, and skipVerbs counts only
// where neither is given.
func (p *tagParser) skipped(first map[string]Tag) []string {
	skip, hasSkip := first[skipVerbsTag]
	only, hasOnly := first[onlyVerbsTag]
	_, readOnly := first[readOnlyTag]
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
				p.StrictErrorf(skip.Pos,
					"verb %q is in both +genclient:onlyVerbs and +genclient:skipVerbs, of which only the "+
						"first counts; remove the second",
					verb)
			}
		}
		if !both {
			p.StrictErrorf(skip.Pos,
				"+genclient:skipVerbs has no effect beside +genclient:%s; remove it", other)
		}
	}
	if readOnly {
		onlyVerbs = append(onlyVerbs, readOnlyVerbs...)
	}
	return verbNames(func(verb Verb) bool { return !slices.Contains(onlyVerbs, verb.Name) })
}

// verbs splits a list of verbs and reports the ones that don't exist. They stay
// in the result, where they match nothing, as they do in code-generator.
func (p *tagParser) verbs(tag Tag) []string {
	if tag.Value == "" {
		return nil
	}
	verbs := strings.Split(tag.Value, ",")
	at := 0
	for _, verb := range verbs {
		switch trimmed := strings.TrimSpace(verb); {
		case slices.Contains(allVerbs, verb):
		case slices.Contains(allVerbs, trimmed):
			p.StrictErrorf(tag.ValueAt(at),
				"verb %q is not recognised because of the blank; write %q", verb, trimmed)
		default:
			p.StrictErrorf(tag.ValueAt(at),
				"unknown verb %q in +%s%s", verb, tag.Name, Suggest(trimmed, allVerbs))
		}
		at += len(verb) + 1
	}
	return verbs
}
