package model

import "go/token"

// CopyPackage is a package whose types get DeepCopy functions.
type CopyPackage struct {
	HelperPackage
	// Replaces is true if the file is controller-gen's, which is to be replaced.
	Replaces bool
	// Types are sorted by name.
	Types []*CopyType
}

// CopyType is a type with DeepCopy functions.
type CopyType struct {
	// Name is the name of the type, with its parameters if it has some: "List[T]".
	Name string
	// Reference is true for maps and slices: the receiver is a value, not a pointer.
	Reference bool
	// Into and Copy are true if DeepCopyInto and DeepCopy are to be generated.
	Into, Copy bool
	// FromCopy is true if DeepCopyInto calls a hand-written DeepCopy, which returns a pointer if
	// FromPointer is true. Otherwise Body is the body of DeepCopyInto.
	FromCopy, FromPointer bool
	Body                  *Copy
	// Interfaces are the interfaces for which the type gets a method DeepCopy<Interface>. The
	// receiver of the methods is a value if ByValue is true.
	Interfaces []TypeName
	ByValue    bool
	// Imports are the packages of Interfaces in the order of the tags, in which upstream names
	// them; Interfaces are sorted.
	Imports []string
	Pos     token.Position
}

// Copy is code that copies *in to *out. Form is that of the type: Named for a struct, Map,
// Slice, or Pointer.
type Copy struct {
	Form Form
	// Type is the type of a map or slice, and the element type of a pointer.
	Type *Expr
	// Fields are those of a struct, Elem is the element of any other.
	Fields []CopyField
	Elem   CopyElem
}

// CopyWay is a way to copy an element or a field.
type CopyWay int

// The ways to copy.
const (
	CopyAssigned   CopyWay = iota // by an assignment
	CopyCalled                    // by DeepCopy, whose result has the type of the element
	CopyCalledPtr                 // by DeepCopy, which returns a pointer to the element
	CopyCalledElem                // by DeepCopy, which returns what the element points to
	CopyInto                      // by DeepCopyInto
	CopyInterface                 // by Method, unless nil
	CopyDeep                      // by Copy, unless nil
)

// CopyElem is the way to copy an element of a map, a slice or a pointer.
type CopyElem struct {
	Way    CopyWay
	Method string
	// Type is the type of a variable for an element of a map.
	Type *Expr
	Copy *Copy
}

// CopyField is the way to copy a field of a struct. Fields that the assignment of the whole
// struct copies aren't listed.
type CopyField struct {
	Name string
	CopyElem
}
