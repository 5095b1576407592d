package informer

import (
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/internal/metrics"
)

// SetMetricsProvider sets the provider for informers that start after the call and have
// none of their own. Only the first call has an effect. client-go's function of this name
// sets a provider for client-go's informers only, which this package can't read.
// SetMetricsProvider is safe for concurrent use.
func SetMetricsProvider(provider cache.InformerMetricsProvider) { metrics.SetProvider(provider) }
