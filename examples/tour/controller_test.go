package tour

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	shopv1 "github.com/kubewright/kubewright/examples/apis/shop/v1"
	shoplisters "github.com/kubewright/kubewright/examples/generated/listers/shop/v1"
	"github.com/kubewright/kubewright/runtime/cache"
	"github.com/kubewright/kubewright/runtime/runtimetest"
	"github.com/kubewright/kubewright/runtime/workqueue"
)

// The parts make a controller: a handler puts the key of each object that changed into a queue; a worker
// takes the key, reads the newest state from the lister, and does what is missing, whatever the event was.
// workqueue.Run has this loop of the worker, ready to use; examples/controller is a whole controller.
func TestController(t *testing.T) {
	// In this bubble, time stands still until all goroutines wait, and then jumps to the next timer.
	synctest.Test(t, func(t *testing.T) {
		server := runtimetest.NewServer[shopv1.Bakery, shopv1.BakeryList]() // an API server in memory
		ann := &shopv1.Bakery{ObjectMeta: metav1.ObjectMeta{Namespace: "town", Name: "ann"}}
		server.Create(ann)
		// No resync. The index is for listers of one namespace.
		informer := cache.NewSharedIndexInformer(server.ListerWatcher(), ann, 0,
			cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
		bakeries := shoplisters.NewBakeryLister(informer.GetIndexer())
		// After a failure, a key waits 5 ms, and twice as long after each further failure, up to 1000 s. All
		// keys together are retried at most 10 times a second, after a burst of 100.
		queue := workqueue.NewTypedRateLimitingQueue(
			workqueue.DefaultTypedControllerRateLimiter[cache.ObjectName]())

		// A key is a namespace and a name. Older code has it as a string, such as "town/ann":
		// DeletionHandlingMetaNamespaceKeyFunc makes it, and SplitMetaNamespaceKey splits it.
		enqueue := func(obj any) {
			if key, err := cache.DeletionHandlingObjectToName(obj); err == nil { // also of a tombstone
				queue.Add(key)
			}
		}
		registration, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: enqueue, UpdateFunc: func(_, obj any) { enqueue(obj) }, DeleteFunc: enqueue,
		})
		if err != nil {
			t.Fatal(err)
		}

		var last string // the last action of the worker
		failures := 2
		reconcile := func(key cache.ObjectName) error {
			bakery, err := bakeries.Bakeries(key.Namespace).Get(key.Name)
			if apierrors.IsNotFound(err) {
				last = fmt.Sprint(key, " is gone") // clean up
				return nil
			}
			if err == nil && failures > 0 {
				failures--
				err = errors.New("the oven is cold")
			}
			if err == nil {
				last = fmt.Sprint(key, " has ", bakery.Spec.Bakers, " bakers")
			}
			return err
		}
		worker := func() {
			for key, shutdown := queue.Get(); !shutdown; key, shutdown = queue.Get() {
				if reconcile(key) != nil {
					queue.AddRateLimited(key) // once more, later
				} else {
					queue.Forget(key) // else the next failure waits longer, and the limiter keeps the key for ever
				}
				queue.Done(key) // in any case, else no worker gets the key again, however often it is added
			}
		}
		go informer.RunWithContext(t.Context())
		// Before the cache is filled, NotFound doesn't mean that the object is gone.
		<-registration.HasSyncedChecker().Done()
		go worker() // programs start several
		defer queue.ShutDown()

		expect := func(want string) {
			t.Helper()
			<-time.After(time.Second) // the bubble's: it takes no time
			synctest.Wait()
			if last != want {
				t.Errorf("%s, want %s", last, want)
			}
		}
		expect("town/ann has 0 bakers") // at the third try
		ann.Spec.Bakers = 2
		server.Update(ann)
		expect("town/ann has 2 bakers")
		server.Delete("town", "ann")
		expect("town/ann is gone")
	})
}
