// Package schema describes API types to structured-merge-diff, the library
// behind server-side apply: which fields an object has, which of its lists and
// maps are merged and which are replaced as a whole. Package
// sigs.k8s.io/structured-merge-diff/v6/schema says what the parts mean.
//
// A schema comes from an OpenAPI document ([OpenAPI.Schema]), or is put together
// by the caller; [Schema.YAML] is its text, which generated code parses.
package schema

// The types of scalars, and how the elements of lists and maps relate.
const (
	String  = "string"
	Numeric = "numeric"
	Boolean = "boolean"
	Untyped = "untyped"

	Associative = "associative"
	Atomic      = "atomic"
	Separable   = "separable"
)

// Names of the two types that every schema has, for values of which nothing is
// known: one is replaced as a whole, the other merged by what it turns out to be.
const (
	UntypedAtomic  = "__untyped_atomic_"
	UntypedDeduced = "__untyped_deduced_"
)

// Schema is a set of named types.
type Schema map[string]Atom

// Atom is a type without a name: of the three forms those that it may have.
type Atom struct {
	Scalar string
	List   *List
	Map    *Map
}

// List is a list of elements. Associative ones are sets, or maps by Keys.
type List struct {
	Element      Ref
	Relationship string
	Keys         []string
}

// Map is a map to elements, a struct of fields, or both.
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
	// Default is a value in JSON, "" for none.
	Default string
}

// Union says that one of some fields is set.
type Union struct {
	Discriminator string
	// Fields are pairs: the field and the discriminator's value for it.
	Fields [][2]string
}

// Ref is a type: by name, or spelled out. Relationship overrules a named
// type's own.
type Ref struct {
	Name         string
	Inline       Atom
	Relationship string
}

// IsZero reports whether there is no type.
func (r Ref) IsZero() bool { return r.Name == "" && r.Inline == Atom{} }

// Deduced is the type of a value of which nothing is known.
func Deduced() Atom {
	return Atom{
		Scalar: Untyped,
		List:   &List{Element: Ref{Name: UntypedAtomic}, Relationship: Atomic},
		Map:    &Map{Element: Ref{Name: UntypedDeduced}, Relationship: Separable},
	}
}

// Object is the type of an object of which nothing is known.
func Object() Atom { return Atom{Map: &Map{Element: Ref{Inline: Deduced()}}} }

// addCommon adds the two types that every schema has.
func (s Schema) addCommon() {
	s[UntypedDeduced] = Deduced()
	s[UntypedAtomic] = Atom{
		Scalar: Untyped,
		List:   &List{Element: Ref{Name: UntypedAtomic}, Relationship: Atomic},
		Map:    &Map{Element: Ref{Name: UntypedAtomic}, Relationship: Atomic},
	}
}
