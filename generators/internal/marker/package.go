package marker

import (
	"go/token"
	"slices"
	"strings"

	"k8s.io/gengo/v2/codetags"
)

// Package is the meaning of the tags in a package's doc.go.
type Package struct {
	// GroupName is the API group. HasGroupName distinguishes the core group,
	// whose name is empty, from a package without the tag.
	GroupName    string
	HasGroupName bool
	// GroupGoName is the value of +groupGoName, "" if there is none.
	GroupGoName string
	// GroupPos is the position of +groupName, GroupGoPos that of +groupGoName.
	GroupPos, GroupGoPos token.Position
	// OptedOut has the generators that +k8s:<name>=false turns off, with the positions of
	// the tags: "client-gen", "lister-gen", "informer-gen" and "applyconfiguration-gen".
	OptedOut map[string]token.Position
}

// OptsOut reports whether a tag turns the generator off.
func (p Package) OptsOut(generator string) bool {
	_, ok := p.OptedOut[generator]
	return ok
}

// generatorNames are the generators that a package can opt out of.
var generatorNames = [...]string{"client-gen", "lister-gen", "informer-gen", "applyconfiguration-gen"}

// IsPackageTag reports whether a tag of that name has an effect in doc.go only.
func IsPackageTag(name string) bool {
	if name == "groupName" || name == "groupGoName" {
		return true
	}
	generator, ok := strings.CutPrefix(name, "k8s:")
	return ok && slices.Contains(generatorNames[:], generator)
}

// ParsePackage parses the tags of doc.go, which [ScanPackage] finds. Problems are
// errors or warnings as for [ParseClient].
func ParsePackage(tags []Tag, strict bool) (Package, Problems) {
	p := tagParser{Reporter{Strict: strict}}
	if strict { // the compatible binaries that read groups leave these tags to others
		p.Problems = HelperTypos(tags, strict)
	}
	pkg := Package{OptedOut: map[string]token.Position{}}
	hasGoName := false
	switches := map[string]Tag{}
	for _, tag := range tags {
		name := codetag(tag.Text)
		if trimmed := strings.TrimLeft(tag.Name, " \t"); trimmed != tag.Name &&
			IsPackageTag(codetag(trimmed)) {
			p.StrictErrorf(tag.Pos, "a blank after the plus sign hides the tag; write +%s", trimmed)
			continue
		}
		if !IsPackageTag(name) {
			if hint := packageTagHint(name); hint != "" {
				p.StrictErrorf(tag.Pos, UnknownTag, name, hint)
			}
			continue
		}
		// Upstream reads these tags with codetags, whose grammar has arguments and
		// quotes; the tags of types it reads with a plain split.
		value, ok := p.codetagValue(tag, name)
		if !ok {
			continue
		}
		switch name {
		case "groupName":
			switch {
			case !pkg.HasGroupName:
				pkg.GroupName, pkg.HasGroupName, pkg.GroupPos = value, true, tag.Pos
			case value != pkg.GroupName:
				p.StrictErrorf(tag.Pos,
					"+groupName is given twice and the first one (%q) counts; remove one", pkg.GroupName)
			}
			if strings.Trim(value, groupLetters) != "" {
				p.StrictErrorf(tag.Pos,
					"group name %q is not a DNS name; put nothing else on the line of a tag", value)
			} else if strings.Contains(value, "_") {
				p.Warnf(tag.Pos, "group name %q has an underscore, which no API server accepts; write a dash", value)
			}
		case "groupGoName":
			switch {
			case !hasGoName:
				hasGoName, pkg.GroupGoName, pkg.GroupGoPos = true, value, tag.Pos
			case value != pkg.GroupGoName:
				p.StrictErrorf(tag.Pos,
					"+groupGoName is given twice and the first one (%q) counts; remove one", pkg.GroupGoName)
			}
		default:
			p.generatorSwitch(tag, name, value, switches, pkg.OptedOut)
		}
	}
	return pkg, p.Problems
}

