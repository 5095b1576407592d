package kwctrl

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/go-logr/logr"
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
	// told are the reasons that were logged, by informer.
	told map[string]string
	// waiting counts the calls that wait for informers.
	waiting atomic.Int32
}

// Start runs the informers. When ctx ends, it tells of those that somebody waits for, before they stop: the
// wait may have ended at the same moment, which is why the manager ends.
func (c *tellingCache) Start(ctx context.Context) error {
	logger := loggerOf(ctx)
	running, stop := context.WithCancel(klog.NewContext(context.WithoutCancel(ctx), logger))
	defer stop()
	defer context.AfterFunc(ctx, func() {
		if c.waiting.Load() > 0 {
			c.tell(logger)
		}
		stop()
	})()
	return c.Cache.Start(running)
}

// loggerOf returns the context's logger, or controller-runtime's, or klog's if the program has set none.
func loggerOf(ctx context.Context) klog.Logger {
	if logger, err := logr.FromContext(ctx); err == nil {
		return logger.WithName("cache")
	}
	if log.Log.Enabled() {
		return log.Log.WithName("cache")
	}
	return klog.Background()
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
	c.waiting.Add(1)
	defer c.waiting.Add(-1)
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

// tell logs the informers that haven't synced, each once for a reason. If lists or watches of some fail, the
// others aren't the reason, and not logged.
func (c *tellingCache) tell(logger klog.Logger) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var failing, pending []*informer.SyncError
	for _, i := range c.all.now() {
		status, _ := informer.StatusOf(i)
		switch e := status.NotSynced(); {
		case e == nil || i.(*identified).cacheStarted != c.started:
		case e.Err != nil:
			failing = append(failing, e)
		default:
			pending = append(pending, e)
		}
	}
	if len(failing) > 0 {
		pending = failing
	}
	for _, e := range pending {
		switch {
		case c.told[e.Informer] == e.Reason:
		case e.Err != nil:
			logger.Error(e.Err, "The cache did not sync because of this informer", "informer", e.Informer,
				"reason", e.Reason, "since", e.Since, "attempts", e.Attempts)
		default:
			logger.Info("The cache did not sync while it waited for this informer", "informer", e.Informer,
				"state", e.State, "reason", e.Reason)
		}
		c.told[e.Informer] = e.Reason
	}
}

// NeedLeaderElection is the answer of controller-runtime's cache. A manager that such a cache is added to
// starts it without being the leader, unless the cache has no answer, as one for several namespaces.
func (c *tellingCache) NeedLeaderElection() bool {
	of, answers := c.Cache.(interface{ NeedLeaderElection() bool })
	return !answers || of.NeedLeaderElection()
}
