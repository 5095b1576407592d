package lister

import (
	"context"
	"fmt"

	"k8s.io/client-go/tools/cache"
)

// WaitForVersion waits until the cache that l reads, a generated lister or one of this package, reflects a
// resourceVersion or a later one: a caller that waits for the version that its write returned then reads what
// it wrote. It returns ctx's error, or an error if the informer behind the lister stopped, if there is none
// of this runtime, or if versions are opaque.
func WaitForVersion(ctx context.Context, l any, resourceVersion string) error {
	indexer, _ := behind(l)
	informed, ok := indexer.(interface {
		WaitForVersion(ctx context.Context, resourceVersion string) error
	})
	if !ok {
		return fmt.Errorf("wait for a version: no informer of ours is behind %T", l)
	}
	return informed.WaitForVersion(ctx, resourceVersion)
}

// WaitForOwnWrites waits until the cache that l reads, a generated lister or one of this package, reflects
// everything that was written, by the time of the call, through the generated clientset that the informer
// behind l was made with. For a lister of one namespace, that is what was written there. It doesn't wait
// longer than needed, and not at all if nothing was written or everything has arrived:
//
//	if err := lister.WaitForOwnWrites(ctx, podLister); err != nil {
//		return err
//	}
//	pods, err := podLister.Pods(namespace).List(selector) // sees our own writes
//
// It doesn't wait for the informer's sync: before the sync, what others have written is missing.
//
// See informer.WaitForOwnWrites for what counts as written, for deletions, and for clients
// that don't remember what they wrote.
func WaitForOwnWrites(ctx context.Context, l any) error {
	indexer, namespace := behind(l)
	informed, ok := indexer.(interface {
		WaitForOwnWrites(ctx context.Context, namespace string) error
	})
	if !ok {
		return fmt.Errorf("wait for what was written: no informer of ours is behind %T", l)
	}
	return informed.WaitForOwnWrites(ctx, namespace)
}

// behind returns what a lister of this runtime reads from, nil for another, and the
// namespace that it is limited to.
func behind(l any) (indexer cache.Indexer, namespace string) {
	if ours, ok := l.(interface{ behind() reader }); ok {
		if s, ok := ours.behind().of.(*source); ok {
			return s.indexer, ours.behind().namespace
		}
	}
	return nil, ""
}