// RegistersTag asks for the registration of a package's types.
const RegistersTag = "k8s:register-gen"

// groupLetters are the characters of DNS names, and those that are common in misspelt ones.
const groupLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._"

// helperTags are the tags by which packages and types ask for code in the folder of the package.
var helperTags = [...]string{copyTag, copyInterfacesTag, copyByValueTag, objectCopyTag, objectRootTag,
	RegistersTag, DefaultsTag, defaultsInputTag}

// HelperTypos reports tags whose names are close to those of known, or of helperTags if strict: errors if
// strict and warnings otherwise.
func HelperTypos(tags []Tag, strict bool, known ...string) Problems {
	r := Reporter{Strict: strict}
	if strict {
		known = helperTags[:]
	}
	for _, tag := range tags {
		if name, hint := helperHint(tag.Text, known); hint != "" {
			r.StrictErrorf(tag.Pos, UnknownTag, name, hint)
		}
	}
	return r.Problems
}

// UnknownTag is the message for a tag that nothing reads: the same for all that report one, so that it is
// shown once.
const UnknownTag = "unknown tag +%s%s"

// helperHint returns the name of a tag, and suggests which of known it was meant for. The hint is "" if the
// tag is one of helperTags, or close to none.
func helperHint(text string, known []string) (name, hint string) {
	name = strings.TrimSuffix(codetag(text), ":") // kubebuilder's +name:=value
	if slices.Contains(helperTags[:], name) || strings.HasPrefix(name, copyTag+":") {
		return name, ""
	}
	return name, Suggest(name, known)
}

// packageTagHint suggests the tag that an unknown name must have been meant for,
// "" for a tag of another tool: none of theirs has a name that close to ours.
func packageTagHint(name string) string {
	known := []string{"groupName", "groupGoName"}
	for _, generator := range generatorNames {
		if strings.HasPrefix(name, "k8s:"+generator+":") {
			return "; write +k8s:" + generator + "=false to leave the generator out"
		}
		known = append(known, "k8s:"+generator)
	}
	return Suggest(name, known)
}

// generatorSwitch parses +k8s:client-gen=false and the like. Only "false" turns the
// generator off; to have both that and another value is an error, as it is in
// pkg/apidefinitions/tags.go of code-generator.
func (p *tagParser) generatorSwitch(
	tag Tag, name, value string, seen map[string]Tag, optedOut map[string]token.Position,
) {
	if earlier, ok := seen[name]; ok && (earlier.Value == "false") != (value == "false") {
		p.Errorf(tag.Pos, "+%s is both false and %q; remove one", name, notFalse(value, earlier.Value))
	}
	if value != "false" && value != "true" {
		p.StrictErrorf(tag.Pos, "+%s takes true or false, not %q", name, value)
	}
	seen[name] = Tag{Value: value}
	if value == "false" {
		optedOut[strings.TrimPrefix(name, "k8s:")] = tag.Pos
	}
}

// notFalse returns the one of two values that isn't "false".
func notFalse(a, b string) string {
	if a == "false" {
		return b
	}
	return a
}

// codetagValue returns the value of a tag by the grammar of gengo's codetags. It reports a tag that
// doesn't parse, or that has arguments.
func (p *tagParser) codetagValue(tag Tag, name string) (value string, ok bool) {
	parsed, err := codetags.Parse(tag.Text, codetags.RawValues(true))
	switch {
	case err != nil:
		p.Errorf(tag.Pos, "+%s can't be parsed: %v", tag.Text, err)
		return "", false
	case len(parsed.Args) > 0:
		p.Errorf(tag.Pos, "+%s takes no arguments; write +%s=value", name, name)
		return "", false
	}
	return parsed.Value, true
}

// codetag is the name of a tag as gengo's codetags see it: it ends at the first character that a
// name can't have, not at the equals sign.
func codetag(text string) string {
	for name := range codetags.Extract("", []string{text}) {
		return name
	}
	return ""
}
