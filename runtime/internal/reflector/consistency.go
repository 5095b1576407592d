package reflector

import (
	"context"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/consistencydetector"

	"github.com/kubewright/kubewright/runtime/internal/sources"
)

// inspected keeps copies of the objects that are staged for a watch-list, for
// client-go's detector of inconsistencies: with KUBE_WATCHLIST_INCONSISTENCY_DETECTOR
// in the environment of the process, every watch-list is compared with an ordinary
// list of the same version, and a difference panics. It is for tests of servers.
type inspected struct {
	Staging
	items map[cache.ObjectName]metav1.Object
}

// inspect wraps staging while the detector is on.
func inspect(staging Staging) *inspected {
	return &inspected{Staging: staging, items: map[cache.ObjectName]metav1.Object{}}
}

func (s *inspected) Add(obj any, resourceVersion string) error {
	s.keep(obj)
	return s.Staging.Add(obj, resourceVersion)
}

func (s *inspected) Update(obj any, resourceVersion string) error {
	s.keep(obj)
	return s.Staging.Update(obj, resourceVersion)
}

// keep copies an object, which the sink may change.
func (s *inspected) keep(obj any) {
	if object, ok := obj.(runtime.Object); ok {
		if copied, ok := object.DeepCopyObject().(metav1.Object); ok {
			s.items[cache.MetaObjectToName(copied)] = copied
		}
	}
}

func (s *inspected) Remove(obj any) error {
	if object, ok := obj.(metav1.Object); ok {
		delete(s.items, cache.MetaObjectToName(object))
	}
	return s.Staging.Remove(obj)
}

// check lists the objects again, and panics if they differ from the staged ones. A
// list that fails is tried again until ctx is done.
func (s *inspected) check(ctx context.Context, name, version string, source sources.Source) {
	list := func(ctx context.Context, opts metav1.ListOptions) (*metav1.List, error) {
		var items collected
		_, err := source.List(ctx, opts, &items)
		return &items.List, err
	}
	consistencydetector.CheckDataConsistency(ctx, name, version, list, nil, metav1.ListOptions{},
		func() []metav1.Object { return slices.Collect(maps.Values(s.items)) })
}

// collected receives a list.
type collected struct{ metav1.List }

func (l *collected) Add(obj any) error {
	if object, ok := obj.(runtime.Object); ok {
		l.Items = append(l.Items, runtime.RawExtension{Object: object})
	}
	return nil
}

func (l *collected) Restart() error {
	l.Items = nil
	return nil
}
