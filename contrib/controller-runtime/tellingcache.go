package kwctrl

import (
	"context"
	"sync"

	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/kubewright/kubewright/runtime/informer"
)

// tellingCache is a cache whose informers log by controller-runtime's logger, and which says why they didn't
// sync: "cache did not sync", the error of a source, names none of them, and the source that has it may be
// of another kind.
type tellingCache struct {
	cache.Cache
	all     *informers
	started *started
	told    sync.Once
}

// Start runs the informers.
func (c *tellingCache) Start(ctx context.Context) error {
	return c.Cache.Start(klog.NewContext(ctx, loggerOf(ctx)))
}

// loggerOf returns controller-runtime's logger, or klog's if the program has set none.
func loggerOf(ctx context.Context) klog.Logger {
	if logger := log.FromContext(ctx); logger.Enabled() {
		return logger.WithName("cache")
	}
	return klog.FromContext(ctx)
}

// WaitForCacheSync logs, at its first failure, which informers it was waiting for. If lists or watches of
// some failed, the others aren't the reason, and not logged.
func (c *tellingCache) WaitForCacheSync(ctx context.Context) bool {
	// The informers may have stopped, and be forgotten, when the wait has ended.
	waitedFor := c.all.now()
	synced := c.Cache.WaitForCacheSync(ctx)
	if !synced {
		c.told.Do(func() { c.tell(loggerOf(ctx), waitedFor) })
	}
	return synced
}

func (c *tellingCache) tell(logger klog.Logger, waitedFor []toolscache.SharedInformer) {
	var failing, pending []*informer.SyncError
	for _, i := range waitedFor {
		status, _ := informer.StatusOf(i)
		switch e := status.NotSynced(); {
		case e == nil || i.(*identified).cacheStarted != c.started:
		case e.Err != nil:
			failing = append(failing, e)
		default:
			pending = append(pending, e)
		}
	}
	for _, e := range failing {
		logger.Error(e.Err, "The cache did not sync because of this informer", "informer", e.Informer,
			"reason", e.Reason, "since", e.Since, "attempts", e.Attempts)
	}
	if len(failing) > 0 {
		return
	}
	for _, e := range pending {
		logger.Info("The cache did not sync while it waited for this informer", "informer", e.Informer,
			"state", e.State, "reason", e.Reason)
	}
}
