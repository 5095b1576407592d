//go:build tools

package crds

// What the test's scratch module requires: its go.mod is derived from this module's.
import (
	_ "k8s.io/api/core/v1"
	_ "k8s.io/apimachinery/pkg/apis/meta/v1"
	_ "k8s.io/client-go/discovery"
	_ "k8s.io/client-go/rest"
	_ "sigs.k8s.io/json"

	_ "github.com/kubewright/kubewright/cmd/deepcopy-gen"
	_ "github.com/kubewright/kubewright/cmd/kubewright"
	_ "github.com/kubewright/kubewright/runtime/gen/client"
)
