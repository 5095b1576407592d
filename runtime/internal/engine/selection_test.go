package engine_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/internal/bubble"
	gen "github.com/kubewright/kubewright/runtime/gen/informer"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/internal/engine"
	"github.com/kubewright/kubewright/runtime/internal/reflector"
	"github.com/kubewright/kubewright/runtime/internal/sources"
	"github.com/kubewright/kubewright/runtime/internal/unwrap"
	"github.com/kubewright/kubewright/runtime/runtimetest"
)

// inNamespaces is a [engine.Selection] of the objects of some namespaces, which may change. It has one
// reflector for all namespaces. When namespaces are added, another one takes its place, which lists anew.
type inNamespaces struct {
	source  sources.Source
	sink    engine.Sink
	options reflector.Options
	*reflector.Reflector

	mu      sync.Mutex
	names   map[string]bool
	changed chan struct{}
}

func (s *inNamespaces) Reader(
	source sources.Source, sink engine.Sink, options reflector.Options,
) engine.Reader {
	s.source, s.sink, s.options = source, sink, options
	s.Reflector = reflector.New(source, nil, options)
	s.changed = make(chan struct{}, 1)
	return s
}

func (s *inNamespaces) Transform(transform func(any) (any, error)) func(any) (any, error) {
	return transform
}

func (s *inNamespaces) Selects(metav1.Object) bool { return true }

func (s *inNamespaces) IsEmpty() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.names) == 0
}

func (s *inNamespaces) selected(obj any) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.names[obj.(metav1.Object).GetNamespace()]
}

// set replaces the namespaces.
func (s *inNamespaces) set(names map[string]bool) {
	s.mu.Lock()
	s.names = names
	s.mu.Unlock()
	s.changed <- struct{}{}
}

func (s *inNamespaces) Run(ctx context.Context) {
	for ctx.Err() == nil {
		filtered := &filter{s, maps.Clone(s.names)}
		running, stop := context.WithCancel(ctx)
		var reflecting sync.WaitGroup
		if len(s.names) > 0 {
			one := reflector.New(s.source, filtered, s.options)
			reflecting.Go(func() { one.Run(running) })
		}
		select {
		case <-ctx.Done():
		case <-s.changed:
		}
		stop()
		reflecting.Wait()
		s.sink.Release(s.selected)
	}
}

// filter is the sink of one reflector. It lets only objects of these namespaces pass.
type filter struct {
	*inNamespaces
	names map[string]bool
}

func (f *filter) has(obj any) bool { return f.names[obj.(metav1.Object).GetNamespace()] }

func (f *filter) change(t watch.EventType, obj any, version string) error {
	if !f.has(obj) {
		f.sink.Bookmark(version)
		return nil
	}
	apply, err := f.sink.Prepare(t, obj, version)
	if apply != nil {
		apply(nil)
	}
	return err
}

func (f *filter) Added(obj any, version string) error { return f.change(watch.Added, obj, version) }
func (f *filter) Updated(obj any, version string) error {
	return f.change(watch.Modified, obj, version)
}
func (f *filter) Deleted(obj any, version string) error { return f.change(watch.Deleted, obj, version) }
func (f *filter) Bookmark(version string) error         { f.sink.Bookmark(version); return nil }
func (f *filter) Resync() error                         { f.sink.Resync(); return nil }
func (f *filter) Begin() reflector.Staging              { return &staged{f.sink.Begin(), f} }

// staged drops nothing itself: Commit does.
type staged struct {
	engine.Staging
	filter *filter
}

func (s *staged) Commit(version string) error {
	s.Staging.Commit(s.filter.has, version, func() {})
	s.filter.sink.Complete()
	return nil
}

// known is a handler that has the objects of which it was told.
type known struct {
	t        *testing.T
	server   *runtimetest.Server[*corev1.ConfigMap, *corev1.ConfigMapList]
	objects  map[string]string
	released int
}

func (k *known) OnAdd(obj any, _ bool) { k.put("", obj) }
func (k *known) OnUpdate(old, obj any) { k.put(stateOf(old), obj) }
func (k *known) OnRelease(obj any)     { k.released++; k.drop(obj) }

