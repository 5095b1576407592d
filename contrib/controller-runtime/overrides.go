package kwctrl

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"

	"github.com/kubewright/kubewright/runtime/informer"
)

// overrides logs the overrides that no informer was made for.
type overrides struct {
	mu        sync.Mutex
	unmatched map[schema.GroupResource]bool
}

// overridesGrace is the time after the first start of an informer by which controllers have requested theirs.
const overridesGrace = time.Minute

// resourcesOf returns the resources of overrides.
func resourcesOf(all map[schema.GroupResource]informer.Options) map[schema.GroupResource]bool {
	resources := map[schema.GroupResource]bool{}
	for resource := range all {
		resources[resource] = true
	}
	return resources
}

// match notes that an informer of the resource was made.
func (o *overrides) match(resource schema.GroupResource) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.unmatched, resource)
}

// logLater logs later, once, what is unmatched by then, unless cancel is called before. Each informer calls
// it when it starts.
func (o *overrides) logLater(ctx context.Context) (cancel func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.unmatched) == 0 {
		return func() {}
	}
	timer := time.AfterFunc(overridesGrace, func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		for resource := range o.unmatched {
			klog.FromContext(ctx).Info("An override of the options of kwctrl has matched no informer so far",
				"resource", resource)
		}
		clear(o.unmatched)
	})
	return func() { timer.Stop() }
}
