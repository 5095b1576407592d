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

// A lister gives typed reads of an informer's cache: no request, no copy. Its results belong to the cache, so
// copy an object (DeepCopy) before you change it. The cache lags behind the server: to read your latest
// writes, see ownwrites_test.go. Here the cache is filled by hand, as in tests of controllers.
func Example_lister() {
	// The key is namespace/name; the index is for listers of one namespace.
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
	changed.Spec.Bakers = 3
	fmt.Println("in the copy:", changed.Spec.Bakers, "bakers, in the cache:", ann.Spec.Bakers)

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
	// in the copy: 3 bakers, in the cache: 0
	// rye: [hill/cid town/ann]
	// true - bakery.shop.kubewright.dev "ann" not found
}
