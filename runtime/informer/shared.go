package informer

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/features"
	"k8s.io/client-go/tools/cache"
)

// Shared shows an informer as client-go's [cache.SharedIndexInformer]. The
// methods that have a doc comment there behave as it says.
type Shared[K comparable, T any] struct {
	core    *Informer[K, T]
	indexer *Indexer[K, T]
	keys    Keys[K, T]
}

var _ cache.SharedIndexInformer = &Shared[string, any]{}

// Share makes an informer with client-go's face. config.Key is taken from
// keys.
func Share[K comparable, T any](config Config[K, T], keys Keys[K, T], indexers cache.Indexers) *Shared[K, T] {
	config.Key = keys.Of
	core := New(config)
	s := &Shared[K, T]{core: core, indexer: NewIndexer(core.store, keys), keys: keys}
	s.indexer.informer = core
	if err := s.indexer.AddIndexers(indexers); err != nil {
		// The store is new: an index of config is in the way, or a function is nil.
		panic(err)
	}
	return s
}

// Core returns the informer itself, for what client-go's interface can't say.
func (s *Shared[K, T]) Core() *Informer[K, T] { return s.core }

// AddEventHandler is AddEventHandlerWithOptions without options.
func (s *Shared[K, T]) AddEventHandler(handler cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	return s.AddEventHandlerWithOptions(handler, cache.HandlerOptions{})
}

// AddEventHandlerWithResyncPeriod is AddEventHandlerWithOptions with a resync
// period.
func (s *Shared[K, T]) AddEventHandlerWithResyncPeriod(handler cache.ResourceEventHandler, resyncPeriod time.Duration) (cache.ResourceEventHandlerRegistration, error) {
	return s.AddEventHandlerWithOptions(handler, cache.HandlerOptions{ResyncPeriod: &resyncPeriod})
}

// AddEventHandlerWithOptions registers a handler, see [Informer.AddHandler]. The
// registration is a *[Registration].
func (s *Shared[K, T]) AddEventHandlerWithOptions(handler cache.ResourceEventHandler, options cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	return s.add(untyped[K, T]{handler: handler, key: s.keys.String}, handlerName(handler), options)
}

// AddHandler is AddEventHandlerWithOptions with the options of this package.
func (s *Shared[K, T]) AddHandler(handler cache.ResourceEventHandler, options HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	options.Name = cmp.Or(options.Name, handlerName(handler))
	return s.register(untyped[K, T]{handler: handler, key: s.keys.String}, options)
}

func (s *Shared[K, T]) add(handler Handler[K, T], name string, options cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	return s.register(handler, HandlerOptions{Name: name, Logger: options.Logger, ResyncPeriod: options.ResyncPeriod})
}

func (s *Shared[K, T]) register(handler Handler[K, T], options HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	r, err := s.core.AddHandler(handler, options)
	if err != nil {
		return nil, err
	}
	return r, nil
}

// RemoveEventHandler removes a handler by its registration. One that is
// registered no more, or with another informer, is no error.
func (s *Shared[K, T]) RemoveEventHandler(handle cache.ResourceEventHandlerRegistration) error {
	switch handle := handle.(type) {
	case *Registration[K, T]:
		s.core.RemoveHandler(handle)
	case interface{ isRegistration() }:
	default:
		return fmt.Errorf("invalid handle of type %T: it is of no informer of this kind", handle)
	}
	return nil
}

func (r *Registration[K, T]) isRegistration() {}

// GetStore returns the informer's cache.
func (s *Shared[K, T]) GetStore() cache.Store { return s.indexer }

// GetIndexer returns the informer's cache. It is an *[Indexer].
func (s *Shared[K, T]) GetIndexer() cache.Indexer { return s.indexer }

// AddIndexers adds indexes at any time before the informer has stopped.
func (s *Shared[K, T]) AddIndexers(indexers cache.Indexers) error {
	return s.core.beforeStop(func() error { return s.indexer.AddIndexers(indexers) })
}

