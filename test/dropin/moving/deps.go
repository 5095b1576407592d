//go:build deps

package main

// The imports of the programs, which are compiled in a module with the requirements of this one.
import (
	_ "k8s.io/klog/v2"
	_ "sigs.k8s.io/controller-runtime"
	_ "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	_ "github.com/kubewright/kubewright/contrib/controller-runtime"
	_ "github.com/kubewright/kubewright/informers"
	_ "github.com/kubewright/kubewright/informers/dynamicinformer"
	_ "github.com/kubewright/kubewright/runtime/cache"
	_ "github.com/kubewright/kubewright/runtime/workqueue"
)
