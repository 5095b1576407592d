package crd

import (
	"go/token"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// initialisms are words that Go writes in capitals.
var initialisms = []string{"acl", "api", "ascii", "ca", "cidr", "cpu", "css", "db", "dns", "eof", "gid",
	"grpc", "guid", "html", "http", "https", "id", "ip", "json", "jwt", "os", "pvc", "qps", "ram", "rpc", "sla",
	"smtp", "sni", "sql", "ssh", "ssl", "tcp", "tls", "ttl", "udp", "ui", "uid", "uri", "url", "utf8", "uuid",
	"vm", "xml", "yaml"}

// words splits a name at characters that an identifier can't have, and before capitals that follow a
// lower-case letter or a digit.
func words(name string) []string {
	var words []string
	var word strings.Builder
	end := func() {
		if word.Len() > 0 {
			words = append(words, word.String())
			word.Reset()
		}
	}
	lower := false
	for _, r := range name {
		letter := unicode.IsLetter(r) || unicode.IsDigit(r)
		if !letter || unicode.IsUpper(r) && lower {
			end()
		}
		if letter {
			word.WriteRune(r)
		}
		lower = letter && !unicode.IsUpper(r)
	}
	end()
	return words
}

// goName returns an exported identifier for a name in JSON, such as HTTPPort for httpPort. The prefix
// otherwise is for names that don't begin with a letter that has a capital.
func goName(name, otherwise string) string {
	var b strings.Builder
	for _, word := range words(name) {
		if slices.Contains(initialisms, strings.ToLower(word)) {
			b.WriteString(strings.ToUpper(word))
			continue
		}
		first := []rune(word)
		first[0] = unicode.ToUpper(first[0])
		b.WriteString(string(first))
	}
	if ident := b.String(); token.IsIdentifier(ident) && token.IsExported(ident) {
		return ident
	}
	return otherwise + b.String()
}

// nameSet makes names unique. It maps each taken name to the number to try next for another use of the
// name.
type nameSet map[string]int

func newNameSet(taken ...string) nameSet {
	set := nameSet{}
	for _, name := range taken {
		set.markTaken(name)
	}
	return set
}

// markTaken marks a name as taken.
func (set nameSet) markTaken(name string) { set[name] = max(set[name], 2) }

// add returns the name, with a number if it is taken.
func (set nameSet) add(name string) string {
	unique := name
	for set[unique] > 0 {
		unique = name + strconv.Itoa(set[name])
		set[name]++
	}
	set.markTaken(unique)
	return unique
}

// fieldNames are the names of a struct's fields and of the methods of its apply configuration, which has a
// method WithX for each field X.
type fieldNames struct{ nameSet }

// addAll returns names for the fields of an object with these properties. Short names come first, so that of
// X and WithX the second one gets a number.
func (set fieldNames) addAll(properties []Property) map[string]string {
	names := map[string]string{}
	byLength := slices.SortedStableFunc(slices.Values(properties), func(a, b Property) int {
		return len(goName(a.Name, "Field")) - len(goName(b.Name, "Field"))
	})
	for _, p := range byLength {
		name := set.add(goName(p.Name, "Field"))
		set.markTaken("With" + name)
		names[p.Name] = name
	}
	return names
}

// configName is the name of the apply configuration of a type.
func configName(typ string) string { return typ + "ApplyConfiguration" }

// configNames are the names that are declared for the apply configuration of a kind. Those of other types
// must differ, as each type has a constructor of its name there.
func configNames(kind string) []string {
	extract := "Extract" + kind
	return []string{configName(kind), extract, extract + "From", extract + "Status", extract + "Scale"}
}

// copyMethods are the methods of generated types. A field can't have the name of a method.
var copyMethods = []string{"DeepCopy", "DeepCopyInto", "DeepCopyObject"}

// kindNames are the names of the fields and methods that a kind or its apply configuration has from
// metav1. A field of that name would hide one.
var kindNames = func() []string {
	names := append([]string{"TypeMeta", "ObjectMeta", "TypeMetaApplyConfiguration",
		"ObjectMetaApplyConfiguration", "IsApplyConfiguration", "GetKind", "GetAPIVersion"}, copyMethods...)
	for _, typ := range []reflect.Type{
		reflect.TypeFor[*metav1.TypeMeta](), reflect.TypeFor[*metav1.ObjectMeta](),
	} {
		for method := range typ.Methods() {
			names = append(names, method.Name)
		}
		for field := range typ.Elem().Fields() {
			names = append(names, field.Name, "With"+field.Name)
		}
	}
	return names
}()

// validTag reports whether encoding/json accepts a name in a tag.
func validTag(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) &&
			!strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", r)
	})
}
