package crds

import (
	"fmt"
	"strings"
)

// clientProgram returns a program that reads the access to the server, and then a type and an object per
// line. It creates each object with the client of its type, lists, and writes an answer.
func clientProgram(all []manifest, packages map[string]string) string {
	var b strings.Builder
	b.WriteString("package main\n\nimport (\n")
	names := map[string]string{} // of packages by folder
	for _, m := range all {
		folder := packages["known "+m.def.Group+"/"+stored(m.def).Name]
		if names[folder] == "" {
			names[folder] = fmt.Sprintf("p%d", len(names))
			fmt.Fprintf(&b, "\t%s %q\n", names[folder], module+"/"+folder)
		}
	}
	fmt.Fprintf(&b, `
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	k8sjson "sigs.k8s.io/json"

	"%s/client/clientset/versioned"
)

var types = map[string]func() metav1.Object{
`, module)
	for _, m := range all {
		folder := packages["known "+m.def.Group+"/"+stored(m.def).Name]
		fmt.Fprintf(&b, "\t%q: func() metav1.Object { return &%s.%s{} },\n", typeName(m.def), names[folder],
			m.def.Kind)
	}
	b.WriteString(`}

type answer struct {
	Error   string
	Invalid bool
	Listed  any
}

func main() {
	in, out := bufio.NewReader(os.Stdin), json.NewEncoder(os.Stdout)
	line, err := in.ReadString('\n')
	var access struct {
		Host, Token, ServerName string
		CA                      []byte
	}
	if err == nil {
		err = json.Unmarshal([]byte(line), &access)
	}
	if err != nil {
		panic(err)
	}
	clients := versioned.NewForConfigOrDie(&rest.Config{Host: access.Host, BearerToken: access.Token, QPS: -1,
		TLSClientConfig: rest.TLSClientConfig{CAData: access.CA, ServerName: access.ServerName}})
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		name, text, _ := strings.Cut(line, " ")
		listed, err := create(clients, name, text)
		a := answer{Listed: listed, Invalid: apierrors.IsInvalid(err)}
		if err != nil {
			a.Error = err.Error()
		}
		if err := out.Encode(a); err != nil {
			panic(err)
		}
	}
}

// create creates an object and returns it as a list has it.
func create(clients versioned.Interface, name, text string) (any, error) {
	object := types[name]()
	if err := k8sjson.UnmarshalCaseSensitivePreserveInts([]byte(text), object); err != nil {
		return nil, err
	}
	client := clientOf(clients, object)
	if !client.IsValid() {
		return nil, fmt.Errorf("no client of %T", object)
	}
	call := func(method string, args ...any) (reflect.Value, error) {
		values := []reflect.Value{reflect.ValueOf(context.Background())}
		for _, arg := range args {
			values = append(values, reflect.ValueOf(arg))
		}
		results := client.MethodByName(method).Call(values)
		err, _ := results[1].Interface().(error)
		return results[0], err
	}
	if _, err := call("Create", object, metav1.CreateOptions{}); err != nil {
		return nil, err
	}
	list, err := call("List", metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	items := list.Elem().FieldByName("Items")
	for i := range items.Len() {
		item := items.Index(i).Addr().Interface().(metav1.Object)
		if item.GetName() == object.GetName() {
			return item, nil
		}
	}
	return nil, fmt.Errorf("%s is not among %d listed objects", object.GetName(), items.Len())
}

// clientOf returns the client of an object's type, in namespace default unless the type has none: the result of
// that method of a group's client which has a Create for it.
func clientOf(clients versioned.Interface, object metav1.Object) reflect.Value {
	set := reflect.ValueOf(clients)
	for i := range set.NumMethod() {
		method := set.Type().Method(i).Type
		if method.NumIn() != 1 || method.NumOut() != 1 { // the first is the receiver
			continue
		}
		group := set.Method(i).Call(nil)[0]
		if group.Kind() != reflect.Interface || group.IsNil() {
			continue
		}
		group = group.Elem()
		for j := range group.NumMethod() {
			getter := group.Method(j)
			if getter.Type().NumOut() != 1 || getter.Type().Out(0).Kind() != reflect.Interface {
				continue
			}
			create, ok := getter.Type().Out(0).MethodByName("Create")
			if !ok || create.Type.NumIn() != 3 || create.Type.In(1) != reflect.TypeOf(object) {
				continue
			}
			args := make([]reflect.Value, getter.Type().NumIn())
			for k := range args {
				args[k] = reflect.ValueOf("default")
			}
			return getter.Call(args)[0]
		}
	}
	return reflect.Value{}
}
`)
	return b.String()
}
