package kwctrl_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	kwctrl "github.com/kubewright/kubewright/contrib/controller-runtime"
	"github.com/kubewright/kubewright/contrib/controller-runtime/internal/configmaps"
	"github.com/kubewright/kubewright/eyes"
	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/ownwrites"
	"github.com/kubewright/kubewright/runtime/queue"
)

// TestEyes looks at the caches of a manager and at the queue of its controller.
func TestEyes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := configmaps.New()
		api.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "one"}})
		config := &rest.Config{Host: "http://api", QPS: -1, Transport: api}
		caches := kwctrl.NewCaches(kwctrl.Options{})
		options := managerOptions(caches)
		options.Logger = logr.Discard()
		mgr, err := manager.New(config, options)
		if err != nil {
			t.Fatal(err)
		}
		e := eyes.New(eyes.Options{})
		e.AddCaches("manager", caches)
		newQueue := func(name string, l limiter[reconcile.Request]) limitingQueue {
			q := kwctrl.NewQueue(name, l)
			e.AddQueue(name, q.(eyes.StatusQueue))
			return q
		}
		nothing := reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
			return reconcile.Result{}, nil
		})
		err = builder.ControllerManagedBy(mgr).Named("baker").For(&corev1.ConfigMap{}).
			WithOptions(controller.Options{NewQueue: newQueue}).Complete(nothing)
		if err != nil {
			t.Fatal(err)
		}
		stop := startManager(t, mgr)
		bubble.Pass(time.Minute)
		s := e.Snapshot()
		stop()
		if len(s.Informers) != 1 || !s.Informers[0].Synced || s.Informers[0].Objects != 1 ||
			s.Informers[0].Resource != "configmaps" || s.Informers[0].Form != "typed" ||
			s.Informers[0].ListBytes == 0 {
			t.Errorf("informers: %+v", s.Informers)
		}
		if handlers := s.Informers[0].Handlers; len(handlers) != 1 || handlers[0].Name != "baker" {
			t.Errorf("handlers: %+v", handlers)
		}
		at := slices.IndexFunc(s.Queues, func(q eyes.Queue) bool { return q.Source == "baker" })
		if at < 0 || s.Queues[at].HandedOut != 1 || s.Queues[at].LongestRunningSeconds == nil {
			t.Errorf("queues: %+v", s.Queues)
		}
		if len(s.Findings) > 0 {
			t.Errorf("found %v", s.Findings)
		}
		if s = e.Snapshot(); len(s.Informers)+len(s.Queues) > 0 {
			t.Errorf("after the end: %+v", s)
		}
	})
}

// TestHandlerNames checks that handlers of controllers with controller-runtime's own queues, which don't know
// the controllers' names, are told apart by their types.
func TestHandlerNames(t *testing.T) {
	for _, priorities := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			caches := kwctrl.NewCaches(kwctrl.Options{})
			options := managerOptions(caches)
			options.Logger, options.Controller.UsePriorityQueue = logr.Discard(), &priorities
			config := &rest.Config{Host: "http://api", QPS: -1, Transport: configmaps.New()}
			mgr, err := manager.New(config, options)
			if err != nil {
				t.Fatal(err)
			}
			nothing := reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
				return reconcile.Result{}, nil
			})
			mapped := handler.EnqueueRequestsFromMapFunc(owner)
			for name, b := range map[string]*builder.Builder{
				"baker":  builder.ControllerManagedBy(mgr).For(&corev1.ConfigMap{}),
				"miller": builder.ControllerManagedBy(mgr).Watches(&corev1.ConfigMap{}, mapped),
			} {
				if err := b.Named(name).Complete(nothing); err != nil {
					t.Fatal(err)
				}
			}
			stop := startManager(t, mgr)
			bubble.Pass(time.Second)
			var names []string
			for _, h := range caches.Statuses()[0].Handlers {
				names = append(names, h.Name)
			}
			stop()
			slices.Sort(names)
			want := []string{"handler.TypedEnqueueRequestForObject", "handler.enqueueRequestsFromMapFunc"}
			if !slices.Equal(names, want) {
				t.Errorf("names %q, want %q", names, want)
			}
		})
	}
}

// TestEndedQueues checks that a look shows neither the queue by which OwnWrites tries a NewQueue, nor one
// that was shut down with items in it.
func TestEndedQueues(t *testing.T) {
	e := eyes.New(eyes.Options{})
	shown := func(name string, l limiter[reconcile.Request]) limitingQueue {
		q := kwctrl.NewQueue(name, l)
		e.AddQueue(name, q.(eyes.StatusQueue))
		return q
	}
	nothing := reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
		return reconcile.Result{}, nil
	})
	caches := kwctrl.NewCaches(kwctrl.Options{OwnWrites: &ownwrites.Tracker{}})
	_, o, err := kwctrl.OwnWrites(caches, reconcile.Reconciler(nothing), controller.Options{NewQueue: shown})
	if err != nil {
		t.Fatal(err)
	}
	if s := e.Snapshot(); len(s.Queues) > 0 {
		t.Errorf("before the controller runs: %+v", s.Queues)
	}
	q := o.NewQueue("baker", workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	q.Add(reconcile.Request{})
	if s := e.Snapshot(); len(s.Queues) != 1 || s.Queues[0].Source != "baker" || s.Queues[0].Ready != 1 {
		t.Errorf("%+v", s.Queues)
	}
	q.ShutDown()
	if s := e.Snapshot(); len(s.Queues) > 0 {
		t.Errorf("after the shutdown: %+v", s.Queues)
	}
}

