package dynamicinformer_test

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/fake"

	"github.com/kubewright/kubewright/informers/dynamicinformer"
	"github.com/kubewright/kubewright/runtime/factory"
)

// A dynamic informer caches objects whose Go type the program doesn't know. For a real server, call
// config.Wrap(listwatch.Wrap) on the client's configuration, so that lists are read object by object.
func Example() {
	ovens := schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "ovens"}
	client := fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
		map[schema.GroupVersionResource]string{ovens: "OvenList"},
		&unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "example.com/v1", "kind": "Oven",
			"metadata": map[string]any{"namespace": "town", "name": "old"},
			"spec":     map[string]any{"fuel": "wood"},
		}})
	informers := dynamicinformer.NewDynamicSharedInformerFactory(client, 0)
	lister := informers.ForResource(ovens).Lister() // makes the informer

	ctx, cancel := context.WithCancel(context.Background())
	defer informers.Shutdown()
	defer cancel()
	informers.Start(ctx.Done())
	if err := factory.WaitForSync(ctx, informers); err != nil {
		fmt.Println(err)
	}
	old, err := lister.ByNamespace("town").Get("old")
	if err != nil {
		fmt.Println(err)
		return
	}
	fuel, _, err := unstructured.NestedString(old.(*unstructured.Unstructured).Object, "spec", "fuel")
	fmt.Println(fuel, err)
	// Output: wood <nil>
}
