package check

import (
	"context"
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubewright/kubewright/internal/bubble"
	ourcache "github.com/kubewright/kubewright/runtime/cache"
	"github.com/kubewright/kubewright/runtime/gen/client"
	gen "github.com/kubewright/kubewright/runtime/gen/informer"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/listwatch"
	"github.com/kubewright/kubewright/test/lab/cluster"
)

// Implementation is a way to make informers.
type Implementation struct {
	Name string
	make func(typed, *world, *rest.Config, *cluster.Kind, options) (*built, error)
}

// The implementations that the laws are checked for.
var (
	Ours     = Implementation{"ours", typed.ours}
	Facade   = Implementation{"facade", typed.facade}
	ClientGo = Implementation{"client-go", typed.clientGo}
)

// Implementations has all of them.
var Implementations = []Implementation{Ours, Facade, ClientGo}

// built is an informer.
type built struct {
	informer cache.SharedIndexInformer
	// start starts the informer. stop waits for its end, after the context has ended.
	start func(context.Context)
	stop  func()
	// snapshot returns the store's version and contents of one moment. It is nil for an informer without
	// snapshots, whose store may be read only while all goroutines wait.
	snapshot func() (version string, objects map[cache.ObjectName]cluster.Object)
	// handle adds a handler.
	handle func(*observer) (cache.ResourceEventHandlerRegistration, error)
	// list lists through a lister, find through the index of colors. They are nil if the informer has no lister.
	list func(labels.Selector) ([]cluster.Object, error)
	find func(color string) ([]cluster.Object, error)
	// set is nil unless the informer combines those of a set of namespaces.
	set namespaceSet
	// tuning is the part of the options' tuning that the informer heeds.
	tuning informer.Options
}

// namespaceSet is a set of namespaces that may change.
type namespaceSet interface {
	Add(namespace string) error
	Remove(namespace string)
	Names() []string
}

// typed makes the informers of one type.
type typed interface {
	ours(*world, *rest.Config, *cluster.Kind, options) (*built, error)
	facade(*world, *rest.Config, *cluster.Kind, options) (*built, error)
	clientGo(*world, *rest.Config, *cluster.Kind, options) (*built, error)
}

// types are the types of a cluster, by resource.
var types = map[string]typed{
	"configmaps": of[*corev1.ConfigMap, *corev1.ConfigMapList]{},
	"secrets":    of[*corev1.Secret, *corev1.SecretList]{},
	"leases":     of[*coordinationv1.Lease, *coordinationv1.LeaseList]{},
}

// of makes the informers of objects of type T with lists of type L.
type of[T interface {
	comparable
	client.Object
}, L runtime.Object] struct{}

// indexers are the indexes that every informer has.
func indexers() cache.Indexers {
	return cache.Indexers{
		cache.NamespaceIndex: cache.MetaNamespaceIndexFunc,
		colorIndex:           func(obj any) ([]string, error) { return colorsOf(obj.(cluster.Object)), nil },
	}
}

const colorIndex = "color"

// colorsOf returns an object's values in the index of colors: none, one or two.
func colorsOf(obj cluster.Object) []string {
	switch color := obj.GetLabels()["color"]; color {
	case "":
		return nil
	case "red":
		return []string{"red", "warm"}
	default:
		return []string{color}
	}
}

// transform is the transform of informers that have one. It writes to nothing that objects may share.
func transform(obj any) (any, error) {
	o := obj.(cluster.Object)
	o.SetAnnotations(map[string]string{"transformed": o.GetName()})
	return o, nil
}

// transformOf returns the transform of an informer with these options. client-go transforms under a mutex
// that others wait for.
func (w *world) transformOf(o options) cache.TransformFunc {
	if !o.slowTransform || w.implementation.Name == ClientGo.Name {
		return transform
	}
	return func(obj any) (any, error) {
		bubble.Pass(20 * time.Millisecond)
		return transform(obj)
	}
}

