//go:build deps

package facades

// What the upstream programs and tests that are compiled here import.
import (
	_ "github.com/google/go-cmp/cmp"
	_ "k8s.io/api/core/v1"
	_ "k8s.io/apimachinery/pkg/util/wait"
	_ "k8s.io/client-go/kubernetes"
	_ "k8s.io/client-go/tools/clientcmd"
	_ "k8s.io/klog/v2"
	_ "k8s.io/utils/clock/testing"

	_ "github.com/kubewright/kubewright/runtime/workqueue"
)
