package model

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// copyPlanner decides how types are copied. It reports types that can't be copied, at the field; there
// is no plan then.
type copyPlanner struct {
	*session
	*shapes
	// made has the functions that this run generates, as "path.Type.DeepCopyInto".
	made map[string]bool
	// methods caches declaredCopies.
	methods map[*source]map[string]bool
	// root is the package of the current type, pos the position of the current field or type, what its
	// description.
	root *source
	pos  token.Pos
	what string
	// refused are the position and the description of the last field or type with an error, which gets no
	// second one.
	refused struct {
		pos  token.Pos
		what string
	}
	// depth counts the types that enclose the current one.
	depth int
}

// refuse reports a type that upstream refuses, too.
func (c *copyPlanner) refuse(format string, args ...any) { c.report(false, format, args...) }

// doubt reports a type for which upstream generates code that doesn't compile, or that copies only
// in part.
func (c *copyPlanner) doubt(format string, args ...any) { c.report(!c.cfg.Strict, format, args...) }

// report reports a problem of the current field or type, unless it has an error already.
func (c *copyPlanner) report(warning bool, format string, args ...any) {
	if c.refused.pos == c.pos && c.refused.what == c.what {
		return
	}
	if !warning {
		c.refused.pos, c.refused.what = c.pos, c.what
	}
	c.Report(warning, c.fset.Position(c.pos), "%s", c.what+" "+fmt.Sprintf(format, args...))
}

// maxCopyDepth limits how deep types may be nested.
const maxCopyDepth = 100

// byHand reports whether a type has a hand-written DeepCopy or DeepCopyInto, which generated code
// calls.
func (c *copyPlanner) byHand(s *shape) bool {
	if m := s.methods.wrong; m != nil {
		c.Errorf(c.fset.Position(m.Name.Pos()), "generated code can't call the %s of type %s; it has to be "+
			"func (in *%[2]s) DeepCopyInto(out *%[2]s) or func (in *%[2]s) DeepCopy() *%[2]s",
			m.Name.Name, s.name.Name)
	}
	copies, into, _ := s.manual()
	return copies || into
}

// The advice of most messages.
const adviceByHand = "write the DeepCopyInto of the struct by hand"

// copyOf plans how to copy a value of a type that isn't copied by an assignment or a method.
func (c *copyPlanner) copyOf(s *shape) *Copy {
	c.depth++
	defer func() { c.depth-- }()
	if c.depth > maxCopyDepth { // upstream never returns
		c.refuse("has a type that contains itself without a struct in between; write the DeepCopyInto of " +
			"that type by hand")
		return nil
	}
	switch s.form {
	case structForm:
		return c.structOf(s)
	case mapForm:
		return c.mapOf(s)
	case sliceForm:
		return c.sliceOf(s)
	case pointerForm:
		return c.pointerOf(s)
	}
	c.unsupported(s)
	return nil
}

// structOf plans the copy of a struct.
func (c *copyPlanner) structOf(s *shape) *Copy {
	plan := &Copy{Form: Named}
	typ, pos := c.what, c.pos
	defer func() { c.what = typ }()
	for _, f := range s.fields() {
		c.what = fmt.Sprintf("field %s of %s", f.name, typ)
		// The fields are in another package only if the type is declared as a struct of that package, which
		// may be in another module.
		if s.at.pkg == c.root || s.at.pkg.main {
			c.pos = f.pos
		}
		problems := len(c.Problems)
		elem, needed := c.field(c.shapeOf(s.at, f.expr))
		if needed && f.name != "_" && s.at.pkg != c.root && !token.IsExported(f.name) &&
			len(c.Problems) == problems {
			c.pos = pos
			c.doubt("is of package %s, which doesn't export it; %s", s.at.pkg.path, adviceByHand)
		}
		if needed && f.name != "_" { // memory that a blank field shares is out of reach
			plan.Fields = append(plan.Fields, CopyField{f.name, elem})
		}
	}
	return plan
}

