// Package metrics has what all that publishes client-go's informer metrics shares:
// the provider of the process, and how a resourceVersion becomes a gauge.
package metrics

import (
	"strconv"
	"sync/atomic"

	"k8s.io/client-go/tools/cache"
)

// provider is the one of what isn't given one.
var provider atomic.Pointer[cache.InformerMetricsProvider]

// SetProvider sets the provider of the process. Only the first call has an effect,
// as with client-go's function for client-go's informers.
func SetProvider(p cache.InformerMetricsProvider) { provider.CompareAndSwap(nil, &p) }

// ProviderFor returns the provider for something with that identity: the given
// one, else the process's. It returns nil if there is neither, or if the identity
// is not reserved: two that have the same one must not write the same metrics.
func ProviderFor(id cache.InformerNameAndResource, given cache.InformerMetricsProvider) cache.InformerMetricsProvider {
	switch {
	case !id.Reserved():
		return nil
	case given != nil:
		return given
	}
	if set := provider.Load(); set != nil {
		return *set
	}
	return nil
}

// versionDigits is how many digits of a version a gauge, which is a float, takes
// without losing any.
const versionDigits = 15

// SetVersion sets a gauge to the last 15 digits of a resourceVersion, and to zero
// for the empty one. It leaves out one that is no number.
func SetVersion(gauge cache.GaugeMetric, resourceVersion string) {
	var number int64
	if resourceVersion != "" {
		var err error
		if number, err = strconv.ParseInt(resourceVersion[max(0, len(resourceVersion)-versionDigits):], 10, 64); err != nil {
			return
		}
	}
	gauge.Set(float64(number))
}
