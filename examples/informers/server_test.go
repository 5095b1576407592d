package informers_test

import (
	"context"

	"k8s.io/client-go/tools/cache"

	shopv1 "github.com/kubewright/kubewright/examples/apis/shop/v1"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/runtimetest"
)

// bakeryServer is an API server in memory: it has versions, history and watches
// like a real one, and has faults when it is told to.
type bakeryServer = runtimetest.Server[*shopv1.Bakery, *shopv1.BakeryList]

func newServer(objects ...*shopv1.Bakery) *bakeryServer {
	server := runtimetest.NewServer[shopv1.Bakery, shopv1.BakeryList]()
	for _, object := range objects {
		server.Create(object)
	}
	return server
}

// over returns what a generated factory has for bakeries, over such a server in
// place of a clientset.
func over(server informer.ResourceClient[*shopv1.BakeryList]) cache.TypedSharedIndexInformer[*shopv1.Bakery] {
	return informer.NewShared[*shopv1.Bakery](
		func() informer.ResourceClient[*shopv1.BakeryList] { return server },
		informer.Options{Client: server})
}

// start runs an informer as factories do. stop returns when it has ended.
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
