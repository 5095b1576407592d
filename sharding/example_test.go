package sharding_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"sync"

	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/kubewright/kubewright/runtime/shard"
	"github.com/kubewright/kubewright/sharding"
)

// share runs a member, its informer and its worker until ctx ends, and the member has left. The clients with
// which reconcile writes come from a configuration with FencingTransport.
func share(
	ctx context.Context, config *rest.Config, namespace, podName string, bakeries cache.SharedIndexInformer,
	reconcile func(context.Context, cache.ObjectName) error,
) error {
	leases, err := coordination.NewForConfig(config) // has a rate limiter of its own
	if err != nil {
		return err
	}
	member, err := sharding.NewMember(sharding.Config{
		Leases:    leases.Leases(namespace),
		Group:     "bakery-controller",
		Identity:  podName,
		Kinds:     []string{"bakeries.shop.example.com"},
		Informers: []cache.SharedInformer{bakeries},
	})
	if err != nil {
		return err
	}
	work := sharding.NewQueue(
		workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[cache.ObjectName]()),
		func(name cache.ObjectName) bool { return member.Accepts(name.Namespace) })
	_, err = bakeries.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { work.Add(nameOf(obj)) },
		UpdateFunc: func(_, obj any) { work.Add(nameOf(obj)) },
		DeleteFunc: func(obj any) { work.Add(nameOf(obj)) },
	})
	if err != nil {
		return err
	}
	// Work that still runs when ctx ends needs the informer for a while.
	runs, stop := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	running.Go(func() { bakeries.RunWithContext(runs) })
	running.Go(func() {
		for name, shutDown := work.Get(); !shutDown; name, shutDown = work.Get() {
			err := member.Do(runs, name.Namespace, func(ctx context.Context, _ sharding.Owned) error {
				return reconcile(ctx, name)
			})
			if err == nil {
				work.Forget(name)
			} else {
				// Also after ErrNotOwned: the queue drops the name if it is another member's by now. If the
				// work had to stop because the Lease ran out, it is tried again when the Lease holds.
				log.Printf("%s: %v", name, err)
				work.AddRateLimited(name)
			}
			work.Done(name)
		}
	})
	err = member.Run(ctx)
	work.ShutDown()
	stop()
	running.Wait()
	return err
}

func nameOf(obj any) cache.ObjectName {
	name, err := cache.DeletionHandlingObjectToName(obj)
	if err != nil {
		log.Print(err)
	}
	return name
}

var _ = share

// Informers that aren't of this project have all objects. Hashes returns the hashes of these to the member,
// and Changed adds those in its ranges to the queue. Such an informer may lag behind what the last owner has
// written.
func Example_otherInformers() {
	share := func(
		config sharding.Config, bakeries cache.SharedIndexInformer,
		inner workqueue.TypedRateLimitingInterface[cache.ObjectName],
	) (*sharding.Member, *sharding.Queue[cache.ObjectName], error) {
		var member *sharding.Member
		work := sharding.NewQueue(inner, func(name cache.ObjectName) bool { return member.Accepts(name.Namespace) })
		namesIn := func(r shard.Range) (names []cache.ObjectName) {
			for _, object := range bakeries.GetStore().List() {
				if name := nameOf(object); r.Contains(shard.Hash(name.Namespace)) {
					names = append(names, name)
				}
			}
			return names
		}
		config.Hashes = func(r shard.Range) (hashes []uint64, known bool) {
			if !bakeries.HasSynced() {
				return nil, false
			}
			for _, name := range namesIn(r) {
				hashes = append(hashes, shard.Hash(name.Namespace))
			}
			return hashes, true
		}
		config.Changed = func(owned []sharding.Owned) {
			for _, o := range owned {
				for _, name := range namesIn(o.Range) {
					work.Add(name)
				}
			}
		}
		member, err := sharding.NewMember(config)
		return member, work, err
	}
	_ = share // the rest is as with informers of this project
}

// A range of hashes, as a member may own it, and the namespaces whose objects are in it.
func Example() {
	owned := shard.Range{First: 1 << 63, Last: math.MaxUint64}
	fmt.Println(owned)
	for _, namespace := range []string{"default", "kube-system"} {
		fmt.Println(namespace, owned.Contains(shard.Hash(namespace)))
	}
	// Output:
	// 0x8000000000000000-0x10000000000000000
	// default true
	// kube-system true
}
