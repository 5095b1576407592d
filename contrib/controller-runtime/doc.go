// Package kwctrl runs controller-runtime on the runtime of kubewright. New gives the caches of a manager
// informers that read lists and watches as streams:
//
//	ctrl.NewManager(config, ctrl.Options{NewCache: kwctrl.NewCaches(kwctrl.Options{}).NewCache})
//
// NewQueue gives a controller a priority queue:
//
//	controller.Options{NewQueue: kwctrl.NewQueue[reconcile.Request]}
//
// Package kwsharding divides the objects of a controller among its replicas, see docs/sharding.md.
//
// It is a module of its own, so that only its users depend on controller-runtime.
package kwctrl
