//go:build deps

// Package clients shows that our generated code can replace upstream's: see clients_test.go.
package clients

// What the test's scratch module requires: its go.mod is derived from this module's.
import (
	_ "k8s.io/client-go/applyconfigurations"
	_ "k8s.io/client-go/kubernetes"

	_ "github.com/kubewright/kubewright/examples/controller/bakery"
)
