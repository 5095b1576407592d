package cache_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	clientgo "k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/cache"
)

// TestKeysLikeClientGo checks that keys are those of client-go.
func TestKeysLikeClientGo(t *testing.T) {
	type result struct {
		value string
		bad   bool
	}
	call := func(value any, err error) result { return result{fmt.Sprint(value), err != nil} }
	for _, obj := range []any{
		pod("x", "a", "1"), pod("", "a", "1"), cache.ExplicitKey("k"),
		cache.DeletedFinalStateUnknown{Key: "x/b"},
		cache.DeletedFinalStateUnknown{Key: "a/b/c"}, "no object", nil,
	} {
		for name, pair := range map[string][2]result{
			"MetaNamespaceKeyFunc": {call(cache.MetaNamespaceKeyFunc(obj)),
				call(clientgo.MetaNamespaceKeyFunc(obj))},
			"DeletionHandlingMetaNamespaceKeyFunc": {call(cache.DeletionHandlingMetaNamespaceKeyFunc(obj)),
				call(clientgo.DeletionHandlingMetaNamespaceKeyFunc(obj))},
			"ObjectToName": {call(cache.ObjectToName(obj)),
				call(clientgo.ObjectToName(obj))},
			"DeletionHandlingObjectToName": {call(cache.DeletionHandlingObjectToName(obj)),
				call(clientgo.DeletionHandlingObjectToName(obj))},
			"MetaNamespaceIndexFunc": {call(cache.MetaNamespaceIndexFunc(obj)),
				call(clientgo.MetaNamespaceIndexFunc(obj))},
		} {
			if pair[0] != pair[1] {
				t.Errorf("%s(%v): %v, theirs %v", name, obj, pair[0], pair[1])
			}
		}
	}
	for _, key := range []string{"", "a", "a/b", "/", "a/", "/b", "a/b/c"} {
		ns, name, err := cache.SplitMetaNamespaceKey(key)
		ns2, name2, err2 := clientgo.SplitMetaNamespaceKey(key)
		if ns != ns2 || name != name2 || fmt.Sprint(err) != fmt.Sprint(err2) {
			t.Errorf("%q: %q %q %v, theirs %q %q %v", key, ns, name, err, ns2, name2, err2)
		}
		parsed, _ := cache.ParseObjectName(key)
		parsed2, _ := clientgo.ParseObjectName(key)
		if parsed != parsed2 {
			t.Errorf("%q: %v, theirs %v", key, parsed, parsed2)
		}
	}
	want := cache.NewObjectName("x", "a")
	if got := cache.MetaObjectToName(pod("x", "a", "1")); got != want {
		t.Error(got)
	}
	if got := cache.NamespacedNameAsObjectName(types.NamespacedName{Namespace: "x", Name: "a"}); got != want {
		t.Error(got)
	}
	for _, values := range [][]string{nil, {"one"}, {"one", "two"}} {
		index := func(any) ([]string, error) { return values, nil }
		a, errA := cache.IndexFuncToKeyFuncAdapter(index)(nil)
		b, errB := clientgo.IndexFuncToKeyFuncAdapter(index)(nil)
		if a != b || fmt.Sprint(errA) != fmt.Sprint(errB) {
			t.Errorf("%q, %v, theirs %q, %v", a, errA, b, errB)
		}
	}
	failing := func(any) ([]string, error) { return nil, errBad }
	if _, err := cache.IndexFuncToKeyFuncAdapter(failing)(nil); !errors.Is(err, errBad) {
		t.Error(err)
	}
	untyped := cache.TypedIndexersToIndexers(
		cache.TypedIndexers[*corev1.Pod]{"n": func(p *corev1.Pod) ([]string, error) {
			return []string{p.Name}, nil
		}})
	if got, _ := untyped["n"](pod("x", "a", "1")); !slices.Equal(got, []string{"a"}) {
		t.Error(got)
	}
}
