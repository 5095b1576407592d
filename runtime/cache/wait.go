package cache

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
)

// syncedPollPeriod is client-go's. An InformerSynced is a function, which can only be polled.
const syncedPollPeriod = 100 * time.Millisecond

// WaitFor returns true when all checkers are done, and false if ctx is done first. It doesn't poll. Unless
// what is empty, it logs what it waits for, each checker when it is done, and those that weren't done when
// ctx was.
func WaitFor(ctx context.Context, what string, checkers ...DoneChecker) bool {
	logger := klog.FromContext(ctx)
	if what == "" {
		logger = klog.Logger{}
	} else {
		helper, withHelper := logger.WithCallStackHelper()
		helper()
		logger = withHelper
		logger.Info("Waiting", "for", what)
	}
	// A goroutine for each checker, so that the log has the time at which it was done. The goroutines don't
	// log themselves: the call site in the log must be WaitFor's caller.
	done := make(chan DoneChecker)
	var waiting sync.WaitGroup
	for _, checker := range checkers {
		waiting.Go(func() {
			select {
			case <-checker.Done():
			case <-ctx.Done():
				// If both are done, select may choose either.
				if !IsDone(checker) {
					return
				}
			}
			done <- checker
		})
	}
	go func() {
		waiting.Wait()
		close(done)
	}()
	for checker := range done {
		logger.Info("Done waiting", "for", what, "instance", checker.Name())
	}
	// A checker counts as done if it was done at the same time as ctx.
	var missing []string
	for _, checker := range checkers {
		if !IsDone(checker) {
			missing = append(missing, checker.Name())
		}
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		logger.Info("Timed out waiting", "for", what, "cause", context.Cause(ctx), "instances", missing)
	}
	return len(missing) == 0
}

// IsDone reports whether checker is done. It doesn't wait.
func IsDone(checker DoneChecker) bool {
	select {
	case <-checker.Done():
		return true
	default:
		return false
	}
}

// WaitForCacheSync returns true when all cacheSyncs return true in one round, and false if stopCh is closed
// first. It calls them every 100 ms. [WaitFor] doesn't poll.
func WaitForCacheSync(stopCh <-chan struct{}, cacheSyncs ...InformerSynced) bool {
	synced := func() bool {
		defer utilruntime.HandleCrash() // If the program survives the panic, the next round tries again.
		return !slices.ContainsFunc(cacheSyncs, func(synced InformerSynced) bool { return !synced() })
	}
	if synced() {
		return true
	}
	ticks := time.NewTicker(syncedPollPeriod)
	defer ticks.Stop()
	for {
		select {
		case <-stopCh:
			return false
		case <-ticks.C:
			if synced() {
				return true
			}
		}
	}
}

// WaitForNamedCacheSync is [WaitForCacheSync] that logs when it starts and how it ends, with the name of
// the controller that waits.
func WaitForNamedCacheSync(controllerName string, stopCh <-chan struct{}, cacheSyncs ...InformerSynced) bool {
	logger := klog.Background().WithValues("controller", controllerName)
	return waitNamed(klog.NewContext(context.Background(), logger), stopCh, cacheSyncs)
}

// WaitForNamedCacheSyncWithContext is [WaitForCacheSync] that logs when it starts and how it ends, to the
// logger of ctx.
func WaitForNamedCacheSyncWithContext(ctx context.Context, cacheSyncs ...InformerSynced) bool {
	return waitNamed(ctx, ctx.Done(), cacheSyncs)
}

func waitNamed(ctx context.Context, stopCh <-chan struct{}, cacheSyncs []InformerSynced) bool {
	klog.FromContext(ctx).Info("Waiting for caches to sync")
	if !WaitForCacheSync(stopCh, cacheSyncs...) {
		utilruntime.HandleErrorWithContext(ctx, nil, "Unable to sync caches")
		return false
	}
	klog.FromContext(ctx).Info("Caches are synced")
	return true
}

// ShutDownEventHandler removes a handler from its informer, and returns when no call of the handler runs or
// will follow. So it doesn't return in that handler. After 10 s a log line names the handler. It returns an
// error for a handle without a method ShutdownChan, which other implementations of informers may return.
func ShutDownEventHandler(informer SharedInformer, handle ResourceEventHandlerRegistration) error {
	if err := informer.RemoveEventHandler(handle); err != nil {
		return err
	}
	registration, ok := handle.(interface{ ShutdownChan() <-chan struct{} })
	if !ok {
		return fmt.Errorf("handle does not support ShutdownChan()")
	}
	defer time.AfterFunc(10*time.Second, func() {
		name := fmt.Sprintf("%T", handle)
		if named, ok := handle.(interface{ Name() string }); ok {
			name = named.Name()
		}
		klog.Background().Info("Still waiting for a call of a removed handler to return", "handler", name)
	}).Stop()
	<-registration.ShutdownChan()
	return nil
}
