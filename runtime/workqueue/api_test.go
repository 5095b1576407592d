package workqueue_test

import (
	"fmt"
	"go/types"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

const (
	upstreamPath = "k8s.io/client-go/util/workqueue"
	ourPath      = "github.com/kubewright/kubewright/runtime/workqueue"
)

// TestExportedAPI finds each exported identifier of client-go's package in
// ours: interfaces are the same types, functions have the same signatures,
// structs the same fields and methods.
func TestExportedAPI(t *testing.T) {
	pkgs, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedTypes | packages.NeedImports | packages.NeedDeps | packages.NeedExportFile,
	}, upstreamPath, ourPath)
	if err != nil {
		t.Fatal(err)
	}
	scopes := map[string]*types.Scope{}
	for _, p := range pkgs {
		if len(p.Errors) > 0 {
			t.Fatal(p.Errors)
		}
		scopes[p.PkgPath] = p.Types.Scope()
	}
	upstream, ours := scopes[upstreamPath], scopes[ourPath]
	found := 0
	for _, name := range upstream.Names() {
		if !upstream.Lookup(name).Exported() {
			continue
		}
		found++
		object := ours.Lookup(name)
		if object == nil {
			t.Errorf("%s is missing", name)
			continue
		}
		theirs, is := describe(upstream.Lookup(name)), describe(object)
		for line := range theirs {
			if !is[line] {
				t.Errorf("%s: client-go has %q, we have %v", name, line, is)
			}
		}
		if types.IsInterface(object.Type()) && !identical(upstream.Lookup(name).Type(), object.Type()) {
			t.Errorf("%s is another type than client-go's", name)
		}
	}
	if found < 50 {
		t.Errorf("client-go's package has %d exported names only", found)
	}
}

// describe returns what a user of an object can lean on, one line each, with
// both packages called by the same name.
func describe(object types.Object) map[string]bool {
	lines := map[string]bool{}
	switch o := object.(type) {
	case *types.Func:
		lines["func"+signature(o.Signature())] = true
	case *types.TypeName:
		lines["type"+parameters(o.Type())] = true
		if structure, ok := o.Type().Underlying().(*types.Struct); ok {
			for f := range structure.Fields() {
				if f.Exported() {
					lines[fmt.Sprintf("field %s %s embedded=%v", f.Name(), typeString(f.Type()), f.Embedded())] = true
				}
			}
		} else if !types.IsInterface(o.Type()) {
			lines["= "+typeString(o.Type().Underlying())] = true
		}
		methods := types.NewMethodSet(types.NewPointer(o.Type()))
		for m := range methods.Methods() {
			if m.Obj().Exported() {
				lines["method "+m.Obj().Name()+signature(m.Obj().(*types.Func).Signature())] = true
			}
		}
		for m := range types.NewMethodSet(o.Type()).Methods() {
			lines["method of the value "+m.Obj().Name()] = true
		}
	default:
		lines[fmt.Sprintf("%T %s", o, typeString(o.Type()))] = true
	}
	return lines
}

func signature(s *types.Signature) string {
	var b strings.Builder
	for p := range s.TypeParams().TypeParams() {
		fmt.Fprintf(&b, "[%s]", typeString(p.Constraint()))
	}
	for _, tuple := range []*types.Tuple{s.Params(), s.Results()} {
		b.WriteString("(")
		for v := range tuple.Variables() {
			b.WriteString(typeString(v.Type()) + ",")
		}
		b.WriteString(")")
	}
	return fmt.Sprint(b.String(), s.Variadic())
}

func parameters(t types.Type) string {
	var list *types.TypeParamList
	switch t := t.(type) {
	case *types.Named:
		list = t.TypeParams()
	case *types.Alias:
		list = t.TypeParams()
	}
	var b strings.Builder
	for p := range list.TypeParams() {
		fmt.Fprintf(&b, "[%s]", typeString(p.Constraint()))
	}
	return b.String()
}

// typeString writes a type parameter as such, whatever its name.
func typeString(t types.Type) string {
	if _, ok := t.(*types.TypeParam); ok {
		return "T"
	}
	s := types.TypeString(t, func(p *types.Package) string {
		if p.Path() == upstreamPath || p.Path() == ourPath {
			return "workqueue"
		}
		return p.Path()
	})
	return strings.ReplaceAll(s, "[t]", "[T]")
}

// identical compares types, generic ones instantiated with int.
func identical(a, b types.Type) bool {
	instance := func(t types.Type) types.Type {
		if parameters(t) == "" {
			return types.Unalias(t)
		}
		i, err := types.Instantiate(nil, t, []types.Type{types.Typ[types.Int]}, false)
		if err != nil {
			return nil
		}
		return types.Unalias(i)
	}
	return types.Identical(instance(a), instance(b))
}
