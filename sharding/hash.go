package sharding

import (
	"math"

	"github.com/kubewright/kubewright/runtime/shard"
)

const lastHash = math.MaxUint64

var everything = shard.Range{First: 0, Last: lastHash}

func overlap(a, b shard.Range) bool { return a.First <= b.Last && b.First <= a.Last }
