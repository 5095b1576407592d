package shardingtest_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/internal/bubble"
	facade "github.com/kubewright/kubewright/runtime/cache"
	"github.com/kubewright/kubewright/runtime/factory"
	"github.com/kubewright/kubewright/runtime/factory/namespaces"
	genfactory "github.com/kubewright/kubewright/runtime/gen/factory"
	gen "github.com/kubewright/kubewright/runtime/gen/informer"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/queue"
	"github.com/kubewright/kubewright/runtime/runtimetest"
	"github.com/kubewright/kubewright/runtime/shard"
	"github.com/kubewright/kubewright/runtime/shard/partial"
	"github.com/kubewright/kubewright/sharding"
	"github.com/kubewright/kubewright/sharding/shardingtest"
)

type mapServer = runtimetest.Server[*corev1.ConfigMap, *corev1.ConfigMapList]

// town takes the place of a generated factory for one namespace.
type town struct {
	*genfactory.Factory[*mapServer]
	name string
}

// rig has one of each thing that a callback may call, with callbacks of all kinds. Those of one kind call
// inside, once.
type rig struct {
	kind   string
	inside func()
	called atomic.Bool

	server     *mapServer
	factory    *genfactory.Factory[*mapServer]
	informer   cache.SharedIndexInformer
	handle     cache.ResourceEventHandlerRegistration
	sharded    cache.SharedIndexInformer
	part       *partial.Part
	namespaces *namespaces.Set[town]
	combined   cache.SharedIndexInformer
	inTowns    cache.ResourceEventHandlerRegistration
	queue      *queue.Queue[string]
	owned      *sharding.Queue[string]
	group      *shardingtest.Group
	member     *sharding.Member

	ctx     context.Context
	stop    context.CancelFunc
	running sync.WaitGroup
}

// kinds are the kinds of callbacks.
var kinds = []string{
	"handler", "transform", "tweak", "OnCreate", "error handler", "OnMutation", "index function",
	"handler in a namespace", "newFactory", "of", "transform of a part", "Changed", "Hashes", "Do",
}

// in is called by each callback.
func (r *rig) in(kind string) {
	if kind == r.kind && r.called.CompareAndSwap(false, true) {
		r.inside()
	}
}

func newRig(t *testing.T, kind string) *rig {
	r := &rig{kind: kind, server: runtimetest.NewServer[corev1.ConfigMap, corev1.ConfigMapList]()}
	r.ctx, r.stop = context.WithCancel(t.Context())
	r.server.NoWatchListClient()
	r.put("town-1", "oven")
	r.queue = queue.New(queue.Config[string]{})
	r.owned = sharding.NewQueue(queue.New(queue.Config[string]{}), func(string) bool { return true })
	for _, q := range []interface {
		Add(string)
		Get() (string, bool)
	}{r.queue, r.owned} {
		q.Add("busy")
		q.Get() // in process until shutDown
	}
	r.group = shardingtest.NewGroup()
	c := config("m")
	c.Hashes = func(shard.Range) ([]uint64, bool) { r.in("Hashes"); return nil, true }
	c.Changed = func([]sharding.Owned) { r.in("Changed") }
	var err error
	if r.member, err = r.group.NewMember(c); err != nil {
		t.Fatal(err)
	}
	r.factory = genfactory.New(r.server, 0)
	r.sharded = r.make("", nil)
	if r.part, err = partial.Shard(r.sharded, shard.ByUID); err != nil {
		t.Fatal(err)
	}
	r.namespaces = namespaces.New(func(name string) town {
		r.in("newFactory")
		return town{genfactory.New(r.server, 0), name}
	})
	r.combined = r.namespaces.Informer(r.of)
	return r
}

// of returns the informer of a town.
func (r *rig) of(f town) cache.SharedIndexInformer {
	r.in("of")
	return f.InformerFor(&corev1.ConfigMap{}, func(*mapServer, time.Duration) cache.SharedIndexInformer {
		return r.make(f.name, nil)
	})
}

func (r *rig) make(namespace string, tweak func(*metav1.ListOptions)) cache.SharedIndexInformer {
	return gen.NewShared[*corev1.ConfigMap](
		func() gen.ResourceClient[*corev1.ConfigMapList] { return r.server },
		gen.Options{Client: r.server, TweakListOptions: func(o *metav1.ListOptions) {
			if namespace != "" {
				o.FieldSelector = "metadata.namespace=" + namespace
			}
			if tweak != nil {
				tweak(o)
			}
		}})
}

func (r *rig) put(namespace, name string) {
	r.server.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}})
}

