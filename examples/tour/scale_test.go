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

// The sub-resource scale lets anyone set a number of replicas who knows nothing of the kind: kubectl scale,
// or an autoscaler. The definition says which field it stands for. The scale client works for every kind
// that has it.
func TestScale(t *testing.T) {
	config := serverConfig(t)
	clients, err := versioned.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	bakeries := clients.ShopV1().Bakeries(namespace(t))
	if _, err := bakeries.Create(t.Context(), bakery(t, "ann"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	// The mapper says which version serves a resource; programs make it from discovery, see
	// discovery_test.go.
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(shopv1.SchemeGroupVersion.WithKind("Bakery"), meta.RESTScopeNamespace)
	server, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	scales, err := scale.NewForConfig(config, mapper, dynamic.LegacyAPIPathResolverFunc,
		scale.NewDiscoveryScaleKindResolver(server))
	if err != nil {
		t.Fatal(err)
	}
	resource := shopv1.SchemeGroupVersion.WithResource("bakeries").GroupResource()
	current, err := scales.Scales(namespace(t)).Get(t.Context(), resource, "ann", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	current.Spec.Replicas = 7
	if _, err := scales.Scales(namespace(t)).Update(t.Context(), resource, current, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	after, err := bakeries.Get(t.Context(), "ann", metav1.GetOptions{})
	if err != nil || after.Spec.Bakers != 7 {
		t.Errorf("error %v, %+v, want 7 bakers", err, after)
	}
}
