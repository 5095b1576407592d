package model

import (
	"go/ast"
	"slices"
)

// The methods by which a type encodes itself, in the order in which encoding/json looks for them.
const (
	MarshalJSON = "MarshalJSON"
	MarshalText = "MarshalText"
)

// marshaler returns the method by which a type encodes itself, and the type that declares it: the type
// itself, or one that it embeds. The method is "" for a type that is encoded by its kind: a struct by its
// fields. All that depends on how a type is encoded asks here.
//
// A method of the pointer counts, too: encoding/json calls it for all values whose address it can take.
func (s *sources) marshaler(name TypeName) (method string, declaredBy TypeName) {
	for _, method := range []string{MarshalJSON, MarshalText} {
		if by, ok := s.implements(name, method); ok {
			return method, by
		}
	}
	return "", TypeName{}
}

// implements reports whether a type has one of these methods, by Go's rules: of all methods and fields of the
// name, its own or promoted, the one at the least depth counts, if there is only one there.
func (s *sources) implements(name TypeName, method string) (by TypeName, ok bool) {
	level, seen := []*typeDecl{s.declaration(TypeRef{Path: name.Path, Name: name.Name})}, map[*typeDecl]bool{}
	for range maxHops {
		found := 0
		var next []*typeDecl
		for _, decl := range level {
			if decl == nil || seen[decl] {
				continue
			}
			has, marshals, embedded := s.selects(decl, method)
			if has {
				found++
				by, ok = TypeName{decl.pkg.path, decl.name}, marshals
			}
			next = append(next, embedded...)
		}
		if found > 0 || len(next) == 0 {
			return by, ok && found == 1
		}
		// After the loop: a type that is embedded twice at one depth makes its methods ambiguous.
		for _, decl := range level {
			seen[decl] = true
		}
		level = next
	}
	return by, false
}

// selects reports whether a declared type has a method or a field of that name at its own depth, and whether
// that is a method that encodes the type. If it has none, the result is the types that it embeds.
func (s *sources) selects(decl *typeDecl, name string) (has, marshals bool, embedded []*typeDecl) {
	decl.pkg.undeferMarshalers()
	if slices.Contains(decl.pkg.methods[decl.name], name) {
		return true, decl.pkg.marshalers[decl.name+"."+name], nil
	}
	literal, f, p, _ := s.underlying(decl.pkg, decl.file, decl.spec.Type)
	switch literal := literal.(type) {
	case *ast.StructType:
		st := &structType{literal.Fields.List, f, p}
		if st.field(name) != nil {
			return true, false, nil
		}
		return false, false, s.embedded(p, f, literal.Fields.List)
	case *ast.InterfaceType:
		for _, field := range literal.Methods.List {
			signature, isMethod := field.Type.(*ast.FuncType)
			if isMethod && len(field.Names) == 1 && field.Names[0].Name == name {
				return true, isMarshaler(signature), nil
			}
		}
		return false, false, s.embedded(p, f, literal.Methods.List)
	}
	return false, false, nil
}

// embedded returns the declarations of the types that a struct or an interface embeds.
func (s *sources) embedded(p *source, f *file, fields []*ast.Field) []*typeDecl {
	var decls []*typeDecl
	for _, field := range fields {
		if len(field.Names) > 0 {
			continue
		}
		if ref, ok := s.refer(p, f, field.Type); ok {
			decls = append(decls, s.declaration(ref))
		}
	}
	return decls
}

// declaration returns the declaration of a type, seen through aliases, nil if it can't be found.
func (s *sources) declaration(ref TypeRef) *typeDecl {
	for range maxHops {
		p := s.declaring(ref)
		if p == nil || p.predeclares(ref.Name) {
			return nil
		}
		decl := p.typ(ref.Name)
		if decl == nil || !decl.spec.Assign.IsValid() {
			return decl
		}
		var ok bool
		if ref, ok = s.refer(decl.pkg, decl.file, decl.spec.Type); !ok {
			return nil
		}
	}
	return nil
}

// isMarshaler reports whether a method has the signature of MarshalJSON and MarshalText.
func isMarshaler(t *ast.FuncType) bool {
	if t.Params.NumFields() > 0 || t.Results.NumFields() != 2 {
		return false
	}
	results := t.Results.List
	list, ok := results[0].Type.(*ast.ArrayType)
	return ok && list.Len == nil && (typeName(list.Elt) == "byte" || typeName(list.Elt) == "uint8") &&
		typeName(results[len(results)-1].Type) == "error"
}

// undeferMarshalers parses the deferred files that declare methods by which types encode themselves, once.
func (s *source) undeferMarshalers() {
	if s.marshalersRead {
		return
	}
	s.marshalersRead = true
	for _, f := range s.files {
		for _, method := range []string{MarshalJSON, MarshalText} {
			s.undeferFile(f, ") "+method+"(")
		}
	}
}
