package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/gen/client"
	"github.com/kubewright/kubewright/runtime/informer"
)

// WaitForVersion is [informer.WaitForVersion].
func (i *engine[K]) WaitForVersion(ctx context.Context, resourceVersion string) error {
	return i.waitForVersion(ctx, resourceVersion, func() error { return nil })
}

// waitForVersion is WaitForVersion, but also ends with the error of valid.
func (i *engine[K]) waitForVersion(ctx context.Context, resourceVersion string, valid func() error) error {
	if resourceVersion == "" {
		return nil
	}
	if _, err := resourceversion.CompareResourceVersion(resourceVersion, resourceVersion); err != nil {
		return fmt.Errorf("wait for version %q: %w", resourceVersion, err)
	}
	return i.waitUntil(ctx, func() (bool, error) {
		if err := valid(); err != nil || i.showsNothing() {
			return true, err
		}
		met, err := isAtLeast(i.store.ResourceVersion(), resourceVersion)
		if err != nil {
			return false, fmt.Errorf("wait for version %q: %w", resourceVersion, err)
		}
		return met, nil
	})
}

// showsNothing reports whether the informer has a selection of no objects, or its kind is absent.
func (i *engine[K]) showsNothing() bool {
	o := i.optional.Load()
	return i.selection != nil && i.selection.IsEmpty() || o != nil && o.isEmptied()
}

// isAtLeast reports whether a store at version at, "" if it has none, shows version wanted.
func isAtLeast(at, wanted string) (bool, error) {
	if at == "" {
		return false, nil
	}
	order, err := resourceversion.CompareResourceVersion(at, wanted)
	return order >= 0, err
}

// waitUntil waits until met returns true or an error. met is called after each step of
// the writer, on its goroutine, and must be quick.
func (i *engine[K]) waitUntil(ctx context.Context, met func() (bool, error)) error {
	if ok, err := met(); ok || err != nil {
		return err
	}
	w := i.waiters.add(met)
	defer i.waiters.remove(w)
	// The store may have changed between met and add.
	i.waiters.release()
	select {
	case <-w.done:
		return w.err
	default:
	}
	select {
	case <-w.done:
		return w.err
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-i.ended:
		return informer.ErrStopped
	}
}

// waiters is the list of waits for a state of the store.
type waiters struct {
	// count is the length of list. While it is zero, the writer doesn't take the lock.
	count atomic.Int32
	mu    sync.Mutex
	list  []*waiter
}

type waiter struct {
	met func() (bool, error)
	// done is closed once met has returned true or an error, which is in err.
	done chan struct{}
	err  error
}

func (ws *waiters) add(met func() (bool, error)) *waiter {
	w := &waiter{met: met, done: make(chan struct{})}
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.list = append(ws.list, w)
	ws.count.Add(1)
	return w
}

func (ws *waiters) remove(w *waiter) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if at := slices.Index(ws.list, w); at >= 0 {
		ws.list = slices.Delete(ws.list, at, at+1)
		ws.count.Add(-1)
	}
}

// release ends the waits whose condition is met.
func (ws *waiters) release() {
	if ws.count.Load() == 0 {
		return
	}
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.list = slices.DeleteFunc(ws.list, func(w *waiter) bool {
		met, err := w.met()
		if !met && err == nil {
			return false
		}
		w.err = err
		close(w.done)
		return true
	})
	ws.count.Store(int32(len(ws.list)))
}

// broadcast announces repeated events to any number of goroutines. The zero value is
// ready.
type broadcast struct {
	mu sync.Mutex
	ch chan struct{}
}

// next returns a channel that is closed by the next call of announce.
func (b *broadcast) next() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ch == nil {
		b.ch = make(chan struct{})
	}
	return b.ch
}

func (b *broadcast) announce() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ch != nil {
		close(b.ch)
		b.ch = nil
	}
}

// WaitForOwnWrites is [informer.WaitForOwnWrites] for writes in a namespace, "" for all.
func (i *engine[K]) WaitForOwnWrites(ctx context.Context, namespace string) error {
	for {
		written, valid, err := i.ownWrites(namespace)
		if err == nil {
			err = i.waitForVersion(ctx, written.ResourceVersion, valid)
		}
		if err == nil {
			err = i.waitForDeletions(ctx, namespace, written.Deletions, valid)
		}
		if !errors.Is(err, errRestored) {
			return err
		}
	}
}

// waitForDeletions waits until the store shows the deletions in a namespace, or valid returns an error.
// deletions are in order of their sequence numbers. Those before the first that the store doesn't show are
// recorded in deletionsSeen, so that the next call doesn't check them again.
func (i *engine[K]) waitForDeletions(
	ctx context.Context, namespace string, deletions []client.Deletion, valid func() error,
) error {
	for len(deletions) > 0 && i.shows(deletions[0]) {
		i.deletionsSeen.Store(deletions[0].Sequence)
		deletions = deletions[1:]
	}
	deletions = slices.DeleteFunc(deletions, func(d client.Deletion) bool {
		return namespace != "" && d.Namespace != namespace
	})
	if len(deletions) == 0 {
		return nil
	}
	return i.waitUntil(ctx, func() (bool, error) {
		if err := valid(); err != nil || i.showsNothing() {
			return true, err
		}
		for len(deletions) > 0 && i.shows(deletions[0]) {
			deletions = deletions[1:]
		}
		return len(deletions) == 0, nil
	})
}

// shows reports whether the store shows a deletion. Once true, it stays true.
func (i *engine[K]) shows(d client.Deletion) bool {
	if !i.HasSynced() {
		return false
	}
	if d.ResourceVersion != "" {
		if known, err := isAtLeast(i.store.ResourceVersion(), d.ResourceVersion); err == nil && known {
			return true
		}
	}
	if d.After != "" {
		// If versions are opaque, WaitForVersion has returned an error.
		if known, err := isAtLeast(i.store.ResourceVersion(), d.After); err == nil && !known {
			return false
		}
	}
	obj, found := i.find(cache.NewObjectName(d.Namespace, d.Name).String())
	return !found || d.UID != "" && uidOf(obj) != d.UID
}
