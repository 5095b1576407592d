package lister

import (
	"context"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/cache"
)

// WaitForVersion waits until the cache behind l reflects resourceVersion or a later one. A caller that waits
// for the version that its write returned then reads its write. If ctx ends first, it returns the cause. It
// returns an error if the informer behind the lister stops, if there is no informer of this module behind it,
// or if versions are opaque.
func WaitForVersion[T any](ctx context.Context, l interface {
	List(labels.Selector) ([]T, error)
}, resourceVersion string) error {
	indexer, _ := behind(l)
	informed, ok := indexer.(interface {
		WaitForVersion(ctx context.Context, resourceVersion string) error
	})
	if !ok {
		return notOurs("wait for a version", l)
	}
	return informed.WaitForVersion(ctx, resourceVersion)
}

// WaitForOwnWrites waits until the cache behind l reflects all writes that were made, by the time of the
// call, through the generated clientset that the informer behind l was made with. For a lister of one
// namespace, only writes in that namespace count. It returns at once if nothing was written or everything has
// arrived:
//
//	if err := lister.WaitForOwnWrites(ctx, bakeryLister); err != nil {
//		return err
//	}
//	bakeries, err := bakeryLister.Bakeries(namespace).List(selector) // sees our own writes
//
// Only listers that kubewright generated can wait: that of client-go's Pods can't.
//
// It doesn't wait for the informer's sync: before the sync, objects that others have written are missing.
//
// See informer.WaitForOwnWrites for which writes count, for deletions, and for clients that
// don't record their writes.
func WaitForOwnWrites[T any](ctx context.Context, l interface {
	List(labels.Selector) ([]T, error)
}) error {
	indexer, namespace := behind(l)
	informed, ok := indexer.(interface {
		WaitForOwnWrites(ctx context.Context, namespace string) error
	})
	if !ok {
		return notOurs("wait for own writes", l)
	}
	return informed.WaitForOwnWrites(ctx, namespace)
}

// behind returns the indexer that a lister of this module reads and the namespace that it is limited to. The
// indexer is nil for other listers.
func behind(l any) (indexer cache.Indexer, namespace string) {
	if ours, ok := l.(interface {
		Behind() (cache.Indexer, string)
	}); ok {
		return ours.Behind()
	}
	return nil, ""
}
