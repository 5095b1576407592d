package model

import "go/ast"

// list looks at the type of a kind's list, where a list is wanted.
func (l *loader) list(p *candidate, kind *Kind) {
	if kind.NoVerbs || !kind.Verb["list"] {
		return
	}
	list := kind.Name + "List"
	decl := p.src.typ(list)
	if decl == nil {
		l.failFor(Clients|Informers, kind.Pos, "type %s has no %s beside it; declare it, or add // +genclient:skipVerbs=list,watch", kind.Name, list)
		return
	}
	st, known := l.structOfDecl(decl)
	if st == nil {
		if known {
			l.failFor(Clients|Informers, l.at(decl.spec), "type %s is no struct; it should have metav1.TypeMeta, metav1.ListMeta and Items []%s", list, kind.Name)
		}
		return
	}
	if !l.promotes(st, "Items") {
		l.failFor(Clients|Informers, l.at(decl.spec), "type %s has no field Items; add Items []%s", list, kind.Name)
	}
	l.items(p, kind, list, st)
}

// items looks at the elements of a list. Where they are of another type
// upstream's fakes don't compile, and here the fakes, informers and listers
// have no use for what is in the list.
func (l *loader) items(p *candidate, kind *Kind, list string, st *structType) {
	field := st.field("Items")
	if field == nil || st.pkg != p.src {
		return // promoted, or the struct of another package
	}
	slice, ok := field.Type.(*ast.ArrayType)
	if !ok {
		return // a named type, which may be a slice of the right ones
	}
	ref, ok := l.refer(st.pkg, st.file, slice.Elt)
	if !ok || ref.Path == p.src.path && ref.Name == kind.Name {
		return
	}
	src := l.pkg(ref.Path)
	if src == nil {
		return
	}
	if decl := src.typ(ref.Name); decl != nil && !decl.spec.Assign.IsValid() {
		name := ref.Name
		if ref.Path != p.src.path {
			name = src.name + "." + name
		}
		l.lax(l.fset.Position(field.Pos()), "the Items of %s are of type %s, not %s; declare them as Items []%s", list, name, kind.Name, kind.Name)
	}
}
