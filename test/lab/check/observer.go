package check

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/envtest/record"
	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/test/lab/cluster"
)

// manner is how a handler behaves.
type manner int

const (
	quick manner = iota
	slow
	blocked // until it is released
	panicking
	manners
)

func (m manner) String() string { return [...]string{"quick", "slow", "blocked", "panicking"}[m] }

// handlerOptions are those of a handler. Only our informers have the last two.
type handlerOptions struct {
	manner            manner
	typed             bool
	resync            time.Duration
	coalesce, contain bool
}

// observer is a handler that records its calls, and checks them.
type observer struct {
	*record.Recorder[cluster.Object]
	subject *subject
	options handlerOptions
	number  int

	registration cache.ResourceEventHandlerRegistration
	// gate is closed when a blocked handler is released.
	gate     chan struct{}
	released bool
	inside   atomic.Int32
	// gone is set when the handler was removed, or the informer has stopped.
	gone atomic.Bool

	mu sync.Mutex
	// chance decides when to panic and how long to nap.
	chance *rand.Rand
	// last is the highest version of each object.
	last map[cache.ObjectName]int64
}

func newObserver(s *subject, number int, o handlerOptions, seed uint64) *observer {
	b := &observer{
		Recorder: record.New[cluster.Object](), subject: s, options: o, number: number,
		chance: rand.New(rand.NewPCG(seed, 4)), last: map[cache.ObjectName]int64{},
	}
	if o.manner == blocked {
		b.gate = make(chan struct{})
	}
	return b
}

func (b *observer) String() string { return fmt.Sprintf("handler %d of %v", b.number, b.subject) }

// release lets a blocked handler go on.
func (b *observer) release() {
	if b.gate != nil && !b.released {
		b.released = true
		close(b.gate)
	}
}

// reads reports whether the handler receives its backlog in the end.
func (b *observer) reads() bool { return b.options.manner != blocked || b.released }

// keepsUp reports whether the handler has no backlog while all goroutines wait.
func (b *observer) keepsUp() bool {
	return b.options.manner == quick || b.options.manner == blocked && b.released
}

// Panics is the value that observers panic with on purpose.
const Panics = "a handler panics, as it is meant to"

// call is the body of each call of the handler: it checks, takes its time, and records.
func (b *observer) call(record func()) {
	w := b.subject.world
	if b.inside.Add(1) != 1 {
		w.fail(oneCall, "%v is called while it is called", b)
	}
	defer b.inside.Add(-1)
	if b.gone.Load() {
		w.fail(ended, "%v is called after its end", b)
	}
	b.subject.look("in a call")
	b.mu.Lock()
	nap, crash := time.Duration(b.chance.Int64N(int64(200*time.Millisecond))), b.chance.IntN(10) == 0
	b.mu.Unlock()
	switch b.options.manner {
	case slow:
		bubble.Pass(nap)
	case blocked:
		<-b.gate
	}
	record()
	if crash && b.options.manner == panicking {
		panic(Panics)
	}
}

// grows checks that the version of an object is higher than the last one, or the same if that is allowed.
func (b *observer) grows(obj metav1.Object, same bool) {
	v, _ := strconv.ParseInt(obj.GetResourceVersion(), 10, 64)
	name := cache.MetaObjectToName(obj)
	b.mu.Lock()
	defer b.mu.Unlock()
	if was := b.last[name]; v < was || v == was && !same {
		b.subject.world.law(objectsGrow, "%v was told of %s at %d, after %d", b, name, v, was)
	}
	b.last[name] = max(b.last[name], v)
}

func (b *observer) OnAdd(obj cluster.Object, initial bool) {
	b.call(func() {
		// A namespace that is added again delivers its objects again, at versions that the handler has seen.
		b.subject.delivered.add(obj)
		b.grows(obj, b.subject.set != nil)
		b.Recorder.OnAdd(obj, initial && b.subject.set == nil)
	})
}

func (b *observer) OnUpdate(old, obj cluster.Object) {
	b.call(func() {
		b.subject.delivered.add(obj)
		b.grows(obj, true)
		b.Recorder.OnUpdate(old, obj)
	})
}

func (b *observer) OnDelete(gone cache.DeletedObject[cluster.Object]) {
	b.call(func() {
		if gone.FinalStateUnknown == nil && !b.options.coalesce {
			b.grows(gone.OptionalObj, false)
		}
		b.Recorder.OnDelete(gone)
	})
}

// untypedObserver makes an observer an untyped handler of client-go.
type untypedObserver struct{ *observer }

func (h untypedObserver) OnAdd(obj any, initial bool) {
	h.observer.OnAdd(obj.(cluster.Object), initial)
}

func (h untypedObserver) OnUpdate(old, obj any) {
	h.observer.OnUpdate(old.(cluster.Object), obj.(cluster.Object))
}

func (h untypedObserver) OnDelete(obj any) {
	if tombstone, missed := obj.(cache.DeletedFinalStateUnknown); missed {
		last, _ := tombstone.Obj.(cluster.Object)
		h.observer.OnDelete(cache.DeletedObject[cluster.Object]{
			OptionalObj: last, FinalStateUnknown: &tombstone,
		})
		return
	}
	h.observer.OnDelete(cache.DeletedObject[cluster.Object]{OptionalObj: obj.(cluster.Object)})
}

// typedObserver makes an observer a typed handler.
type typedObserver[T interface {
	comparable
	cluster.Object
}] struct{ *observer }

func (h typedObserver[T]) OnAdd(obj T, initial bool) { h.observer.OnAdd(obj, initial) }

func (h typedObserver[T]) OnUpdate(old, obj T) { h.observer.OnUpdate(old, obj) }

func (h typedObserver[T]) OnDelete(gone cache.DeletedObject[T]) {
	h.observer.OnDelete(cache.DeletedObject[cluster.Object]{
		OptionalObj: gone.OptionalObj, FinalStateUnknown: gone.FinalStateUnknown,
	})
}
