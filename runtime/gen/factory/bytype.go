package factory

import (
	"context"
	"fmt"
	"reflect"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
)

// byType is a [Factory] without the type of its clientset: a set of informers by Go type, and
// their common settings.
type byType struct {
	Set[reflect.Type]
	defaultResync time.Duration
	customResync  map[reflect.Type]time.Duration
	transform     cache.TransformFunc
	informerName  *cache.InformerName
	// collections are the collections that [For] was called with. The set's mu guards them.
	collections map[reflect.Type]collection
}

// informer returns the informer of a type. The first call makes it by newFunc, with its resync
// period.
func (b *byType) informer(
	t reflect.Type, newFunc func(resync time.Duration) cache.SharedIndexInformer,
) cache.SharedIndexInformer {
	var refused error
	informer := b.Get(t, func() cache.SharedIndexInformer {
		period, ok := b.customResync[t]
		if !ok {
			period = b.defaultResync
		}
		informer := newFunc(period)
		if b.transform != nil {
			// Fails only if newFunc returned an informer that was started.
			refused = informer.SetTransform(b.transform)
		}
		return informer
	})
	if refused != nil {
		utilruntime.HandleErrorWithContext(context.Background(), refused,
			"The factory's transform was not applied to an informer", "type", t)
	}
	return informer
}

// claim records the collection that [For] was called with for a type. It returns an error if
// another collection was recorded before: a factory has one informer for each type.
func (b *byType) claim(t reflect.Type, asked collection) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if claimed, ok := b.collections[t]; ok && claimed != asked {
		return fmt.Errorf("the factory has an informer of %s for %s: use another factory for %s", t, claimed, asked)
	}
	if b.collections == nil {
		b.collections = map[reflect.Type]collection{}
	}
	b.collections[t] = asked
	return nil
}
