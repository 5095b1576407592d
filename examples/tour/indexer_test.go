package tour

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubewright/kubewright/runtime/cache"
)

// An Indexer is a store that also finds objects by values that a function computes, here by an annotation.
// An object may have several values, or none. The cost of reading a value's objects depends on their number,
// not on the size of the store. Every informer has an Indexer, see informerindex_test.go.
func Example_indexer() {
	const owner = "example.com/owner"
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{ // the key is namespace/name
		"owner": func(obj any) ([]string, error) {
			if name, ok := obj.(*corev1.ConfigMap).Annotations[owner]; ok {
				return []string{name}, nil
			}
			return nil, nil
		},
	})
	put := func(name, ownedBy string) {
		obj := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "town", Name: name}}
		if ownedBy != "" {
			obj.Annotations = map[string]string{owner: ownedBy}
		}
		if err := indexer.Update(obj); err != nil {
			panic(err)
		}
	}
	owned := func(by string) {
		keys, err := indexer.IndexKeys("owner", by)
		if err != nil {
			panic(err)
		}
		slices.Sort(keys)
		fmt.Println(by, "owns", keys)
	}
	put("oven", "ann")
	put("mill", "ben")
	put("shop", "ann")
	put("lane", "")
	owned("ann")

	put("shop", "ben") // the index follows the object
	owned("ann")
	owned("ben")

	_, err := indexer.ByIndex("colour", "red")
	fmt.Println(err != nil, "that no index is called colour")
	// Output:
	// ann owns [town/oven town/shop]
	// ann owns [town/oven]
	// ben owns [town/mill town/shop]
	// true that no index is called colour
}
