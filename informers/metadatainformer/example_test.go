package metadatainformer_test

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata/fake"

	"github.com/kubewright/kubewright/informers/metadatainformer"
	"github.com/kubewright/kubewright/runtime/factory"
)

// A metadata informer reads and caches only the metadata of objects. For a real server, call
// config.Wrap(listwatch.Wrap) on the client's configuration, so that lists are read object by object.
func Example() {
	scheme := fake.NewTestScheme()
	_ = metav1.AddMetaToScheme(scheme)
	client := fake.NewSimpleMetadataClient(scheme, &metav1.PartialObjectMetadata{
		TypeMeta:   metav1.TypeMeta{APIVersion: "example.com/v1", Kind: "Oven"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "town", Name: "old", Labels: map[string]string{"fuel": "wood"}},
	})
	informers := metadatainformer.NewSharedInformerFactory(client, 0)
	ovens := schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "ovens"}
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
	fmt.Println(old.(*metav1.PartialObjectMetadata).Labels["fuel"])
	// Output: wood
}
