package informers

import (
	"fmt"
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgo "k8s.io/client-go/informers"
	"k8s.io/client-go/informers/internalinterfaces"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/gen/factory"
	"github.com/kubewright/kubewright/runtime/gen/informer"
)

// SharedInformerFactory makes and runs informers of the built-in types. It is client-go's
// interface. The methods of the factories of this package are safe for concurrent use.
type SharedInformerFactory = clientgo.SharedInformerFactory

// GenericInformer is an informer with an untyped lister. It is client-go's interface.
type GenericInformer = clientgo.GenericInformer

// SharedInformerOption changes a factory as it is made.
type SharedInformerOption func(*sharedInformerFactory) *sharedInformerFactory

// sharedInformerFactory adds to a factory what only the built-in types need: the restrictions
// of their informers, and methods to request them. The methods of groups are in table.go.
type sharedInformerFactory struct {
	*factory.Factory[kubernetes.Interface]
	namespace        string
	tweakListOptions internalinterfaces.TweakListOptionsFunc
}

// WithCustomResyncConfig sets the resync periods of the keys' types.
func WithCustomResyncConfig(resyncConfig map[metav1.Object]time.Duration) SharedInformerOption {
	return func(f *sharedInformerFactory) *sharedInformerFactory {
		f.SetCustomResync(resyncConfig)
		return f
	}
}

// WithTweakListOptions makes every list and watch of the factory's informers pass its options to
// tweakListOptions. The TweakListOptions of factory.Configure can be those of one resource.
func WithTweakListOptions(tweakListOptions internalinterfaces.TweakListOptionsFunc) SharedInformerOption {
	return func(f *sharedInformerFactory) *sharedInformerFactory {
		f.tweakListOptions = tweakListOptions
		return f
	}
}

// WithNamespace limits the informers of namespaced types to a namespace.
func WithNamespace(namespace string) SharedInformerOption {
	return func(f *sharedInformerFactory) *sharedInformerFactory {
		f.namespace = namespace
		return f
	}
}

// WithTransform makes every informer pass its objects to transform before it stores them.
func WithTransform(transform cache.TransformFunc) SharedInformerOption {
	return func(f *sharedInformerFactory) *sharedInformerFactory {
		f.SetTransform(transform)
		return f
	}
}

// WithInformerName gives the informers metrics, under this name and their resource. The name
// comes from cache.NewInformerName. Shutdown releases it.
func WithInformerName(informerName *cache.InformerName) SharedInformerOption {
	return func(f *sharedInformerFactory) *sharedInformerFactory {
		f.SetInformerName(informerName)
		return f
	}
}

// NewSharedInformerFactory returns a factory of informers for all namespaces.
func NewSharedInformerFactory(
	client kubernetes.Interface, defaultResync time.Duration,
) SharedInformerFactory {
	return NewSharedInformerFactoryWithOptions(client, defaultResync)
}

// NewFilteredSharedInformerFactory returns a factory of informers for a namespace.
// tweakListOptions, if not nil, changes the options of their lists and watches.
//
// Deprecated: use NewSharedInformerFactoryWithOptions.
func NewFilteredSharedInformerFactory(
	client kubernetes.Interface, defaultResync time.Duration, namespace string,
	tweakListOptions internalinterfaces.TweakListOptionsFunc,
) SharedInformerFactory {
	return NewSharedInformerFactoryWithOptions(client, defaultResync,
		WithNamespace(namespace), WithTweakListOptions(tweakListOptions))
}

// NewSharedInformerFactoryWithOptions returns a factory of informers that list and watch through
// client. defaultResync is their resync period; zero means no resync.
func NewSharedInformerFactoryWithOptions(
	client kubernetes.Interface, defaultResync time.Duration, options ...SharedInformerOption,
) SharedInformerFactory {
	f := &sharedInformerFactory{Factory: factory.New(client, defaultResync), namespace: metav1.NamespaceAll}
	for _, option := range options {
		f = option(f)
	}
	return f
}

// InformerFor returns the informer of obj's type. The first call for a type makes it by
// newFunc, unless the method of its group, or ForResource, has made it before. The factory
// starts the informer, and these methods then return it, too, even if newFunc doesn't make
// one of kubewright's informers.
func (f *sharedInformerFactory) InformerFor(
	obj runtime.Object, newFunc internalinterfaces.NewInformerFunc,
) cache.SharedIndexInformer {
	return f.Factory.InformerFor(obj, newFunc)
}

// ForResource returns the informer of a built-in resource, or an error for any other resource.
func (f *sharedInformerFactory) ForResource(resource schema.GroupVersionResource) (GenericInformer, error) {
	for _, types := range builtIns {
		if b := find(types, func(b *builtIn) bool { return b.gvr() == resource }); b != nil {
			return factory.NewGeneric(f.InformerFor(b.object, f.informerOf(b)), resource.GroupResource()), nil
		}
	}
	return nil, fmt.Errorf("no informer found for %v", resource)
}

// informerOf returns the function that makes the factory's informer of a built-in type.
func (f *sharedInformerFactory) informerOf(b *builtIn) internalinterfaces.NewInformerFunc {
	return func(client kubernetes.Interface, resyncPeriod time.Duration) cache.SharedIndexInformer {
		return b.newInformer(client, informer.Options{
			Client:           client,
			Resource:         b.gvr(),
			Namespace:        f.namespace,
			ResyncPeriod:     resyncPeriod,
			Indexers:         cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc},
			InformerName:     f.InformerName(),
			TweakListOptions: f.tweakListOptions,
		})
	}
}

// group is the factory that one of client-go's groups requests its informers from. The group
// passes a function that makes client-go's informer, and group makes ours instead.
type group struct {
	*sharedInformerFactory
	types []builtIn
}

func (g group) InformerFor(
	obj runtime.Object, newFunc internalinterfaces.NewInformerFunc,
) cache.SharedIndexInformer {
	return g.Factory.InformerFor(obj, func(c set, resyncPeriod time.Duration) cache.SharedIndexInformer {
		t := reflect.TypeOf(obj)
		// A type that isn't in the table comes from a newer client-go.
		if b := find(g.types, func(b *builtIn) bool { return reflect.TypeOf(b.object) == t }); b != nil {
			newFunc = g.informerOf(b)
		}
		return newFunc(c, resyncPeriod)
	})
}
