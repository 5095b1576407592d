// Package workqueue is k8s.io/client-go/util/workqueue on the queue of package
// [github.com/kubewright/kubewright/runtime/queue]: a program written for the
// one compiles and runs with the other when the import path is changed. The
// interfaces are client-go's own, so that queues of both kinds go wherever
// either is wanted.
package workqueue
