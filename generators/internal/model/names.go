package model

import (
	"go/build"
	"go/token"
	gotypes "go/types"
	"io"
	"strings"
	"unicode"

	"k8s.io/gengo/v2/namer"
	"k8s.io/gengo/v2/types"
)

// namers are the naming rules of code-generator, which are gengo's.
type namers struct {
	private, publicPlural, privatePlural, lowerPlural namer.Namer
}

// newNamers returns the naming rules with exceptions to the rules for plurals, by type name.
func newNamers(pluralExceptions map[string]string) namers {
	return namers{
		private:       namer.NewPrivateNamer(0),
		publicPlural:  namer.NewPublicPluralNamer(pluralExceptions),
		privatePlural: namer.NewPrivatePluralNamer(pluralExceptions),
		lowerPlural:   namer.NewAllLowercasePluralNamer(pluralExceptions),
	}
}

// privatePluralExceptions are types for which client-gen has its own private plural
// (privatePluralNamer in NameSystems, client_generator.go): the usual one is the name of
// the package.
var privatePluralExceptions = map[string]string{
	"k8s.io/apis/events/v1beta1.Event":        "eventResources",
	"k8s.io/kubernetes/pkg/apis/events.Event": "eventResources",
}

// name sets every name of a kind that follows from the name of its Go type.
func (n namers) name(kind *Kind, pkgPath, resourceName string) {
	t := &types.Type{Name: types.Name{Package: pkgPath, Name: kind.Name}}
	kind.Private = n.private.Name(t)
	kind.Plural = n.publicPlural.Name(t)
	kind.PrivatePlural = n.privatePlural.Name(t)
	if exception, ok := privatePluralExceptions[pkgPath+"."+kind.Name]; ok {
		kind.PrivatePlural = exception
	}
	// The private plural is the name of the client's type. It must not be a keyword or
	// shadow a predeclared name, nor be shadowed by the parameters of the constructor.
	// Plural exceptions and kinds of one letter can lead there.
	switch name := kind.PrivatePlural; {
	case token.IsKeyword(name), gotypes.Universe.Lookup(name) != nil, name == "init", name == "c",
		name == "namespace":
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

// Resource returns the resource of a kind without a +resourceName, as in paths of requests.
func Resource(kind string) string {
	return newNamers(nil).lowerPlural.Name(&types.Type{Name: types.Name{Name: kind}})
}

// fileName returns the base name of the file for a type, without ".go". The go command
// would take some names with an underscore for tests (_test) or for files of one platform
// (_windows, _arm64).
func fileName(lower string) string {
	if !strings.Contains(lower, "_") {
		return lower
	}
	noPlatform := build.Context{GOOS: "none", GOARCH: "none", Compiler: "gc",
		OpenFile: func(string) (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader("package p\n")), nil
		}}
	match, err := noPlatform.MatchFile("", lower+".go")
	if err != nil || !match || strings.HasSuffix(lower, "_test") {
		return lower + "_kind"
	}
	return lower
}

// goName returns an exported identifier for the first label of a group. It is upstream's,
// the label with a capital first letter, if that is an identifier. For others, such as
// "cert-manager", upstream generates code that doesn't compile: here the invalid
// characters are dropped and the next letter becomes a capital, as in "CertManager". ok is
// false if that isn't an identifier either.
func goName(group string) (name string, ok bool) {
	label, _, _ := strings.Cut(NonEmptyGroup(group), ".")
	name = namer.IC(label)
	if exportedIdentifier(name) {
		return name, true
	}
	var b strings.Builder
	for word := range strings.FieldsFuncSeq(label,
		func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		b.WriteString(namer.IC(word))
	}
	return b.String(), exportedIdentifier(b.String())
}

// exportedIdentifier reports whether other packages can refer to a declaration of that name.
func exportedIdentifier(name string) bool {
	return token.IsIdentifier(name) && token.IsExported(name)
}

// goPackage returns a valid package name for the path element that names a group: its
// first label, as in groupTarget of informer-gen's targets.go, without the characters
// that a package name can't have. Keywords, and "main", which can't be imported, get the
// suffix "group".
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
