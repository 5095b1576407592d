package reflector

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/klog/v2"
)

// outOfOrderError is the error for a version from the server that isn't later than the one before, against
// the server's contract.
type outOfOrderError struct{ what, version, before string }

func (e *outOfOrderError) Error() string {
	if e.version == e.before {
		return fmt.Sprintf("the server sent two %ss of version %s", e.what, e.version)
	}
	return fmt.Sprintf("the server sent %s %s after version %s", e.what, e.version, e.before)
}

// compareVersions returns the order of two versions, and 1 if they have none: one is missing, "0" or opaque.
func compareVersions(version, before string) int {
	if version == "" || before == "" || before == "0" {
		return 1
	}
	order, err := resourceversion.CompareResourceVersion(version, before)
	if err != nil {
		return 1
	}
	return order
}

// reportOutOfOrder logs that the server's versions went back, and records it in the health. It does nothing
// else: the next list corrects the cache.
func (r *Reflector) reportOutOfOrder(ctx context.Context, what, version, before string) {
	err := &outOfOrderError{what, version, before}
	klog.FromContext(ctx).Info(
		"Warning: the server broke its contract; the cache may be wrong until the next list", "err", err)
	r.health.noticed(err)
}
