package lister_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/lister"
)

// A lister reads an indexer, for example that of an informer. Generated listers have these methods.
func Example() {
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc,
		cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	for _, name := range []string{"oven", "mixer"} {
		_ = indexer.Add(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "town", Name: name,
			Labels: map[string]string{"app": name}}})
	}
	pods := lister.New[*corev1.Pod](indexer, corev1.Resource("pods"))

	ovens, err := pods.List(labels.SelectorFromSet(labels.Set{"app": "oven"}))
	for _, pod := range ovens { // shared with the cache: copy one before you change it
		fmt.Println(pod.Name)
	}
	fmt.Println(err)
	town := lister.NewNamespaced(pods, "town")
	_, err = town.Get("fridge")
	fmt.Println(err)
	// Output:
	// oven
	// <nil>
	// pods "fridge" not found
}
