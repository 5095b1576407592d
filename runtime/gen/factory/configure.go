package factory

import (
	"context"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/kubewright/kubewright/runtime/informer"
)

// configuration is how a set configures its informers.
type configuration struct {
	options informer.Options
	// unmatched are the resources of overrides of which no informer was made.
	unmatched map[schema.GroupResource]bool
}

// Configure is a method of [Owner].
func (s *Set[K]) Configure(options informer.Options) error {
	if err := options.Validate(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.informers {
		return fmt.Errorf("%w: the %s has been made already, configure the factory before the first informer",
			informer.ErrTooLate, nameOf(e.informer))
	}
	s.configuration = &configuration{options, map[schema.GroupResource]bool{}}
	for resource := range options.Overrides {
		s.configuration.unmatched[resource] = true
	}
	return nil
}

// setUps returns what is to be called with a new informer. The caller holds the set's mu.
func (c *configuration) setUps(i cache.SharedIndexInformer) []func(cache.SharedIndexInformer) error {
	status, _ := informer.StatusOf(i)
	resource := status.Resource.GroupResource() // Empty if it isn't known, which no override is for.
	options := c.options.For(resource)
	delete(c.unmatched, resource)
	onCreate := options.OnCreate
	options.OnCreate = nil
	var setUps []func(cache.SharedIndexInformer) error
	if !reflect.ValueOf(options).IsZero() { // Informers of other makes are refused only if they lack something.
		setUps = append(setUps, func(i cache.SharedIndexInformer) error { return informer.Configure(i, options) })
	}
	if onCreate != nil {
		setUps = append(setUps, onCreate)
	}
	return setUps
}

// logUnmatched logs overrides that have matched no informer, once. The caller holds the set's mu.
func (c *configuration) logUnmatched(ctx context.Context) {
	for resource := range c.unmatched {
		klog.FromContext(ctx).Info("An override of the factory's options has matched no informer so far",
			"resource", resource)
	}
	c.unmatched = nil
}
