package main

import (
	"github.com/kubewright/kubewright/internal/guarantee"
	"github.com/kubewright/kubewright/internal/planted"
)

// queueing are bugs of work queues.
var queueing = []entry{
	{name: "a second Done hands an item out twice", bug: planted.In("(*Queue).Done",
		"if *state&inProcess == 0 {",
		"if *state&inProcess == 0 { if BUG && *state&isReady != 0 { q.push(id) }").
		Breaks(guarantee.NoneTwiceAtOnce).From("kubernetes-csi/external-provisioner#190", queues), nightly: true},
	{name: "Get hangs after ShutDown", bug: planted.In("queue.(*Queue).shutDown",
		"defer q.waiters.wakeAll()", "if !BUG { defer q.waiters.wakeAll() }").
		Breaks(guarantee.NoneLost).From("kubernetes-sigs/controller-runtime#3538", queues)},
	{name: "a delay takes an item's priority away", bug: planted.In("queue.(*Queue).deliver",
		"q.add(id, priority)", "if BUG { priority = 0 }; q.add(id, priority)").
		Breaks(guarantee.OrderOfPriorities).From("kubernetes-sigs/controller-runtime#3330", queues)},
}
