package engine

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/internal/reflector"
	"github.com/kubewright/kubewright/runtime/internal/sources"
)

// Selection makes an informer cache a part of the collection that its source lists. The part may change while
// the informer runs. The engine has no idea of what the part is: the reader of the selection lists and
// watches, and says by predicates on stored objects what a list replaces and what leaves the cache.
//
// An informer has one selection at most, which Select sets before the start. These places of the engine know
// of it:
//
//   - [Selection]'s reader runs in place of a [reflector.Reflector], and fills the queue through a [Sink].
//   - The writer releases objects, and replaces those for which a predicate is true. For other informers the
//     predicate is nil, which means all objects.
//   - The first list doesn't complete the informer's sync: Sink.Complete does.
//   - Changes of several streams are applied by [Sink]'s rules, and with a pinned version of the store.
//   - Its Transform takes the place of the informer's, and lists never keep objects of the cache undecoded.
//   - Handlers and logs of changes know released objects, which left the cache without being deleted.
//   - Waits for a version and for own writes end at once while nothing is selected.
//
// A reader that lets only some objects be decoded passes a function to [sources.WithWanted].
type Selection interface {
	// Reader makes the reader, when the informer starts.
	Reader(source sources.Source, sink Sink, options reflector.Options) Reader
	// Transform returns the function to call in place of the transform of the informer.
	Transform(transform func(any) (any, error)) func(any) (any, error)
	// Selects reports whether an object is selected. It is called like IsEmpty.
	Selects(obj metav1.Object) bool
	// IsEmpty reports whether no object is selected. It is called at any time, under the locks that the
	// package's documentation names.
	IsEmpty() bool
}

// Reader reads objects from a source and fills an informer with them.
type Reader interface {
	// Run reads until ctx is done, and returns after every goroutine that it started has ended.
	Run(ctx context.Context)
	// LastSyncResourceVersion, Health and ClientGoStub are as those of a [reflector.Reflector].
	LastSyncResourceVersion() string
	Health() reflector.Health
	ClientGoStub() *cache.Reflector
}

// Sink receives what the reader of a [Selection] reads. Prepare is safe for concurrent use. The caller makes
// one call at a time of the other methods, and of what Prepare returns. None of them blocks.
type Sink interface {
	// Prepare takes a change of an object: Added, Modified or Deleted. It transforms the object, so it must be
	// called without locks. What it returns applies the change, and is nil if there is nothing to apply. Both
	// results may be set: the deletion of an object for whose last state the transform failed is applied.
	//
	// Changes that come from several streams, with an order within each stream only, are applied with a
	// function that reports whether a stored object came from the change's stream. An object of the same name
	// from another stream stays if the change is its deletion, or if that object is newer. If there is one
	// stream, the function is nil.
	Prepare(t watch.EventType, obj any, resourceVersion string) (
		apply func(sameStream func(stored any) bool), err error)
	// Bookmark reports that everything up to a version was delivered.
	Bookmark(resourceVersion string)
	// Resync makes the informer deliver all its objects again to the handlers that resync.
	Resync()
	// Begin stages a list. Several may be staged at a time.
	Begin() Staging
	// Pin with true makes only bookmarks and lists change the version of the cache. Pin with false ends that.
	Pin(pinned bool)
	// Release removes the objects for which kept returns false. Handlers receive them as released, not as
	// deleted.
	Release(kept func(stored any) bool)
	// Complete marks the informer as synced.
	Complete()
}

// Staging collects a list for a [Sink].
type Staging interface {
	Add(obj any, resourceVersion string) error
	Update(obj any, resourceVersion string) error
	Remove(obj any) error
	// Commit makes the staged objects the only ones in the cache for which in returns true, and drops staged
	// objects for which it returns false. in must always return the same for an object: it is also called
	// later, concurrently, when handlers read the change. resourceVersion is the version of the cache
	// afterwards. stored is called when the objects are in the cache.
	Commit(in func(obj any) bool, resourceVersion string, stored func())
	Discard()
}

// Select sets the informer's selection, and returns the source from which the informer reads. It returns an
// error if the informer has started or has a selection.
func (s *shared[K]) Select(selection Selection) (sources.Source, error) {
	i, taken := s.core, false
	err := i.beforeStart(func() {
		if taken = i.selection != nil; !taken {
			i.selection = selection
		}
	})
	if err == nil && taken {
		err = errSelection
	}
	return i.config.Source, err
}

// WaitUntil waits until met returns true or an error, which it returns. If ctx ends first, it returns the
// cause, if the informer stops first, [informer.ErrStopped]. met is called under locks, and must be quick.
func (s *shared[K]) WaitUntil(ctx context.Context, met func() (bool, error)) error {
	return s.core.waitUntil(ctx, met)
}
