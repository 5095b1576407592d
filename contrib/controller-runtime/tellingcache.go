package kwctrl

import (
	"context"
	"sync"

	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
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
	mu      sync.Mutex
	told    bool
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

// WaitForCacheSync says who hasn't synced if ctx ends before.
func (c *tellingCache) WaitForCacheSync(ctx context.Context) (synced bool) {
	c.watch(ctx, func() { synced = c.Cache.WaitForCacheSync(ctx) })
	return synced
}

// GetInformer says who hasn't synced if ctx ends before the informer has. Sources wait here.
func (c *tellingCache) GetInformer(
	ctx context.Context, obj client.Object, opts ...cache.InformerGetOption,
) (i cache.Informer, err error) {
	c.watch(ctx, func() { i, err = c.Cache.GetInformer(ctx, obj, opts...) })
	return i, err
}

// watch calls wait, and tells if ctx ends meanwhile: at once, because the informers stop soon.
func (c *tellingCache) watch(ctx context.Context, wait func()) {
	told := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(told)
		c.tell(loggerOf(ctx))
	})
	wait()
	if !stop() {
		<-told
	}
}

// tell logs, once, the informers that haven't synced. If lists or watches of some fail, the others aren't the
// reason, and not logged.
func (c *tellingCache) tell(logger klog.Logger) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var failing, pending []*informer.SyncError
	for _, i := range c.all.now() {
		status, _ := informer.StatusOf(i)
		switch e := status.NotSynced(); {
		case e == nil || c.told || i.(*identified).cacheStarted != c.started:
		case e.Err != nil:
			failing = append(failing, e)
		default:
			pending = append(pending, e)
		}
	}
	c.told = c.told || len(failing)+len(pending) > 0
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
