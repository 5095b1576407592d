package marker_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"github.com/kubewright/kubewright/generators/internal/marker"
)

// TestCRDValues checks values of markers. test/controllergen compares many more with controller-tools'.
func TestCRDValues(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"kubebuilder:validation:MaxLength=3", "3"},
		{"kubebuilder:validation:MaxLength:=3", "3"},
		{"kubebuilder:validation:MaxLength=x", `"x" is no whole number`},
		{"kubebuilder:validation:MaxLength", "a value is missing"},
		{"kubebuilder:validation:Enum=a;b;\"c d\";1", `["a","b","c d",1]`},
		{"kubebuilder:validation:Enum={a,true}", `["a",true]`},
		{"kubebuilder:validation:Pattern=`^\\d+$`", `"^\\d+$"`},
		{"kubebuilder:default={a: 1, b: {c, d}}", `{"a":1,"b":["c","d"]}`},
		{"kubebuilder:default=5m", `"5m"`},
		{"kubebuilder:default={}", "{}"},
		{"default={\"a\": [1.5]}", `{"a":[1.5]}`},
		{"default=ref(X)", "null"},
		{"k8s:maximum=5 # five", "5"},
		{"kubebuilder:validation:XValidation:rule=\"a,b\",message=m", `{"message":"m","rule":"a,b"}`},
		{"kubebuilder:validation:XValidation:rul=x", "there is no argument rul; did you mean \"rule\"?"},
		{"optional=true", "too much: \"true\""},
	} {
		name := marker.LookupCRD(c.text, marker.OnField)
		m, _, err := marker.ParseCRD(name, c.text)
		var value any = m.Value
		if m.Args != nil {
			value = m.Args
		}
		text, _ := json.Marshal(value)
		got := string(text)
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s is %s, not %s", c.text, got, c.want)
		}
	}
}

// TestCRDComments checks what owns the lines of comments.
func TestCRDComments(t *testing.T) {
	const source = `// Copyright of +nobody.

// +groupName=g
package v1

// +versionName=v2

// +kubebuilder:skip

// +loose
// +kubebuilder:storageversion

// T is a type.
// TODO: later
//
// It goes on.
// +doc
type T struct { // +behind
	// +far

	// +near

	// F is a field.
	// +f
	F string // +trailing
	// +last
}

// +ofX
var x = 1

func f() {
	// +inside
}

// +end
`
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "v1.go", source, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	comments := marker.NewCRDComments(file)
	spec := file.Decls[0].(*ast.GenDecl).Specs[0].(*ast.TypeSpec)
	lines, doc := comments.Type(spec)
	fields := comments.Fields(spec.Type.(*ast.StructType).Fields)
	for _, c := range []struct {
		owner string
		lines []marker.CRDLine
		want  string
	}{
		{"package", comments.Package, "groupName=g versionName=v2 kubebuilder:skip end"},
		{"type", lines, "loose kubebuilder:storageversion doc"},
		{"field", fields[0], "near f"},
	} {
		var texts []string
		for _, line := range c.lines {
			texts = append(texts, line.Text)
			if offset := fset.Position(line.At).Offset; source[offset] != '+' {
				t.Errorf("%q is at %d, where there is no plus sign", line.Text, offset)
			}
		}
		if got := strings.Join(texts, " "); got != c.want {
			t.Errorf("the %s owns %q, not %q", c.owner, got, c.want)
		}
	}
	if got, want := marker.CRDDoc(doc), "T is a type.\n\nIt goes on."; got != want {
		t.Errorf("the description is %q, not %q", got, want)
	}
}
