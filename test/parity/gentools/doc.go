//go:build tools

// Package gentools measures our generators and the code that they generate beside upstream's: see
// bench_test.go and make bench.
package gentools

// What the benchmarks' scratch module requires: its go.mod is derived from this module's.
import (
	_ "k8s.io/api/core/v1"
	_ "k8s.io/client-go/kubernetes"

	_ "github.com/kubewright/kubewright/examples/apis/shop/v1beta1"
	_ "github.com/kubewright/kubewright/examples/controller/bakery"
)
