package model

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestMarshalers compares the methods by which types encode themselves with those that the type checker
// finds, for random packages of structs, interfaces and other types that embed each other, are declared as
// each other, and have methods and fields of these names.
func TestMarshalers(t *testing.T) {
	found := map[string]int{}
	for seed := range uint64(1000) {
		text := randomTypes(rand.New(rand.NewPCG(seed, 1)))
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, "p.go", text, 0)
		if err != nil {
			t.Fatal(err)
		}
		ours := newSource(listed{ImportPath: "p", Name: "p"}, fset, "")
		f := newFile("", "p.go", "", false)
		f.syntax = file
		ours.files = append(ours.files, f)
		ours.index(f)
		s := &sources{fset: fset, byPath: map[string]*source{"p": ours}}
		// Some of the packages don't compile, for instance because of a field and a method of one name.
		pkg, err := (&types.Config{}).Check("p", fset, []*ast.File{file}, nil)
		if err != nil {
			continue
		}
		for _, name := range pkg.Scope().Names() {
			want := checked(pkg, pkg.Scope().Lookup(name).Type())
			got, _ := s.marshaler(TypeName{"p", name})
			if got != want {
				t.Fatalf("seed %d: %s encodes itself with %q, want %q\n%s", seed, name, got, want, text)
			}
			found[got]++
		}
	}
	t.Log(found)
	for _, method := range []string{"", MarshalJSON, MarshalText} {
		if found[method] < 100 {
			t.Errorf("only %d types have the method %q", found[method], method)
		}
	}
}

// checked returns the method by which a type, or the pointer to it, encodes itself.
func checked(pkg *types.Package, t types.Type) string {
	for _, method := range []string{MarshalJSON, MarshalText} {
		object, _, _ := types.LookupFieldOrMethod(t, true, pkg, method)
		f, ok := object.(*types.Func)
		if !ok || f.Signature().Params().Len() > 0 || f.Signature().Results().Len() != 2 {
			continue
		}
		results := f.Signature().Results()
		if types.Identical(results.At(0).Type(), types.NewSlice(types.Typ[types.Byte])) &&
			types.Identical(results.At(1).Type(), types.Universe.Lookup("error").Type()) {
			return method
		}
	}
	return ""
}

func randomTypes(r *rand.Rand) string {
	var b strings.Builder
	b.WriteString("package p\n")
	const types = 9
	other := func() string { return fmt.Sprintf("T%d", r.IntN(types)) }
	for i := range types {
		form := r.IntN(8)
		switch form {
		case 0:
			fmt.Fprintf(&b, "type T%d int\n", i)
		case 1:
			fmt.Fprintf(&b, "type T%d %s\n", i, other())
		case 2:
			fmt.Fprintf(&b, "type T%d = %s\n", i, other())
		case 3:
			fmt.Fprintf(&b, "type T%d interface { %s }\n", i, []string{"MarshalJSON() ([]byte, error)",
				"MarshalText() ([]byte, error)", "Other()"}[r.IntN(3)])
		default:
			fmt.Fprintf(&b, "type T%d struct {\n", i)
			for range r.IntN(4) {
				fmt.Fprintf(&b, "\t%s%s\n", []string{"", "*"}[r.IntN(2)], other())
			}
			if r.IntN(12) == 0 {
				b.WriteString("\tMarshalJSON bool\n")
			}
			b.WriteString("}\n")
		}
		for _, method := range []string{MarshalJSON, MarshalText} {
			if form != 2 && r.IntN(5) == 0 {
				fmt.Fprintf(&b, "func (%sT%d) %s%s\n", []string{"", "*"}[r.IntN(2)], i, method, []string{
					"() ([]byte, error) { return nil, nil }", "() (text []uint8, err error) { return }",
					"() string { return \"\" }", "(int) ([]byte, error) { return nil, nil }"}[r.IntN(4)])
			}
		}
	}
	return b.String()
}
