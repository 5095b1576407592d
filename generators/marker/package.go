package marker

import (
	"go/token"
	"slices"
	"strings"

	"k8s.io/gengo/v2/codetags"
)

// Package is what the comments of a package's doc.go say.
type Package struct {
	// GroupName is the API group; HasGroupName tells the core group, whose
	// name is empty, from a package that names none.
	GroupName    string
	HasGroupName bool
	// GroupGoName is +groupGoName's value, "" when there is none.
	GroupGoName string
	// GroupPos is the place of +groupName, GroupGoPos that of +groupGoName.
	GroupPos, GroupGoPos token.Position
	// OptedOut holds the generators that a tag +k8s:<name>=false keeps out:
	// "client-gen", "lister-gen", "informer-gen", "applyconfiguration-gen".
	OptedOut map[string]bool
}

// Generators are the names that Package.OptedOut knows.
var Generators = []string{"client-gen", "lister-gen", "informer-gen", "applyconfiguration-gen"}

// IsPackageTag reports whether a tag counts in doc.go only.
func IsPackageTag(name string) bool {
	if name == "groupName" || name == "groupGoName" {
		return true
	}
	generator, ok := strings.CutPrefix(name, "k8s:")
	return ok && slices.Contains(Generators, generator)
}

// ParsePackage reads the tags of doc.go, as [ScanPackage] found them.
func ParsePackage(tags []Tag, strict bool) (Package, Problems) {
	p := reader{strict: strict}
	pkg := Package{OptedOut: map[string]bool{}}
	hasGoName := false
	switches := map[string]Tag{}
	for _, tag := range tags {
		name := codetag(tag.Text)
		if trimmed := strings.TrimLeft(tag.Name, " \t"); trimmed != tag.Name && IsPackageTag(codetag(trimmed)) {
			p.lax(tag.Pos, "a blank after the plus sign hides the tag; write +%s", trimmed)
			continue
		}
		if !IsPackageTag(name) {
			if hint := packageTagHint(name); hint != "" {
				p.lax(tag.Pos, "unknown tag +%s%s", name, hint)
			}
			continue
		}
		parsed, err := codetags.Parse(tag.Text, codetags.RawValues(true))
		switch {
		case err != nil:
			p.fail(tag.Pos, "+%s can't be read: %v", tag.Text, err)
			continue
		case len(parsed.Args) > 0:
			p.fail(tag.Pos, "+%s takes no arguments; write +%s=value", name, name)
			continue
		}
		value := parsed.Value
		switch name {
		case "groupName":
			switch {
			case !pkg.HasGroupName:
				pkg.GroupName, pkg.HasGroupName, pkg.GroupPos = value, true, tag.Pos
			case value != pkg.GroupName:
				p.lax(tag.Pos, "+groupName is given twice and the first one (%q) counts; remove one", pkg.GroupName)
			}
			if strings.ContainsAny(value, " \t\"`/") {
				p.lax(tag.Pos, "group name %q is not a DNS name; a tag has its line to itself", value)
			}
		case "groupGoName":
			switch {
			case !hasGoName:
				hasGoName, pkg.GroupGoName, pkg.GroupGoPos = true, value, tag.Pos
			case value != pkg.GroupGoName:
				p.lax(tag.Pos, "+groupGoName is given twice and the first one (%q) counts; remove one", pkg.GroupGoName)
			}
		default:
			p.generatorSwitch(tag, name, value, switches, pkg.OptedOut)
		}
	}
	return pkg, p.problems
}

// packageTagHint is what the name of an unknown tag must be meant for, "" for
// one that belongs to another tool: none of theirs is that close to ours.
func packageTagHint(name string) string {
	known := []string{"groupName", "groupGoName"}
	for _, generator := range Generators {
		if strings.HasPrefix(name, "k8s:"+generator+":") {
			return "; write +k8s:" + generator + "=false to leave the generator out"
		}
		known = append(known, "k8s:"+generator)
	}
	return Suggest(name, known)
}

// generatorSwitch reads +k8s:client-gen=false and its kin: false keeps the
// generator out, everything else leaves it on, and the two don't mix.
func (p *reader) generatorSwitch(tag Tag, name, value string, seen map[string]Tag, optedOut map[string]bool) {
	if earlier, ok := seen[name]; ok && (earlier.Value == "false") != (value == "false") {
		p.fail(tag.Pos, "+%s is both false and %q; remove one", name, cmpOr(value, earlier.Value))
	}
	if value != "false" && value != "true" {
		p.lax(tag.Pos, "+%s takes true or false, not %q", name, value)
	}
	seen[name] = Tag{Value: value}
	if value == "false" {
		optedOut[strings.TrimPrefix(name, "k8s:")] = true
	}
}

// cmpOr is the one of two values that isn't "false".
func cmpOr(a, b string) string {
	if a == "false" {
		return b
	}
	return a
}

// codetag is the name of a tag as gengo's codetags see it: it ends where the
// characters of a name end, not at the equals sign.
func codetag(text string) string {
	for name := range codetags.Extract("", []string{text}) {
		return name
	}
	return ""
}