// TestOwnWritesTellsResults checks that a queue knows which runs have failed: not those that ask for another
// one by Requeue. It knows the first error, too.
func TestOwnWritesTellsResults(t *testing.T) {
	caches := kwctrl.NewCaches(kwctrl.Options{OwnWrites: &ownwrites.Tracker{}})
	var result reconcile.Result
	var failure error
	r, o, err := kwctrl.OwnWrites(caches, reconcile.Reconciler(reconcile.Func(
		func(context.Context, reconcile.Request) (reconcile.Result, error) { return result, failure })),
		controller.Options{})
	if err != nil {
		t.Fatal(err)
	}
	q := o.NewQueue(t.Name(), workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	defer q.ShutDown()
	look := q.(interface {
		Keep()
		Line(key string) (string, []queue.Step)
		Status() queue.Status
	})
	look.Keep()
	run := func(times int) {
		for range times {
			_, _ = r.Reconcile(t.Context(), reconcile.Request{})
			q.AddRateLimited(reconcile.Request{}) // as the controller does in both cases
		}
	}
	result.Requeue = true //lint:ignore SA1019 programs still set it
	run(20)
	if s := look.Status(); s.Failing > 0 {
		t.Errorf("after runs that have asked for another: %+v", s)
	}
	q.Forget(reconcile.Request{}) // as the controller does after a success
	failure = errors.New("no flour")
	run(1)
	q.Forget(reconcile.Request{})
	if _, steps := look.Line("/"); len(steps) == 0 ||
		steps[len(steps)-1].What != "its failures are forgotten" {
		t.Errorf("after a success: %v", steps)
	}
	run(1)
	_, steps := look.Line("/")
	if !slices.ContainsFunc(steps, func(s queue.Step) bool { return s.What == "the error was: no flour" }) {
		t.Errorf("after the first error: %v", steps)
	}
	run(11)
	if s := look.Status(); s.Failing != 1 || s.FailingError != "no flour" {
		t.Errorf("after twelve errors: %+v", s)
	}
}

// TestInformersOfOneKind checks that looks tell apart the informers of several namespaces and clusters, in
// one order, so that a handler which hangs in one of them is found, and where.
func TestInformersOfOneKind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		caches, e := kwctrl.NewCaches(kwctrl.Options{}), eyes.New(eyes.Options{})
		e.AddCaches("manager", caches)
		var all []cache.Cache
		for n, host := range []string{"north", "south"} {
			api := configmaps.New()
			for _, namespace := range []string{"a", "b"} {
				api.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "one"}})
			}
			c, err := caches.NewCache(&rest.Config{Host: "http://" + host, QPS: -1, Transport: api}, cache.Options{
				Mapper: configmaps.Mapper(), DefaultNamespaces: map[string]cache.Config{"a": {}, "b": {}},
			})
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, c)
			i, err := c.GetInformer(ctx, &corev1.ConfigMap{}, cache.BlockUntilSynced(false))
			if err != nil {
				t.Fatal(err)
			}
			handlers := []toolscache.ResourceEventHandlerFuncs{{}, {AddFunc: func(obj any) {
				if obj.(*corev1.ConfigMap).Namespace == "b" {
					<-ctx.Done()
				}
			}}}
			for _, h := range handlers[:n+1] { // The one that hangs is in the south.
				if _, err := i.AddEventHandler(h); err != nil {
					t.Fatal(err)
				}
			}
		}
		look := func() (names []string, findings []eyes.Finding) {
			s := e.Snapshot()
			for _, i := range s.Informers {
				names = append(names, fmt.Sprintf("%s with %d handlers", i.Name, len(i.Handlers)))
			}
			return names, s.Findings
		}
		ordered := func() (names []string) {
			names, _ = look()
			for range 20 {
				if again, _ := look(); !slices.Equal(again, names) {
					t.Errorf("%q, and then %q", names, again)
					break
				}
			}
			return names
		}
		ordered()
		var running sync.WaitGroup
		for _, c := range all {
			running.Go(func() { _ = c.Start(ctx) })
		}
		synctest.Wait()
		names := ordered()
		if unique := slices.Compact(slices.Clone(names)); len(unique) != 4 {
			t.Errorf("informers %q", names)
		}
		bubble.Pass(10 * time.Second)
		look()
		bubble.Pass(10 * time.Second)
		_, findings := look()
		if len(findings) != 1 || findings[0].Kind != "handler hangs" ||
			!strings.Contains(findings[0].Subject, " (south/typed") ||
			!strings.HasSuffix(findings[0].Subject, " in namespace b") {
			t.Errorf("found %v", findings)
		}
		stop()
		running.Wait()
	})
}