// GetController returns a controller that only tells about the informer: it
// can't run it.
func (s *Shared[K, T]) GetController() cache.Controller { return controller[K, T]{s} }

// Run is RunWithContext for a stop channel.
func (s *Shared[K, T]) Run(stopCh <-chan struct{}) {
	s.RunWithContext(wait.ContextForChannel(stopCh))
}

// RunWithContext runs the informer, see [Informer.Run].
func (s *Shared[K, T]) RunWithContext(ctx context.Context) { s.core.Run(ctx) }

// HasSynced says whether the cache holds a complete list.
func (s *Shared[K, T]) HasSynced() bool { return s.core.HasSynced() }

// HasSyncedChecker returns HasSynced as something to wait for.
func (s *Shared[K, T]) HasSyncedChecker() cache.DoneChecker { return s.core.HasSyncedChecker() }

// LastSyncResourceVersion returns the version up to which the server was read.
func (s *Shared[K, T]) LastSyncResourceVersion() string { return s.core.LastSyncResourceVersion() }

// Status says how the informer is doing.
func (s *Shared[K, T]) Status() Status { return s.core.Status() }

// WaitFor waits until the cache shows a version, see [Informer.WaitFor].
func (s *Shared[K, T]) WaitFor(ctx context.Context, resourceVersion string) error {
	return s.core.WaitFor(ctx, resourceVersion)
}

func (s *Shared[K, T]) progress() (failed, stopped <-chan struct{}) { return s.core.progress() }

// IsStopped says whether the informer has stopped.
func (s *Shared[K, T]) IsStopped() bool { return s.core.IsStopped() }

// SetWatchErrorHandler is SetWatchErrorHandlerWithContext for a handler
// without a context.
func (s *Shared[K, T]) SetWatchErrorHandler(handler cache.WatchErrorHandler) error {
	return s.SetWatchErrorHandlerWithContext(func(_ context.Context, r *cache.Reflector, err error) { handler(r, err) })
}

// SetWatchErrorHandlerWithContext has handler called when a list or watch ends
// with an error. The reflector that it is given has ours' name and type
// description and nothing else: ours isn't of that type.
func (s *Shared[K, T]) SetWatchErrorHandlerWithContext(handler cache.WatchErrorHandlerWithContext) error {
	if handler == nil {
		return s.core.SetWatchErrorHandler(nil)
	}
	nameplate := sync.OnceValue(s.core.nameplate)
	return s.core.SetWatchErrorHandler(func(ctx context.Context, err error) { handler(ctx, nameplate(), err) })
}

// SetTransform makes every object pass through transform, which has to return
// a T of the objects' type, before it is stored.
func (s *Shared[K, T]) SetTransform(transform cache.TransformFunc) error {
	if transform == nil {
		return s.core.SetTransform(nil)
	}
	return s.core.SetTransform(func(obj T) (T, error) {
		transformed, err := transform(obj)
		if err != nil {
			return obj, err
		}
		out, ok := s.keys.admits(transformed)
		if !ok {
			return obj, fmt.Errorf("the transform made a %T of a %T", transformed, obj)
		}
		return out, nil
	})
}

// controller is what GetController returns.
type controller[K comparable, T any] struct{ shared *Shared[K, T] }

func (c controller[K, T]) Run(<-chan struct{})                 {}
func (c controller[K, T]) RunWithContext(context.Context)      {}
func (c controller[K, T]) HasSynced() bool                     { return c.shared.HasSynced() }
func (c controller[K, T]) HasSyncedChecker() cache.DoneChecker { return c.shared.HasSyncedChecker() }

// LastSyncResourceVersion is "" where client-go's switch InformerResourceVersion is
// off. The informer's own method doesn't ask for that.
func (c controller[K, T]) LastSyncResourceVersion() string {
	if !features.FeatureGates().Enabled(features.InformerResourceVersion) {
		return ""
	}
	return c.shared.LastSyncResourceVersion()
}
