//go:build deps

package facades

// The imports of the upstream programs and tests that are compiled here.
import (
	_ "github.com/google/go-cmp/cmp"
	_ "github.com/google/go-cmp/cmp/cmpopts"
	_ "github.com/stretchr/testify/assert"
	_ "github.com/stretchr/testify/require"
	_ "go.uber.org/goleak"
	_ "k8s.io/api/core/v1"
	_ "k8s.io/apimachinery/pkg/util/wait"
	_ "k8s.io/client-go/features/testing"
	_ "k8s.io/client-go/kubernetes/fake"
	_ "k8s.io/client-go/tools/cache/testing"
	_ "k8s.io/client-go/tools/clientcmd"
	_ "k8s.io/klog/v2/ktesting"
	_ "k8s.io/klog/v2/textlogger"
	_ "k8s.io/utils/clock/testing"
	_ "k8s.io/utils/dump"
	_ "sigs.k8s.io/randfill"

	_ "github.com/kubewright/kubewright/runtime/cache"
	_ "github.com/kubewright/kubewright/runtime/workqueue"
)
