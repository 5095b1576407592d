// Package deps holds the module's requirements in place while the packages that need them are being written.
package deps

import (
	_ "github.com/spf13/cobra"
	_ "github.com/spf13/pflag"
	_ "go.uber.org/goleak"
	_ "golang.org/x/time/rate"
	_ "golang.org/x/tools/go/packages"
	_ "golang.org/x/tools/imports"
	_ "golang.org/x/tools/txtar"
	_ "k8s.io/api/core/v1"
	_ "k8s.io/apimachinery/pkg/util/managedfields"
	_ "k8s.io/client-go/discovery/fake"
	_ "k8s.io/client-go/dynamic"
	_ "k8s.io/client-go/kubernetes/fake"
	_ "k8s.io/client-go/tools/clientcmd"
	_ "k8s.io/client-go/tools/leaderelection"
	_ "k8s.io/client-go/tools/record"
	_ "k8s.io/client-go/util/workqueue"
	_ "k8s.io/gengo/v2/codetags"
	_ "k8s.io/gengo/v2/namer"
	_ "k8s.io/klog/v2"
	_ "k8s.io/utils/clock/testing"
	_ "k8s.io/utils/ptr"
)
