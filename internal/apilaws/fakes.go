package apilaws

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

const (
	namespace = "town"
	manager   = "me"
)

// fakes checks all clients of the fake clientsets.
func (a API) fakes(kinds map[reflect.Type]configuration, all *counts) error {
	if a.Simple == nil {
		return nil
	}
	var errs []error
	for i, c := range clientsOf(a.Simple()) {
		all.clients++
		fresh := func(objects ...runtime.Object) client { return clientsOf(a.Simple(objects...))[i] }
		errs = append(errs, c.serves(fresh))
		config, ok := kinds[c.object]
		if a.Managed == nil || !ok {
			continue
		}
		managed := func(objects ...runtime.Object) client { return clientsOf(a.Managed(objects...))[i] }
		errs = append(errs, c.serves(managed), managed().applies(config))
		all.applied++
	}
	return errors.Join(errs...)
}

// client is the client of a kind.
type client struct {
	reflect.Value
	object     reflect.Type // the kind, a struct
	namespaced bool
}

// clientsOf returns the clients of all kinds that a clientset has, always in the same order.
func clientsOf(clientset any) []client {
	var all []client
	set := reflect.ValueOf(clientset)
	for i := range set.NumMethod() {
		if !returnsInterface(set.Type().Method(i), 1) || set.Type().Method(i).Name == "Discovery" {
			continue
		}
		group := set.Method(i).Call(nil)[0]
		if !group.MethodByName("RESTClient").IsValid() { // that of objects, for example
			continue
		}
		for j := range group.NumMethod() {
			method := group.Type().Method(j)
			var args []reflect.Value
			if method.Type.NumIn() == 1 {
				args = append(args, reflect.ValueOf(namespace))
			}
			if method.Name == "RESTClient" || !returnsInterface(method, len(args)) {
				continue
			}
			c := client{group.Method(j).Call(args)[0], nil, len(args) == 1}
			if c.object = c.kind(); c.object != nil {
				all = append(all, c)
			}
		}
	}
	return all
}

// returnsInterface reports whether a method has that many arguments and returns one interface.
func returnsInterface(m reflect.Method, arguments int) bool {
	return m.Type.NumIn() == arguments && m.Type.NumOut() == 1 && m.Type.Out(0).Kind() == reflect.Interface
}

// kind returns the type of the objects, nil if the client has no method that tells it.
func (c client) kind() reflect.Type {
	if get := c.method("Get"); get.IsValid() {
		return get.Type().Out(0).Elem()
	}
	if create := c.method("Create"); create.IsValid() {
		return create.Type().In(1).Elem()
	}
	return nil
}

// method returns a method of the client's interface.
func (c client) method(name string) reflect.Value { return c.MethodByName(name) }

// call calls a method of the client with a context, and returns its result.
func (c client) call(name string, args ...any) (any, error) {
	values := []reflect.Value{reflect.ValueOf(context.Background())}
	for _, arg := range args {
		values = append(values, reflect.ValueOf(arg))
	}
	out := c.method(name).Call(values)
	if err, ok := out[len(out)-1].Interface().(error); ok {
		return nil, fmt.Errorf("%s of %v: %w", name, c.object, err)
	}
	return out[0].Interface(), nil
}

// randomObject returns a pointer to a random object of a kind.
func randomObject(kind reflect.Type, seed uint64) any {
	object := reflect.New(kind)
	newFiller(seed).fill(object.Elem(), 6)
	meta := metaOf[metav1.ObjectMeta](object.Interface())
	*meta = metav1.ObjectMeta{Name: fmt.Sprint("n", seed), Namespace: namespace, Labels: meta.Labels,
		Annotations: meta.Annotations}
	*metaOf[metav1.TypeMeta](object.Interface()) = metav1.TypeMeta{}
	return object.Interface()
}

// new returns a random object that the client can store.
func (c client) new(seed uint64) any {
	object := randomObject(c.object, seed)
	if !c.namespaced {
		object.(metav1.Object).SetNamespace("")
	}
	return object
}

