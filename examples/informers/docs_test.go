package informers_test

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	v1 "github.com/kubewright/kubewright/examples/apis/shop/v1"
	"github.com/kubewright/kubewright/examples/generated/clientset/versioned"
	"github.com/kubewright/kubewright/examples/generated/informers/externalversions"
	"github.com/kubewright/kubewright/runtime/client"
	"github.com/kubewright/kubewright/runtime/factory"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/listwatch"
)

// These are the examples of docs/additions.md and docs/memory.md. They are compiled, not run: the other
// examples here run the same functions.

func Example_docsDecoding() {
	run := func(client versioned.Interface) error {
		informers := externalversions.NewSharedInformerFactory(client, 0)
		err := factory.Configure(informers, informer.Options{
			Drop:    []string{"metadata.managedFields"},
			Limiter: listwatch.NewLimiter(4), // at most four lists at a time
		})
		return err
	}
	_ = run
}

func Example_docsUngenerated() {
	run := func(
		ctx context.Context, config *rest.Config, scheme *runtime.Scheme,
		handler cache.TypedResourceEventHandler[*v1.Bakery],
	) error {
		bakeries, err := client.For[*v1.Bakery, *v1.BakeryList](config, scheme)
		if err != nil {
			return err
		}
		bakery, err := bakeries.Namespace("shop").Get(ctx, "one", metav1.GetOptions{})
		if err != nil {
			return err
		}
		informers := factory.New(0) // or a generated factory
		cached, err := factory.For(informers, bakeries)
		if err != nil {
			return err
		}
		_, err = cached.TypedInformer().AddTypedEventHandler(handler)
		informers.StartWithContext(ctx)
		if err != nil {
			return err
		}
		bakery, err = cached.Lister().ByNamespace("shop").Get("one")
		_ = bakery
		return err
	}
	_ = run
}

func Example_docsMemory() {
	run := func(client versioned.Interface, handler cache.ResourceEventHandler) error {
		informers := externalversions.NewSharedInformerFactory(client, 0)
		err := factory.Configure(informers, informer.Options{Drop: []string{"metadata.managedFields"}})
		if err != nil {
			return err
		}
		bakeries := informers.Shop().V1().Bakeries()
		_, err = informer.AddEventHandler(bakeries.Informer(), handler, informer.HandlerOptions{Coalesce: true})
		return err
	}
	limit := func(informers externalversions.SharedInformerFactory) error {
		limiter := listwatch.NewLimiter(4).WithBudget(64 << 20)
		err := factory.Configure(informers, informer.Options{Limiter: limiter})
		return err
	}
	_, _ = run, limit
}
