package marker

import "slices"

// Verb is a verb of a client that tags can name, with everything that the
// generators need to know about it.
type Verb struct {
	Name string
	// ReadOnly verbs are the ones that +genclient:readonly keeps.
	ReadOnly bool
	// Status verbs exist only on types with a Status field.
	Status bool
	// Apply verbs take an apply configuration, so a clientset generated without
	// apply configurations doesn't have them.
	Apply bool
	// Method is true if +genclient:method can name the verb, Input if it can
	// then also set input=. Each such method can set result=.
	Method, Input bool
}

// verbs are listed in the order in which the methods of a client are declared.
// The names, and the sets that the fields describe, are those of
// cmd/client-gen/generators/util/tags.go in code-generator: SupportedVerbs,
// ReadonlyVerbs, resultTypeSupportedVerbs and inputTypeSupportedVerbs.
var verbs = [...]Verb{
	{Name: "create", Method: true, Input: true},
	{Name: "update", Method: true, Input: true},
	{Name: "updateStatus", Status: true},
	{Name: "delete"},
	{Name: "deleteCollection"},
	{Name: "get", ReadOnly: true, Method: true},
	{Name: "list", ReadOnly: true, Method: true},
	{Name: "watch", ReadOnly: true},
	{Name: "patch", Method: true},
	{Name: "apply", Apply: true, Method: true, Input: true},
	{Name: "applyStatus", Status: true, Apply: true},
}

// Verbs returns all verbs, in the order in which the methods of a client are
// declared. The caller owns the slice.
func Verbs() []Verb { return slices.Clone(verbs[:]) }

// verbNames returns the names of the verbs for which wanted is true.
func verbNames(wanted func(Verb) bool) []string {
	var names []string
	for _, verb := range verbs {
		if wanted(verb) {
			names = append(names, verb.Name)
		}
	}
	return names
}

// The sets of verbs that tags are checked against.
var (
	allVerbs      = verbNames(func(Verb) bool { return true })
	readOnlyVerbs = verbNames(func(v Verb) bool { return v.ReadOnly })
	methodVerbs   = verbNames(func(v Verb) bool { return v.Method })
	inputVerbs    = verbNames(func(v Verb) bool { return v.Input })
)
