package model

import (
	"go/token"
	gotypes "go/types"
	"strings"
	"unicode"

	"k8s.io/gengo/v2/namer"
	"k8s.io/gengo/v2/types"
)

// namers are the name systems of upstream's generators.
type namers struct {
	private, publicPlural, privatePlural, lowerPlural namer.Namer
}

func newNamers(pluralExceptions map[string]string) namers {
	return namers{
		private:       namer.NewPrivateNamer(0),
		publicPlural:  namer.NewPublicPluralNamer(pluralExceptions),
		privatePlural: namer.NewPrivatePluralNamer(pluralExceptions),
		lowerPlural:   namer.NewAllLowercasePluralNamer(pluralExceptions),
	}
}

// privatePluralExceptions are the two types for which client-gen has private
// plurals of its own, lest they clash with the group's name.
var privatePluralExceptions = map[string]string{
	"k8s.io/apis/events/v1beta1.Event":        "eventResources",
	"k8s.io/kubernetes/pkg/apis/events.Event": "eventResources",
}

// name fills in every name of a kind that follows from its Go name.
func (n namers) name(kind *Kind, pkgPath, resourceName string) {
	t := &types.Type{Name: types.Name{Package: pkgPath, Name: kind.Name}}
	kind.Private = n.private.Name(t)
	kind.Plural = n.publicPlural.Name(t)
	kind.PrivatePlural = n.privatePlural.Name(t)
	if exception, ok := privatePluralExceptions[pkgPath+"."+kind.Name]; ok {
		kind.PrivatePlural = exception
	}
	// What can't name a type, or would be hidden by the parameters of what makes
	// clients; plural exceptions and kinds of one letter lead there.
	switch name := kind.PrivatePlural; {
	case token.IsKeyword(name), gotypes.Universe.Lookup(name) != nil, name == "init", name == "c", name == "namespace":
		kind.PrivatePlural = kind.Private + "Resources"
	}
	kind.Lower = strings.ToLower(kind.Name)
	kind.File = fileName(kind.Lower)
	if kind.Lower == "doc" || kind.Lower == "interface" {
		kind.File += "_kind"
	}
	kind.LowerPlural = n.lowerPlural.Name(t)
	kind.Resource = kind.LowerPlural
	if resourceName != "" {
		kind.Resource = resourceName
	}
}

// fileName is the name of a file about a type, without ".go": an underscore
// could mean a test or a platform to the go command.
func fileName(lower string) string {
	if strings.Contains(lower, "_") {
		return lower + "_kind"
	}
	return lower
}

// goName makes an exported identifier of a group's first label. Where
// upstream makes one, it is upstream's: the label with a capital first
// letter. Otherwise ("cert-manager", for which upstream writes code that
// doesn't compile) the letters that are none are left out, and the next one
// becomes a capital: "CertManager". ok is false when that is no identifier either.
func goName(group string) (name string, ok bool) {
	label, _, _ := strings.Cut(nonEmptyGroup(group), ".")
	name = namer.IC(label)
	if exportedIdentifier(name) {
		return name, true
	}
	var b strings.Builder
	for word := range strings.FieldsFuncSeq(label, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		b.WriteString(namer.IC(word))
	}
	return b.String(), exportedIdentifier(b.String())
}

func exportedIdentifier(name string) bool {
	return token.IsIdentifier(name) && token.IsExported(name)
}

// goPackage makes a legal package name of the element of a path that names a
// group: its first label, as informer-gen does, without the characters that a
// package name can't have. A keyword, and "main", which can't be imported, get
// "group" appended.
func goPackage(element string) string {
	label, _, _ := strings.Cut(element, ".")
	name := strings.Map(func(r rune) rune {
		if r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, label)
	switch {
	case token.IsKeyword(name) || name == "main" || name == "_":
		return name + "group"
	case !token.IsIdentifier(name): // empty, or a digit first
		return "group" + name
	}
	return name
}

// nonEmptyGroup is the group's name, "core" for the one without.
func nonEmptyGroup(group string) string {
	if group == "" {
		return "core"
	}
	return group
}
