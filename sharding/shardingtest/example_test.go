package shardingtest_test

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/kubewright/kubewright/runtime/shard"
	"github.com/kubewright/kubewright/sharding"
	"github.com/kubewright/kubewright/sharding/shardingtest"
)

// Anna bakes for two towns until the test gives one of them to Ben.
func Example() {
	ctx, stop := context.WithCancel(context.Background())
	group := shardingtest.NewGroup()
	var replicas sync.WaitGroup
	join := func(name string) *sharding.Member {
		member, err := group.NewMember(sharding.Config{
			Identity: name,
			Kinds:    []string{"bakeries.shop.example.com"},
			Hashes:   func(shard.Range) ([]uint64, bool) { return nil, true },
		})
		if err != nil {
			panic(err)
		}
		replicas.Go(func() {
			if err := member.Run(ctx); err != nil {
				fmt.Println(err)
			}
		})
		return member
	}
	anna, ben := join("anna"), join("ben")
	bake := func(name string, member *sharding.Member) {
		for _, town := range []string{"oslo", "rome"} {
			err := member.Do(ctx, town, func(context.Context, sharding.Owned) error {
				fmt.Println(name, "bakes for", town)
				return nil
			})
			if err != nil && !errors.Is(err, sharding.ErrNotOwned) {
				fmt.Println(err)
			}
		}
	}

	if err := group.Move(ctx, anna, shardingtest.All); err != nil {
		fmt.Println(err)
	}
	bake("Anna", anna)
	bake("Ben", ben)
	if err := group.Move(ctx, ben, shardingtest.Of("rome")); err != nil {
		fmt.Println(err)
	}
	bake("Anna", anna)
	bake("Ben", ben)

	stop()
	replicas.Wait()
	// Output:
	// Anna bakes for oslo
	// Anna bakes for rome
	// Anna bakes for oslo
	// Ben bakes for rome
}