// run sets the callbacks, starts everything and makes each callback happen.
func (r *rig) run(t *testing.T) {
	err := errors.Join(
		factory.Configure(r.factory, informer.Options{
			OnCreate: func(i cache.SharedIndexInformer) error {
				r.informer = i
				r.in("OnCreate")
				return nil
			},
			TweakListOptions: func(*metav1.ListOptions) { r.in("tweak") },
			MutationSample:   1,
			OnMutation:       func(_, _ runtime.Object) { r.in("OnMutation") },
		}),
		r.sharded.SetTransform(func(obj any) (any, error) {
			if obj.(*corev1.ConfigMap).Name == "later" {
				r.in("transform of a part")
			}
			return obj, nil
		}),
		r.part.SetRanges(shardingtest.All),
	)
	i := r.factory.InformerFor(&corev1.ConfigMap{}, func(*mapServer, time.Duration) cache.SharedIndexInformer {
		return r.make("", nil)
	})
	handle := func(kind string) cache.ResourceEventHandler {
		return cache.ResourceEventHandlerFuncs{AddFunc: func(any) { r.in(kind) }}
	}
	var first *corev1.ConfigMap
	if !i.IsStopped() {
		_ = i.SetTransform(func(obj any) (any, error) { r.in("transform"); return obj, nil })
		_ = i.SetWatchErrorHandler(func(*cache.Reflector, error) { r.in("error handler") })
		_ = i.AddIndexers(cache.Indexers{"x": func(obj any) ([]string, error) {
			if first == nil {
				first = obj.(*corev1.ConfigMap)
			} else if r.kind == "OnMutation" {
				first.Data = map[string]string{"changed": "before anybody compares"}
			}
			r.in("index function")
			return nil, nil
		}})
		r.handle, _ = i.AddEventHandler(handle("handler"))
	}
	if r.kind == "error handler" {
		refused := errors.New("not now")
		r.server.Fail("LIST", refused, refused, refused) // one for each informer
	}
	var failed error
	r.inTowns, failed = r.combined.AddEventHandler(handle("handler in a namespace"))
	r.factory.StartWithContext(r.ctx)
	r.running.Go(func() { r.sharded.RunWithContext(r.ctx) })
	r.running.Go(func() { _ = r.member.Run(r.ctx) })
	r.namespaces.StartWithContext(r.ctx)
	if err := errors.Join(err, failed, r.namespaces.Add("town-1")); err != nil {
		t.Error(err)
	}
	bubble.Pass(time.Second)
	r.put("town-1", "later")
	limited, cancel := context.WithTimeout(r.ctx, time.Minute)
	defer cancel()
	_ = r.group.Move(limited, r.member, shardingtest.All)
	_ = r.member.Do(limited, "town-1", func(context.Context, sharding.Owned) error { r.in("Do"); return nil })
	bubble.Pass(time.Minute)
}

// shutDown ends everything.
func (r *rig) shutDown() {
	r.stop()
	for _, q := range []interface {
		ShutDown()
		Done(string)
	}{r.queue, r.owned} {
		q.ShutDown()
		q.Done("busy")
		q.Done("town-1") // what Get may have returned
	}
	r.namespaces.Shutdown()
	r.factory.Shutdown()
	r.running.Wait()
}

// targets are what a callback may call.
func (r *rig) targets() map[string]any {
	core, _ := informer.Of[*corev1.ConfigMap](r.informer)
	return map[string]any{
		"informer": r.informer, "core": core, "indexer": r.informer.GetIndexer(),
		"untyped":       r.informer.(interface{ Untyped() cache.SharedInformer }).Untyped(),
		"typed indexer": r.informer.(cache.TypedSharedIndexInformer[*corev1.ConfigMap]).GetTypedIndexer(),
		"controller":    r.informer.GetController(), "handle": r.handle,
		"factory": r.factory, "namespaces": r.namespaces, "combined": r.combined,
		"combined indexer": r.combined.GetIndexer(), "combined handle": r.inTowns,
		"queue": r.queue, "owned queue": r.owned, "member": r.member, "part": r.part,
		"functions": functions{r},
	}
}

// functions are the functions of the packages, as methods.
type functions struct{ r *rig }

func (f functions) StatusOf()                     { informer.StatusOf(f.r.informer) }
func (f functions) WaitForSync(c context.Context) { _ = informer.WaitForSync(c, f.r.informer) }
func (f functions) IndexLabels()                  { _ = informer.IndexLabels(f.r.informer, "label") }
func (f functions) Configure() {
	_ = informer.Configure(f.r.informer, informer.Options{})
}
func (f functions) Statuses() { _, _ = factory.Statuses(f.r.factory) }
func (f functions) Hold()     { _ = factory.Retain(f.r.factory, f.r.informer) }
func (f functions) Release()  { _ = factory.Release(f.r.factory, f.r.informer) }
func (f functions) ConfigureFactory() {
	_ = factory.Configure(f.r.factory, informer.Options{Drop: []string{"spec"}})
}
func (f functions) WaitForSyncOf(c context.Context) { _ = factory.WaitForSync(c, f.r.factory) }
func (f functions) HealthCheck() {
	_ = factory.HealthCheck(f.r.factory, informer.HealthOptions{})(&http.Request{})
}
func (f functions) WaitForVersion(c context.Context) {
	_ = informer.WaitForVersion(c, f.r.informer, "1000000")
}
func (f functions) WaitForOwnWrites(c context.Context) {
	_ = informer.WaitForOwnWrites(c, f.r.informer)
}
func (f functions) AddEventHandler() {
	handler := cache.ResourceEventHandlerFuncs{}
	_, _ = informer.AddEventHandler(f.r.informer, handler, informer.HandlerOptions{})
}
func (f functions) ShutDownEventHandler() {
	_ = facade.ShutDownEventHandler(f.r.informer, f.r.handle)
}
