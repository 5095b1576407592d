package factory

import (
	"context"
	"fmt"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	gen "github.com/kubewright/kubewright/runtime/gen/factory"
	"github.com/kubewright/kubewright/runtime/gen/lister"
)

// For returns the informer and the lister of objects of type T, for which nothing was
// generated. c is the client from client.For, or its Namespace, to cache a single namespace:
//
//	informers := factory.New(0)
//	bakeries, err := factory.For(informers, bakeryClient)
//	...
//	_, err = bakeries.TypedInformer().AddTypedEventHandler(handler)
//	informers.StartWithContext(ctx)
//	err = factory.WaitForSync(ctx, informers)
//	bakery, err := bakeries.Lister().ByNamespace("town").Get("corner")
//
// f is a factory of [New], as here, or a generated factory, which then has informers of both
// sorts. It makes, starts and shuts down the informer like those of generated code, and all
// functions of this package and of package informer apply to the informer. WithNamespace and
// WithTweakListOptions of a generated factory don't apply to it: c, and TweakListOptions
// of [Configure], determine what it lists.
//
// The informer is made when it, or the lister, is first requested. A factory has one informer
// for each type: if generated code makes one of T, too, the first request determines which of
// the two is made. For returns an error if it was called before with f and T, but with another
// namespace or resource, or if the key of f's informers isn't their type. It is safe for
// concurrent use.
func For[T interface {
	cache.Object
	runtime.Object
}, L runtime.Object](f Interface, c interface {
	List(ctx context.Context, opts metav1.ListOptions) (L, error)
	Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error)
	Get(ctx context.Context, name string, opts metav1.GetOptions) (T, error)
	Resource() schema.GroupVersionResource
}) (*gen.Access[cache.TypedSharedIndexInformer[T], lister.Embedding[T]], error) {
	o, err := ownerOf(f)
	if err != nil {
		return nil, fmt.Errorf("make an informer of %s: %w", reflect.TypeFor[T](), err)
	}
	made, err := gen.For[T, L](o, c)
	if err != nil {
		return nil, fmt.Errorf("make an informer of %s: %w", reflect.TypeFor[T](), err)
	}
	return made, nil
}
