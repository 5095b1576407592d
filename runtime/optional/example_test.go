package optional_test

import (
	"context"
	"fmt"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubewright/kubewright/runtime/client"
	"github.com/kubewright/kubewright/runtime/factory"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/internal/definitions/definitionstest"
	"github.com/kubewright/kubewright/runtime/optional"
)

func Example() {
	config := definitionstest.New().Config() // of a server that doesn't serve ResourceClaims
	scheme := runtime.NewScheme()
	if err := resourcev1.AddToScheme(scheme); err != nil {
		panic(err)
	}
	claims, err := client.For[*resourcev1.ResourceClaim, *resourcev1.ResourceClaimList](config, scheme)
	if err != nil {
		panic(err)
	}

	definitions, err := optional.NewDefinitions(config)
	if err != nil {
		panic(err)
	}
	informers := factory.New(0)
	if err := factory.Configure(informers, informer.Options{Definitions: definitions}); err != nil {
		panic(err)
	}
	access, err := factory.For(informers, claims)
	if err != nil {
		panic(err)
	}
	i := access.Informer()

	ctx, cancel := context.WithCancel(context.Background())
	informers.StartWithContext(ctx)
	defer informers.Shutdown()
	defer cancel()
	if err := factory.WaitForSync(ctx, informers); err != nil {
		panic(err)
	}
	status, _ := informer.StatusOf(i)
	fmt.Println(status.Name, "is", status.State, "and has", len(i.GetStore().List()), "objects")
	// Output: informer of resource.k8s.io/v1 resourceclaims is Absent and has 0 objects
}
