//go:build tools

// Package dropin shows that generated code of ours takes the place of
// upstream's: see dropin_test.go.
package dropin

// What the scratch module of the test needs: its go.mod is made of this one's.
import (
	_ "k8s.io/client-go/applyconfigurations"
	_ "k8s.io/client-go/kubernetes"

	_ "github.com/kubewright/kubewright/examples/controller/bakery"
)
