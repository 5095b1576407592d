package metadata_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/metadata/fake"
	"k8s.io/client-go/tools/cache"

	shopv1 "github.com/kubewright/kubewright/examples/apis/shop/v1"
	"github.com/kubewright/kubewright/examples/generated/informers/externalversions/internalinterfaces"
	informersv1 "github.com/kubewright/kubewright/examples/generated/informers/externalversions/shop/v1"
)

// TestMetadata lists the metadata of bakeries. The server sends nothing else.
func TestMetadata(t *testing.T) {
	scheme := fake.NewTestScheme()
	if err := metav1.AddMetaToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	bakery := func(namespace, name string) *metav1.PartialObjectMetadata {
		return &metav1.PartialObjectMetadata{
			TypeMeta: metav1.TypeMeta{APIVersion: shopv1.SchemeGroupVersion.String(), Kind: "Bakery"},
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name,
				Labels: map[string]string{"in": namespace}},
		}
	}
	client := fake.NewSimpleMetadataClient(scheme, bakery("north", "a"), bakery("north", "b"),
		bakery("south", "a"))
	informer := informersv1.NewBakeryInformerForMetadata(client, "", internalinterfaces.InformerOptions{
		Indexers: cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc},
	})
	done := make(chan struct{})
	stop := make(chan struct{})
	go func() { defer close(done); informer.Run(stop) }()
	defer func() { close(stop); <-done }()
	if !cache.WaitForCacheSync(t.Context().Done(), informer.HasSynced) {
		t.Fatal("not synced")
	}

	bakeries := informersv1.NewBakeryMetadataLister(informer.GetIndexer())
	all, err := bakeries.List(labels.Everything())
	if err != nil || len(all) != 3 {
		t.Errorf("all bakeries: %v, %v", all, err)
	}
	north, err := bakeries.ByNamespace("north").List(labels.SelectorFromSet(labels.Set{"in": "north"}))
	if err != nil || len(north) != 2 {
		t.Errorf("bakeries in the north: %v, %v", north, err)
	}
	if b, err := bakeries.ByNamespace("south").Get("a"); err != nil || b.Namespace != "south" ||
		b.Labels["in"] != "south" {
		t.Errorf("the bakery in the south: %v, %v", b, err)
	}
}