// serves checks that a fake serves the object that it begins with, and one that is created. fresh returns a
// client of a new clientset with objects.
func (c client) serves(fresh func(...runtime.Object) client) (err error) {
	defer recovered(&err)
	object, second := c.new(1), c.new(2)
	errs := []error{fresh(object.(runtime.Object)).has(object)}
	if !c.method("Create").IsValid() {
		return errors.Join(errs...)
	}
	empty := fresh()
	created, err := empty.call("Create", second, metav1.CreateOptions{})
	if err != nil {
		return errors.Join(append(errs, err)...)
	}
	return errors.Join(append(errs, equalJSON(second, plain(created), fmt.Sprintf("%v, created,", c.object)),
		empty.has(second))...)
}

// has checks that the client lists and gets an object, and no other one.
func (c client) has(object any) error {
	if c.method("Get").IsValid() {
		got, err := c.call("Get", object.(metav1.Object).GetName(), metav1.GetOptions{})
		if err == nil {
			err = equalJSON(object, plain(got), fmt.Sprintf("Get of %v", c.object))
		}
		if err != nil {
			return err
		}
	}
	if !c.method("List").IsValid() {
		return nil
	}
	list, err := c.call("List", metav1.ListOptions{})
	if err != nil {
		return err
	}
	items := reflect.ValueOf(list).Elem().FieldByName("Items")
	if items.Len() != 1 {
		return fmt.Errorf("the list of %v has %d items, not 1", c.object, items.Len())
	}
	item := items.Index(0)
	if item.Kind() != reflect.Pointer {
		item = item.Addr()
	}
	return equalJSON(object, plain(item.Interface()), fmt.Sprintf("List of %v", c.object))
}

// applies checks that a configuration is applied, and that it can be extracted from the result.
func (c client) applies(of configuration) (err error) {
	defer recovered(&err)
	if !c.method("Apply").IsValid() {
		return nil
	}
	object := c.new(3)
	config, err := of.fromObject(object)
	if err != nil {
		return err
	}
	kind := of.kindOf(object)
	for method, value := range map[string]string{"WithKind": kind.Kind, "WithAPIVersion": kind.APIVersion} {
		reflect.ValueOf(config).MethodByName(method).Call([]reflect.Value{reflect.ValueOf(value)})
	}
	applied, err := c.call("Apply", config, metav1.ApplyOptions{FieldManager: manager})
	if err != nil {
		return err
	}
	extracted, err := of.extracted(applied)
	if err != nil {
		return err
	}
	return errors.Join(equalJSON(withoutEmpty(config), withoutEmpty(extracted),
		fmt.Sprintf("what is extracted of %v", c.object)),
		equalJSON(object, plain(applied), fmt.Sprintf("%v, applied,", c.object)))
}

// extracted returns what the manager has applied to an object.
func (c configuration) extracted(object any) (any, error) {
	out := c.extract.Call([]reflect.Value{reflect.ValueOf(object), reflect.ValueOf(manager)})
	if err, ok := out[1].Interface().(error); ok {
		return nil, fmt.Errorf("extracting %v: %w", c.object, err)
	}
	return out[0].Interface(), nil
}

// kindOf returns the kind and version that the function that extracts a configuration writes into it.
func (c configuration) kindOf(object any) (kind metav1.TypeMeta) {
	extracted, err := c.extracted(object)
	if err == nil {
		err = convert(extracted, &kind)
	}
	if err != nil {
		panic(err)
	}
	return kind
}

// plain removes from an object what a server adds.
func plain(object any) any {
	object.(metav1.Object).SetManagedFields(nil)
	*metaOf[metav1.TypeMeta](object) = metav1.TypeMeta{}
	return object
}

// metaOf returns a field that a kind embeds.
func metaOf[T any](object any) *T {
	return reflect.ValueOf(object).Elem().FieldByName(reflect.TypeFor[T]().Name()).Addr().Interface().(*T)
}
