package factory

import (
	"context"
	"reflect"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
)

// WaitForCacheSync is WaitForCacheSyncWithContext for a stop channel.
func (f *Factory[C]) WaitForCacheSync(stopCh <-chan struct{}) map[reflect.Type]bool {
	return f.WaitForCacheSyncWithContext(wait.ContextForChannel(stopCh)).Synced
}

// WaitForCacheSyncWithContext blocks, on channels, until every informer that is
// started at the time of the call has synced, or ctx is done. The result says
// for each which it was. It says nothing about handlers: wait for their
// registration's HasSyncedChecker.
func (f *Factory[C]) WaitForCacheSyncWithContext(ctx context.Context) cache.SyncResult {
	informers := f.started()
	for _, informer := range informers {
		select {
		case <-informer.HasSyncedChecker().Done():
		case <-ctx.Done():
			// The loop goes on: it blocks no more, and the state of each
			// informer is looked at below.
		}
	}

	result := cache.SyncResult{Synced: make(map[reflect.Type]bool, len(informers))}
	for t, informer := range informers {
		synced := informer.HasSynced()
		result.Synced[t] = synced
		if !synced {
			result.Err = context.Cause(ctx)
		}
	}
	return result
}
