package generators

import (
	"fmt"
	"strconv"

	"github.com/kubewright/kubewright/generators/internal/model"
)

// defaultsWriter writes the statements of a function that sets defaults.
type defaultsWriter struct {
	codeWriter
	names *importNames
}

// defaultsBody returns the text of a function that sets the defaults of *in, its parameter.
func defaultsBody(names *importNames, root *model.DefaultNode) string {
	w := &defaultsWriter{codeWriter{depth: 1}, names}
	w.nameConstants(root)
	w.node(root, nil, "in", 0)
	return w.text.String()
}

// nameConstants names the packages of constants, because upstream names these first.
func (w *defaultsWriter) nameConstants(n *model.DefaultNode) {
	if n.Default != nil && n.Default.Ref.Path != "" {
		w.names.packageFor(n.Default.Ref.Path)
	}
	if n.Key { // nothing is written for the nodes below
		return
	}
	for _, child := range n.Children {
		w.nameConstants(child)
	}
}

// node writes the statements for a node. parent is nil for the root, value is the expression for the
// value of the parent, and loops counts the enclosing loops.
func (w *defaultsWriter) node(n, parent *model.DefaultNode, value string, loops int) {
	if n.Field != "" {
		value += "." + n.Field
	}
	switch {
	case n.Index:
		w.elements(n, value, loops)
	case n.Key:
		w.values(n, parent, value, loops)
	case n.Elem && parent != nil:
		w.open("if %s != nil {", value)
		w.content(n, value, value, loops)
		w.close("}")
	case n.Elem:
		w.content(n, value, value, loops)
	default:
		if n.Default != nil {
			w.setDefault(n.Default, value)
		}
		w.content(n, value, "&"+value, loops)
	}
}

// content writes the calls with a pointer to a value, and the statements for the values inside it.
func (w *defaultsWriter) content(n *model.DefaultNode, value, pointer string, loops int) {
	for _, function := range n.Calls {
		w.line("%s(%s)", w.names.packageFor(function.Path).Ident(function.Name), pointer)
	}
	for _, child := range n.Children {
		w.node(child, n, value, loops)
	}
}

// elements writes the loop for the elements of a slice or an array.
func (w *defaultsWriter) elements(n *model.DefaultNode, value string, loops int) {
	if !writes(n) {
		return
	}
	index, element := loopVariables(loops)
	w.open("for %s := range %s {", index, value)
	if usesElement(n) {
		address := "&"
		if n.Elem {
			address = ""
		}
		w.line("%s := %s%s[%s]", element, address, value, index)
	}
	if n.Default != nil {
		w.setDefault(n.Default, value+"["+index+"]")
	}
	w.content(n, element, element, loops+1)
	w.close("}")
}

// values writes the loop for the values of a map. The loop only sets their default.
func (w *defaultsWriter) values(n, parent *model.DefaultNode, value string, loops int) {
	d := n.Default
	if d == nil {
		return
	}
	index, _ := loopVariables(loops)
	index += "_" + parent.Field
	element := value + "[" + index + "]"
	w.open("for %s := range %s {", index, value)
	if d.Zero != "" {
		w.setDefault(d, element)
	} else { // a value of a map has no address
		w.open("if %s == nil {", element)
		w.line("%s_default := %s", index, element)
		w.decode(d, index+"_default")
		w.line("%s = %s_default", element, index)
		w.close("}")
	}
	w.close("}")
}

// writes reports whether there are any statements for a node.
func writes(n *model.DefaultNode) bool {
	return n.Default != nil || !n.Key && (n.Elem && !n.Index || usesElement(n))
}

// usesElement reports whether statements for a node use a variable for its value.
func usesElement(n *model.DefaultNode) bool {
	if len(n.Calls) > 0 {
		return true
	}
	for _, child := range n.Children {
		if writes(child) {
			return true
		}
	}
	return false
}

// loopVariables returns the variables for the index and the element in a loop.
func loopVariables(loops int) (index, element string) {
	const indices, elements = "ijklmnop", "abcdefgh"
	if loops < len(indices) {
		return indices[loops : loops+1], elements[loops : loops+1]
	}
	return "i" + strconv.Itoa(loops), "local" + strconv.Itoa(loops)
}

// setDefault writes the statement that sets a value unless it is set.
func (w *defaultsWriter) setDefault(d *model.Default, value string) {
	switch {
	case d.Zero == "":
		w.open("if %s == nil {", value)
		w.decode(d, value)
	case len(d.Pointers) > 0:
		w.open("if %s == nil {", value)
		w.setPointer(d, value)
	default:
		w.open("if %s == %s {", value, d.Zero)
		if d.Text != "" {
			w.line("%s = %s", value, d.Text)
		} else {
			w.line("%s = %s(%s)", value, w.names.typ(d.Type), w.constant(d))
		}
	}
	w.close("}")
}

// decode writes the statement that decodes a default from JSON.
func (w *defaultsWriter) decode(d *model.Default, value string) {
	text := d.Text
	if text == "" {
		text = w.constant(d)
	}
	w.open("if err := %s([]byte(`%s`), &%s); err != nil {",
		w.names.packageFor("encoding/json").Ident("Unmarshal"), text, value)
	w.line("panic(err)")
	w.close("}")
}

// setPointer writes the statements that set a pointer, or a pointer to pointers.
func (w *defaultsWriter) setPointer(d *model.Default, value string) {
	last := len(d.Pointers) - 1
	typ := w.names.typ(d.Pointers[last])
	if d.Text != "" {
		w.line("var ptrVar%d %s = %s", last+1, typ, d.Text)
	} else {
		w.line("ptrVar%d := %s(%s)", last+1, typ, w.constant(d))
	}
	for i := last; i >= 0; i-- {
		address := fmt.Sprintf("&ptrVar%d", i+1)
		if i < last && typeText(nil, d.Pointers[i]) != "*"+typeText(nil, d.Pointers[i+1]) {
			address = fmt.Sprintf("(*%s)(%s)", w.names.typ(d.Pointers[i]), address)
		}
		if i > 0 {
			w.line("ptrVar%d := %s", i, address)
		} else {
			w.line("%s = %s", value, address)
		}
	}
}

// constant returns the constant that a default refers to.
func (w *defaultsWriter) constant(d *model.Default) string {
	if d.Ref.Path == "" {
		return d.Ref.Name
	}
	return w.names.packageFor(d.Ref.Path).Ident(d.Ref.Name).String()
}
