// Package schema describes API types to structured-merge-diff, the library behind
// server-side apply: which fields an object has, and which of its lists and maps are merged
// rather than replaced. Package sigs.k8s.io/structured-merge-diff/v6/schema documents the
// parts; the types here are a subset with value semantics.
//
// A schema is converted from an OpenAPI document ([OpenAPI.Schema]) or built by the caller.
// [Schema.YAML] returns its text, which generated code parses.
package schema

// The types of scalars, and the relationships between the elements of a list or a map.
const (
	String  = "string"
	Numeric = "numeric"
	Boolean = "boolean"
	Untyped = "untyped"

	Associative = "associative"
	Atomic      = "atomic"
	Separable   = "separable"
)

// The two types that every schema has, for values of unknown type: the first is replaced as a
// whole, the second is merged according to the value.
const (
	UntypedAtomic  = "__untyped_atomic_"
	UntypedDeduced = "__untyped_deduced_"
)

// Schema is a set of types by name. Names are those of OpenAPI, such as
// "io.k8s.api.apps.v1.Deployment": structured-merge-diff looks a kind up by them.
type Schema map[string]Atom

// Atom is a type without a name: a scalar, a list or a map, or several of them if the value
// decides.
type Atom struct {
	Scalar string
	List   *List
	Map    *Map
}

// List is a list. If it is associative it is a set, or a map with the given keys.
type List struct {
	Element      Ref
	Relationship string
	Keys         []string // the fields of an element that identify it
}

// Map is a map to elements, a struct with fields, or both.
type Map struct {
	Fields       []Field
	Unions       []Union
	Element      Ref
	Relationship string
}

// Field is a field of a struct.
type Field struct {
	Name string
	Type Ref
	// Default is the default in JSON, "" for none.
	Default string
}

// Union is a set of fields of which one is set.
type Union struct {
	Discriminator string
	// Fields are pairs of a field and its value of the discriminator.
	Fields [][2]string
}

// Ref is a named type or an inline one. Relationship overrides that of a named type.
type Ref struct {
	Name         string
	Inline       Atom
	Relationship string
}

// IsZero reports whether there is no type.
func (r Ref) IsZero() bool { return r.Name == "" && r.Inline == Atom{} }

// Deduced returns the type of a value of unknown type.
func Deduced() Atom {
	return Atom{
		Scalar: Untyped,
		List:   &List{Element: Ref{Name: UntypedAtomic}, Relationship: Atomic},
		Map:    &Map{Element: Ref{Name: UntypedDeduced}, Relationship: Separable},
	}
}

// Object returns the type of an object with unknown fields.
func Object() Atom { return Atom{Map: &Map{Element: Ref{Inline: Deduced()}}} }

// addCommon adds the two types that every schema has. Other types refer to them by name, and
// structured-merge-diff has no built-in types.
func (s Schema) addCommon() {
	s[UntypedDeduced] = Deduced()
	s[UntypedAtomic] = Atom{
		Scalar: Untyped,
		List:   &List{Element: Ref{Name: UntypedAtomic}, Relationship: Atomic},
		Map:    &Map{Element: Ref{Name: UntypedAtomic}, Relationship: Atomic},
	}
}
