package cache_test

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgo "k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/cache"
)

func TestListAllLikeClientGo(t *testing.T) {
	red, _ := labels.Parse("red")
	eachSeed(t, func(t *testing.T, r *randomPods) {
		with, without := cache.NewIndexer(keyFunc, indexers()), cache.NewIndexer(keyFunc, nil)
		for _, obj := range r.some() {
			_ = with.Add(obj)
			_ = without.Add(obj)
		}
		for _, selector := range []labels.Selector{labels.Everything(), labels.Nothing(), red} {
			for _, namespace := range []string{"", "x", "nowhere"} {
				for _, x := range []clientgo.Indexer{with, without} {
					var ours, theirs []any
					errA := cache.ListAllByNamespace(x, namespace, selector,
						func(obj any) { ours = append(ours, obj) })
					errB := clientgo.ListAllByNamespace(x, namespace, selector,
						func(obj any) { theirs = append(theirs, obj) })
					same(t, "ListAllByNamespace", names(ours, true), names(theirs, true))
					same(t, "error", fmt.Sprint(errA), fmt.Sprint(errB))
				}
			}
		}
	})
	odd := cache.NewStore(func(any) (string, error) { return "k", nil })
	_ = odd.Add("no object")
	count := 0
	if err := cache.ListAll(odd, labels.Everything(), func(any) { count++ }); err != nil || count != 1 {
		t.Errorf("%d, %v", count, err)
	}
	if err := cache.ListAll(odd, red, func(any) {}); err == nil {
		t.Error("no error for the labels of something without any")
	}
	x := cache.NewIndexer(keyFunc, indexers())
	_ = x.Add(pod("x", "a", "1"))
	if obj, err := cache.NewGenericLister(x, schema.GroupResource{}).ByNamespace("x").Get("a"); err != nil ||
		obj.(metav1.Object).GetName() != "a" {
		t.Errorf("%v, %v", obj, err)
	}
}
