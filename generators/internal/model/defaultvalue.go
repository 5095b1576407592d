package model

import (
	"encoding/json"
	"go/ast"
	"go/token"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/kubewright/kubewright/generators/internal/marker"
)

// constantRef is the value of a +default marker that is a constant.
var constantRef = regexp.MustCompile(`^ref\(([^"]+)\)$`)

// mark adds the default in a comment to the node for a value. The comment may be nil; a nil node is
// created if there is a default. A constant without a package is one of the package owner.
func (b *defaultsBuilder) mark(node *DefaultNode, s *shape, comment *ast.CommentGroup, owner string,
) *DefaultNode {
	value := b.defaultIn(comment)
	if value.Text == "" {
		value = b.pointedDefault(s)
	}
	if value.Text == "" {
		return node
	}
	d := &Default{}
	base, pointers := b.behind(s)
	if ref := constantRef.FindStringSubmatch(value.Text); ref != nil {
		path, name := splitType(ref[1])
		if path == "" {
			path = owner
		}
		d.Ref = TypeName{path, name}
		b.checkRef(d.Ref)
	} else {
		var decoded any
		if err := json.Unmarshal([]byte(value.Text), &decoded); err != nil {
			b.Errorf(value.Pos, "+default=%s is not JSON: %v; quote a string", value.Text, err)
			return node
		}
		if b.isZero(s, decoded) {
			return node
		}
		d.Text = value.Text
		if _, number := decoded.(float64); number {
			d.Text = strings.ToLower(d.Text) // as gofmt writes exponents
		}
		b.checkValue(base, value.Text, decoded)
	}
	if d.Zero = zeros[base.basic]; base.form != plainForm {
		d.Zero = ""
	}
	if d.Zero == "" {
		b.checkDecoded(s, d)
	} else {
		d.Type, _ = b.typeExpr(s) // only structs and arrays can't be written
		for _, p := range pointers {
			e, _ := b.typeExpr(p)
			d.Pointers = append(d.Pointers, e)
		}
	}
	if node == nil {
		node = &DefaultNode{}
	}
	node.Default = d
	return node
}

// defaultIn returns the default in a comment, without Text if there is none.
func (b *defaultsBuilder) defaultIn(comment *ast.CommentGroup) marker.Value {
	values := b.defaultsIn(comment)
	if len(values) > 1 {
		b.Errorf(values[1].Pos, "+default is given twice; remove one")
	}
	if len(values) == 0 {
		return marker.Value{}
	}
	return values[0]
}

// defaultsIn returns the values of +default in a comment.
func (b *defaultsBuilder) defaultsIn(comment *ast.CommentGroup) []marker.Value {
	if comment == nil || !mentions(comment, "+default") {
		return nil
	}
	values, problems := marker.Values(marker.ScanPackage(b.fset, comment), "default")
	b.Problems = append(b.Problems, problems...)
	return values
}

// pointedDefault returns the default for a pointer from the comment of its type, or of a type behind
// it.
func (b *defaultsBuilder) pointedDefault(s *shape) marker.Value {
	if s.form != pointerForm {
		return marker.Value{}
	}
	for range maxHops {
		if values := b.defaultsIn(b.comment(s)); len(values) == 1 && values[0].Text != "" {
			return values[0]
		}
		if s.form != pointerForm {
			break
		}
		s = b.elem(s)
	}
	return marker.Value{}
}

// behind returns the type behind pointers, and the types behind each of them.
func (b *defaultsBuilder) behind(s *shape) (base *shape, pointers []*shape) {
	for range maxHops {
		if s = b.real(s); s.form != pointerForm {
			break
		}
		s = b.elem(s)
		pointers = append(pointers, s)
	}
	return b.real(s), pointers
}

// zeros are the zero values of the predeclared types that a value can be assigned to.
var zeros = map[string]string{"string": `""`, "bool": "false", "byte": "0", "rune": "0", "uintptr": "0",
	"int": "0", "int8": "0", "int16": "0", "int32": "0", "int64": "0", "float32": "0",
	"uint": "0", "uint16": "0", "uint32": "0", "uint64": "0", "float64": "0"}

// isZero reports whether upstream ignores a default as the zero value of its type, which it does for
// some types only.
func (b *defaultsBuilder) isZero(s *shape, decoded any) bool {
	basic := ""
	if s.name.Path == "" && s.form == plainForm && s.basic != "rune" && s.basic != "uintptr" {
		basic = s.basic
	}
	switch decoded := decoded.(type) {
	case bool:
		return !decoded && basic == "bool"
	case float64:
		return decoded == 0 && zeros[basic] == "0"
	case string:
		bytes := s.form == sliceForm && s.name.Name == "" && b.elem(s).name == TypeName{Name: "byte"}
		return decoded == "" && (basic == "string" || bytes || s.name == TypeName{"time", "Time"})
	}
	return false
}

// checkRef reports a constant that doesn't exist.
func (b *defaultsBuilder) checkRef(ref TypeName) {
	if ref.Path == "" {
		return // generated code writes it as it is
	}
	switch src := b.pkg(ref.Path); {
	case src == nil:
		b.doubt("has a default in package %s, which can't be found; go get it", ref.Path)
	case !src.declares(ref.Name):
		b.doubt("has the default %s, which package %s doesn't declare", ref.Name, ref.Path)
	case ref.Path != b.path && !token.IsExported(ref.Name):
		b.doubt("has the default %s, which package %s doesn't export", ref.Name, ref.Path)
	}
}

// checkValue reports a value that can't be assigned to the predeclared type behind a type.
func (b *defaultsBuilder) checkValue(base *shape, text string, decoded any) {
	if base.form != plainForm || zeros[base.basic] == "" {
		return
	}
	fits := false
	switch decoded := decoded.(type) {
	case bool:
		fits = base.basic == "bool"
	case string:
		fits = base.basic == "string"
		if _, err := strconv.Unquote(text); err != nil {
			b.refuse("has the default %s, in which Go doesn't know an escape of JSON's; write the character itself",
				text)
		}
	case float64:
		unsigned := strings.HasPrefix(base.basic, "u") || base.basic == "byte"
		whole := decoded == math.Trunc(decoded) || strings.HasPrefix(base.basic, "float")
		fits = zeros[base.basic] == "0" && whole && (decoded >= 0 || !unsigned)
	}
	if !fits {
		b.doubt("has the default %s, which is no %s", text, base.basic)
	}
}

// checkDecoded reports a default that can't be decoded from JSON into a nil value.
func (b *defaultsBuilder) checkDecoded(s *shape, d *Default) {
	nilable := []copyForm{pointerForm, mapForm, sliceForm, interfaceForm}
	switch {
	case !slices.Contains(nilable, s.form):
		b.doubt("has a default and can't be nil, so that nothing tells whether it is set; make it a pointer, or "+
			"set the default in a function %sT", setDefaults)
	case d.Ref.Name != "":
		b.doubt("has a constant as its default, which only numbers, strings and booleans can have; write JSON")
	case strings.Contains(d.Text, "`"):
		b.refuse("has a default with a backquote, which would end the text in generated code; set it in a "+
			"function %sT", setDefaults)
	}
}