// field plans the copy of a field. needed is false if the assignment of the struct is enough.
func (c *copyPlanner) field(s *shape) (elem CopyElem, needed bool) {
	switch {
	case c.byHand(s) && !s.returnsPointer():
		c.needs(s, "DeepCopy")
		return CopyElem{Way: CopyCalled}, true
	case c.byHand(s):
		c.needs(s, "DeepCopyInto")
		return CopyElem{Way: CopyInto}, true
	case s.form == plainForm:
		return CopyElem{}, false
	case s.form.reference():
		return CopyElem{Way: CopyDeep, Copy: c.copyOf(s)}, true
	case s.form == arrayForm:
		if !c.assignable(s) {
			c.doubt("is an array of values that an assignment doesn't copy: the copy would share memory "+
				"with the original; make it a slice, or %s", adviceByHand)
		}
		return CopyElem{Way: CopyAssigned}, true
	case s.form == structForm && c.plain(s):
		return CopyElem{Way: CopyAssigned}, true
	case s.form == structForm:
		c.needs(s, "DeepCopyInto")
		return CopyElem{Way: CopyInto}, true
	case s.form == interfaceForm:
		return c.asInterface(s), true
	}
	c.unsupported(s)
	return CopyElem{}, false
}

// mapOf plans the copy of a map.
func (c *copyPlanner) mapOf(s *shape) *Copy {
	if key := c.key(s); !c.assignable(key) && key.form != parameterForm {
		c.refuse("has a map with keys that an assignment doesn't copy; %s", adviceByHand)
	}
	plan := &Copy{Form: Map, Type: c.written(s)}
	e := c.elem(s)
	switch {
	case c.byHand(e):
		plan.Elem.Way = CopyCalled
		c.needs(e, "DeepCopy")
		if e.returnsPointer() {
			plan.Elem.Way = CopyCalledPtr
		}
	case e.form == structForm && !c.plain(e):
		plan.Elem.Way = CopyCalledPtr
		c.needs(e, "DeepCopy")
	default:
		plan.Elem = c.rest(e)
		if plan.Elem.Way == CopyDeep {
			plan.Elem.Type = c.written(e.underlying())
		}
	}
	return plan
}

// sliceOf plans the copy of a slice.
func (c *copyPlanner) sliceOf(s *shape) *Copy {
	plan := &Copy{Form: Slice, Type: c.written(s)}
	e := c.elem(s)
	if c.byHand(e) || e.form == structForm && !c.plain(e) {
		plan.Elem.Way = CopyInto
		c.needs(e, "DeepCopyInto")
	} else {
		plan.Elem = c.rest(e)
	}
	return plan
}

// pointerOf plans the copy of the target of a pointer.
func (c *copyPlanner) pointerOf(s *shape) *Copy {
	e := c.elem(s)
	plan := &Copy{Form: Pointer}
	switch {
	case c.byHand(e):
		c.needs(e, "DeepCopy")
		plan.Elem.Way = CopyCalledElem
		if e.returnsPointer() {
			plan.Elem.Way = CopyCalled
		}
		return plan
	case e.form == structForm && !c.plain(e):
		plan.Elem.Way = CopyInto
		c.needs(e, "DeepCopyInto")
	case e.form == interfaceForm:
		c.refuse("is a pointer to an interface, which can't be copied; leave out the pointer")
	default:
		plan.Elem = c.rest(e.underlying())
	}
	plan.Type = c.written(e)
	return plan
}

// rest plans the copy of an element that has no methods, and is no struct with references.
func (c *copyPlanner) rest(e *shape) CopyElem {
	switch {
	case e.form == interfaceForm:
		return c.asInterface(e)
	case e.form.reference():
		return CopyElem{Way: CopyDeep, Copy: c.copyOf(e)}
	case e.form == plainForm, e.form == structForm:
	case e.form == arrayForm && c.assignable(e): // which upstream refuses
	case e.form == arrayForm:
		c.refuse("has arrays of values that an assignment doesn't copy; make them slices, or %s",
			adviceByHand)
	default:
		c.unsupported(e)
	}
	return CopyElem{Way: CopyAssigned}
}

// unsupported reports a type that nothing can copy.
func (c *copyPlanner) unsupported(s *shape) {
	switch {
	case s.missing != "":
		advice := "go get it, so that it is known how to copy the type"
		if own := c.noOwnFolder(s.missing); own != "" {
			advice = own
		}
		c.refuse("is of type %s.%s, whose package can't be found; %s", s.missing, s.name.Name, advice)
	case s.unimported != "":
		pkg, _, _ := strings.Cut(s.unimported, ".")
		c.refuse("is of type %s, and its file imports no package %s; add the import", s.unimported, pkg)
	case s.form == unknownForm:
		c.refuse("is of type %s, which package %s doesn't declare", s.name.Name, s.name.Path)
	case s.form == parameterForm:
		c.refuse("is of type %s, a type parameter, which can't be copied; %s", s.name.Name, adviceByHand)
	default:
		c.refuse("is a channel, a function or the like, which can't be copied; %s", adviceByHand)
	}
}

