package informer

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/internal/shell"
)

// WaitForVersion waits until what i caches shows the collection as it was at
// resourceVersion or later: then a read sees the write that returned this
// version, or what has become of it since. It returns ctx's error if that comes
// first, and [ErrStopped] if the informer stops. Handlers may not have been told
// yet.
//
// An empty version is nothing to wait for. Versions are compared as
// [resourceversion.CompareResourceVersion] does; where they are opaque, that is
// an error.
//
// The cache learns how far it is from changes and bookmarks, so a version that
// came with the write of an object of this collection takes as long as the event
// takes to arrive, and any other takes until the next event or bookmark.
func WaitForVersion(ctx context.Context, i cache.SharedInformer, resourceVersion string) error {
	waiter, ok := shell.As[interface {
		WaitForVersion(context.Context, string) error
	}](i)
	if !ok {
		return fmt.Errorf("wait for a version of %T: %w", i, unsupported(i))
	}
	return waiter.WaitForVersion(ctx, resourceVersion)
}

// WaitForVersion is the function WaitForVersion.
func (i *informer[K]) WaitForVersion(ctx context.Context, resourceVersion string) error {
	if resourceVersion == "" {
		return nil
	}
	if _, err := resourceversion.CompareResourceVersion(resourceVersion, resourceVersion); err != nil {
		return fmt.Errorf("wait for version %q: %w", resourceVersion, err)
	}
	return i.waitUntil(ctx, func() (bool, error) {
		met, err := reached(i.store.ResourceVersion(), resourceVersion)
		if err != nil {
			return false, fmt.Errorf("wait for version %q: %w", resourceVersion, err)
		}
		return met, nil
	})
}

// reached says whether a store that is at a version, "" if it has none, shows
// another one.
func reached(at, wanted string) (bool, error) {
	if at == "" {
		return false, nil
	}
	order, err := resourceversion.CompareResourceVersion(at, wanted)
	return order >= 0, err
}

// waitUntil waits until the store is as met says, or met fails. met is called
// after each change of the store, and must be quick.
func (i *informer[K]) waitUntil(ctx context.Context, met func() (bool, error)) error {
	if ok, err := met(); ok || err != nil {
		return err
	}
	w := i.waiters.add(met)
	defer i.waiters.remove(w)
	// Now that the writer knows who waits, what has become of the store
	// meanwhile.
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
		return ErrStopped
	}
}

// waiters are those who wait for something of the store.
type waiters struct {
	// count spares the writer the lock while nobody waits.
	count atomic.Int32
	mu    sync.Mutex
	list  []*waiter
}

type waiter struct {
	met func() (bool, error)
	// done is closed once met has said so or err is set.
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

// release ends the waits that are over.
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

// broadcast tells any number of goroutines, at any number of times, that
// something happened. The zero value is ready.
type broadcast struct {
	mu sync.Mutex
	ch chan struct{}
}

// next returns a channel that is closed at the next call of tell.
func (b *broadcast) next() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ch == nil {
		b.ch = make(chan struct{})
	}
	return b.ch
}

func (b *broadcast) tell() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ch != nil {
		close(b.ch)
		b.ch = nil
	}
}
