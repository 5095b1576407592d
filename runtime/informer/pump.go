package informer

import (
	"context"
	"sync"
	"time"

	"k8s.io/klog/v2"

	"github.com/kubewright/kubewright/runtime/internal/deltafifo"
	"github.com/kubewright/kubewright/runtime/internal/reflector"
	"github.com/kubewright/kubewright/runtime/internal/store"
)

// pump moves what the reflector learns through the queue into the store and the
// log, until ctx is done. An index function's panic goes to the caller at once.
func (i *Informer[K, T]) pump(ctx context.Context, detector *mutationDetector) {
	queue := deltafifo.New[K, T](nil)
	w := &writer[K, T]{
		informer: i,
		detector: detector,
		metrics:  newMetrics(i.config),
		logger:   klog.FromContext(ctx),
	}
	r := i.newReflector(queue, w.metrics)

	var running sync.WaitGroup
	running.Go(func() { r.Run(ctx) })
	if detector != nil {
		running.Go(func() { detector.run(ctx.Done()) })
	}
	for w.takeBatch(ctx, queue) {
	}
	// Not deferred: what panics doesn't wait for who knows nothing of it.
	running.Wait()
}

// takeBatch applies what is in the queue, as soon as something is. It returns
// false when ctx is done.
func (w *writer[K, T]) takeBatch(ctx context.Context, queue *deltafifo.DeltaFIFO[K, T]) bool {
	batch, err := queue.PopBatch(ctx)
	if err != nil {
		return false
	}
	taken := w.metrics.took(queue)
	for n := range batch {
		if ctx.Err() != nil {
			return false
		}
		w.take(&batch[n])
	}
	w.end(len(batch))
	w.metrics.dealt(taken)
	return true
}

// newReflector makes what fills the queue.
func (i *Informer[K, T]) newReflector(queue *deltafifo.DeltaFIFO[K, T], m *metrics) *reflector.Reflector[T] {
	i.mu.Lock()
	defer i.mu.Unlock()
	s := sink[K, T]{store: i.store, queue: queue, metrics: m, key: i.config.Key, transform: i.transform, keeps: i.keepUnchanged()}
	r := reflector.New(i.config.Source, s, reflector.Options{
		Name:            i.config.Name,
		TypeDescription: i.config.Description,
		ResyncPeriod:    i.resyncCheckPeriod,
		ShouldResync:    func() bool { return i.resyncDue(time.Now()) },
		ErrorHandler:    i.onWatchError,
		Failed:          func(error) { i.failures.tell() },

		InitialEventsTimeout: i.config.InitialEventsTimeout,
		SilenceTimeout:       i.config.SilenceTimeout,
	})
	i.reflector, i.queue = r, queue
	return r
}

// take applies a delta.
func (w *writer[K, T]) take(d *deltafifo.Delta[K, T]) {
	switch d.Type {
	case deltafifo.ReplacedAll:
		w.replace(d.List.(*store.Replacement[K, T]), d.Version)
	case deltafifo.SyncAll:
		w.resync()
	case deltafifo.Bookmark:
		w.bookmark(d.Version)
	case deltafifo.Deleted:
		w.change(store.Change[K, T]{Type: store.Deleted, Key: d.Key, Object: d.Object, Version: d.Version})
	default:
		w.change(store.Change[K, T]{Type: store.Updated, Key: d.Key, Object: d.Object, Version: d.Version})
	}
}

// sink takes what the reflector learns. Objects are transformed before they are
// queued, so that nothing keeps what the transform drops.
type sink[K comparable, T any] struct {
	store     *store.Store[K, T]
	queue     *deltafifo.DeltaFIFO[K, T]
	metrics   *metrics
	key       func(T) (K, error)
	transform func(T) (T, error)
	// keeps says that lists may bring objects out of the store itself.
	keeps bool
}

// accept returns an object as it will be stored, and its key.
func (s sink[K, T]) accept(obj T) (key K, accepted T, err error) {
	if s.transform != nil {
		if obj, err = s.transform(obj); err != nil {
			return key, obj, err
		}
	}
	key, err = s.key(obj)
	return key, obj, err
}

func (s sink[K, T]) append(t deltafifo.DeltaType, obj T, resourceVersion string) error {
	key, obj, err := s.accept(obj)
	if err == nil {
		s.queue.Append(deltafifo.Delta[K, T]{Type: t, Key: key, Object: obj, Version: resourceVersion})
		s.metrics.queued(s.queue)
	}
	return err
}

func (s sink[K, T]) Added(obj T, resourceVersion string) error {
	return s.append(deltafifo.Added, obj, resourceVersion)
}

func (s sink[K, T]) Updated(obj T, resourceVersion string) error {
	return s.append(deltafifo.Updated, obj, resourceVersion)
}

func (s sink[K, T]) Deleted(obj T, resourceVersion string) error {
	return s.append(deltafifo.Deleted, obj, resourceVersion)
}

func (s sink[K, T]) Bookmark(resourceVersion string) error {
	s.queue.Bookmark(resourceVersion)
	return nil
}

func (s sink[K, T]) Resync() error {
	s.queue.SyncAll()
	s.metrics.queued(s.queue)
	return nil
}

func (s sink[K, T]) Begin() reflector.Staging[T] {
	return staging[K, T]{sink: s, staged: s.store.Begin()}
}

// staging collects a list into the store's next content.
type staging[K comparable, T any] struct {
	sink   sink[K, T]
	staged *store.Replacement[K, T]
}

func (s staging[K, T]) Add(obj T, resourceVersion string) error {
	if s.keep(obj) {
		return nil
	}
	key, obj, err := s.sink.accept(obj)
	if err == nil {
		s.staged.Set(key, obj, resourceVersion)
	}
	return err
}

func (s staging[K, T]) Remove(obj T) error {
	key, err := s.sink.key(obj)
	if err == nil {
		s.staged.Delete(key)
	}
	return err
}

func (s staging[K, T]) Commit(resourceVersion string) error {
	s.sink.queue.Replace(s.staged, resourceVersion)
	s.sink.metrics.queued(s.sink.queue)
	return nil
}

func (s staging[K, T]) Discard() { s.staged.Discard() }
