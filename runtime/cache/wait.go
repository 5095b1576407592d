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

// syncedPollPeriod is how often a function is asked whether something synced:
// that it did can't be waited for otherwise.
const syncedPollPeriod = 100 * time.Millisecond

// WaitFor returns true when all checkers are done, and false if ctx is done
// before they are. If what isn't empty it says in the log what is waited for.
// It doesn't poll.
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
	// Each checker has a goroutine, so that the log has the time at which it
	// was done; they send and don't log, for the sake of the call site.
	done := make(chan DoneChecker)
	var waiting sync.WaitGroup
	for _, checker := range checkers {
		waiting.Go(func() {
			select {
			case <-checker.Done():
				done <- checker
			case <-ctx.Done():
			}
		})
	}
	go func() {
		waiting.Wait()
		close(done)
	}()
	for checker := range done {
		logger.Info("Done waiting", "for", what, "instance", checker.Name())
	}
	// One that was done when ctx was, too, counts as done.
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

// IsDone says whether checker is done, without waiting.
func IsDone(checker DoneChecker) bool {
	select {
	case <-checker.Done():
		return true
	default:
		return false
	}
}

// WaitForCacheSync returns true when all cacheSyncs do, and false if stopCh is
// closed before. It asks them every 100 ms; WaitFor doesn't need to.
func WaitForCacheSync(stopCh <-chan struct{}, cacheSyncs ...InformerSynced) bool {
	synced := func() bool {
		defer utilruntime.HandleCrash() // If the process survives it, it is asked again.
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

// WaitForNamedCacheSync is WaitForCacheSync with log lines that name the
// controller that waits.
func WaitForNamedCacheSync(controllerName string, stopCh <-chan struct{}, cacheSyncs ...InformerSynced) bool {
	logger := klog.Background().WithValues("controller", controllerName)
	return waitNamed(klog.NewContext(context.Background(), logger), stopCh, cacheSyncs)
}

// WaitForNamedCacheSyncWithContext is WaitForCacheSync with log lines, of the
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

// ShutDownEventHandler removes a handler and returns when it isn't running any
// more.
func ShutDownEventHandler(informer SharedInformer, handle ResourceEventHandlerRegistration) error {
	if err := informer.RemoveEventHandler(handle); err != nil {
		return err
	}
	registration, ok := handle.(interface{ ShutdownChan() <-chan struct{} })
	if !ok {
		return fmt.Errorf("handle does not support ShutdownChan()")
	}
	<-registration.ShutdownChan()
	return nil
}
