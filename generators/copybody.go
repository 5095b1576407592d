package generators

import "github.com/kubewright/kubewright/generators/internal/model"

// copyWriter writes the statements of a DeepCopyInto. Its nested code shadows in and out, so that the
// same statements are right at each depth.
type copyWriter struct {
	codeWriter
	names *importNames
}

// copyBody returns the text of a type's DeepCopyInto.
func copyBody(names *importNames, t *model.CopyType) string {
	w := &copyWriter{codeWriter{depth: 1}, names}
	if t.Reference {
		w.open("{")
		w.line("in := &in")
	}
	switch {
	case t.FromPointer:
		w.line("clone := in.DeepCopy()")
		w.line("*out = *clone")
	case t.FromCopy:
		w.line("*out = in.DeepCopy()")
	default:
		w.copy(t.Body)
	}
	w.line("return")
	if t.Reference {
		w.close("}")
	}
	return w.text.String()
}

// copy writes the statements that copy *in to *out.
func (w *copyWriter) copy(c *model.Copy) {
	switch c.Form {
	case model.Map:
		w.line("*out = make(%s, len(*in))", w.names.typ(c.Type))
		w.open("for key, val := range *in {")
		w.mapElem(c.Elem)
		w.close("}")
	case model.Slice:
		w.line("*out = make(%s, len(*in))", w.names.typ(c.Type))
		if c.Elem.Way == model.CopyAssigned {
			w.line("copy(*out, *in)")
			return
		}
		w.open("for i := range *in {")
		w.sliceElem(c.Elem)
		w.close("}")
	case model.Pointer:
		w.pointer(c)
	default:
		w.line("*out = *in")
		for _, f := range c.Fields {
			w.field(f)
		}
	}
}

// mapElem writes the statements for val, a value of a map.
func (w *copyWriter) mapElem(e model.CopyElem) {
	switch e.Way {
	case model.CopyAssigned:
		w.line("(*out)[key] = val")
	case model.CopyCalled:
		w.line("(*out)[key] = val.DeepCopy()")
	case model.CopyCalledPtr:
		w.line("(*out)[key] = *val.DeepCopy()")
	case model.CopyInterface:
		w.orNil("(*out)[key] = nil")
		w.line("(*out)[key] = val.%s()", e.Method)
		w.close("}")
	case model.CopyDeep:
		w.line("var outVal %s", w.names.typ(e.Type))
		w.orNil("(*out)[key] = nil")
		w.line("in, out := &val, &outVal")
		w.copy(e.Copy)
		w.close("}")
		w.line("(*out)[key] = outVal")
	}
}

// orNil writes a statement for a val that is nil, and begins the block for any other.
func (w *copyWriter) orNil(statement string) {
	w.open("if val == nil {")
	w.line("%s", statement)
	w.close("} else {")
	w.depth++
}

// sliceElem writes the statements for (*in)[i].
func (w *copyWriter) sliceElem(e model.CopyElem) {
	switch e.Way {
	case model.CopyInto:
		w.line("(*in)[i].DeepCopyInto(&(*out)[i])")
		return
	case model.CopyInterface:
		w.open("if (*in)[i] != nil {")
		w.line("(*out)[i] = (*in)[i].%s()", e.Method)
	case model.CopyDeep:
		w.open("if (*in)[i] != nil {")
		w.line("in, out := &(*in)[i], &(*out)[i]")
		w.copy(e.Copy)
	}
	w.close("}")
}

// pointer writes the statements that copy the target of the pointer *in.
func (w *copyWriter) pointer(c *model.Copy) {
	switch c.Elem.Way {
	case model.CopyCalled:
		w.line("*out = (*in).DeepCopy()")
		return
	case model.CopyCalledElem:
		w.line("x := (*in).DeepCopy()")
		w.line("*out = &x")
		return
	}
	w.line("*out = new(%s)", w.names.typ(c.Type))
	switch c.Elem.Way {
	case model.CopyAssigned:
		w.line("**out = **in")
	case model.CopyInto:
		w.line("(*in).DeepCopyInto(*out)")
	case model.CopyDeep:
		w.open("if **in != nil {")
		w.line("in, out := *in, *out")
		w.copy(c.Elem.Copy)
		w.close("}")
	}
}

// field writes the statements for a field of a struct.
func (w *copyWriter) field(f model.CopyField) {
	switch f.Way {
	case model.CopyAssigned:
		w.line("out.%s = in.%[1]s", f.Name)
	case model.CopyCalled:
		w.line("out.%s = in.%[1]s.DeepCopy()", f.Name)
	case model.CopyInto:
		w.line("in.%s.DeepCopyInto(&out.%[1]s)", f.Name)
	case model.CopyInterface:
		w.open("if in.%s != nil {", f.Name)
		w.line("out.%s = in.%[1]s.%s()", f.Name, f.Method)
		w.close("}")
	case model.CopyDeep:
		w.open("if in.%s != nil {", f.Name)
		w.line("in, out := &in.%s, &out.%[1]s", f.Name)
		w.copy(f.Copy)
		w.close("}")
	}
}
