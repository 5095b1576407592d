package model

import (
	"slices"
	"strings"
	"unicode"

	"k8s.io/gengo/v2/namer"
)

// Extract is a function that is generated beside the apply configuration of a kind, which
// extracts the fields that a manager applied through a subresource.
type Extract struct{ Subresource, Suffix string }

// Extracts lists those functions, besides the ones for the kind itself: for the status and
// for each subresource of a method, as in upstream's collectSubresources.
func (t *ApplyType) Extracts() []Extract {
	var names []string
	if t.Kind.HasStatus {
		names = append(names, "status")
	}
	for _, m := range t.Kind.Methods {
		if m.Subresource != "" {
			names = append(names, m.Subresource)
		}
	}
	slices.Sort(names)
	var extracts []Extract
	for _, name := range slices.Compact(names) {
		extracts = append(extracts, Extract{name, titled(name)})
	}
	return extracts
}

// titled returns the name of a subresource as upstream spells it in identifiers: each word
// with a capital first letter and small ones after it. Characters that an identifier can't
// have separate words.
func titled(name string) string {
	var b strings.Builder
	for word := range strings.FieldsFuncSeq(name,
		func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		b.WriteString(namer.IC(strings.ToLower(word)))
	}
	return b.String()
}

// checkNames reports types of a package for whose apply configurations the same names would
// be generated.
func (a *applyReader) checkNames(p *ApplyPackage) {
	declared := map[string]*ApplyType{}
	for _, t := range p.Types {
		name := namer.IC(t.TypeName.Name)
		for _, name := range []string{name, name + "ApplyConfiguration"} {
			if other := declared[name]; other != nil {
				a.Errorf(t.Pos,
					"%s would be generated for the apply configurations of types %s and %s; rename one",
					name, other.TypeName.Name, t.TypeName.Name)
				return
			}
			declared[name] = t
		}
	}
	for _, t := range p.Types {
		if !t.Root {
			continue
		}
		name := "Extract" + namer.IC(t.TypeName.Name)
		names := []string{name, name + "From"}
		for _, extract := range t.Extracts() {
			names = append(names, name+extract.Suffix)
		}
		i := slices.IndexFunc(names, func(name string) bool { return declared[name] != nil })
		if i < 0 {
			for _, name := range names {
				declared[name] = t
			}
			continue
		}
		// Upstream has these functions only if it is given a schema.
		t.NoExtract = true
		a.StrictErrorf(t.Pos,
			"%s would be generated for the apply configurations of types %s and %s; rename one",
			names[i], declared[names[i]].TypeName.Name, t.TypeName.Name)
	}
}
