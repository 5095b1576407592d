// Package compare calls every method of two clientsets, found by reflection, with the same arguments, and
// compares the results.
package compare

import (
	"context"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// call is a method of a typed client.
type call struct {
	path string // "ShopV1.Bakeries(ns).Get"
	do   func(arguments) outcome
}

// arguments are the arguments of the calls.
type arguments struct {
	options      bool // set every option, or none
	name         string
	patch        types.PatchType
	subresources []string
}

var usual = arguments{true, "name", types.MergePatchType, []string{"status"}}

// unusual are arguments that clients refuse or escape.
var unusual = map[string]arguments{
	"without options":  {false, "name", types.JSONPatchType, nil},
	"without a name":   {false, "", types.StrategicMergePatchType, []string{}},
	"two subresources": {true, "name", types.ApplyYAMLPatchType, []string{"status", "scale"}},
	"a slash":          {false, "a/b", types.MergePatchType, []string{"a/b"}},
	"dots":             {false, "..", types.ApplyCBORPatchType, []string{""}},
	"not ASCII":        {true, "brötchen?x=%41", "application/unknown", []string{"ö"}},
}

// outcome has the results of a call.
type outcome struct {
	Result any
	Err    string
	Panic  string
}

// calls returns the methods behind iface, which is the Interface of a clientset: of each group, and of each
// of its resources with and without a namespace.
func calls(clientset any, iface reflect.Type) []call {
	var found []call
	for _, group := range methods(iface, "Discovery") {
		groupClient := reflect.ValueOf(clientset).MethodByName(group.Name).Call(nil)[0]
		for _, getter := range methods(group.Type.Out(0), "RESTClient") {
			get := groupClient.MethodByName(getter.Name)
			scopes := [][]reflect.Value{nil}
			if getter.Type.NumIn() == 1 {
				scopes = [][]reflect.Value{{reflect.ValueOf("ns")}, {reflect.ValueOf("")}}
			}
			for _, scope := range scopes {
				client := get.Call(scope)[0]
				for _, method := range methods(getter.Type.Out(0)) {
					found = append(found, call{
						path: fmt.Sprintf("%s.%s(%v).%s", group.Name, getter.Name, scope, method.Name),
						do:   func(a arguments) outcome { return a.invoke(client.MethodByName(method.Name), method.Type) },
					})
				}
			}
		}
	}
	return found
}

// methods returns the methods of an interface, sorted by name.
func methods(iface reflect.Type, without ...string) []reflect.Method {
	var found []reflect.Method
	for i := range iface.NumMethod() {
		if m := iface.Method(i); len(without) == 0 || m.Name != without[0] {
			found = append(found, m)
		}
	}
	return found
}

func (a arguments) invoke(method reflect.Value, signature reflect.Type) (o outcome) {
	defer func() {
		if p := recover(); p != nil {
			o = outcome{Panic: fmt.Sprint(p)}
		}
	}()
	var args []reflect.Value
	for i := range signature.NumIn() {
		args = append(args, a.argument(signature.In(i)))
	}
	if signature.IsVariadic() {
		return outcomeOf(method.CallSlice(args))
	}
	return outcomeOf(method.Call(args))
}

func outcomeOf(results []reflect.Value) outcome {
	var o outcome
	for _, result := range results {
		switch value := result.Interface().(type) {
		case nil:
		case error:
			o.Err = value.Error()
		case watch.Interface:
			value.Stop()
			o.Result = "a watch"
		default:
			o.Result = value
		}
	}
	return o
}

func (a arguments) argument(t reflect.Type) reflect.Value {
	switch t {
	case reflect.TypeFor[context.Context]():
		return reflect.ValueOf(context.Background())
	case reflect.TypeFor[string]():
		return reflect.ValueOf(a.name)
	case reflect.TypeFor[types.PatchType]():
		return reflect.ValueOf(a.patch)
	case reflect.TypeFor[[]byte]():
		return reflect.ValueOf([]byte(`{"metadata":{"labels":{"a":"b"}}}`))
	case reflect.TypeFor[[]string]():
		return reflect.ValueOf(a.subresources)
	}
	v := reflect.New(t).Elem()
	// Objects are pointers, options are values.
	if a.options || t.Kind() != reflect.Struct {
		fill(v, "", 5)
	}
	return v
}
