package informers_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	clientgo "k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/informers"
	"github.com/kubewright/kubewright/runtime/informer"
)

// TestTable checks that each line of the table is of one type, with the group and version that the
// type has in the scheme.
func TestTable(t *testing.T) {
	seen := map[reflect.Type]bool{}
	for _, b := range informers.BuiltIns() {
		kinds, _, err := scheme.Scheme.ObjectKinds(newObject(b, "", ""))
		if err != nil {
			t.Fatal(err)
		}
		if len(kinds) != 1 || kinds[0].GroupVersion() != b.Resource.GroupVersion() {
			t.Errorf("%v is of %v", b.Resource, kinds)
		}
		if seen[reflect.TypeOf(b.Object)] {
			t.Errorf("%T is there twice", b.Object)
		}
		seen[reflect.TypeOf(b.Object)] = true
	}
}

// newObject returns an object of a built-in type.
func newObject(b informers.BuiltIn, name, version string) runtime.Object {
	obj := reflect.New(reflect.TypeOf(b.Object).Elem()).Interface().(runtime.Object)
	m := obj.(metav1.Object)
	m.SetNamespace(namespaceOf(b))
	m.SetName(name)
	m.SetResourceVersion(version)
	m.SetLabels(map[string]string{"name": name})
	return obj
}

func namespaceOf(b informers.BuiltIn) string {
	if b.Namespaced {
		return "ns"
	}
	return ""
}

// TestEveryResource requests every resource from client-go's factory and ours, and checks that their
// informers and listers have the same objects and their handlers receive the same events.
func TestEveryResource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewSimpleClientset()
		ours, theirs := informers.NewSharedInformerFactory(client, 0), clientgo.NewSharedInformerFactory(client, 0)
		pairs := map[informers.BuiltIn][2]*observed{}
		for _, b := range informers.BuiltIns() {
			if err := client.Tracker().Create(b.Resource, newObject(b, "a", "1"), namespaceOf(b)); err != nil {
				t.Fatal(err)
			}
			pairs[b] = [2]*observed{observe(t, ours, b), observe(t, theirs, b)}
		}
		ctx, cancel := context.WithCancel(t.Context())
		ours.StartWithContext(ctx)
		theirs.StartWithContext(ctx)
		got, want := ours.WaitForCacheSync(ctx.Done()), theirs.WaitForCacheSync(ctx.Done())
		if len(want) != len(pairs) || !reflect.DeepEqual(got, want) {
			t.Errorf("synced %v, client-go's have %v", got, want)
		}
		synctest.Wait() // Until all watch.
		for b := range pairs {
			for what, err := range map[string]error{
				"create b": client.Tracker().Create(b.Resource, newObject(b, "b", "2"), namespaceOf(b)),
				"update a": client.Tracker().Update(b.Resource, newObject(b, "a", "3"), namespaceOf(b)),
			} {
				if err != nil {
					t.Fatalf("%s of %v: %v", what, b.Resource, err)
				}
			}
			synctest.Wait()
			if err := client.Tracker().Delete(b.Resource, namespaceOf(b), "b"); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		for b, pair := range pairs {
			pair[0].compare(t, b, pair[1])
		}
		cancel()
		ours.Shutdown()
		theirs.Shutdown()
	})
}

// observed is an informer with the events that a handler received.
type observed struct {
	clientgo.GenericInformer
	events []string
}

func (o *observed) indexer() cache.Indexer { return o.Informer().GetIndexer() }

func (o *observed) in(namespace string) cache.GenericNamespaceLister {
	return o.Lister().ByNamespace(namespace)
}

