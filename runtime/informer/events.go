package informer

import (
	"context"
	"iter"
	"time"
)

// EventType says what an Event reports.
type EventType uint8

const (
	// Added is an object that is new.
	Added EventType = iota + 1
	// Updated is an object that took the place of another.
	Updated
	// Removed is an object that is gone.
	Removed
	// Synced comes once, after the last object of the initial list. It has no
	// object.
	Synced
)

var eventTypes = [...]string{"Invalid", "Added", "Updated", "Removed", "Synced"}

// String returns the constant's name, "Invalid" if t is none.
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
	// Object is the state that the object has now, or had last.
	Object T
	// Old is what Object took the place of. It is set for updates only.
	Old T
	// Initial says that an added object belongs to the initial list, or was in
	// the store already when the loop began.
	Initial bool
	// Missed says that a removal was not seen: a list no longer contained the
	// object, and Object is the last state that was known of it.
	Missed bool
}

// Events returns the changes of the store, for a loop over them:
//
//	for event := range informer.Events(ctx) {
//		switch event.Type {
//		...
//		}
//	}
//
// The loop gets what a handler would get that is added when it begins, in the
// same order: first what the store holds, then Synced, then every change. Its
// body runs on the caller's goroutine, which reads the informer's log directly;
// a slow body delays nobody, and what waits for it is [Registration.Backlog] of
// the handler called "events" in [Status]. A panic of the body goes to the
// caller.
//
// It ends at once when its body breaks, else when ctx is done, which ctx.Err
// tells, or when the informer stops.
// Each range over it is a loop of its own; several may run at a time.
func (i *Informer[K, T]) Events(ctx context.Context) iter.Seq[Event[T]] {
	return func(yield func(Event[T]) bool) {
		r, err := i.addLoop(ctx, yield)
		if err != nil {
			return // It has stopped.
		}
		// Who owns the reader is to finish it.
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

// addLoop registers a handler whose reader is the caller.
func (i *Informer[K, T]) addLoop(ctx context.Context, yield func(Event[T]) bool) (*Registration[K, T], error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	l := &loop[K, T]{ctx: ctx, yield: yield}
	never := time.Duration(0)
	r, err := i.newRegistration(l, HandlerOptions{Name: "events", ResyncPeriod: &never})
	if err != nil {
		return nil, err
	}
	l.registration = r
	r.arrived = make(chan struct{}, 1)
	r.state.Store(reading)
	i.register(r)
	return r, nil
}

// loop is the handler of a range over Events.
type loop[K comparable, T any] struct {
	ctx          context.Context
	yield        func(Event[T]) bool
	registration *Registration[K, T]
}

func (l *loop[K, T]) OnAdd(obj T, isInInitialList bool) {
	l.do(Event[T]{Type: Added, Object: obj, Initial: isInInitialList})
}

func (l *loop[K, T]) OnUpdate(oldObj, newObj T) {
	l.do(Event[T]{Type: Updated, Object: newObj, Old: oldObj})
}

func (l *loop[K, T]) OnDelete(gone Deleted[K, T]) {
	l.do(Event[T]{Type: Removed, Object: gone.Object, Missed: gone.Missed})
}

func (l *loop[K, T]) listed() {
	close(l.registration.hasSynced)
	l.do(Event[T]{Type: Synced})
}

func (l *loop[K, T]) do(event Event[T]) {
	if l.registration.removed.Load() {
		return
	}
	if l.ctx.Err() != nil || !l.yield(event) {
		l.registration.removed.Store(true)
	}
}
