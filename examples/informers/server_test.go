package informers_test

import (
	"context"

	"k8s.io/client-go/tools/cache"

	shopv1 "github.com/kubewright/kubewright/examples/apis/shop/v1"
	"github.com/kubewright/kubewright/runtime/gen/informer"
	"github.com/kubewright/kubewright/runtime/runtimetest"
)

// bakeryServer is an API server in memory. It has versions, history and watches like a real one, and faults
// on demand.
type bakeryServer = runtimetest.Server[*shopv1.Bakery, *shopv1.BakeryList]

func newServer(objects ...*shopv1.Bakery) *bakeryServer {
	server := runtimetest.NewServer[shopv1.Bakery, shopv1.BakeryList]()
	for _, object := range objects {
		server.Create(object)
	}
	return server
}

// over returns an informer of bakeries like that of a generated factory, with server in place of a clientset.
func over(server informer.ResourceClient[*shopv1.BakeryList]) cache.TypedSharedIndexInformer[*shopv1.Bakery] {
	return informer.NewShared[*shopv1.Bakery](
		func() informer.ResourceClient[*shopv1.BakeryList] { return server },
		informer.Options{Client: server, Resource: shopv1.SchemeGroupVersion.WithResource("bakeries")})
}

// start runs an informer, as factories do. stop stops it and returns when it has ended.
func start(i cache.SharedIndexInformer) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		i.RunWithContext(ctx)
	}()
	return func() {
		cancel()
		<-ended
	}
}
