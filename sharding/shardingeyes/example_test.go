package shardingeyes_test

import (
	"fmt"

	"github.com/kubewright/kubewright/eyes"
	"github.com/kubewright/kubewright/runtime/shard"
	"github.com/kubewright/kubewright/sharding"
	"github.com/kubewright/kubewright/sharding/shardingeyes"
	"github.com/kubewright/kubewright/sharding/shardingtest"
)

func Example() {
	member, err := shardingtest.NewGroup().NewMember(sharding.Config{
		Identity: "anna",
		Kinds:    []string{"bakeries"},
		Hashes:   func(shard.Range) ([]uint64, bool) { return nil, true },
	})
	if err != nil {
		panic(err)
	}
	e := eyes.New(eyes.Options{})
	shardingeyes.Add(e, "bakers", member)
	for _, m := range e.Snapshot().Members {
		fmt.Println(m.Source, m.Started, m.Error)
	}
	// Output: bakers false sharding: the table hasn't been read yet, or was deleted
}
