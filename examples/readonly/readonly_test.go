package readonly_test

import (
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/cache"

	shopv1 "github.com/kubewright/kubewright/examples/apis/shop/v1"
	listersv1 "github.com/kubewright/kubewright/examples/generated/listers/shop/v1"
)

func bakery(namespace, name string) *shopv1.Bakery {
	return &shopv1.Bakery{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name,
			Labels: map[string]string{"in": namespace}},
		Spec: shopv1.BakerySpec{Bread: "rye", Bakers: 3},
		Status: shopv1.BakeryStatus{Conditions: []metav1.Condition{{Type: shopv1.ConditionOpen,
			Status: metav1.ConditionTrue}}},
	}
}

// TestReadOnly reads bakeries, modifies everything that it can in the results, and finds the cache unchanged.
func TestReadOnly(t *testing.T) {
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc,
		cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	cached := bakery("north", "a")
	for _, b := range []*shopv1.Bakery{cached, bakery("north", "b"), bakery("south", "a")} {
		if err := indexer.Add(b); err != nil {
			t.Fatal(err)
		}
	}
	bakeries := listersv1.NewReadOnlyBakeryLister(indexer)
	all, err := bakeries.List(labels.Everything())
	if err != nil || len(all) != 3 {
		t.Errorf("%d bakeries, %v", len(all), err)
	}
	north, err := bakeries.ByNamespace("north").List(labels.SelectorFromSet(labels.Set{"in": "north"}))
	if err != nil || len(north) != 2 {
		t.Errorf("%d bakeries in the north, %v", len(north), err)
	}
	if _, err := bakeries.ByNamespace("south").Get("b"); !errors.IsNotFound(err) {
		t.Errorf("no bakery: %v", err)
	}

	a, err := bakeries.ByNamespace("north").Get("a")
	if err != nil {
		t.Fatal(err)
	}
	if in, ok := a.Labels().Get("in"); a.Name() != "a" || in != "north" || !ok || a.Spec().Bread() != "rye" ||
		a.Spec().Bakers() != 3 {
		t.Errorf("another bakery: %s, %s, %s", a.Name(), in, a.Spec().Bread())
	}
	open := a.Status().Conditions().At(0)
	if open.Type != shopv1.ConditionOpen {
		t.Errorf("condition %s", open.Type)
	}
	open.Status = metav1.ConditionFalse // types of other packages are returned as copies
	mine := a.DeepCopy()
	mine.Labels["in"], mine.Spec.Bread, mine.Status.Conditions[0].Type = "east", "wheat", "Closed"
	if !reflect.DeepEqual(cached, bakery("north", "a")) {
		t.Errorf("the cache was changed: %v", cached)
	}
}

// TestViewsLetNothingOut checks that the methods of views return no pointers, slices, maps or structs with
// settable fields. It also checks the views that they return.
func TestViewsLetNothingOut(t *testing.T) {
	seen := map[reflect.Type]bool{}
	var look func(v reflect.Type)
	look = func(v reflect.Type) {
		if seen[v] {
			return
		}
		seen[v] = true
		for i := range v.NumField() {
			if f := v.Field(i); f.IsExported() && !f.Anonymous {
				t.Errorf("%v has the field %s", v, f.Name)
			}
		}
		for i := range v.NumMethod() {
			method := v.Method(i)
			for j := range method.Type.NumOut() {
				switch out := method.Type.Out(j); {
				case method.Name == "DeepCopy":
				case out.Kind() == reflect.Pointer || out.Kind() == reflect.Slice ||
					out.Kind() == reflect.Map:
					t.Errorf("%v.%s returns %v", v, method.Name, out)
				case out.Kind() == reflect.Struct && out.NumMethod() > 0 && out.PkgPath() == v.PkgPath():
					look(out)
				}
			}
		}
	}
	look(reflect.TypeFor[listersv1.BakeryView]())
	look(reflect.TypeFor[listersv1.MarketView]())
	if len(seen) < 5 {
		t.Errorf("only %d views", len(seen))
	}
}
