package main

import (
	"context"
	"errors"
	"time"

	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/kubewright/kubewright/examples/controller/bakery"
	"github.com/kubewright/kubewright/examples/generated/clientset/versioned"
	"github.com/kubewright/kubewright/examples/generated/informers/externalversions"
	"github.com/kubewright/kubewright/sharding"
)

// replica is the controller of examples/controller, as a member of a group.
type replica struct {
	member     *sharding.Member
	factory    externalversions.SharedInformerFactory
	controller *bakery.Controller
}

func newReplica(ctx context.Context, config *rest.Config, o options) (*replica, error) {
	// A late write, when another replica may own the namespace already, is refused as it is sent.
	config = rest.CopyConfig(config)
	config.Wrap(sharding.FencingTransport)
	config.QPS = -1 // the server limits its clients
	client, err := versioned.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	leases, err := coordination.NewForConfig(config)
	if err != nil {
		return nil, err
	}

	// The bakeries are sharded: their informer caches only those that this replica owns. The markets aren't:
	// they are few, and each replica needs all of them.
	factory := externalversions.NewSharedInformerFactory(client, 0)
	shop := factory.Shop().V1()
	o.share.Leases = leases.Leases(o.leases)
	o.share.Kinds = []string{"bakeries.shop.kubewright.dev"}
	o.share.Informers = []cache.SharedInformer{shop.Bakeries().Informer()}
	member, err := sharding.NewMember(o.share)
	if err != nil {
		return nil, err
	}
	controller, err := bakery.New(ctx, client, shop)
	if err != nil {
		return nil, err
	}

	share(controller, member, o.oven)
	return &replica{member, factory, controller}, nil
}

// share binds a controller to what the member owns.
func share(controller *bakery.Controller, member *sharding.Member, oven time.Duration) {
	// The queue accepts only this replica's bakeries.
	controller.Queue = sharding.NewQueue(controller.Queue, func(name cache.ObjectName) bool {
		return member.Accepts(name.Namespace)
	})
	// The work is done in Do. Until it returns, no other replica gets the namespace.
	reconcile := controller.Reconcile
	controller.Reconcile = func(ctx context.Context, name cache.ObjectName) error {
		err := member.Do(ctx, name.Namespace, func(ctx context.Context, _ sharding.Owned) error {
			bake(ctx, oven)
			err := reconcile(ctx, name)
			if ctx.Err() != nil {
				return context.Cause(ctx) // why the work had to stop
			}
			return err
		})
		if errors.Is(err, sharding.ErrNotOwned) {
			// The queue drops the bakery if it is another replica's by now. But if this replica only didn't
			// renew its Lease in time, nobody else adds the bakery, and it is baked when the Lease holds again.
			klog.InfoS("Not owned now", "bakery", name)
			controller.Queue.AddAfter(name, time.Second)
			return nil
		}
		return err
	}
}

// bake waits as long as it takes, unless the work must stop.
func bake(ctx context.Context, takes time.Duration) {
	select {
	case <-time.After(takes):
	case <-ctx.Done():
	}
}

// run takes part until ctx is done. Then the member leaves: work that has begun ends, and the other replicas
// get the namespaces. Informers and workers go on until it has left.
func (r *replica) run(ctx context.Context, workers int) error {
	ctx, leave := context.WithCancel(ctx)
	working, stop := context.WithCancel(context.WithoutCancel(ctx))
	r.factory.StartWithContext(working)
	worked := make(chan error, 1)
	go func() {
		defer leave() // a replica that doesn't work owns nothing
		worked <- r.controller.Run(working, workers)
	}()
	left := r.member.Run(ctx)
	stop()
	r.factory.Shutdown()
	return errors.Join(left, <-worked)
}
