// Package kwctrl runs controller-runtime on the runtime of kubewright. NewCaches makes caches whose
// informers read lists and watches as streams:
//
//	ctrl.NewManager(config, ctrl.Options{NewCache: kwctrl.NewCaches(kwctrl.Options{}).NewCache})
//
// NewQueue gives a controller a priority queue:
//
//	controller.Options{NewQueue: kwctrl.NewQueue[reconcile.Request]}
//
// OwnWrites makes the requests of a controller wait until the caches show what was written for them.
//
// Package kwsharding divides the objects of a controller among its replicas, see docs/sharding.md.
//
// Both packages are in a module of their own, so that only their users depend on controller-runtime.
package kwctrl
