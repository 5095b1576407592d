package shard_test

import (
	"fmt"

	"github.com/kubewright/kubewright/runtime/shard"
)

// A half of all objects, by their namespaces, and the selector of a request for it.
func Example() {
	half := shard.Join(shard.Range{First: 0, Last: 1<<63 - 1})
	selector, err := shard.Selector(shard.ByNamespace, half)
	if err != nil {
		fmt.Println(err)
	}
	fmt.Println(selector)
	for _, namespace := range []string{"default", "kube-system"} {
		fmt.Println(namespace, half.Contains(shard.Hash(namespace)))
	}
	// Output:
	// shardRange(object.metadata.namespace, '0x0000000000000000', '0x8000000000000000')
	// default false
	// kube-system false
}
