package informer

import (
	"context"
	"iter"
	"time"
)

// EventType is the kind of an Event.
type EventType uint8

const (
	// Added is an object that is new.
	Added EventType = iota + 1
	// Updated is an object with a new state.
	Updated
	// Deleted is an object that is gone.
	Deleted
	// Synced comes once, after the last object of the initial list. It has no
	// object.
	Synced
	// Released is an object that left an informer with a [Part] without being deleted.
	Released
)

var eventTypes = [...]string{"Invalid", "Added", "Updated", "Deleted", "Synced", "Released"}

// String returns the constant's name, or "Invalid" for any other value.
func (t EventType) String() string {
	if int(t) < len(eventTypes) {
		return eventTypes[t]
	}
	return eventTypes[0]
}

// Event is a change of an informer's store. Objects are shared with the store:
// they must not be modified.
type Event[T any] struct {
	Type EventType
	// Object is the current state of the object, or its last state if it was deleted or released.
	Object T
	// Old is the state that Object replaced. It is set for updates only.
	Old T
	// Initial is set for an added object of the initial list, or one that was in the store when the loop began.
	Initial bool
	// Missed is set if the last state of a deleted object is unknown: a list no longer contained the object, or
	// the transform failed for it. Object is then its last known state.
	Missed bool
}

// events is [Core.Events] without the type. The goroutine of the loop itself reads the
// log, through a registration of its own; no other goroutine is between the log and the body.
func (i *informer[K]) events(ctx context.Context) iter.Seq[Event[any]] {
	return func(yield func(Event[any]) bool) {
		r, err := i.addLoop(ctx, yield)
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
			if r.deliver(); r.removed.Load() {
				return
			}
			select {
			case <-r.arrived:
			case <-ctx.Done():
				return
			}
		}
	}
}

// addLoop registers a handler whose reader is the calling goroutine.
func (i *informer[K]) addLoop(ctx context.Context, yield func(Event[any]) bool) (*registration[K], error) {
	i.joining.Lock()
	defer i.joining.Unlock()
	i.mu.Lock()
	defer i.mu.Unlock()
	l := &loop[K]{ctx: ctx, yield: yield}
	never := time.Duration(0)
	r, err := i.newRegistration(l, HandlerOptions{Name: "events", ResyncPeriod: &never})
	if err != nil {
		return nil, err
	}
	l.registration = r
	r.arrived = make(chan struct{}, 1)
	r.state.Store(delivering)
	i.register(r)
	return r, nil
}

// loop is the handler behind a range over Events.
type loop[K comparable] struct {
	ctx          context.Context
	yield        func(Event[any]) bool
	registration *registration[K]
}

func (l *loop[K]) OnAdd(obj any, isInInitialList bool) {
	l.do(Event[any]{Type: Added, Object: obj, Initial: isInInitialList})
}

func (l *loop[K]) OnUpdate(oldObj, newObj any) {
	l.do(Event[any]{Type: Updated, Object: newObj, Old: oldObj})
}

func (l *loop[K]) OnDelete(gone deletion[K]) {
	event := Event[any]{Type: Deleted, Object: gone.Object, Missed: gone.Missed}
	if gone.Released {
		event.Type = Released
	}
	l.do(event)
}

func (l *loop[K]) listed() {
	close(l.registration.hasSynced)
	l.do(Event[any]{Type: Synced})
}

func (l *loop[K]) do(event Event[any]) {
	if l.registration.removed.Load() {
		return
	}
	if l.ctx.Err() != nil || !l.yield(event) {
		l.registration.removed.Store(true)
	}
}
