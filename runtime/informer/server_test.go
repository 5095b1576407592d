package informer_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	gen "github.com/kubewright/kubewright/runtime/gen/informer"
	"github.com/kubewright/kubewright/runtime/informer"
)

type configMap = corev1.ConfigMap

// server is a collection with a history, like an API server's. It is a client for our informers and, by
// listerWatcher, for client-go's.
type server struct {
	mu      sync.Mutex
	version int
	objects map[string]*configMap
	history []watch.Event
	// forgotten is the version up to which there is no history.
	forgotten int
	watches   map[*stream]bool
	// watched is signalled when a watch begins.
	watched *sync.Cond
	fail    error
	gate    chan struct{}
}

func newServer() *server {
	s := &server{objects: map[string]*configMap{}, watches: map[*stream]bool{}}
	s.watched = sync.NewCond(&s.mu)
	return s
}

// stream is a watch of a server.
type stream struct {
	server *server
	events chan watch.Event
}

func (w *stream) ResultChan() <-chan watch.Event { return w.events }

func (w *stream) Stop() {
	w.server.mu.Lock()
	defer w.server.mu.Unlock()
	if w.server.watches[w] {
		delete(w.server.watches, w)
		close(w.events)
	}
}

// IsWatchListSemanticsUnSupported makes informers list in pages.
func (s *server) IsWatchListSemanticsUnSupported() bool { return true }

// put creates or updates an object and returns its version.
func (s *server) put(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version++
	namespace := fmt.Sprint("ns", len(name)%2)
	obj := &configMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, Name: name, ResourceVersion: strconv.Itoa(s.version),
		Labels: map[string]string{"parity": strconv.Itoa(s.version % 2)},
	}}
	event := watch.Event{Type: watch.Added, Object: obj}
	obj.UID = types.UID(fmt.Sprint("made at ", s.version))
	if old, ok := s.objects[name]; ok {
		event.Type, obj.UID = watch.Modified, old.UID
	}
	s.objects[name] = obj
	s.send(event)
	return s.version
}

// remove deletes an object, if it is there.
func (s *server) remove(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	obj, ok := s.objects[name]
	if !ok {
		return
	}
	s.version++
	gone := obj.DeepCopy()
	gone.ResourceVersion = strconv.Itoa(s.version)
	delete(s.objects, name)
	s.send(watch.Event{Type: watch.Deleted, Object: gone})
}

// bookmark sends every watch the current version.
func (s *server) bookmark() {
	s.mu.Lock()
	defer s.mu.Unlock()
	mark := &configMap{ObjectMeta: metav1.ObjectMeta{ResourceVersion: strconv.Itoa(s.version)}}
	for w := range s.watches {
		w.events <- watch.Event{Type: watch.Bookmark, Object: mark}
	}
}

// raw sends any event to every watch.
func (s *server) raw(event watch.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.send(event)
}

func (s *server) send(event watch.Event) {
	s.history = append(s.history, event)
	for w := range s.watches {
		w.events <- event
	}
}

// cut ends every watch. They can be resumed.
func (s *server) cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for w := range s.watches {
		close(w.events)
	}
	clear(s.watches)
}

// forget makes changes that no watch reports, drops the history and ends every watch, so that informers have
// to list again.
func (s *server) forget(changes func()) {
	s.mu.Lock()
	watches := s.watches
	s.watches = map[*stream]bool{}
	s.mu.Unlock()
	changes()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version++
	s.history, s.forgotten = nil, s.version
	for w := range watches {
		close(w.events)
	}
}

// expire ends every watch with 410, so that their informers list again.
func (s *server) expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version++
	s.history, s.forgotten = nil, s.version
	status := apierrors.NewResourceExpired("too old").Status()
	for w := range s.watches {
		w.events <- watch.Event{Type: watch.Error, Object: &status}
		close(w.events)
	}
	clear(s.watches)
}

func (s *server) List(ctx context.Context, _ metav1.ListOptions) (*corev1.ConfigMapList, error) {
	if s.gate != nil {
		select {
		case <-s.gate:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail != nil {
		return nil, s.fail
	}
	list := &corev1.ConfigMapList{ListMeta: metav1.ListMeta{ResourceVersion: strconv.Itoa(s.version)}}
	for _, name := range slices.Sorted(maps.Keys(s.objects)) {
		list.Items = append(list.Items, *s.objects[name])
	}
	return list, nil
}

func (s *server) Watch(_ context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	from, err := strconv.Atoi(opts.ResourceVersion)
	if err != nil {
		return nil, err
	}
	if from < s.forgotten {
		return nil, apierrors.NewResourceExpired("too old")
	}
	w := &stream{server: s, events: make(chan watch.Event, 4096)}
	for _, event := range s.history {
		if versionOf(event.Object) > from {
			w.events <- event
		}
	}
	s.watches[w] = true
	s.watched.Broadcast()
	return w, nil
}

// awaitWatches waits until n informers watch, however long they back off.
func (s *server) awaitWatches(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.watches) < n {
		s.watched.Wait()
	}
}

func versionOf(obj runtime.Object) int {
	m, ok := obj.(metav1.Object)
	if !ok {
		return 0
	}
	version, _ := strconv.Atoi(m.GetResourceVersion())
	return version
}

// state returns the names of the server's objects, with versions.
func (s *server) state() map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	state := map[string]string{}
	for name, obj := range s.objects {
		state[name] = obj.ResourceVersion
	}
	return state
}

func (s *server) listerWatcher() cache.ListerWatcher {
	return cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
			return s.List(ctx, opts)
		},
		WatchFuncWithContext: s.Watch,
	}, s)
}

// ours and theirs return the informers that the tests compare.
func (s *server) ours(opts gen.Options) made {
	opts.Client = s
	return made{gen.NewShared[*configMap](
		func() gen.ResourceClient[*corev1.ConfigMapList] { return s }, opts)}
}

// made is the informer of a generated constructor, with the functions of this package as methods.
type made struct {
	cache.TypedSharedIndexInformer[*configMap]
}

func (m made) Untyped() cache.SharedInformer { return m.TypedSharedIndexInformer }

func (m made) Core() informer.Typed[*configMap] {
	core, _ := informer.Of[*configMap](m.TypedSharedIndexInformer)
	return core
}

func (m made) Status() informer.Status { return m.Core().Status() }

func (m made) WaitForVersion(ctx context.Context, version string) error {
	return informer.WaitForVersion(ctx, m.TypedSharedIndexInformer, version)
}

func (s *server) theirs(opts gen.Options) cache.SharedIndexInformer {
	if opts.Indexers == nil {
		// client-go adds to this map, so it must not be nil.
		opts.Indexers = cache.Indexers{}
	}
	return cache.NewSharedIndexInformerWithOptions(s.listerWatcher(), &configMap{},
		cache.SharedIndexInformerOptions{
			ResyncPeriod: opts.ResyncPeriod,
			Indexers:     opts.Indexers,
		})
}
