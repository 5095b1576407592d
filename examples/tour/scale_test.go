package tour

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/scale"

	shopv1 "github.com/kubewright/kubewright/examples/apis/shop/v1"
	"github.com/kubewright/kubewright/examples/generated/clientset/versioned"
)

// Through the subresource scale, a program that doesn't know the kind can set the number of replicas, such as
// kubectl scale or an autoscaler. The CustomResourceDefinition defines which field holds the number: here
// .spec.bakers, see specReplicasPath in examples/crds/bakeries.yaml. The scale client works for every kind
// that has the subresource.
func TestScale(t *testing.T) {
	config := serverConfig(t) // of server_test.go, like namespace and bakery
	clients, err := versioned.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	bakeries := clients.ShopV1().Bakeries(namespace(t))
	if _, err := bakeries.Create(t.Context(), bakery(t, "ann"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	// The mapper finds the version that serves a resource; programs make it from discovery, see
	// discovery_test.go.
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(shopv1.SchemeGroupVersion.WithKind("Bakery"), meta.RESTScopeNamespace)
	server, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	scales, err := scale.NewForConfig(config, mapper,
		dynamic.LegacyAPIPathResolverFunc,           // the core group is below /api, all others below /apis
		scale.NewDiscoveryScaleKindResolver(server)) // which version of the kind Scale a resource has
	if err != nil {
		t.Fatal(err)
	}
	resource := shopv1.SchemeGroupVersion.WithResource("bakeries").GroupResource()
	current, err := scales.Scales(namespace(t)).Get(t.Context(), resource, "ann", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	current.Spec.Replicas = 7
	_, err = scales.Scales(namespace(t)).Update(t.Context(), resource, current, metav1.UpdateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	after, err := bakeries.Get(t.Context(), "ann", metav1.GetOptions{})
	if err != nil || after.Spec.Bakers != 7 {
		t.Errorf("error %v, %+v, want 7 bakers", err, after)
	}
}
