//go:build tools

// Package dropin shows that our generated code can replace upstream's: see dropin_test.go.
package dropin

// What the test's scratch module requires: its go.mod is derived from this module's.
import (
	_ "k8s.io/client-go/applyconfigurations"
	_ "k8s.io/client-go/kubernetes"

	_ "github.com/kubewright/kubewright/examples/controller/bakery"
)
