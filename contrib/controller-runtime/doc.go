// Package kwctrl puts controller-runtime on the runtime of kubewright. NewQueue gives a controller a
// priority queue:
//
//	controller.Options{NewQueue: kwctrl.NewQueue[reconcile.Request]}
//
// It is a module of its own, so that only its users depend on controller-runtime.
package kwctrl
