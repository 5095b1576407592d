package apiserver_test

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubewright/kubewright/envtest/apiserver"
	shopv1 "github.com/kubewright/kubewright/examples/apis/shop/v1"
	"github.com/kubewright/kubewright/examples/crds"
	"github.com/kubewright/kubewright/examples/generated/clientset/versioned"
)

// An example needs a generated client, the definitions of its API in YAML, and a server.
func Example() {
	ctx := context.Background()
	server, err := apiserver.Start(ctx, apiserver.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Stop()
	if err := server.InstallCRDs(ctx, crds.Files); err != nil { // or os.DirFS("config/crd/bases")
		fmt.Println(err)
	}

	client := versioned.NewForConfigOrDie(server.Config())
	corner := &shopv1.Bakery{ObjectMeta: metav1.ObjectMeta{Name: "corner"},
		Spec: shopv1.BakerySpec{Bread: "rye"}}
	corner, err = client.ShopV1().Bakeries("town").Create(ctx, corner, metav1.CreateOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(corner.Name, "bakes", corner.Spec.Bread, "in generation", corner.Generation)
	// Output: corner bakes rye in generation 1
}
