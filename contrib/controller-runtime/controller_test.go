package kwctrl_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	kwctrl "github.com/kubewright/kubewright/contrib/controller-runtime"
	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/cache"
	"github.com/kubewright/kubewright/runtime/runtimetest"
)

type (
	limitingQueue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	newQueue      = func(string, limiter[reconcile.Request]) limitingQueue
)

func newClientGo(_ string, l limiter[reconcile.Request]) limitingQueue {
	return workqueue.NewTypedRateLimitingQueue(l)
}

// TestLiveChangesComeFirst starts a controller on a list of 10,000 objects. During its first reconcile one
// of them is changed and another one created: these two are reconciled next. With client-go's queue, which
// has no priorities, they are reconciled last.
func TestLiveChangesComeFirst(t *testing.T) {
	const objects = 10_000
	for name, test := range map[string]struct {
		newQueue         newQueue
		changed, created int
	}{
		"ours":      {kwctrl.NewQueue[reconcile.Request], 2, 3},
		"upstream":  {nil, 2, 3},
		"client-go": {newClientGo, objects, objects + 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				order := reconcileList(t, objects, test.newQueue)
				if len(order) != objects+1 {
					t.Errorf("%d reconciles", len(order))
				}
				if n := slices.Index(order, "old") + 1; n != test.changed {
					t.Errorf("the changed object was reconciled as number %d, want %d", n, test.changed)
				}
				if n := slices.Index(order, "young") + 1; n != test.created {
					t.Errorf("the created object was reconciled as number %d, want %d", n, test.created)
				}
			})
		})
	}
}

// reconcileList runs a controller on a list of objects, the last of which is named old. It returns the
// names of the objects in the order in which they are reconciled. During the first reconcile old is changed
// and young created.
func reconcileList(t *testing.T, objects int, newQueue newQueue) (order []string) {
	server := runtimetest.NewServer[corev1.ConfigMap, corev1.ConfigMapList]()
	object := func(name string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}}
	}
	for i := range objects - 1 {
		server.Create(object(fmt.Sprint("listed-", i)))
	}
	server.Create(object("old"))
	ctx, cancel := context.WithCancel(t.Context())
	informer := cache.NewSharedIndexInformer(server.ListerWatcher(), &corev1.ConfigMap{}, 0, nil)
	skip := true
	c, err := controller.NewUnmanaged(t.Name(), controller.Options{
		NewQueue:           newQueue,
		SkipNameValidation: &skip,
		Reconciler: reconcile.Func(func(_ context.Context, request reconcile.Request) (reconcile.Result, error) {
			if order = append(order, request.Name); len(order) == 1 {
				synctest.Wait() // until the list has reached the queue
				server.Update(object("old"))
				synctest.Wait() // until the update has, too
				server.Create(object("young"))
				synctest.Wait()
			}
			return reconcile.Result{}, nil
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	err = c.Watch(&source.Informer{Informer: informer, Handler: new(handler.EnqueueRequestForObject)})
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	running.Go(func() { informer.RunWithContext(ctx) })
	running.Go(func() {
		if err := c.Start(ctx); err != nil {
			t.Error(err)
		}
	})
	bubble.Pass(time.Minute) // time passes only once the workers have nothing left to do
	cancel()
	running.Wait()
	return order
}
