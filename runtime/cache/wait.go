package cache

import (
	"context"
	"fmt"
	"time"

	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// WaitFor returns true when all checkers are done, and false if ctx is done first. It doesn't poll. Unless
// what is empty, it logs what it waits for, each checker when it is done, and those that weren't done when
// ctx was.
func WaitFor(ctx context.Context, what string, checkers ...DoneChecker) bool {
	helper, logger := klog.FromContext(ctx).WithCallStackHelper()
	helper() // The call site in the log is WaitFor's caller.
	return cache.WaitFor(klog.NewContext(ctx, logger), what, checkers...)
}

// IsDone reports whether checker is done. It doesn't wait.
func IsDone(checker DoneChecker) bool { return cache.IsDone(checker) }

// WaitForCacheSync returns true when all cacheSyncs return true in one round, and false if stopCh is closed
// first. It calls them every 100 ms. [WaitFor] doesn't poll.
func WaitForCacheSync(stopCh <-chan struct{}, cacheSyncs ...InformerSynced) bool {
	return cache.WaitForCacheSync(stopCh, cacheSyncs...)
}

// WaitForNamedCacheSync is [WaitForCacheSync] that logs when it starts and how it ends, with the name of
// the controller that waits.
func WaitForNamedCacheSync(controllerName string, stopCh <-chan struct{}, cacheSyncs ...InformerSynced) bool {
	return cache.WaitForNamedCacheSync(controllerName, stopCh, cacheSyncs...)
}

// WaitForNamedCacheSyncWithContext is [WaitForCacheSync] that logs when it starts and how it ends, to the
// logger of ctx.
func WaitForNamedCacheSyncWithContext(ctx context.Context, cacheSyncs ...InformerSynced) bool {
	return cache.WaitForNamedCacheSyncWithContext(ctx, cacheSyncs...)
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
