// Package record records what an informer reports to its handlers, and checks rules that every such record
// must obey.
package record

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/tools/cache"
)

// Object is what informers of API types hold.
type Object interface {
	cache.Object
	metav1.Object
}

// The changes of an object.
const (
	Added   = "added"
	Updated = "updated"
	Deleted = "deleted"
)

// Event is one change as reported to a handler. Version is empty for a deletion.
type Event struct {
	What    string
	Name    cache.ObjectName
	Version string
}

func (e Event) String() string { return fmt.Sprintf("%s %s %s", e.What, e.Name, e.Version) }

// Recorder is a handler of typed events that checks as it records:
//
//   - only absent objects are added, only present ones are updated or deleted;
//   - the old object of an update is the one that the handler received last;
//   - the additions of the initial list come before everything else;
//   - the versions of an object grow; an update to the same version is allowed, since informers resync, and
//     isn't recorded.
//
// An object that was deleted and created again while the informer was disconnected arrives as an update to an
// object with another UID. That is allowed, and recorded as a deletion and an addition.
//
// Servers delete some types, Pods among them, in two steps even if there is nothing to wait for. The update
// between the steps isn't recorded, since no client requested it.
//
// The zero value isn't ready for use, see New. Its methods are safe for concurrent use.
type Recorder[T Object] struct {
	mu       sync.Mutex
	events   []Event
	initial  int // how many of the events are additions of the initial list
	present  map[cache.ObjectName]T
	problems []string
	news     chan struct{} // closed and replaced at each event
}

// New returns a Recorder without objects.
func New[T Object]() *Recorder[T] {
	return &Recorder[T]{present: map[cache.ObjectName]T{}, news: make(chan struct{})}
}

// OnAdd implements [cache.TypedResourceEventHandler].
func (r *Recorder[T]) OnAdd(obj T, isInInitialList bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if isInInitialList {
		if r.initial != len(r.events) {
			r.problem("%s is of the initial list, but comes after other events", obj.GetName())
		}
		r.initial++
	}
	name := cache.MetaObjectToName(obj)
	if _, present := r.present[name]; present {
		r.problem("added %s, which is there already", name)
	}
	r.present[name] = obj
	r.record(Event{Added, name, obj.GetResourceVersion()})
}

// OnUpdate implements [cache.TypedResourceEventHandler].
func (r *Recorder[T]) OnUpdate(old, obj T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	name := cache.MetaObjectToName(obj)
	last, present := r.present[name]
	switch {
	case !present:
		r.problem("updated %s, which isn't there", name)
	case last.GetResourceVersion() != old.GetResourceVersion():
		r.problem("updated %s from version %s, but the last was %s", name, old.GetResourceVersion(),
			last.GetResourceVersion())
	default:
		if order, err := resourceversion.CompareResourceVersion(old.GetResourceVersion(),
			obj.GetResourceVersion()); err != nil || order > 0 {
			r.problem("updated %s from version %s to %s (%v)", name, old.GetResourceVersion(),
				obj.GetResourceVersion(), err)
		}
	}
	r.present[name] = obj
	switch {
	case old.GetResourceVersion() == obj.GetResourceVersion():
		return
	case old.GetUID() != obj.GetUID():
		r.record(Event{What: Deleted, Name: name}, Event{Added, name, obj.GetResourceVersion()})
	case marked(obj):
		r.record()
	default:
		r.record(Event{Updated, name, obj.GetResourceVersion()})
	}
}

// OnDelete implements [cache.TypedResourceEventHandler].
func (r *Recorder[T]) OnDelete(obj cache.DeletedObject[T]) {
	r.mu.Lock()
	defer r.mu.Unlock()
	name := obj.GetObjectName()
	if _, present := r.present[name]; !present {
		r.problem("deleted %s, which isn't there", name)
	}
	delete(r.present, name)
	r.record(Event{What: Deleted, Name: name})
}

// marked reports whether the object is marked for deletion, and the server will remove it by itself.
func marked(obj metav1.Object) bool {
	grace := obj.GetDeletionGracePeriodSeconds()
	return obj.GetDeletionTimestamp() != nil && grace != nil && *grace == 0 && len(obj.GetFinalizers()) == 0
}

func (r *Recorder[T]) record(events ...Event) {
	r.events = append(r.events, events...)
	close(r.news)
	r.news = make(chan struct{})
}

func (r *Recorder[T]) problem(format string, args ...any) {
	r.problems = append(r.problems, fmt.Sprintf("event %d: ", len(r.events)+1)+fmt.Sprintf(format, args...))
}

// Wait returns when the objects that are present satisfy the condition, which is evaluated after each event.
func (r *Recorder[T]) Wait(ctx context.Context, condition func(present map[cache.ObjectName]T) bool) error {
	for {
		r.mu.Lock()
		met, news := condition(r.present), r.news
		r.mu.Unlock()
		if met {
			return nil
		}
		select {
		case <-news:
		case <-ctx.Done():
			return fmt.Errorf("%w; the last of %d events: %v", context.Cause(ctx),
				len(r.Events()), r.last(10))
		}
	}
}

// WaitFor returns when the object is present in that version or, if the version is empty, absent.
func (r *Recorder[T]) WaitFor(ctx context.Context, name cache.ObjectName, version string) error {
	err := r.Wait(ctx, func(present map[cache.ObjectName]T) bool {
		obj, ok := present[name]
		return ok == (version != "") && (!ok || obj.GetResourceVersion() == version)
	})
	if err != nil {
		return fmt.Errorf("waiting for %s in version %q: %w", name, version, err)
	}
	return nil
}

// Events returns all events so far, in order.
func (r *Recorder[T]) Events() []Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.events)
}

// Initial returns how many of the events belong to the initial list. They are the first.
func (r *Recorder[T]) Initial() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.initial
}

// Versions returns the versions of the objects that are present after the events so far.
func (r *Recorder[T]) Versions() map[cache.ObjectName]string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return Versions(slices.Collect(maps.Values(r.present)))
}

// Problems returns the violations of the rules so far.
func (r *Recorder[T]) Problems() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.problems)
}

func (r *Recorder[T]) last(n int) []Event {
	events := r.Events()
	return events[max(0, len(events)-n):]
}
