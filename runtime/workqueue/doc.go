// Package workqueue is k8s.io/client-go/util/workqueue on the queue of package
// [github.com/kubewright/kubewright/runtime/queue]: a program written for the
// one compiles and runs with the other when the import path is changed. The
// interfaces are client-go's own, so that queues of both kinds go wherever
// either is wanted.
//
// What client-go's package doesn't have are functions that take such a queue:
//
//	Run                   the loop of workers that every controller needs
//	GetContext, GetBatch  Get that ends with a context; many items at once
//	Cancel                takes back a delayed item
//	Drain                 ShutDownWithDrain that ends with a context
//
// A queue with priorities, fair shares, or one run for an item that is added while
// it is delayed, is made by [github.com/kubewright/kubewright/runtime/queue.New], and is an interface of this package all
// the same; Metrics makes it known to the provider of this package:
//
//	q := queue.New(queue.Config[string]{Share: tenantOf, Metrics: workqueue.Metrics(nil, "name")})
package workqueue
