package informer

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/listwatch"
)

// ErrWritesNotTracked is returned for an informer whose client doesn't remember what
// was written through it: one that isn't generated, or is hidden by a wrapper.
var ErrWritesNotTracked = errors.New("the informer's client doesn't remember what it wrote")

// WaitForOwnWrites waits until what i caches shows all that was written, by the time of the
// call, through the clientset that i was made with: a read then sees these
// writes, or what has become of the objects since. Nothing written is nothing to
// wait for, and it is no wait for sync: an informer that wasn't started shows
// nothing, and if nothing was written, that is no error. Writes of others, or
// through another clientset, are not waited for, and neither are those through
// another version of the API group.
//
// It waits for the highest resourceVersion that a create, update, patch or apply
// was answered with, see [WaitForVersion] for how that is compared and how it
// ends. A deletion is mostly answered without a version: there it waits until the
// cache no longer has the object, which it knows by its UID; one whose UID a
// transform has removed counts as gone, and so does one that somebody else has
// created and the cache hasn't heard of yet. Deletions of collections are not
// waited for. If the informer selects objects by label or field, or its transform fails
// for what was written, nothing tells it of the write, and the wait lasts until
// the next event or bookmark that does come.
//
// The error is [ErrWritesNotTracked] if the client remembers nothing. A generated fake
// clientset, whose objects have no versions but those that a test gives them,
// has nothing to wait for.
func WaitForOwnWrites(ctx context.Context, i cache.SharedIndexInformer) error {
	if isNil(i) {
		return fmt.Errorf("wait for what was written to %T: %w", i, errNil)
	}
	waiter, ok := i.GetIndexer().(interface {
		WaitForOwnWrites(ctx context.Context, namespace string) error
	})
	if !ok {
		return fmt.Errorf("wait for what was written to %T: %w", i, ErrUnsupportedInformer)
	}
	return waiter.WaitForOwnWrites(ctx, "")
}

// WaitForOwnWrites is the function WaitForOwnWrites for what was written in a
// namespace, "" for all.
func (i *informer[K]) WaitForOwnWrites(ctx context.Context, namespace string) error {
	writing, ok := i.config.source.(listwatch.Writing)
	if !ok {
		return ErrWritesNotTracked
	}
	written, ok := writing.Written(namespace, i.deletionsSeen.Load())
	if !ok {
		return ErrWritesNotTracked
	}
	if err := i.WaitForVersion(ctx, written.ResourceVersion); err != nil {
		return err
	}
	return i.waitForDeletions(ctx, namespace, written.Deletions)
}

// waitForDeletions waits until the store shows those of the namespace. What is
// over is not asked for again: they are in their order, so that is all up to the
// first that isn't.
func (i *informer[K]) waitForDeletions(ctx context.Context, namespace string, deletions []listwatch.Deletion) error {
	for len(deletions) > 0 && i.isOver(deletions[0]) {
		i.deletionsSeen.Store(deletions[0].Sequence)
		deletions = deletions[1:]
	}
	deletions = slices.DeleteFunc(deletions, func(d listwatch.Deletion) bool {
		return namespace != "" && d.Namespace != namespace
	})
	if len(deletions) == 0 {
		return nil
	}
	return i.waitUntil(ctx, func() (bool, error) {
		for len(deletions) > 0 && i.isOver(deletions[0]) {
			deletions = deletions[1:]
		}
		return len(deletions) == 0, nil
	})
}

// isOver says whether the store shows a deletion, which once it does it always
// will.
func (i *informer[K]) isOver(d listwatch.Deletion) bool {
	if !i.HasSynced() {
		return false
	}
	if d.After != "" {
		// Where versions are opaque, WaitFor has said so.
		if known, err := reached(i.store.ResourceVersion(), d.After); err == nil && !known {
			return false
		}
	}
	key, err := i.config.keys.Parse(cache.NewObjectName(d.Namespace, d.Name).String())
	if err != nil {
		return true // No object has such a key.
	}
	obj, ok := i.store.Get(key)
	if !ok {
		return true
	}
	m, err := meta.Accessor(obj)
	return err != nil || m.GetUID() != d.UID
}
