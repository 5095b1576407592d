package cache

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/features"
	"k8s.io/klog/v2"

	"github.com/kubewright/kubewright/runtime/internal/clientsource"
	"github.com/kubewright/kubewright/runtime/internal/reflector"
)

// New returns a controller that fills a queue from a lister-watcher and processes the queue. The
// controller copies the configuration: later changes of c have no effect.
func New(c *Config) Controller { return &controller{config: *c} }

// controller runs our reflector over a queue of client-go's interface.
type controller struct {
	config Config

	mu          sync.Mutex
	lastVersion func() string // the reflector's, nil before the controller runs
}

// Run is RunWithContext for a stop channel.
func (c *controller) Run(stopCh <-chan struct{}) { c.RunWithContext(wait.ContextForChannel(stopCh)) }

// RunWithContext runs the controller. When ctx is done, it closes the queue, and it returns after the
// reflector and the process function have returned. A controller runs only once: its queue stays closed.
func (c *controller) RunWithContext(ctx context.Context) {
	defer utilruntime.HandleCrashWithContext(ctx)
	stop := context.AfterFunc(ctx, c.config.Queue.Close)
	defer stop()

	description := cmp.Or(c.config.ObjectDescription, reflector.DescribeType(c.config.ObjectType))
	var r *reflector.Reflector
	r = reflector.New(
		clientsource.FromListerWatcher(c.config.ListerWatcher, c.config.ObjectType),
		sink{store: c.config.Queue},
		reflector.Options{
			TypeDescription:        description,
			ResyncPeriod:           c.config.FullResyncPeriod,
			ShouldResync:           c.config.ShouldResync,
			PageSize:               c.config.WatchListPageSize,
			MinWatchTimeout:        c.config.MinWatchTimeout,
			ErrorHandler:           c.errorHandler(func() *Reflector { return r.ClientGoStub() }),
			ResourceVersionUpdated: versionUpdated(c.config.Queue),
		})
	c.mu.Lock()
	c.lastVersion = r.LastSyncResourceVersion
	c.mu.Unlock()

	var running sync.WaitGroup
	running.Go(func() { r.Run(ctx) })
	// process returns early if the process function panics and the program survives it, or if other code
	// closed the queue. As in client-go, it is then called again after a second.
	wait.UntilWithContext(ctx, c.process, time.Second)
	running.Wait()
}

// errorHandler returns the configured handler of watch errors, or nil for the default one. Handlers receive
// the client-go Reflector that of returns: it has our reflector's name and type description.
func (c *controller) errorHandler(of func() *Reflector) func(context.Context, error) {
	handler := c.config.WatchErrorHandlerWithContext
	if plain := c.config.WatchErrorHandler; plain != nil {
		handler = func(_ context.Context, r *Reflector, err error) { plain(r, err) }
	}
	if handler == nil {
		return nil
	}
	return func(ctx context.Context, err error) { handler(ctx, of(), err) }
}

// process passes queued deltas to the configured functions until ctx is done or the queue is closed.
func (c *controller) process(ctx context.Context) {
	batches, ok := c.config.Queue.(QueueWithBatch)
	ok = ok && c.config.ProcessBatch != nil &&
		features.FeatureGates().Enabled(features.InOrderInformersBatchProcess)
	for ctx.Err() == nil {
		var err error
		if ok {
			err = batches.PopBatch(c.config.ProcessBatch, PopProcessFunc(c.config.Process))
		} else {
			_, err = c.config.Pop(PopProcessFunc(c.config.Process))
		}
		if errors.Is(err, ErrFIFOClosed) {
			return
		}
		if err != nil {
			klog.FromContext(ctx).V(4).Info("Processing failed", "err", err)
		}
	}
}

// HasSynced reports whether all objects of the first list were processed.
func (c *controller) HasSynced() bool { return c.config.Queue.HasSynced() }

// HasSyncedChecker returns a checker that is done when HasSynced is true.
func (c *controller) HasSyncedChecker() DoneChecker { return c.config.Queue.HasSyncedChecker() }

// LastSyncResourceVersion returns the resourceVersion up to which the reflector has read, "" before the first
// list. Objects up to that version may still be queued.
func (c *controller) LastSyncResourceVersion() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lastVersion == nil {
		return ""
	}
	return c.lastVersion()
}
