// Package metrics is shared by the code that publishes client-go's informer metrics. It has
// the provider of the process, and the conversion of a resourceVersion to a gauge.
package metrics

import (
	"cmp"
	"strconv"
	"sync/atomic"

	"k8s.io/client-go/tools/cache"
)

// provider is the provider of the process.
var provider atomic.Pointer[cache.InformerMetricsProvider]

// SetProvider sets the provider of the process. Only the first call has an effect,
// as with client-go's function for client-go's informers.
func SetProvider(p cache.InformerMetricsProvider) { provider.CompareAndSwap(nil, &p) }

// ProviderFor returns the provider for the metrics of an identity: the given one, or else
// that of the process. It returns nil if there is none, or if the identity isn't reserved,
// because two informers must not write the same metrics.
func ProviderFor(
	id cache.InformerNameAndResource, given cache.InformerMetricsProvider,
) cache.InformerMetricsProvider {
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

// versionDigits is how many digits of a version a float64 represents exactly.
const versionDigits = 15

// SetVersion sets a gauge to the last 15 digits of a resourceVersion, or to zero for "". It
// does nothing if they aren't a number.
func SetVersion(gauge cache.GaugeMetric, resourceVersion string) {
	last := resourceVersion[max(0, len(resourceVersion)-versionDigits):]
	if number, err := strconv.ParseInt(cmp.Or(last, "0"), 10, 64); err == nil {
		gauge.Set(float64(number))
	}
}
