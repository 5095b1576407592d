// Package observe connects informers with whoever waits for what their caches show, without a goroutine or a
// walk for each wait. An informer of this module is a [Cache]; its writer calls the observers.
package observe

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Observer is told what an informer's cache shows. It is called without locks, on the goroutine that writes
// the cache, after the change is visible. It may read the cache, and must be quick.
type Observer interface {
	// Reached is called after each step, with the version of the cache.
	Reached(version string)
	// WantsRemovals reports whether Removed has to be called.
	WantsRemovals() bool
	// Removed is called with the key and the UID of an object that has left the cache, or was replaced by
	// another object of its name.
	Removed(key string, uid types.UID)
	// Released is called when ranges of objects have left the part that the informer caches: all objects for
	// which kept returns false, also those that the cache has yet to show. Others may write them now.
	Released(kept func(obj any) bool)
	// Replaced is called after a list: any object may have left the cache.
	Replaced()
	// Voided is called when nothing is to be waited for of what was written before: the server's data was
	// restored, the informer selects no objects, or it has stopped.
	Voided()
}

// Cache is an informer that has observers. All methods are safe for concurrent use.
type Cache interface {
	// Observe adds an observer, at any time.
	Observe(Observer)
	// Version is the version of the cache, "" before the first list.
	Version() string
	// Resource is what the informer lists. It is empty as long as that isn't known.
	Resource() schema.GroupVersionResource
	// Running reports whether the informer has started and not stopped.
	Running() bool
	// Key returns the key of the object of a name, and UID the UID of the object with a key. The UID is "" if
	// a transform has removed it.
	Key(namespace, name string) string
	UID(key string) (uid types.UID, found bool)
	// Scope returns what the informer requests. It is complete when the informer has sent a request.
	Scope() Scope
	// Selects returns false if the informer caches a part of its objects, and obj isn't of that part.
	Selects(obj metav1.Object) bool
}

// Scope is what an informer requests of a resource: the objects of a namespace, or of all if it is empty,
// that match the selectors. Part is set if it requests a part of them, see [Cache].
type Scope struct {
	Namespace, Labels, Fields string
	Part                      bool
}
