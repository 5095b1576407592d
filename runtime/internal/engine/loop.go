package engine

import (
	"context"
	"iter"
	"time"

	"github.com/kubewright/kubewright/runtime/informer"
)

// events is [informer.Typed.Events] without the type. The goroutine of the loop itself reads the
// log, through a registration of its own; no other goroutine is between the log and the body.
func (i *engine[K]) events(ctx context.Context) iter.Seq[informer.Event[any]] {
	at := registeredAt()
	return func(yield func(informer.Event[any]) bool) {
		r, err := i.addLoop(ctx, yield, at)
		if err != nil {
			return // The informer has stopped.
		}
		// This goroutine is the reader, so it finishes the registration.
		defer func() {
			i.RemoveHandler(r)
			r.state.Store(finished)
			r.finish()
		}()
		for {
			r.state.Store(delivering)
			if r.deliver(); r.removed.Load() {
				return
			}
			r.state.Store(waiting)
			select {
			case <-r.arrived:
			case <-ctx.Done():
				return
			}
		}
	}
}

// addLoop registers a handler whose reader is the calling goroutine.
func (i *engine[K]) addLoop(
	ctx context.Context, yield func(informer.Event[any]) bool, at string,
) (*registration[K], error) {
	i.joining.Lock()
	defer i.joining.Unlock()
	i.mu.Lock()
	defer i.mu.Unlock()
	l := &loop[K]{ctx: ctx, yield: yield}
	never := time.Duration(0)
	r, err := i.newRegistration(l, informer.HandlerOptions{Name: "events", ResyncPeriod: &never})
	if err != nil {
		return nil, err
	}
	l.registration = r
	r.at = at
	r.arrived = make(chan struct{}, 1)
	r.state.Store(waiting)
	i.register(r)
	return r, nil
}

// loop is the handler behind a range over Events.
type loop[K comparable] struct {
	ctx          context.Context
	yield        func(informer.Event[any]) bool
	registration *registration[K]
}

func (l *loop[K]) OnAdd(obj any, isInInitialList bool) {
	l.do(informer.Event[any]{Type: informer.Added, Object: obj, Initial: isInInitialList})
}

func (l *loop[K]) OnUpdate(oldObj, newObj any) {
	l.do(informer.Event[any]{Type: informer.Updated, Object: newObj, Old: oldObj})
}

func (l *loop[K]) OnDelete(gone deletion[K]) {
	event := informer.Event[any]{Type: informer.Deleted, Object: gone.Object, Missed: gone.Missed}
	if gone.Released {
		event.Type = informer.Released
	}
	l.do(event)
}

func (l *loop[K]) listed() {
	close(l.registration.hasSynced)
	l.do(informer.Event[any]{Type: informer.Synced})
}

func (l *loop[K]) do(event informer.Event[any]) {
	if l.registration.removed.Load() {
		return
	}
	if l.ctx.Err() != nil || !l.yield(event) {
		l.registration.removed.Store(true)
	}
}
