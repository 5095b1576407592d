package engine

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/internal/decode"
	"github.com/kubewright/kubewright/runtime/internal/deltafifo"
	"github.com/kubewright/kubewright/runtime/internal/reflector"
	"github.com/kubewright/kubewright/runtime/internal/sources"
	"github.com/kubewright/kubewright/runtime/internal/store"
	"github.com/kubewright/kubewright/runtime/internal/transforms"
)

// newReader makes the reader that fills the queue.
func (i *engine[K]) newReader(queue *deltafifo.DeltaFIFO[K], m *informerMetrics) Reader {
	i.mu.Lock()
	defer i.mu.Unlock()
	s := sink[K]{store: i.store, queue: queue, metrics: m, key: i.config.Keys.Of}
	if transform := i.transform; transform != nil {
		if i.selection != nil {
			transform = i.selection.Transform(transform)
		}
		s.transform = transforms.Func[K]{Key: s.key, Transform: transform}.Apply
	}
	options := reflector.Options{
		Name:            i.config.Name,
		TypeDescription: i.config.Description,
		ResyncPeriod:    i.resyncCheckPeriod,
		ShouldResync:    func() bool { return i.resyncDue(time.Now()) },
		Consistent:      i.newest,
		ErrorHandler:    i.onWatchError,
		Failed:          func(error) { i.failures.announce(); i.waiters.release() },

		Newest: func() func() { return i.beforeNewest(queue) },

		Lag: i.lag(),

		InitialEventsTimeout: i.config.Options.InitialEventsTimeout,
		SilenceTimeout:       i.config.Options.SilenceTimeout,
	}
	i.queue = queue
	if i.selection == nil {
		i.shareFieldSets()
		s.lookedUp = i.useCache()
	}
	reader := func(source sources.Source, options reflector.Options) Reader {
		if i.selection != nil {
			return i.selection.Reader(source, selectionSink[K]{s}, options)
		}
		return reflector.New(source, s, options)
	}
	i.reader = i.optionally(queue, options, reader)
	return i.reader
}

// resource returns what the informer was told that it lists, or what it has requested. The caller holds mu.
func (i *engine[K]) resource() schema.GroupVersionResource {
	if source, ok := i.config.Source.(interface {
		Resource() schema.GroupVersionResource
	}); ok && i.config.Resource.Empty() {
		return source.Resource()
	}
	return i.config.Resource
}

// sink takes the reflector's lists and events, and fills the queue. It transforms objects
// before it queues them, so that the queue doesn't hold fields that the transform drops.
type sink[K comparable] struct {
	store   *store.Store[K]
	queue   *deltafifo.DeltaFIFO[K]
	metrics *informerMetrics
	key     func(any) (K, error)
	// transform is nil if objects are stored as they are.
	transform func(from K, obj any) (transforms.Result[K], error)
	// lookedUp is nil if the source never returns objects of the store.
	lookedUp *lookedUp
}

// transformAndKey returns what is stored of an object.
func (s sink[K]) transformAndKey(obj any) (transforms.Result[K], error) {
	key, err := s.key(obj)
	if err != nil || s.transform == nil {
		return transforms.Result[K]{From: key, Key: key, Object: obj}, err
	}
	return s.transform(key, obj)
}

func (s sink[K]) change(t deltafifo.DeltaType, obj any, version string) error {
	key, err := s.key(obj)
	if err != nil {
		return err
	}
	if s.transform == nil {
		s.queue.Append(t, key, obj, version)
		s.metrics.queued(s.queue)
		return nil
	}
	// If the transform fails, only a deletion is queued: it needs only the key.
	result, err := s.transform(key, obj)
	a := arrival[K]{Result: result, deleted: t == deltafifo.Deleted, missed: err != nil, version: version}
	if err == nil || a.deleted {
		s.put(t, a)
	}
	return err
}

