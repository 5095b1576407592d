package engine_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	gen "github.com/kubewright/kubewright/runtime/gen/informer"
	"github.com/kubewright/kubewright/runtime/internal/engine"
	"github.com/kubewright/kubewright/runtime/internal/reflector"
	"github.com/kubewright/kubewright/runtime/internal/sources"
	"github.com/kubewright/kubewright/runtime/internal/unwrap"
	"github.com/kubewright/kubewright/runtime/runtimetest"
)

// byHand is a [engine.Selection] of two streams whose lists and events a test sends. The annotation "stream"
// of an object names its stream.
type byHand struct {
	*reflector.Reflector
	t        *testing.T
	sink     engine.Sink
	informer cache.SharedIndexInformer
	// known are the names of the objects that the informer's handler has.
	known map[string]bool
}

func (b *byHand) Reader(source sources.Source, sink engine.Sink, options reflector.Options) engine.Reader {
	b.sink, b.Reflector = sink, reflector.New(source, nil, options)
	return b
}

func (b *byHand) Transform(transform func(any) (any, error)) func(any) (any, error) { return transform }
func (b *byHand) Selects(metav1.Object) bool                                        { return true }
func (b *byHand) IsEmpty() bool                                                     { return false }
func (b *byHand) Run(ctx context.Context)                                           { <-ctx.Done() }

func inStream(stream string) func(any) bool {
	return func(obj any) bool { return obj.(*corev1.ConfigMap).Annotations["stream"] == stream }
}

// streamed is the object n/x in a state.
func streamed(stream, uid, version string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "x", UID: types.UID(uid),
		ResourceVersion: version, Annotations: map[string]string{"stream": stream}}}
}

func out(obj *corev1.ConfigMap) *corev1.ConfigMap {
	obj.Labels = map[string]string{"out": "yes"}
	return obj
}

func (b *byHand) event(t watch.EventType, obj *corev1.ConfigMap) {
	apply, err := b.sink.Prepare(t, obj, obj.ResourceVersion)
	if err != nil {
		b.t.Error(err)
	}
	if apply != nil {
		apply(inStream(obj.Annotations["stream"]))
	}
	synctest.Wait()
}

func (b *byHand) list(stream, version string, objects ...*corev1.ConfigMap) {
	staging := b.sink.Begin()
	for _, o := range objects {
		if err := staging.Add(o, o.ResourceVersion); err != nil {
			b.t.Error(err)
		}
	}
	staging.Commit(inStream(stream), version, func() {})
	synctest.Wait()
}

// expect compares the names in the store, and those that the handler has.
func (b *byHand) expect(what string, want ...string) {
	b.t.Helper()
	var stored []string
	for _, obj := range b.informer.GetStore().List() {
		stored = append(stored, obj.(*corev1.ConfigMap).Name)
	}
	slices.Sort(stored)
	if known := slices.Sorted(maps.Keys(b.known)); !slices.Equal(stored, want) || !slices.Equal(known, want) {
		b.t.Errorf("%s: stored are %q, the handler has %q, want %q", what, stored, known, want)
	}
}

// TestRenamesInStreams: an object and its successor of the same name come from two streams, in any order, and
// the transform makes their UIDs a part of their keys. As without a transform, the successor takes the place
// of the object, and what the server deletes leaves the cache.
func TestRenamesInStreams(t *testing.T) {
	byUID := func(obj any) (any, error) {
		o := obj.(*corev1.ConfigMap)
		if o.Labels["out"] != "" {
			return (*corev1.ConfigMap)(nil), nil
		}
		o.Name = fmt.Sprint(o.Name, "-", o.UID)
		return o, nil
	}
	for name, f := range map[string]func(*byHand){
		"the successor is listed": func(b *byHand) {
			b.list("b", "9", streamed("b", "2", "5"))
			b.expect("listed", "x-2")
			b.event(watch.Deleted, streamed("a", "1", "4"))
			b.expect("the first is deleted", "x-2")
			b.event(watch.Modified, out(streamed("b", "2", "10")))
			b.expect("the transform drops it")
			b.event(watch.Deleted, out(streamed("b", "2", "11")))
			b.expect("deleted")
		},
		"the successor arrives": func(b *byHand) {
			b.list("b", "2")
			b.event(watch.Added, streamed("b", "2", "5"))
			b.expect("arrived", "x-2")
			b.event(watch.Deleted, streamed("a", "1", "4"))
			b.expect("the first is deleted", "x-2")
			b.event(watch.Modified, out(streamed("b", "2", "10")))
			b.expect("the transform drops it")
		},
		"the successor is deleted first": func(b *byHand) {
			b.list("b", "9", streamed("b", "2", "5"))
			b.event(watch.Deleted, streamed("b", "2", "11"))
			b.event(watch.Deleted, streamed("a", "1", "4"))
			b.expect("both are deleted")
		},
		"an older one is listed later": func(b *byHand) {
			b.event(watch.Modified, streamed("a", "1", "7"))
			b.list("b", "9", streamed("b", "2", "5"))
			b.expect("listed", "x-1")
			b.event(watch.Deleted, streamed("a", "1", "8"))
			b.expect("deleted")
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := runtimetest.NewServer[corev1.ConfigMap, corev1.ConfigMapList]()
				b := &byHand{t: t, known: map[string]bool{}, informer: gen.NewShared[*corev1.ConfigMap](
					func() gen.ResourceClient[*corev1.ConfigMapList] { return server }, gen.Options{Client: server})}
				core, _ := unwrap.As[interface {
					Select(engine.Selection) (sources.Source, error)
				}](b.informer)
				if _, err := core.Select(b); err != nil {
					t.Fatal(err)
				}
				if err := b.informer.SetTransform(byUID); err != nil {
					t.Fatal(err)
				}
				if _, err := b.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
					AddFunc: func(obj any) { b.known[obj.(*corev1.ConfigMap).Name] = true },
					DeleteFunc: func(obj any) {
						if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
							obj = gone.Obj
						}
						delete(b.known, obj.(*corev1.ConfigMap).Name)
					},
				}); err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				var running sync.WaitGroup
				running.Go(func() { b.informer.RunWithContext(ctx) })
				defer running.Wait()
				defer cancel()
				synctest.Wait()
				b.sink.Pin(true)
				b.list("a", "1", streamed("a", "1", "1"))
				b.expect("the first", "x-1")
				f(b)
			})
		})
	}
}
