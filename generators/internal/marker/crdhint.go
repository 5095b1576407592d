package marker

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// otherMarkers begin the names below kubebuilder: that other generators of controller-gen, and kubebuilder
// itself, read.
var otherMarkers = []string{"kubebuilder:object:", "kubebuilder:rbac", "kubebuilder:webhook",
	"kubebuilder:ac:", "kubebuilder:scaffold:", "kubebuilder:docs-gen:"}

// CRDHint says what is wrong with a line that is no marker of definitions for a target, "" if it must be of
// another tool. That of a tag of Kubernetes' own validation is a warning.
func CRDHint(text string, on Target) (problem string, warning bool) {
	name, short, _ := splitCRD(text)
	for _, n := range []string{name, short} {
		if tag, ok := crdTags()[n]; ok {
			return "+" + n + " has no effect on " + on.String() + ", only on " + tag.on.String() + "; move it",
				strings.HasPrefix(n, "k8s:")
		}
	}
	if name, hint := helperHint(text, helperTags[:]); hint != "" && on != OnField {
		return fmt.Sprintf(UnknownTag, name, hint), false
	}
	isOther := func(prefix string) bool { return strings.HasPrefix(name, prefix) }
	if slices.ContainsFunc(otherMarkers, isOther) {
		return "", false
	}
	known := slices.Sorted(maps.Keys(crdTags()))
	tag, isTag := strings.CutPrefix(name, "k8s:")
	first, _, _ := strings.Cut(tag, ":")
	isTag = isTag && !strings.Contains(first, "-") // the tags of generators have a dash
	tag = strings.TrimPrefix(tag, "validation:")
	// An exact match comes first: the closest name to k8s:minItems is k8s:maxItems.
	same := func(n string) bool { return strings.EqualFold(n, "kubebuilder:validation:"+tag) }
	if i := slices.IndexFunc(known, same); isTag && i >= 0 {
		return "+" + name + " has no effect on definitions; write +" + known[i], true
	}
	hint := Suggest(name, known)
	if hint == "" {
		hint = Suggest(short, known)
	}
	if i := strings.LastIndex(name, ":"); i > 0 && slices.Contains(known, name[:i]) {
		hint = "; did you mean \"" + name[:i] + "=" + name[i+1:] + "\"?"
	}
	switch {
	case strings.HasPrefix(name, "kubebuilder:"):
		return "+" + name + " is no marker of controller-gen" + hint, false
	case hint != "" && name != "groupGoName": // which clients are named by
		return "unknown marker +" + name + hint, false
	case isTag:
		if hint = Suggest("kubebuilder:validation:"+tag, known); hint == "" {
			hint = "; if there is one of kubebuilder:validation that says the same, write that"
		}
		return "+" + name + " has no effect on definitions" + hint, true
	}
	return "", false
}

// String names the places of a target.
func (t Target) String() string {
	var places []string
	for _, place := range []struct {
		target Target
		name   string
	}{{OnPackage, "packages"}, {OnType, "types"}, {OnField, "fields"}} {
		if t&place.target != 0 {
			places = append(places, place.name)
		}
	}
	return strings.Join(places, " and ")
}
