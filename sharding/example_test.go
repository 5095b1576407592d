package sharding_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math"

	"k8s.io/apimachinery/pkg/api/meta"
	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/sharding"
)

// clientset is the part of kubernetes.Interface that a member needs.
type clientset interface {
	CoordinationV1() coordination.CoordinationV1Interface
}

// share runs a member until ctx ends, and reconciles what arrives while the member owns it.
func share(
	ctx context.Context, clients clientset, namespace, podName string, bakeries cache.Store,
	arrivals <-chan cache.ObjectName, reconcile func(context.Context, cache.ObjectName) error,
) error {
	hashes := func(r sharding.Range) (found []uint64, known bool) {
		for _, object := range bakeries.List() {
			accessor, err := meta.Accessor(object)
			if err != nil {
				return nil, false
			}
			if hash := sharding.Hash(accessor.GetNamespace()); r.Contains(hash) {
				found = append(found, hash)
			}
		}
		return found, true
	}
	member, err := sharding.NewMember(sharding.Config{
		Leases:   clients.CoordinationV1().Leases(namespace),
		Group:    "bakery-controller",
		Identity: podName,
		Kinds:    []string{"bakeries.shop.example.com"},
		Hashes:   hashes,
	})
	if err != nil {
		return err
	}
	go func() {
		for name := range arrivals {
			err := member.Do(ctx, name.Namespace, func(ctx context.Context, _ sharding.Owned) error {
				return reconcile(ctx, name)
			})
			if err != nil && !errors.Is(err, sharding.ErrNotOwned) {
				log.Printf("%s: %v", name, err)
			}
		}
	}()
	return member.Run(ctx)
}

var _ = share

// A range of hashes, as a member may own it, and the namespaces whose objects are in it.
func Example() {
	owned := sharding.Range{First: 1 << 63, Last: math.MaxUint64}
	fmt.Println(owned)
	for _, namespace := range []string{"default", "kube-system"} {
		fmt.Println(namespace, owned.Contains(sharding.Hash(namespace)))
	}
	// Output:
	// 0x8000000000000000-0x10000000000000000
	// default true
	// kube-system true
}
