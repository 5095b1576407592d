package kube

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// namespace is the namespace of the objects that tests write.
const namespace = "default"

// stubs returns an object of each resource for which Kubernetes' own tests have one, in the server's version.
// It parses the source of those tests, where a line of a map is
//
//	gvr("", "v1", "configmaps"): {Stub: `{"data": {"foo": "bar"}, "metadata": {"name": "cm1"}}`, ...},
func stubs(root string) (map[schema.GroupVersionResource]*unstructured.Unstructured, error) {
	download := exec.Command("go", "mod", "download", "-json", "k8s.io/kubernetes")
	download.Dir = filepath.Join(root, "test", "kubeapiserver")
	out, err := download.Output()
	if err != nil {
		return nil, fmt.Errorf("find Kubernetes: %w", err)
	}
	var module struct{ Dir string }
	if err := json.Unmarshal(out, &module); err != nil {
		return nil, err
	}
	name := filepath.Join(module.Dir, "test", "integration", "etcd", "data.go")
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	found := map[schema.GroupVersionResource]*unstructured.Unstructured{}
	ast.Inspect(file, func(n ast.Node) bool {
		line, ok := n.(*ast.KeyValueExpr)
		if !ok || err != nil {
			return err == nil
		}
		gvr, isResource := resourceOf(line.Key)
		stub := stubOf(line.Value)
		if !isResource || stub == nil {
			return true
		}
		obj := &unstructured.Unstructured{}
		var text string
		if text, err = textOf(stub); err == nil {
			err = json.Unmarshal([]byte(text), &obj.Object)
		}
		if err != nil {
			err = fmt.Errorf("%s: the stub of %v: %w", name, gvr, err)
		}
		found[gvr] = obj
		return false
	})
	return found, err
}

// resourceOf parses gvr("", "v1", "configmaps").
func resourceOf(x ast.Expr) (gvr schema.GroupVersionResource, ok bool) {
	call, ok := x.(*ast.CallExpr)
	if !ok || len(call.Args) != 3 {
		return gvr, false
	}
	if f, ok := call.Fun.(*ast.Ident); !ok || f.Name != "gvr" {
		return gvr, false
	}
	for i, part := range []*string{&gvr.Group, &gvr.Version, &gvr.Resource} {
		text, err := textOf(call.Args[i])
		if err != nil {
			return gvr, false
		}
		*part = text
	}
	return gvr, true
}

// stubOf returns the field Stub of a composite literal, nil if it has none.
func stubOf(x ast.Expr) ast.Expr {
	literal, ok := x.(*ast.CompositeLit)
	if !ok {
		return nil
	}
	for _, element := range literal.Elts {
		if field, ok := element.(*ast.KeyValueExpr); ok {
			if name, ok := field.Key.(*ast.Ident); ok && name.Name == "Stub" {
				return field.Value
			}
		}
	}
	return nil
}

// textOf returns the value of an expression of literals and the two variables that the stubs use.
func textOf(x ast.Expr) (string, error) {
	switch x := x.(type) {
	case *ast.BasicLit:
		return strconv.Unquote(x.Value)
	case *ast.BinaryExpr:
		left, err := textOf(x.X)
		right, err2 := textOf(x.Y)
		return left + right, errors.Join(err, err2)
	case *ast.Ident:
		if text, ok := map[string]string{"namespace": namespace, "image": "busybox"}[x.Name]; ok {
			return text, nil
		}
	}
	return "", fmt.Errorf("not understood: %T", x)
}
