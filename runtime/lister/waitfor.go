package lister

import (
	"context"
	"fmt"

	"k8s.io/client-go/tools/cache"
)

// WaitFor waits until what l, a lister that was generated or one of this package,
// reads shows a resourceVersion or a later one: who has written an object and
// waits for the version that the write returned then reads what it wrote. It
// fails with ctx, if the informer behind the lister stops, if there is none of
// ours, or if versions are opaque.
func WaitFor(ctx context.Context, l any, resourceVersion string) error {
	if backed, ok := l.(interface{ backing() cache.Indexer }); ok {
		if informed, ok := backed.backing().(interface {
			WaitFor(ctx context.Context, resourceVersion string) error
		}); ok {
			return informed.WaitFor(ctx, resourceVersion)
		}
	}
	return fmt.Errorf("wait for a version: no informer of ours is behind %T", l)
}

func (l ResourceIndexer[T]) backing() cache.Indexer { return l.indexer }
