package kwctrl

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubewright/kubewright/runtime/ownwrites"
	"github.com/kubewright/kubewright/runtime/queue"
)

// OwnWrites makes a controller wait for its own writes, without a waiting worker: a request isn't ready, and
// so isn't reconciled, before the caches show what the last reconciles of it wrote. Package
// [ownwrites] has the rules. The caches have a tracker, see Options.OwnWrites. It returns the
// reconciler and the options for the controller:
//
//	r, o, err := kwctrl.OwnWrites(caches, reconciler, controller.Options{MaxConcurrentReconciles: 4})
//	...
//	err = ctrl.NewControllerManagedBy(mgr).For(&appsv1.Deployment{}).WithOptions(o).Complete(r)
//
// Write with the contexts that Reconcile gets, or contexts made from them. The controller needs both results:
// without the reconciler no write is recorded, which is logged. Each controller needs a call of its own. A
// sharded one is made of the results, not the other way round: Complete or Options of kwsharding.Shards takes
// them.
//
// The queue is [NewQueue]'s by default, whatever UsePriorityQueue says. A NewQueue of o is called once by
// OwnWrites, with an empty name, to see what it makes; this queue is shut down. One that gives its queue to
// others, as to eyes, has to make it with the limiter that it gets. OwnWrites returns an error if that isn't
// a queue of NewQueue or [NewPriorityQueue], or if the caches have no tracker. A Reconciler of o has no
// effect.
func OwnWrites[T comparable](
	c *Caches, r reconcile.TypedReconciler[T], o controller.TypedOptions[T],
) (reconcile.TypedReconciler[T], controller.TypedOptions[T], error) {
	none := controller.TypedOptions[T]{}
	tracker := c.options.OwnWrites
	if tracker == nil {
		return nil, none, errors.New("kwctrl: OwnWrites needs caches with a tracker: set OwnWrites of the " +
			"Options of NewCaches")
	}
	if r == nil {
		return nil, none, errors.New("kwctrl: OwnWrites needs a reconciler, got nil")
	}
	newQueue := o.NewQueue
	if newQueue == nil {
		newQueue = NewQueue[T]
	}
	probe := newQueue("", workqueue.NewTypedItemExponentialFailureRateLimiter[T](time.Second, time.Second))
	if probe != nil {
		defer probe.ShutDown()
	}
	if _, err := tracked(tracker, probe); err != nil {
		return nil, none, err
	}
	w := &ownWriting[T]{inner: r}
	o.Reconciler = nil
	o.NewQueue = func(
		name string, limiter workqueue.TypedRateLimiter[T],
	) workqueue.TypedRateLimitingInterface[T] {
		made := newQueue(name, trackedLimiter[T]{limiter, tracker})
		q, err := tracked(tracker, made)
		if err != nil {
			panic(err) // The function has made another kind of queue than before.
		}
		if !w.queue.CompareAndSwap(nil, q.Queue) {
			panic("kwctrl: two controllers have the options of one call of OwnWrites: call it for each")
		}
		q.processed = func() { w.processed(name) }
		return made
	}
	return w, o, nil
}

// tracked makes the requests of a new queue wait for own writes.
func tracked[T comparable](
	t *ownwrites.Tracker, q workqueue.TypedRateLimitingInterface[T],
) (*priorityQueue[T], error) {
	ours, ok := q.(*priorityQueue[T])
	switch {
	case !ok:
		return nil, fmt.Errorf("kwctrl: OwnWrites needs a NewQueue that makes queues by kwctrl.NewQueue or "+
			"kwctrl.NewPriorityQueue, and it makes a %T: a sharded queue is made of the options that "+
			"OwnWrites returns", q)
	case ours.config.Gate != nil:
		return nil, errors.New("kwctrl: OwnWrites needs a queue without a Config.Gate")
	}
	if ours.tracker != t { // NewQueue has another limiter than that of its argument.
		ours.tracker, ours.Queue = t, ownwrites.NewQueue(t, ours.config)
	}
	return ours, nil
}

// trackedLimiter tells NewPriorityQueue, through the NewQueue of a program, that the queue is to be one of
// the tracker from the beginning: that function may already give the queue to others, such as eyes.
type trackedLimiter[T comparable] struct {
	workqueue.TypedRateLimiter[T]
	tracker *ownwrites.Tracker
}

// ownWriting runs reconciles in the contexts of their requests.
type ownWriting[T comparable] struct {
	inner reconcile.TypedReconciler[T]
	queue atomic.Pointer[queue.Queue[T]]
	// runs is set once Reconcile was called.
	runs atomic.Bool
	// forgotten logs that the controller lacks the queue or this reconciler.
	forgotten sync.Once
}

func (w *ownWriting[T]) Reconcile(ctx context.Context, request T) (reconcile.Result, error) {
	w.runs.Store(true)
	if q := w.queue.Load(); q != nil {
		ctx = q.Context(ctx, request)
	} else {
		w.forgotten.Do(func() {
			log.FromContext(ctx).Info("Own writes are not waited for: the controller lacks the options that " +
				"kwctrl.OwnWrites has returned")
		})
	}
	result, err := w.inner.Reconcile(ctx, request)
	//lint:ignore SA1019 programs still set Requeue
	again := result.Requeue && result.RequeueAfter <= 0
	if q := w.queue.Load(); q != nil && (err != nil || again) {
		q.NoteError(request, err)
	}
	return result, err
}

// processed is called when the controller of a name has processed a request.
func (w *ownWriting[T]) processed(name string) {
	if !w.runs.Load() {
		w.forgotten.Do(func() {
			log.Log.Info("Own writes are not waited for: the controller lacks the reconciler that "+
				"kwctrl.OwnWrites has returned", "controller", name)
		})
	}
}

// oneServer is the server of Caches whose options belong to one server.
type oneServer struct {
	mu   sync.Mutex
	host string
}

// check returns an error if the Caches have made a cache of another server. what names the option that
// belongs to one.
func (s *oneServer) check(host, what string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.host != "" && s.host != host {
		return fmt.Errorf("kwctrl: Options.%s belongs to one server, which is %s: make other Caches, with "+
			"another value, for %s", what, s.host, host)
	}
	s.host = host
	return nil
}

// isTracked reports whether requests pass the transport of a tracker.
func isTracked(transport http.RoundTripper, t *ownwrites.Tracker) bool {
	for {
		if records, ok := transport.(interface {
			RecordsFor(*ownwrites.Tracker) bool
		}); ok && records.RecordsFor(t) {
			return true
		}
		outer, ok := transport.(utilnet.RoundTripperWrapper)
		if !ok {
			return false
		}
		transport = outer.WrappedRoundTripper()
	}
}