func observe(t *testing.T, f clientgo.SharedInformerFactory, b informers.BuiltIn) *observed {
	t.Helper()
	i, err := f.ForResource(b.Resource)
	if err != nil {
		t.Fatal(err)
	}
	o := &observed{GenericInformer: i}
	say := func(what string, obj any) {
		m := obj.(metav1.Object)
		name := cache.MetaObjectToName(m).String()
		o.events = append(o.events, fmt.Sprintf("%s %T %s %s", what, obj, name, m.GetResourceVersion()))
	}
	_, err = i.Informer().AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{
		AddFunc:    func(obj any, initial bool) { say(fmt.Sprintf("add, initial %t,", initial), obj) },
		UpdateFunc: func(old, obj any) { say("update from "+old.(metav1.Object).GetResourceVersion(), obj) },
		DeleteFunc: func(obj any) { say("delete", obj) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func (o *observed) compare(t *testing.T, b informers.BuiltIn, theirs *observed) {
	if len(o.events) != 4 || !slices.Equal(o.events, theirs.events) {
		t.Errorf("%v: told %q, client-go's told %q", b.Resource, o.events, theirs.events)
	}
	wanted, ns := labels.SelectorFromSet(labels.Set{"name": "a"}), namespaceOf(b)
	for what, list := range map[string]func(*observed) any{
		"store":                  func(o *observed) any { return o.Informer().GetStore().List() },
		"keys":                   func(o *observed) any { return o.Informer().GetStore().ListKeys() },
		"index":                  func(o *observed) any { return result(o.indexer().ByIndex("namespace", ns)) },
		"lister":                 func(o *observed) any { return result(o.Lister().List(wanted)) },
		"lister, none":           func(o *observed) any { return result(o.Lister().List(labels.Nothing())) },
		"lister of a namespace":  func(o *observed) any { return result(o.in(ns).List(wanted)) },
		"lister of another":      func(o *observed) any { return result(o.in("other").List(wanted)) },
		"get":                    func(o *observed) any { return result(o.Lister().Get(key(b, "a"))) },
		"get of a namespace":     func(o *observed) any { return result(o.in(ns).Get("a")) },
		"get what is gone":       func(o *observed) any { return result(o.Lister().Get(key(b, "b"))) },
		"get what is gone there": func(o *observed) any { return result(o.in(ns).Get("b")) },
	} {
		if got, want := list(o), list(theirs); !equality.Semantic.DeepEqual(got, want) {
			t.Errorf("%v: %s: %v, client-go's is %v", b.Resource, what, got, want)
		}
	}
	status, ours := informer.StatusOf(o.Informer())
	name := "informer of " + b.Resource.GroupVersion().String() + " " + b.Resource.Resource
	if !ours || status.Name != name || status.Resource != b.Resource || status.Objects != 1 ||
		status.Type != reflect.TypeOf(b.Object).String() {
		t.Errorf("%v: ours %v, status %+v", b.Resource, ours, status)
	}
}

func key(b informers.BuiltIn, name string) string {
	return cache.NewObjectName(namespaceOf(b), name).String()
}

// result is what a function returns, as one value. An error is its text.
func result[V any](v V, err error) any {
	if err != nil {
		return err.Error()
	}
	return v
}

// TestEveryGroup requests the informer of every kind of every version of every group by its method,
// as programs do, and checks that it is ours and the one that ForResource returns.
func TestEveryGroup(t *testing.T) {
	f := informers.NewSharedInformerFactory(fake.NewSimpleClientset(), 0)
	found := 0
	for _, group := range accessors(reflect.ValueOf(f), "Interface") {
		for _, version := range accessors(group, "Interface") {
			for _, kind := range accessors(version, "") {
				access := kind.Interface().(interface {
					Informer() cache.SharedIndexInformer
				})
				status, ours := informer.StatusOf(access.Informer())
				if !ours {
					t.Errorf("%s is not ours", kind.Type())
					continue
				}
				generic, err := f.ForResource(status.Resource)
				if err != nil || generic.Informer().GetStore() != access.Informer().GetStore() {
					t.Errorf("%v: ForResource has another informer, %v", status.Resource, err)
				}
				found++
			}
		}
	}
	if found != len(informers.BuiltIns()) {
		t.Errorf("%d informers, want %d", found, len(informers.BuiltIns()))
	}
}

// accessors returns the results of v's methods that take no argument and return an interface. Unless
// name is empty, it calls only the method of that name.
func accessors(v reflect.Value, name string) (all []reflect.Value) {
	for i := range v.NumMethod() {
		method := v.Method(i)
		if typ := method.Type(); typ.NumIn() == 0 && typ.NumOut() == 1 && typ.Out(0).Kind() == reflect.Interface &&
			(name == "" || typ.Out(0).Name() == name) {
			all = append(all, method.Call(nil)[0])
		}
	}
	return all
}