// put queues an event.
func (s sink[K]) put(t deltafifo.DeltaType, a arrival[K]) {
	switch {
	case a.missed, a.Key != a.From:
		s.queue.Call(func(w *writer[K]) { w.applyArrival(a) })
	case a.Object == nil:
		s.queue.Append(deltafifo.Deleted, a.From, nil, a.version)
	default:
		s.queue.Append(t, a.From, a.Object, a.version)
	}
	s.metrics.queued(s.queue)
}

func (s sink[K]) Added(obj any, resourceVersion string) error {
	return s.change(deltafifo.Added, obj, resourceVersion)
}

func (s sink[K]) Updated(obj any, resourceVersion string) error {
	return s.change(deltafifo.Updated, obj, resourceVersion)
}

func (s sink[K]) Deleted(obj any, resourceVersion string) error {
	return s.change(deltafifo.Deleted, obj, resourceVersion)
}

func (s sink[K]) Bookmark(resourceVersion string) error {
	s.queue.Bookmark(resourceVersion)
	return nil
}

func (s sink[K]) Resync() error {
	s.queue.SyncAll()
	s.metrics.queued(s.queue)
	return nil
}

func (s sink[K]) Begin() reflector.Staging {
	return &staging[K]{sink: s, list: transforms.NewList(s.store)}
}

// staging collects a list into the store's next content.
type staging[K comparable] struct {
	sink sink[K]
	list *transforms.List[K]
}

func (s *staging[K]) Add(obj any, resourceVersion string) error {
	if s.keep(obj) {
		return nil
	}
	return s.Update(obj, resourceVersion)
}

func (s *staging[K]) Update(obj any, resourceVersion string) error {
	accepted, err := s.sink.transformAndKey(obj)
	if err == nil {
		s.list.Put(accepted, resourceVersion)
	}
	return err
}

func (s *staging[K]) Remove(obj any) error {
	key, err := s.sink.key(obj)
	if err == nil {
		s.list.Remove(key)
	}
	return err
}

func (s *staging[K]) Commit(resourceVersion string) error {
	s.sink.queue.Replace(s.list, resourceVersion)
	s.sink.metrics.queued(s.sink.queue)
	return nil
}

func (s *staging[K]) Discard() { s.list.Discard() }

// lookedUp is the last object that the source found in the store, and its version there. Only
// the goroutine that reads the list uses it.
type lookedUp struct {
	object  any
	version string
}

// shareFieldSets makes objects share the contents of their managedFields, if there is no transform: that may
// change objects, while nobody may change stored ones.
func (i *engine[K]) shareFieldSets() {
	source, ok := i.config.Source.(interface{ ShareFieldSets() })
	if ok && i.transform == nil {
		source.ShareFieldSets()
	}
}

// useCache gives the source a function that looks up objects in the store, so that a
// list need not decode objects whose version hasn't changed. It returns nil if the source
// doesn't use it.
func (i *engine[K]) useCache() *lookedUp {
	source, ok := i.config.Source.(interface {
		UseCache(func(decode.Identity) (any, bool)) bool
	})
	if _, named := any(*new(K)).(cache.ObjectName); !ok || !named {
		return nil
	}
	last := &lookedUp{}
	keeps := source.UseCache(func(id decode.Identity) (any, bool) {
		key, _ := any(cache.ObjectName{Namespace: id.Namespace, Name: id.Name}).(K)
		obj, version, ok := i.store.Lookup(key)
		if !ok || version != id.ResourceVersion || version == "" {
			return nil, false
		}
		last.object, last.version = obj, version
		return obj, true
	})
	if !keeps {
		return nil
	}
	return last
}

// keep stages obj if it is the object that the source has just looked up in the store, without
// transforming it a second time. Else it returns false. The source hands over each object before
// it looks up another. It compares with lookedUp and not with the store: a write through the
// indexer may have replaced the object there.
func (s *staging[K]) keep(obj any) bool {
	last := s.sink.lookedUp
	if last == nil || last.object != obj {
		return false
	}
	key, err := s.sink.key(obj)
	if err != nil {
		return false
	}
	s.list.Put(transforms.Result[K]{From: key, Key: key, Object: obj}, last.version)
	*last = lookedUp{} // Don't keep the object alive.
	return true
}
