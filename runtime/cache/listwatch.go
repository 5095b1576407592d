package cache

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/tools/cache"
)

// NewListWatchFromClient returns a lister-watcher of the objects of resource in namespace that
// fieldSelector selects.
func NewListWatchFromClient(
	c Getter, resource string, namespace string, fieldSelector fields.Selector,
) *ListWatch {
	return cache.NewListWatchFromClient(c, resource, namespace, fieldSelector)
}

// NewFilteredListWatchFromClient returns a lister-watcher of the objects of resource in namespace.
// optionsModifier may change the options of each request.
func NewFilteredListWatchFromClient(
	c Getter, resource string, namespace string, optionsModifier func(options *metav1.ListOptions),
) *ListWatch {
	return cache.NewFilteredListWatchFromClient(c, resource, namespace, optionsModifier)
}

// ToListerWithContext returns l itself if it takes contexts, otherwise a lister that ignores them.
func ToListerWithContext(l Lister) ListerWithContext { return cache.ToListerWithContext(l) }

// ToWatcherWithContext returns w itself if it takes contexts, otherwise a watcher that ignores them.
func ToWatcherWithContext(w Watcher) WatcherWithContext { return cache.ToWatcherWithContext(w) }

// ToListerWatcherWithContext returns lw itself if it takes contexts, otherwise a lister-watcher that ignores
// them.
func ToListerWatcherWithContext(lw ListerWatcher) ListerWatcherWithContext {
	return cache.ToListerWatcherWithContext(lw)
}

// ToListWatcherWithWatchListSemantics returns lw as a lister-watcher from which informers don't stream
// lists if client, usually a fake, reports that it can't.
func ToListWatcherWithWatchListSemantics(lw *ListWatch, client any) ListerWatcher {
	return cache.ToListWatcherWithWatchListSemantics(lw, client)
}
