package engine

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/features"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/internal/indexer"
	"github.com/kubewright/kubewright/runtime/internal/unwrap"
)

// shared adapts an informer to client-go's [cache.SharedIndexInformer]. Methods without
// a comment are documented there.
type shared[K comparable] struct {
	core    *engine[K]
	indexer *indexer.Indexer[K]
}

var _ cache.SharedIndexInformer = &shared[string]{}

// New returns an informer, which does nothing until it is run. It panics if an index function is nil.
func New[K comparable](config Config[K], indexers cache.Indexers) cache.SharedIndexInformer {
	core := newEngine(config)
	s := &shared[K]{core: core, indexer: indexer.New(core.store, config.Keys)}
	s.indexer.FilledBy(core)
	if err := s.indexer.AddIndexers(indexers); err != nil {
		panic(err) // The store is new and has no index, so a function is nil.
	}
	return s
}

func (s *shared[K]) AddEventHandler(
	handler cache.ResourceEventHandler,
) (cache.ResourceEventHandlerRegistration, error) {
	return s.AddHandler(handler, informer.HandlerOptions{})
}

func (s *shared[K]) AddEventHandlerWithResyncPeriod(
	handler cache.ResourceEventHandler, resyncPeriod time.Duration,
) (cache.ResourceEventHandlerRegistration, error) {
	return s.AddHandler(handler, informer.HandlerOptions{ResyncPeriod: &resyncPeriod})
}

func (s *shared[K]) AddEventHandlerWithOptions(
	handler cache.ResourceEventHandler, options cache.HandlerOptions,
) (cache.ResourceEventHandlerRegistration, error) {
	return s.AddHandler(handler,
		informer.HandlerOptions{Logger: options.Logger, ResyncPeriod: options.ResyncPeriod})
}

// AddHandler is like AddEventHandlerWithOptions, with the options of package informer. It returns a
// *registration, and an error for a nil handler.
func (s *shared[K]) AddHandler(
	handler cache.ResourceEventHandler, options informer.HandlerOptions,
) (cache.ResourceEventHandlerRegistration, error) {
	if handler == nil {
		return nil, fmt.Errorf("add a handler to the %s: %w", s.Status().Name, errNilHandler)
	}
	at := ""
	if options.Name == "" {
		options.Name, at = unwrap.HandlerName(handler), registeredAt()
	}
	r, err := s.core.addHandler(
		clientGoHandler[K]{handler: handler, key: s.core.config.Keys.String}, options, at)
	if err != nil {
		return nil, err
	}
	return r, nil
}

// RemoveEventHandler removes a handler by its registration. It does nothing if the
// registration was removed before or belongs to another informer of this package.
func (s *shared[K]) RemoveEventHandler(handle cache.ResourceEventHandlerRegistration) error {
	switch handle := handle.(type) {
	case *registration[K]:
		s.core.RemoveHandler(handle)
	case interface{ isRegistration() }:
	default:
		return fmt.Errorf("invalid handle of type %T: it was not returned by an informer of kubewright", handle)
	}
	return nil
}

func (r *registration[K]) isRegistration() {}

// ObjectType returns the type of the objects, as they come from the server, or nil if nobody knows it.
func (s *shared[K]) ObjectType() reflect.Type { return s.core.config.Keys.Type }

// Get returns the object with a key.
func (s *shared[K]) Get(key K) (obj any, ok bool) { return s.core.store.Get(key) }

// List returns all objects.
func (s *shared[K]) List() []any { return s.core.store.List() }

// All yields all objects by their keys.
func (s *shared[K]) All() iter.Seq2[K, any] { return s.core.store.All() }

// Snapshot returns the contents of the cache and their version, see [informer.Typed.Snapshot].
func (s *shared[K]) Snapshot() (resourceVersion string, objects iter.Seq2[K, any]) {
	snapshot := s.core.store.Snapshot()
	return snapshot.ResourceVersion(), snapshot.All()
}

// Events is [informer.Typed.Events] without the type.
func (s *shared[K]) Events(ctx context.Context) iter.Seq[informer.Event[any]] {
	return s.core.events(ctx)
}

func (s *shared[K]) GetStore() cache.Store { return s.indexer }

func (s *shared[K]) GetIndexer() cache.Indexer { return s.indexer }

// AddIndexers adds indexes at any time before the informer has stopped. Index functions may read the cache.
// They must not write to it, or add handlers or indexes, since the writer waits for them.
func (s *shared[K]) AddIndexers(indexers cache.Indexers) error {
	return s.core.beforeStop(func() error { return s.indexer.AddIndexers(indexers) })
}

// GetController returns a controller that reports the informer's state. Its Run does nothing.
func (s *shared[K]) GetController() cache.Controller { return controller[K]{s} }

// Run is like RunWithContext, with a stop channel.
func (s *shared[K]) Run(stopCh <-chan struct{}) {
	s.RunWithContext(wait.ContextForChannel(stopCh))
}

// RunWithContext runs the informer until ctx is done, and returns when all goroutines
// that it started have ended, except one in a list function that ignores its context.
func (s *shared[K]) RunWithContext(ctx context.Context) { s.core.Run(ctx) }

