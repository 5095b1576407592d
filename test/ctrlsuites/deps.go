//go:build deps

package main

// The imports of the copy of controller-runtime and its tests: the copy has the requirements of this module.
import (
	_ "github.com/google/go-cmp/cmp/cmpopts"
	_ "github.com/google/gofuzz"
	_ "github.com/onsi/ginkgo/v2"
	_ "github.com/onsi/gomega"
	_ "github.com/onsi/gomega/gbytes"
	_ "github.com/onsi/gomega/gstruct"
	_ "go.uber.org/goleak"
	_ "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	_ "sigs.k8s.io/controller-runtime"
	_ "sigs.k8s.io/controller-runtime/pkg/envtest"
	_ "sigs.k8s.io/controller-runtime/pkg/log/zap"
	_ "sigs.k8s.io/controller-runtime/pkg/webhook/conversion"

	_ "github.com/kubewright/kubewright/contrib/controller-runtime"
)