// alone returns an informer that isn't part of a factory or a set.
func (of[T, L]) alone(i cache.SharedIndexInformer) *built {
	over := make(chan struct{})
	started := false
	return &built{
		informer: i,
		start: func(ctx context.Context) {
			started = true
			go func() {
				defer close(over)
				i.RunWithContext(ctx)
			}()
		},
		stop: func() {
			if started {
				<-over
			}
		},
		handle: func(b *observer) (cache.ResourceEventHandlerRegistration, error) {
			options := cache.HandlerOptions{ResyncPeriod: &b.options.resync}
			if b.options.typed {
				typed := ourcache.NewTypedSharedIndexInformer[T](i)
				return typed.AddTypedEventHandler(typedObserver[T]{b}, options)
			}
			return i.AddEventHandlerWithOptions(untypedObserver{b}, options)
		},
	}
}

// facade makes an informer of package cache, which uses client-go's client.
func (t of[T, L]) facade(_ *world, config *rest.Config, k *cluster.Kind, o options) (*built, error) {
	config.Wrap(listwatch.Wrap)
	lw, err := listerWatcher(config, k, o)
	if err != nil {
		return nil, err
	}
	if !o.plain {
		lw = listwatch.Streamed(lw, scheme.Scheme)
	}
	i := ourcache.NewSharedIndexInformerWithOptions(lw, example[T](),
		cache.SharedIndexInformerOptions{ResyncPeriod: o.resync, Indexers: indexers()})
	b := t.alone(i)
	b.tuning = o.tuning
	return b, informer.Configure(i, o.tuning)
}

// clientGo makes an informer of client-go.
func (t of[T, L]) clientGo(_ *world, config *rest.Config, k *cluster.Kind, o options) (*built, error) {
	lw, err := listerWatcher(config, k, o)
	if err != nil {
		return nil, err
	}
	i := cache.NewSharedIndexInformerWithOptions(lw, example[T](),
		cache.SharedIndexInformerOptions{ResyncPeriod: o.resync, Indexers: indexers()})
	b := t.alone(i)
	b.handle = func(b *observer) (cache.ResourceEventHandlerRegistration, error) {
		options := cache.HandlerOptions{ResyncPeriod: &b.options.resync}
		if b.options.typed {
			return cache.NewTypedSharedIndexInformer[T](i).AddTypedEventHandler(typedObserver[T]{b}, options)
		}
		return i.AddEventHandlerWithOptions(untypedObserver{b}, options)
	}
	return b, nil
}

// example returns an object of the type.
func example[T runtime.Object]() runtime.Object {
	return reflect.New(reflect.TypeFor[T]().Elem()).Interface().(runtime.Object)
}

// listerWatcher returns a lister-watcher of client-go.
func listerWatcher(config *rest.Config, k *cluster.Kind, o options) (cache.ListerWatcher, error) {
	version := k.GroupVersion()
	config.GroupVersion, config.APIPath = &version, "/apis"
	if version.Group == "" {
		config.APIPath = "/api"
	}
	config.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	if o.protobuf {
		config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
		config.ContentType = runtime.ContentTypeProtobuf
	}
	c, err := rest.RESTClientFor(config)
	if err != nil {
		return nil, err
	}
	lw := cache.NewFilteredListWatchFromClient(c, k.Resource, o.namespace, o.tweak)
	if o.noWatchList {
		return cache.ToListWatcherWithWatchListSemantics(lw, listsOnly{}), nil
	}
	return lw, nil
}

// tweak sets the selectors of a request.
func (o options) tweak(opts *metav1.ListOptions) {
	opts.LabelSelector, opts.FieldSelector = o.labels, o.fields
}

// listsOnly marks a client that doesn't support streamed lists.
type listsOnly struct{}

func (listsOnly) IsWatchListSemanticsUnSupported() bool { return true }

// plainClient hides all methods of a client except List and Watch.
type plainClient[L runtime.Object] struct{ hidden gen.ResourceClient[L] }

func (p plainClient[L]) List(ctx context.Context, opts metav1.ListOptions) (L, error) {
	return p.hidden.List(ctx, opts)
}

func (p plainClient[L]) Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	return p.hidden.Watch(ctx, opts)
}
