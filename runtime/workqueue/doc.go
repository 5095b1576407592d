// Package workqueue is k8s.io/client-go/util/workqueue with the queue of package
// [github.com/kubewright/kubewright/runtime/queue]. A program written for client-go's package compiles
// and runs with this one when its import path is changed. Interfaces, configurations, limiters and
// ParallelizeUntil are client-go's own, so either kind of queue can be used where the other is expected.
// docs/concepts.md explains how a queue fits into a controller.
//
// In addition there are functions that take such a queue:
//
//	Run                   the loop of workers that every controller needs
//	GetContext, GetBatch  Get that ends with a context; several items at once
//	Cancel                removes a delayed item
//	Drain                 ShutDownWithDrain that ends with a context
//
// [github.com/kubewright/kubewright/runtime/queue.New] makes a queue with priorities, with flows that
// take turns, or without the second run of an item that is added while it is delayed. It can be used
// wherever queues of this package can, and Metrics connects it with the provider of SetProvider:
//
//	q := queue.New(queue.Config[string]{Flow: tenantOf, Metrics: workqueue.NewMetrics(nil, "name")})
package workqueue
