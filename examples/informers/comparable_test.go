package informers_test

import (
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/examples/generated/clientset/versioned"
	"github.com/kubewright/kubewright/examples/generated/clientset/versioned/fake"
	"github.com/kubewright/kubewright/examples/generated/informers/externalversions"
)

// TestComparable compares and hashes everything that generated code returns behind an
// interface. A program may use it as the key of a map, which panics if it can't be compared.
func TestComparable(t *testing.T) {
	client := fake.NewSimpleClientset()
	factory := externalversions.NewSharedInformerFactory(client, 0)
	bakeries := factory.Shop().V1().Bakeries()
	registration, err := bakeries.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{})
	if err != nil {
		t.Fatal(err)
	}
	generic, err := factory.ForResource(schema.GroupVersionResource{Group: "shop.kubewright.dev",
		Version: "v1", Resource: "bakeries"})
	if err != nil {
		t.Fatal(err)
	}
	walk := walker{t, map[reflect.Type]bool{}}
	for _, value := range []any{
		factory, client, versioned.NewForConfigOrDie(&rest.Config{}), generic, registration,
	} {
		walk.from(reflect.TypeOf(value).String(), reflect.ValueOf(value))
	}
	for _, want := range []any{
		bakeries.Lister().Bakeries("town"), bakeries.TypedInformer(), client.ShopV1().Bakeries(""),
	} {
		if !walk.seen[reflect.TypeOf(want)] {
			t.Errorf("no %T was reached", want)
		}
	}
}

// walker calls all methods that only return an interface, and those of the
// results.
type walker struct {
	t    *testing.T
	seen map[reflect.Type]bool
}

func (w walker) from(path string, value reflect.Value) {
	if value.Kind() == reflect.Interface {
		value = value.Elem()
	}
	if !value.IsValid() || w.seen[value.Type()] || value.Kind() == reflect.Pointer && value.IsNil() {
		return
	}
	w.seen[value.Type()] = true
	if !value.Comparable() {
		w.t.Errorf("%s is a %s, which can't be compared", path, value.Type())
		return
	}
	if kept := map[any]bool{value.Interface(): true}; !kept[value.Interface()] {
		w.t.Errorf("%s is not found again in a map", path)
	}
	if !strings.HasPrefix(reflect.Indirect(value).Type().PkgPath(), "github.com/kubewright/") {
		return // its type and results are of another module
	}
	for n := range value.NumMethod() {
		name, method := value.Type().Method(n).Name, value.Method(n)
		if method.Type().NumOut() != 1 || method.Type().Out(0).Kind() != reflect.Interface {
			continue
		}
		switch method.Type().NumIn() {
		case 0:
			w.from(path+"."+name, method.Call(nil)[0])
		case 1:
			if namespace := reflect.ValueOf("town"); method.Type().In(0) == namespace.Type() {
				w.from(path+"."+name, method.Call([]reflect.Value{namespace})[0])
			}
		}
	}
}
