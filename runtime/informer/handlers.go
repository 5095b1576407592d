package informer

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
)

// AddHandler registers a handler. If the informer runs, the handler gets an add
// for each object in the store first, and then every later change; no change
// is missed and none comes twice. It is an error once the informer has stopped.
//
// Its resync period is the requested one, but at least a second and at least
// how often the informer looks at the clock, which is fixed when it starts: the
// least period that any handler has asked for by then, or the informer's own.
func (i *Informer[K, T]) AddHandler(handler Handler[K, T], options HandlerOptions) (*Registration[K, T], error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	r, err := i.newRegistration(handler, options)
	if err != nil {
		return nil, err
	}
	i.register(r)
	return r, nil
}

// newRegistration makes a registration that isn't the informer's yet. The
// caller holds mu.
func (i *Informer[K, T]) newRegistration(handler Handler[K, T], options HandlerOptions) (*Registration[K, T], error) {
	name := cmp.Or(options.Name, fmt.Sprintf("%T", handler))
	logger := ptr.Deref(options.Logger, klog.Background())
	if i.stopped {
		return nil, fmt.Errorf("handler %v was not added to shared informer because it has stopped already", name)
	}
	requested := i.resyncPeriodFor(ptr.Deref(options.ResyncPeriod, i.config.ResyncPeriod), logger)
	r := &Registration[K, T]{
		informer:  i,
		handler:   handler,
		name:      name,
		logger:    logger,
		hasSynced: make(chan struct{}),
		finished:  make(chan struct{}),
		contain:   options.ContainPanics,
		requested: requested,
		period:    effectivePeriod(requested, i.resyncCheckPeriod, logger),
		resyncing: true,
	}
	r.next = time.Now().Add(r.period)
	if options.Coalesce {
		r.coalescer = newCoalescer(r, handler)
		r.handler = r.coalescer
	}
	return r, nil
}

// register makes a registration one of the informer's. The caller holds mu.
func (i *Informer[K, T]) register(r *Registration[K, T]) {
	i.joining.Lock()
	defer i.joining.Unlock()
	if i.started {
		r.join(i.store.Snapshot(), i.HasSynced())
	} else {
		r.cursor = i.log.tail
	}
	i.setHandlers(append(slices.Clone(*i.handlers.Load()), r))
	if i.started {
		r.wake()
	}
}

// RemoveHandler ends the delivery to a handler. It may be called more than
// once, and from within the handler; it doesn't wait for a call that is under
// way ([Registration.ShutdownChan] tells when that is over). What waits in the
// backlog is dropped.
func (i *Informer[K, T]) RemoveHandler(r *Registration[K, T]) {
	i.mu.Lock()
	defer i.mu.Unlock()
	handlers := *i.handlers.Load()
	at := slices.Index(handlers, r)
	if at < 0 {
		return
	}
	i.setHandlers(slices.Delete(slices.Clone(handlers), at, at+1))
	r.remove()
}

func (i *Informer[K, T]) setHandlers(handlers []*Registration[K, T]) {
	i.handlers.Store(&handlers)
	i.settleAudience()
}

// Handlers returns the handlers that are registered.
func (i *Informer[K, T]) Handlers() []*Registration[K, T] {
	return slices.Clone(*i.handlers.Load())
}

// behind says whether a handler has yet to be told of something before a
// position of the log.
func (i *Informer[K, T]) behind(position uint64) bool {
	for _, r := range *i.handlers.Load() {
		if r.delivered.Load() < position {
			return true
		}
	}
	return false
}