func (s *shared[K]) HasSynced() bool { return s.core.HasSynced() }

func (s *shared[K]) HasSyncedChecker() cache.DoneChecker { return s.core.HasSyncedChecker() }

func (s *shared[K]) LastSyncResourceVersion() string { return s.core.LastSyncResourceVersion() }

// Status returns the state of the informer, see [informer.StatusOf].
func (s *shared[K]) Status() informer.Status {
	status, scope := s.core.Status(), s.Scope()
	if status.Namespace == "" && scope.Namespace != "" {
		status.Namespace = scope.Namespace
		status.Name += " in namespace " + scope.Namespace
	}
	status.LabelSelector, status.FieldSelector = scope.Labels, scope.Fields
	status.Indexes = slices.Sorted(maps.Keys(s.indexer.GetIndexers()))
	return status
}

// WaitForVersion waits until the cache reflects a version, see [informer.WaitForVersion].
func (s *shared[K]) WaitForVersion(ctx context.Context, resourceVersion string) error {
	return s.core.WaitForVersion(ctx, resourceVersion)
}

// CalledHandlers returns the names of the handlers that are being called, also of removed ones. A stopped
// informer waits for them.
func (s *shared[K]) CalledHandlers() []string { return s.core.calledHandlers() }

// Progress returns a channel that is closed at the next failure.
func (s *shared[K]) Progress() <-chan struct{} { return s.core.failures.next() }

// Ended returns a channel that is closed when the informer stops, or is discarded.
func (s *shared[K]) Ended() <-chan struct{} { return s.core.ended }

// ListNewest makes the first list request the newest state, not any that the server's cache has. It has no
// effect after the start.
func (s *shared[K]) ListNewest() {
	s.core.mu.Lock()
	defer s.core.mu.Unlock()
	s.core.newest = true
}

// Discard stops an informer that has not been started and never will be, so that nobody waits for it.
func (s *shared[K]) Discard() {
	if s.core.start() {
		s.core.stop()
	}
}

func (s *shared[K]) IsStopped() bool { return s.core.IsStopped() }

// SetWatchErrorHandler is like SetWatchErrorHandlerWithContext, with a handler that takes no context.
func (s *shared[K]) SetWatchErrorHandler(handler cache.WatchErrorHandler) error {
	return s.SetWatchErrorHandlerWithContext(func(_ context.Context, r *cache.Reflector, err error) {
		handler(r, err)
	})
}

// SetWatchErrorHandlerWithContext makes the informer call handler when a list fails or a watch can't be
// opened. The informer's reflector is not of client-go's type, so handler receives a stub with its name and
// type description.
func (s *shared[K]) SetWatchErrorHandlerWithContext(handler cache.WatchErrorHandlerWithContext) error {
	if handler == nil {
		return s.core.SetWatchErrorHandler(nil)
	}
	stub := sync.OnceValue(s.core.reflectorStub)
	return s.core.SetWatchErrorHandler(func(ctx context.Context, err error) { handler(ctx, stub(), err) })
}

// SetTransform makes the informer pass every object to transform before it is stored, see
// [informer.Typed.SetTransform].
func (s *shared[K]) SetTransform(transform cache.TransformFunc) error {
	return s.core.SetTransform(transform)
}

// Identity returns the function that returns the informer's identity in metrics. An informer that replaces
// this one passes it to SetIdentity.
func (s *shared[K]) Identity() func() cache.InformerNameAndResource {
	s.core.mu.Lock()
	defer s.core.mu.Unlock()
	return s.core.config.Identifier
}

// SetIdentity sets the function that returns the informer's identity in metrics. After
// the start it does nothing.
func (s *shared[K]) SetIdentity(identity func() cache.InformerNameAndResource) {
	_ = s.core.beforeStart(func() { s.core.config.Identifier = identity })
}

// SetName sets the informer's name. A namespace that is known from requests only follows it in the status.
// After the start it does nothing.
func (s *shared[K]) SetName(name string) {
	_ = s.core.beforeStart(func() { s.core.config.Name = name })
}

// SetResource sets the resource that the status reports. After the start it does nothing.
func (s *shared[K]) SetResource(resource schema.GroupVersionResource) {
	_ = s.core.beforeStart(func() { s.core.config.Resource = resource })
}

// controller is what GetController returns.
type controller[K comparable] struct{ shared *shared[K] }

func (c controller[K]) Run(<-chan struct{})                 {}
func (c controller[K]) RunWithContext(context.Context)      {}
func (c controller[K]) HasSynced() bool                     { return c.shared.HasSynced() }
func (c controller[K]) HasSyncedChecker() cache.DoneChecker { return c.shared.HasSyncedChecker() }

// LastSyncResourceVersion is "" if client-go's feature gate InformerResourceVersion is
// off. The informer's own method ignores the gate.
func (c controller[K]) LastSyncResourceVersion() string {
	if !features.FeatureGates().Enabled(features.InformerResourceVersion) {
		return ""
	}
	return c.shared.LastSyncResourceVersion()
}