func (k *known) OnDelete(obj any) {
	if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = gone.Obj
	}
	for _, o := range k.server.Objects() {
		if o.UID == obj.(*corev1.ConfigMap).UID {
			k.t.Errorf("deletion of %s, which exists", keyOf(o))
		}
	}
	k.drop(obj)
}

func (k *known) put(before string, obj any) {
	if had := k.objects[keyOf(obj)]; had != before {
		k.t.Errorf("a change of %s from %q, the handler has it as %q", keyOf(obj), before, had)
	}
	k.objects[keyOf(obj)] = stateOf(obj)
}

func (k *known) drop(obj any) {
	if k.objects[keyOf(obj)] == "" {
		k.t.Errorf("%s leaves, and the handler doesn't have it", keyOf(obj))
	}
	delete(k.objects, keyOf(obj))
}

func keyOf(obj any) string   { return cache.MetaObjectToName(obj.(*corev1.ConfigMap)).String() }
func stateOf(obj any) string { return obj.(*corev1.ConfigMap).ResourceVersion }

// TestSelection runs an informer with a [engine.Selection] that knows nothing of hashes: by namespaces, while
// objects and the selected namespaces change. Its cache and its handler have the selected objects, no handler
// receives a deletion of an object that exists, and objects that nobody selects are never stored.
func TestSelection(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { testSelection(t, rand.New(rand.NewPCG(seed, 0))) })
		})
	}
}

func testSelection(t *testing.T, random *rand.Rand) {
	server := runtimetest.NewServer[corev1.ConfigMap, corev1.ConfigMapList]()
	if random.IntN(2) == 0 {
		server.NoWatchListClient()
	}
	names := []string{"a", "b", "c", "d"}
	i := gen.NewShared[*corev1.ConfigMap](
		func() gen.ResourceClient[*corev1.ConfigMapList] { return server }, gen.Options{Client: server})
	selection := &inNamespaces{}
	core, _ := unwrap.As[interface {
		Select(engine.Selection) (sources.Source, error)
	}](i)
	if source, err := core.Select(selection); source == nil || err != nil {
		t.Fatal(source, err)
	}
	if _, err := core.Select(&inNamespaces{}); err == nil {
		t.Error("an informer has two selections")
	}
	handler := &known{t: t, server: server, objects: map[string]string{}}
	if _, err := i.AddEventHandler(handler); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { i.RunWithContext(ctx) })
	defer running.Wait()
	defer cancel()
	synctest.Wait()
	if err := informer.WaitForVersion(t.Context(), i, "1000000"); err != nil {
		t.Errorf("a version of nothing: %v", err)
	}
	if i.HasSynced() {
		t.Error("it has synced before its selection says so")
	}
	if _, err := core.Select(selection); err == nil {
		t.Error("a selection of an informer that has started")
	}
	for step := range 60 {
		for range random.IntN(5) {
			namespace, name := names[random.IntN(4)], fmt.Sprint("map-", random.IntN(3))
			object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
			switch exists := slices.ContainsFunc(server.Objects(), func(o *corev1.ConfigMap) bool {
				return keyOf(o) == keyOf(object)
			}); {
			case !exists:
				server.Create(object)
			case random.IntN(3) == 0:
				server.Delete(namespace, name)
			default:
				server.Update(object)
			}
		}
		if random.IntN(3) == 0 {
			chosen := map[string]bool{}
			for _, name := range names {
				if random.IntN(2) == 0 {
					chosen[name] = true
				}
			}
			selection.set(chosen)
		}
		bubble.Advance(time.Minute)
		want := map[string]string{}
		for _, o := range server.Objects() {
			if selection.names[o.Namespace] {
				want[keyOf(o)] = stateOf(o)
			}
		}
		stored := map[string]string{}
		for _, o := range i.GetStore().List() {
			stored[keyOf(o)] = stateOf(o)
		}
		if !maps.Equal(stored, want) || !maps.Equal(handler.objects, want) {
			t.Fatalf("step %d: of %v the server has\n%v, the store\n%v, the handler\n%v",
				step, selection.names, want, stored, handler.objects)
		}
	}
	if handler.released == 0 || !i.HasSynced() {
		t.Errorf("%d objects were released, synced: %v", handler.released, i.HasSynced())
	}
}
