package model

// DefaultsPackage is a package with functions that set defaults.
type DefaultsPackage struct {
	HelperPackage
	// Types are the types that get a function, sorted by name. There may be none.
	Types []*DefaultedType
}

// DefaultedType is a type that gets a function. It may be of another package than the function.
type DefaultedType struct {
	TypeName
	Root *DefaultNode
}

// DefaultNode is the plan for the defaults of a value: first its own default, then functions,
// then the defaults of the values inside it.
type DefaultNode struct {
	// Field is the name of the field that has the value, "" if the node isn't for a field.
	Field string
	// Index is true for the elements of a slice or an array, Key for those of a map, and Elem for
	// the target of a pointer. A node with Index and Elem is for pointers that are elements.
	Index, Key, Elem bool
	Default          *Default
	// Calls are the functions to call with a pointer to the value.
	Calls    []TypeName
	Children []*DefaultNode
}

// Default is the meaning of a +default marker.
type Default struct {
	// Text is the value as JSON. It is "" if Ref is a constant that has the value.
	Text string
	Ref  TypeName
	// Zero is the zero value of the predeclared type behind Type, as Go source. It is "" if there
	// is another type behind it, whose value is decoded from JSON.
	Zero string
	// Type is the type of the value, Pointers are the types behind its pointers, from the outside
	// inwards. They are nil without Zero.
	Type     *Expr
	Pointers []*Expr
}
