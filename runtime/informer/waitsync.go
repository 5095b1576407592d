package informer

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/kubewright/kubewright/runtime/internal/shell"
)

// WaitForSync waits, on channels, until every informer has synced. If ctx is
// done first it returns a *[NotSyncedError] that says of each that has not: why,
// since when, and how often it was tried. The same if an informer stops. One that
// wasn't started is waited for, since somebody may do so; after ten seconds that is
// logged, once. Informers of other makes are waited for, too, and can't say why they
// have not. One that is nil is another error, at once.
//
// It says nothing about handlers: wait for their registration's
// HasSyncedChecker.
func WaitForSync(ctx context.Context, informers ...cache.SharedInformer) error {
	return WaitForSyncOr(ctx, func(*SyncError) bool { return false }, informers...)
}

// WaitForSyncOr is WaitForSync that also ends as soon as giveUp says so of an
// informer's error. It asks after each failure, one informer at a time; the
// informers go on trying. A giveUp that is nil is an error, at once.
func WaitForSyncOr(ctx context.Context, giveUp func(*SyncError) bool, informers ...cache.SharedInformer) error {
	if giveUp == nil {
		return fmt.Errorf("wait for informers to sync: %w", errNoFunction)
	}
	for n, i := range informers {
		if isNil(i) {
			return fmt.Errorf("wait for informers to sync: %w", missing(n, len(informers)))
		}
	}
	waiting, over := context.WithCancel(ctx)
	defer over()
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
				over()
			}
		})
	}
	var teller sync.WaitGroup
	waited := make(chan struct{})
	teller.Go(func() {
		select {
		case <-time.After(notStartedFor):
			tellNotStarted(ctx, informers)
		case <-waited:
		}
	})
	waiters.Wait()
	close(waited)
	teller.Wait()

	e := &NotSyncedError{Cause: context.Cause(ctx)}
	for _, i := range informers {
		s, _ := StatusOf(i)
		if err := s.NotSynced(); err != nil {
			e.Informers = append(e.Informers, err)
		}
	}
	if len(e.Informers) == 0 {
		return nil
	}
	byName(e.Informers)
	return e
}

// notStartedFor is how long who waits for an informer that nobody starts hears
// nothing: nothing else would tell.
const notStartedFor = 10 * time.Second

func tellNotStarted(ctx context.Context, informers []cache.SharedInformer) {
	e := &NotSyncedError{}
	for _, i := range informers {
		s, _ := StatusOf(i)
		if one := s.NotSynced(); one != nil && one.State == Idle {
			e.Informers = append(e.Informers, one)
		}
	}
	if len(e.Informers) > 0 {
		byName(e.Informers)
		klog.FromContext(ctx).Info("Still waiting", "err", e)
	}
}

// observable is what an informer of ours offers to those who wait for its sync.
type observable interface {
	reporter
	// progress returns channels that are closed at the next failure and when
	// the informer stops.
	progress() (failed, stopped <-chan struct{})
}

// waitForOne returns false if there is no more reason to wait.
func waitForOne(ctx context.Context, giveUp func(*SyncError) bool, i cache.SharedInformer) bool {
	synced := i.HasSyncedChecker().Done()
	for {
		var failed, stopped <-chan struct{}
		if o, ok := shell.As[observable](i); ok {
			failed, stopped = o.progress()
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

func (i *informer[K]) progress() (failed, stopped <-chan struct{}) {
	return i.failures.next(), i.ended
}
