package tour

import (
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	shopv1 "github.com/kubewright/kubewright/examples/apis/shop/v1"
	shoplisters "github.com/kubewright/kubewright/examples/generated/listers/shop/v1"
	"github.com/kubewright/kubewright/runtime/cache"
)

// A lister reads an informer's cache with types: no request, no copy. What it returns belongs to the cache,
// so copy (DeepCopy) before you change it. Here the cache is filled by hand, as tests of controllers do.
func Example_lister() {
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc,
		cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	for _, b := range []struct{ namespace, name, bread string }{
		{"town", "ann", "rye"}, {"town", "ben", "oat"}, {"hill", "cid", "rye"},
	} {
		if err := indexer.Add(&shopv1.Bakery{ObjectMeta: metav1.ObjectMeta{
			Namespace: b.namespace, Name: b.name, Labels: map[string]string{"bread": b.bread},
		}}); err != nil {
			panic(err)
		}
	}
	lister := shoplisters.NewBakeryLister(indexer)

	ann, err := lister.Bakeries("town").Get("ann")
	if err != nil {
		panic(err)
	}
	changed := ann.DeepCopy()
	changed.Spec.Bakers = 3 // changed.Spec of the copy: the cache stays as the server sent it

	rye, err := lister.List(labels.SelectorFromSet(labels.Set{"bread": "rye"}))
	if err != nil {
		panic(err)
	}
	var names []string
	for _, b := range rye {
		names = append(names, b.Namespace+"/"+b.Name)
	}
	slices.Sort(names) // lists have no order
	fmt.Println("rye:", names)

	_, err = lister.Bakeries("hill").Get("ann")
	fmt.Println(apierrors.IsNotFound(err), "-", err)
	// Output:
	// rye: [hill/cid town/ann]
	// true - bakery.shop.kubewright.dev "ann" not found
}
