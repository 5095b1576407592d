package check

import (
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/client"
	"github.com/kubewright/kubewright/runtime/factory"
	sets "github.com/kubewright/kubewright/runtime/factory/namespaces"
	gen "github.com/kubewright/kubewright/runtime/gen/informer"
	genlister "github.com/kubewright/kubewright/runtime/gen/lister"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/lister"
	"github.com/kubewright/kubewright/test/lab/cluster"
)

// ours makes an informer as generated code does.
func (t of[T, L]) ours(w *world, config *rest.Config, k *cluster.Kind, o options) (*built, error) {
	var sends []client.Option
	if o.protobuf {
		sends = append(sends, client.PrefersProtobuf())
	}
	c, err := client.For[T, L](config, scheme.Scheme, sends...)
	if err != nil {
		return nil, err
	}
	var b *built
	switch o.sort {
	case ofFactory:
		b, err = t.ofFactory(w, c.Namespace(o.namespace), k, o)
	case ofSet:
		b, err = t.ofSet(w, c, k, o)
	default:
		b, err = t.constructed(w, c.Namespace(o.namespace), k, o)
	}
	if err != nil {
		return nil, err
	}
	b.tuning = o.tuning
	b.handle = func(h *observer) (cache.ResourceEventHandlerRegistration, error) {
		return t.handle(b.informer, h)
	}
	if core, ok := informer.Of[T](b.informer); ok {
		b.snapshot = func() (string, map[cache.ObjectName]cluster.Object) {
			version, all := core.Snapshot()
			objects := map[cache.ObjectName]cluster.Object{}
			for name, obj := range all {
				objects[name] = obj
			}
			return version, objects
		}
		if err := informer.IndexLabels(b.informer, "color"); err != nil {
			return nil, err
		}
		err := informer.IndexField(b.informer, "color", func(obj T) []string { return colorsOf(obj) })
		if err != nil {
			return nil, err
		}
		all := genlister.New[T](b.informer.GetIndexer(), k.GroupResource())
		b.list = func(s labels.Selector) ([]cluster.Object, error) { return widen(all.List(s)) }
		b.find = func(color string) ([]cluster.Object, error) {
			return widen(lister.ListByFields[T](all, fields.OneTermEqualSelector("color", color),
				labels.Everything()))
		}
	}
	return b, nil
}

// widen converts a slice to one of the interface.
func widen[T cluster.Object](list []T, err error) (objects []cluster.Object, _ error) {
	for _, obj := range list {
		objects = append(objects, obj)
	}
	return objects, err
}

// handle adds a handler, by the method that fits its options.
func (of[T, L]) handle(
	i cache.SharedIndexInformer, h *observer,
) (cache.ResourceEventHandlerRegistration, error) {
	options := informer.HandlerOptions{
		ResyncPeriod: &h.options.resync, Coalesce: h.options.coalesce, ContainPanics: h.options.contain,
	}
	core, ok := informer.Of[T](i)
	switch {
	case ok && h.options.typed:
		return core.AddEventHandler(typedObserver[T]{h}, options)
	case ok:
		return informer.AddEventHandler(i, untypedObserver{h}, options)
	}
	// An informer of a set of namespaces only has client-go's options.
	theirs := cache.HandlerOptions{ResyncPeriod: options.ResyncPeriod}
	if h.options.typed {
		return gen.Typed[T](i).AddTypedEventHandler(typedObserver[T]{h}, theirs)
	}
	return i.AddEventHandlerWithOptions(untypedObserver{h}, theirs)
}

// configuration returns the options with which informers of ours are configured.
func (w *world) configuration(o options) informer.Options {
	c := o.tuning
	c.NoStreams, c.KeepUnchanged, c.ShareValues = o.off, o.keepUnchanged, o.shareValues
	if o.limited {
		c.Limiter = w.limiter
	}
	return c
}

// constructed makes an informer by the constructor that generated code calls.
func (t of[T, L]) constructed(
	w *world, c *client.Resource[T, L], k *cluster.Kind, o options,
) (*built, error) {
	var lists gen.ResourceClient[L] = c
	if o.plain {
		lists = plainClient[L]{c}
	}
	var clientset any
	if o.noWatchList {
		clientset = listsOnly{}
	}
	i := gen.NewShared[T](func() gen.ResourceClient[L] { return lists }, gen.Options{
		Client: clientset, Resource: k.GroupVersionResource, Namespace: o.namespace, ResyncPeriod: o.resync,
		Indexers: indexers(), TweakListOptions: o.tweak,
	})
	return t.alone(i), informer.Configure(i, w.configuration(o))
}

// factoryFor returns a factory of informers with the options.
func (t of[T, L]) factoryFor(w *world, o options) (*factory.Factory, error) {
	f := factory.New(o.resync)
	c := w.configuration(o)
	c.TweakListOptions = o.tweak
	c.OnCreate = func(i cache.SharedIndexInformer) error {
		// A factory's informers already have the index of namespaces.
		more := indexers()
		delete(more, cache.NamespaceIndex)
		return i.AddIndexers(more)
	}
	return f, factory.Configure(f, c)
}

// ofFactory makes an informer by a factory. Its stop releases it.
func (t of[T, L]) ofFactory(
	w *world, c *client.Resource[T, L], k *cluster.Kind, o options,
) (*built, error) {
	f, err := t.factoryFor(w, o)
	if err != nil {
		return nil, err
	}
	access, err := factory.For(f, c)
	if err != nil {
		return nil, err
	}
	i := access.Informer()
	return &built{
		informer: i,
		// Only Release stops the informer.
		start: func(ctx context.Context) { f.StartWithContext(context.WithoutCancel(ctx)) },
		stop: func() {
			if err := factory.Release(f, i); err != nil {
				w.fail(works, "release: %v", err)
			}
			f.Shutdown()
		},
	}, nil
}

// inNamespace is the factory of one namespace.
type inNamespace struct {
	*factory.Factory
	namespace string
}

// ofSet makes an informer of a set of namespaces.
func (t of[T, L]) ofSet(
	w *world, c *client.Resource[T, L], k *cluster.Kind, o options,
) (*built, error) {
	set := sets.New(func(namespace string) inNamespace {
		f, err := t.factoryFor(w, o)
		if err != nil {
			w.fail(works, "a factory is made: %v", err)
		}
		return inNamespace{f, namespace}
	})
	i := set.Informer(func(f inNamespace) cache.SharedIndexInformer {
		return must(factory.For(f, c.Namespace(f.namespace))).Informer()
	})
	var stop context.CancelFunc
	return &built{
		informer: i,
		set:      set,
		start: func(ctx context.Context) {
			ctx, stop = context.WithCancel(ctx)
			set.StartWithContext(ctx)
		},
		stop: func() {
			stop()
			set.Shutdown()
		},
	}, nil
}

// names returns the names of objects with their versions, sorted.
func names(objects []cluster.Object) string {
	var all []string
	for _, obj := range objects {
		all = append(all, obj.GetNamespace()+"/"+obj.GetName()+"@"+obj.GetResourceVersion())
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}
