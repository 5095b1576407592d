package partial_test

import (
	"context"
	"fmt"

	shopv1 "github.com/kubewright/kubewright/examples/apis/shop/v1"
	"github.com/kubewright/kubewright/examples/generated/clientset/versioned/fake"
	"github.com/kubewright/kubewright/examples/generated/informers/externalversions"
	"github.com/kubewright/kubewright/runtime/shard"
	"github.com/kubewright/kubewright/runtime/shard/partial"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// An informer that caches the objects of one namespace's hash.
func Example() {
	bakery := func(namespace string) *shopv1.Bakery {
		return &shopv1.Bakery{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "corner"}}
	}
	client := fake.NewSimpleClientset(bakery("paris"), bakery("rome"))
	shop := externalversions.NewSharedInformerFactory(client, 0)
	bakeries := shop.Shop().V1().Bakeries()
	part, err := partial.Shard(bakeries.Informer(), shard.ByNamespace)
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer shop.Shutdown()
	defer cancel()
	shop.StartWithContext(ctx)

	rome := shard.Hash("rome")
	ours := shard.Range{First: rome, Last: rome}
	if err := part.SetRanges(ours); err != nil {
		fmt.Println(err)
	}
	if err := part.WaitFor(ctx, ours); err != nil {
		fmt.Println(err)
	}
	fmt.Println(bakeries.Informer().GetStore().ListKeys())
	// Output: [rome/corner]
}
