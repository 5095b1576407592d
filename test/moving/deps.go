//go:build deps

package main

// What the programs import, which are compiled in a module that requires what this
// one does.
import (
	_ "k8s.io/klog/v2"
	_ "sigs.k8s.io/controller-runtime"
	_ "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	_ "github.com/kubewright/kubewright/runtime/cache"
	_ "github.com/kubewright/kubewright/runtime/workqueue"
)
