// Package served decides whether a server serves a kind of objects, from what is seen of the server. It sends
// no request and knows nothing of informers: [Kind] is told what was seen and when, and says what to ask
// next.
//
// What it sees of a kind:
//
//   - its definition, as the watch of CustomResourceDefinitions shows it: [Definition];
//   - answers of GET /apis/<group>/<version>, which are the truth, from a replica of the server that may lag;
//   - discoveries, which are lists of all that is served;
//   - an informer whose list was answered with 404.
//
// A kind is absent only
//
//   - if the watch reports that its definition was deleted, and then GET doesn't serve it;
//   - if it was never seen to be served, the watch shows that there is no definition of it, and GET doesn't
//     serve it;
//   - or if two complete discoveries that are at least 10 s apart don't serve it, and nothing else does.
//
// So a lone 404, an error or a partial discovery changes nothing.
package served

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// State is what is known of a kind.
type State int

const (
	// Unknown: it was not seen to be served, and isn't known to be absent.
	Unknown State = iota
	// Open: it is served, or what was asked of the server has no usable answer, so that informers should try.
	Open
	// Absent: it isn't served.
	Absent
)

// AbsentState is the state of an informer whose kind is absent.
const AbsentState = "Absent"

// Status is the state of a kind, and since when. The fields that follow are of a kind that isn't served.
type Status struct {
	State State
	Since time.Time
	// Served is set if the server was seen to serve the kind, and not seen not to serve it since then.
	Served bool
	// Versions are those of the group in which the last discovery served the resource.
	Versions []string
	// Err is the last answer, if the kind isn't known to be served or absent. Failures counts those answers,
	// and FailingSince is when the first of them arrived.
	Err          error
	FailingSince time.Time
	Failures     int
}

// Definitions tell which kinds a server serves.
type Definitions interface {
	// Open begins to observe a kind. The observer must be closed. What they need to work ends with the last.
	Open(ctx context.Context, resource schema.GroupVersionResource) Observer
	// WaitForServed waits until the server serves a kind.
	WaitForServed(ctx context.Context, resource schema.GroupVersionResource) error
}

// Observer observes one kind. All methods are safe for concurrent use.
type Observer interface {
	// Status returns what is known, and a channel that is closed when the State or Served change.
	Status() (Status, <-chan struct{})
	// Missed reports that a request for the kind was answered with 404.
	Missed()
	// Close ends the observation.
	Close()
}
