package reflector

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/klog/v2"
)

// disorderError is a version of the server that isn't later than the one before. A server that keeps its
// contract sends none.
type disorderError struct{ what, version, before string }

func (e *disorderError) Error() string {
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

// tellDisorder logs that the server went back, and notes it in the health. Nothing else follows from it: the
// next list puts right what came of it.
func (r *Reflector) tellDisorder(ctx context.Context, what, version, before string) {
	err := &disorderError{what, version, before}
	klog.FromContext(ctx).Info(
		"Warning: the server broke its contract; the cache may be wrong until the next list", "err", err)
	r.health.noticed(err)
}
