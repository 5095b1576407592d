package informers_test

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	metadatafake "k8s.io/client-go/metadata/fake"

	"github.com/kubewright/kubewright/informers/dynamicinformer"
	"github.com/kubewright/kubewright/informers/metadatainformer"
	"github.com/kubewright/kubewright/runtime/factory"
	"github.com/kubewright/kubewright/runtime/informer"
)

var ovens = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "ovens"}

// Dynamic informers are for types that the program doesn't know. They have client-go's interface. The
// additions of package informer work here, too.
func Example_dynamic() {
	oven := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Oven",
		"metadata": map[string]any{"namespace": "town", "name": "old"},
		"spec":     map[string]any{"fuel": "wood"},
	}}
	client := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
		map[schema.GroupVersionResource]string{ovens: "OvenList"}, oven)
	shop := dynamicinformer.NewDynamicSharedInformerFactory(client, 0)
	ctx, cancel := context.WithCancel(context.Background())
	defer shop.Shutdown()
	defer cancel()
	i := shop.ForResource(ovens)
	shop.Start(ctx.Done())
	if err := factory.WaitForSync(ctx, shop); err != nil {
		fmt.Println(err)
	}
	typed, _ := informer.Of[*unstructured.Unstructured](i.Informer())
	for _, o := range typed.List() {
		fuel, _, _ := unstructured.NestedString(o.Object, "spec", "fuel")
		fmt.Println(o.GetName(), fuel)
	}
	// Output: old wood
}

// Metadata informers request only the metadata of objects. For a type that the program knows,
// --metadata-informers generates them, see examples/metadata.
func Example_metadata() {
	scheme := metadatafake.NewTestScheme()
	_ = metav1.AddMetaToScheme(scheme)
	client := metadatafake.NewSimpleMetadataClient(scheme, &metav1.PartialObjectMetadata{
		TypeMeta:   metav1.TypeMeta{APIVersion: "example.com/v1", Kind: "Oven"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "town", Name: "old"},
	})
	shop := metadatainformer.NewSharedInformerFactory(client, 0)
	ctx, cancel := context.WithCancel(context.Background())
	defer shop.Shutdown()
	defer cancel()
	oven := shop.ForResource(ovens)
	shop.Start(ctx.Done())
	shop.WaitForCacheSync(ctx.Done())
	old, err := oven.Lister().ByNamespace("town").Get("old")
	fmt.Println(old.(metav1.Object).GetName(), err)
	// Output: old <nil>
}
