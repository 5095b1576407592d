package informer

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/kubewright/kubewright/runtime/internal/unwrap"
)

// WaitForSync waits until every informer has synced, without polling. If ctx is done or an informer stops
// first, it returns a *[NotSyncedError], which reports for each informer that has not synced why, since when,
// and after how many attempts. WaitForSync also waits for informers that have not been started, since they
// may be started later; after ten seconds it logs them, once. It waits for informers of other packages, too,
// but can't report why they have not synced. For a nil informer it returns an error at once. WaitForSync is
// safe for concurrent use.
//
// It doesn't wait for handlers: use their registration's HasSyncedChecker.
func WaitForSync(ctx context.Context, informers ...cache.SharedInformer) error {
	return WaitForSyncOr(ctx, func(*SyncError) bool { return false }, informers...)
}

// WaitForSyncOr is like WaitForSync, but also ends when giveUp returns true for an informer's error. It calls
// giveUp after each failure, one call at a time. The informers keep trying after the wait has ended. For a
// nil giveUp it returns an error at once.
func WaitForSyncOr(
	ctx context.Context, giveUp func(*SyncError) bool, informers ...cache.SharedInformer,
) error {
	if giveUp == nil {
		return fmt.Errorf("wait for informers to sync: %w", errNoFunction)
	}
	for n, i := range informers {
		if isNil(i) {
			return fmt.Errorf("wait for informers to sync: %w", missing(n, len(informers)))
		}
	}
	waiting, cancel := context.WithCancel(ctx)
	defer cancel()
	var asking sync.Mutex
	ask := func(e *SyncError) bool {
		asking.Lock()
		defer asking.Unlock()
		return giveUp(e)
	}
	var waiters sync.WaitGroup
	for _, i := range informers {
		waiters.Go(func() {
			if !waitForOne(waiting, ask, i) {
				cancel()
			}
		})
	}
	var reminder sync.WaitGroup
	waited := make(chan struct{})
	reminder.Go(func() {
		select {
		case <-time.After(notStartedFor):
			logNotStarted(ctx, informers)
		case <-waited:
		}
	})
	waiters.Wait()
	close(waited)
	reminder.Wait()

	if missing := notSynced(informers, func(*SyncError) bool { return true }); len(missing) > 0 {
		return &NotSyncedError{Cause: context.Cause(ctx), Informers: missing}
	}
	return nil
}

// notSynced returns, sorted by name, the errors of the informers that have not synced and for which counts
// returns true.
func notSynced(informers []cache.SharedInformer, counts func(*SyncError) bool) (errs []*SyncError) {
	for _, i := range informers {
		s, _ := StatusOf(i)
		if e := s.NotSynced(); e != nil && counts(e) {
			errs = append(errs, e)
		}
	}
	slices.SortFunc(errs, func(a, b *SyncError) int { return strings.Compare(a.Informer, b.Informer) })
	return errs
}

// notStartedFor is how long a wait lasts before it logs the informers that were not
// started. Otherwise nothing would hint at a forgotten Start.
const notStartedFor = 10 * time.Second

func logNotStarted(ctx context.Context, informers []cache.SharedInformer) {
	idle := notSynced(informers, func(e *SyncError) bool { return e.State == Idle })
	if len(idle) > 0 {
		klog.FromContext(ctx).Info("Still waiting", "err", &NotSyncedError{Informers: idle})
	}
}

// observable is the part of this module's informers that WaitForSyncOr uses, beside Ended.
type observable interface {
	reporter
	// Progress returns a channel that is closed at the next failure.
	Progress() <-chan struct{}
}

// waitForOne waits until i has synced. It returns false if ctx ends or i stops first, or
// if giveUp returns true.
func waitForOne(ctx context.Context, giveUp func(*SyncError) bool, i cache.SharedInformer) bool {
	synced := i.HasSyncedChecker().Done()
	for {
		var failed, stopped <-chan struct{}
		if e, ok := unwrap.As[interface{ Ended() <-chan struct{} }](i); ok {
			stopped = e.Ended()
		}
		if o, ok := unwrap.As[observable](i); ok {
			failed = o.Progress()
			if e := o.Status().NotSynced(); e != nil && e.Err != nil && giveUp(e) {
				return false
			}
		}
		select {
		case <-synced:
			return true
		case <-ctx.Done():
			return false
		case <-stopped:
			return cache.IsDone(i.HasSyncedChecker())
		case <-failed:
		}
	}
}

// WaitForVersion waits until the cache of i reflects the collection at resourceVersion or later. A read then
// sees the write that returned this version, or a later state. If ctx ends first, it returns the cause, and
// if the informer stops first, [ErrStopped]. It doesn't wait for handlers. It is safe for concurrent use.
//
// For an empty version it returns at once. It compares versions by
// [k8s.io/apimachinery/pkg/util/resourceversion.CompareResourceVersion], and returns an error if they are
// opaque.
//
// Lists, events and bookmarks set the version of the cache. So the wait for the version of a write to this
// collection ends when the event of that write arrives; the wait for any other version ends with a later
// event or bookmark.
func WaitForVersion(ctx context.Context, i cache.SharedInformer, resourceVersion string) error {
	waiter, ok := unwrap.As[interface {
		WaitForVersion(context.Context, string) error
	}](i)
	if !ok {
		return fmt.Errorf("wait for a version of %T: %w", i, unsupported(i))
	}
	return waiter.WaitForVersion(ctx, resourceVersion)
}

// WaitForOwnWrites waits until the cache of i reflects all writes that were made, by the time of the call,
// through the clientset that i was made with. A read then sees these writes, or later states of the objects.
// It is safe for concurrent use.
//
// It waits for the highest resourceVersion that a create, update, patch or apply returned; see
// [WaitForVersion] for how versions are compared and how the wait ends. Most deletions return no version: for
// each of them it waits until the cache no longer has an object of that name and UID. An object whose UID a
// transform has removed counts as gone, and so does an object that another client created and that has not
// reached the cache yet.
//
// It doesn't wait for:
//
//   - writes through another clientset or another version of the API group;
//   - deletions of collections;
//   - the sync: if nothing was written it returns at once, even for an informer that was
//     not started;
//   - anything, if the clientset is a generated fake, whose objects have no versions unless a test sets them.
//
// If the informer selects objects by label or field, or its transform fails for the written object, the
// write may cause no event for it. The wait then lasts until the next event or bookmark.
//
// If the server's data is restored from a backup, its versions go back, and writes are lost. The informer
// notices that when it lists the newest state because the server refuses its version, and the list is older
// than the cache. It then no longer waits for what was written before that list. A wait between the restore
// and the list may last until the list. An informer that starts after the restore can't notice: a wait for
// what the same clientset wrote before it lasts until ctx is done.
//
// The error is [ErrWritesNotTracked] if the client doesn't record its writes.
func WaitForOwnWrites(ctx context.Context, i cache.SharedIndexInformer) error {
	if isNil(i) {
		return fmt.Errorf("wait for own writes in %T: %w", i, errNil)
	}
	waiter, ok := i.GetIndexer().(interface {
		WaitForOwnWrites(ctx context.Context, namespace string) error
	})
	if !ok {
		return fmt.Errorf("wait for own writes in %T: %w", i, ErrUnsupportedInformer)
	}
	return waiter.WaitForOwnWrites(ctx, "")
}