// asInterface plans the copy of a value in an interface, which has to have a method for it.
func (c *copyPlanner) asInterface(s *shape) CopyElem {
	method := "DeepCopy" + s.name.Name
	switch {
	case s.text == "any", s.name.Name == "":
		c.refuse("is of an interface type without a name, whose values can't be copied; use a named "+
			"interface with a method DeepCopy and its name, or %s", adviceByHand)
	case s.known != nil || c.interfaceHas(s, method, 0):
	case copiesItself(s):
		method = "DeepCopy"
	default:
		c.doubt("is of the interface type %s, which has no method %s; add it, or %s", s.name.Name, method,
			adviceByHand)
	}
	return CopyElem{Way: CopyInterface, Method: method}
}

// copiesItself reports whether an interface has a method DeepCopy that returns the interface.
func copiesItself(s *shape) bool {
	iface, ok := s.expr.(*ast.InterfaceType)
	return ok && slices.ContainsFunc(iface.Methods.List, func(m *ast.Field) bool {
		fn, ok := m.Type.(*ast.FuncType)
		return ok && m.Names[0].Name == "DeepCopy" && fn.Params.NumFields() == 0 &&
			fn.Results.NumFields() == 1 && typeName(fn.Results.List[0].Type) == s.name.Name
	})
}

// interfaceHas reports whether an interface has a method, its own or that of an embedded one.
func (c *copyPlanner) interfaceHas(s *shape, method string, hops int) bool {
	if s.known != nil {
		return s.known.method == method
	}
	iface, ok := s.expr.(*ast.InterfaceType)
	if !ok || hops > maxHops {
		return false
	}
	for _, m := range iface.Methods.List {
		for _, name := range m.Names {
			if name.Name == method {
				return true
			}
		}
		if len(m.Names) == 0 && c.interfaceHas(c.shapeOf(s.at, m.Type), method, hops+1) {
			return true
		}
	}
	return false
}

// written returns how to write a type in generated code.
func (c *copyPlanner) written(s *shape) *Expr {
	e, ok := c.typeExpr(s)
	if u := c.unimported(s); !ok && u != nil {
		c.unsupported(u)
		return &Expr{Form: Literal, Text: "any"}
	}
	if !ok {
		c.refuse("has an anonymous struct or array in its type; declare it as a type of its own")
		return &Expr{Form: Literal, Text: "any"}
	}
	return e
}

// unimported returns the part of a type whose package isn't imported, nil if there is none.
func (c *copyPlanner) unimported(s *shape) *shape {
	switch {
	case s.unimported != "":
		return s
	case s.name.Name != "":
		return nil
	case s.form == mapForm:
		if u := c.unimported(c.key(s)); u != nil {
			return u
		}
		return c.unimported(c.elem(s))
	case s.form.reference(), s.form == arrayForm:
		return c.unimported(c.elem(s))
	}
	return nil
}

// needs reports a type without the method that the copy of a value calls.
func (c *copyPlanner) needs(s *shape, method string) {
	switch {
	case s.name.Name == "":
		c.doubt("is an anonymous struct that an assignment doesn't copy; declare it as a type of its own")
	case s.known != nil && !s.known.bare, c.hasCopy(s, method):
	case s.at.pkg != nil && s.at.pkg != c.root && !s.at.pkg.main && !token.IsExported(s.name.Name):
		c.doubt("is of type %s of package %s, which has no %s; %s", s.name.Name, s.name.Path, method,
			adviceByHand)
	case s.at.pkg != nil && !token.IsExported(s.name.Name):
		c.doubt("is of type %s, which has no %s as only exported types get one; export it, or write "+
			"that by hand", s.name.Name, method)
	default:
		c.doubt("is of type %s, which has no %s; %s", strings.TrimPrefix(s.name.Path+"."+s.name.Name, "."),
			method, adviceFor(s))
	}
}

// adviceFor returns advice on where the methods of a type could come from.
func adviceFor(s *shape) string {
	if s.known != nil || isStandard(s.name.Path) {
		return "use another type, such as those of k8s.io/apimachinery, or " + adviceByHand
	}
	return "have them generated in its package, or " + adviceByHand
}

// hasCopy reports whether a type has a DeepCopy function: one that this run makes, or one in a file
// that it doesn't replace.
func (c *copyPlanner) hasCopy(s *shape, method string) bool {
	path, name := s.name.Path, s.name.Name
	if c.made[path+"."+name+"."+method] {
		return true
	}
	src := c.byPath[path]
	return src != nil && c.declaredCopies(src)[name+"."+method]
}
