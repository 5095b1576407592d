package informer

import (
	"fmt"
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/internal/reflector"
	"github.com/kubewright/kubewright/runtime/internal/shell"
)

// State is what an informer is doing at the server.
type State string

const (
	// Idle is an informer that wasn't started.
	Idle = State(reflector.Idle)
	// Streaming is reading a list as a stream of events.
	Streaming = State(reflector.Streaming)
	// Listing is reading a list in pages.
	Listing = State(reflector.Listing)
	// Waiting is a list that was begun and has to wait for those of other
	// informers that share its limiter.
	Waiting = State(reflector.Waiting)
	// Watching is following changes.
	Watching = State(reflector.Watching)
	// BackingOff is waiting before the next attempt.
	BackingOff = State(reflector.BackingOff)
	// Stopped is the end.
	Stopped = State(reflector.Stopped)
)

// Status says how an informer is doing. Times are zero for what never was.
type Status struct {
	// Name is the informer's, Type what it caches.
	Name, Type string
	// State is what it is doing at the server, Since when that began.
	State State
	Since time.Time
	// Synced says that the store holds a complete list, and Listed when the
	// last list became visible.
	Synced bool
	Listed time.Time
	// LastError is the last error of a list or watch, even if it was overcome
	// since. FailingSince is when the first of those Failures happened after
	// which no watch could be opened; it is zero while all is well.
	LastError    error
	FailingSince time.Time
	Failures     int
	// LastEvent is when something arrived on the watch, be it a bookmark, and
	// LastBookmark when a bookmark did. Servers send one about every minute: an
	// older one means that the connection may be dead.
	LastEvent, LastBookmark time.Time
	// ResourceVersion is the version of the collection that the store shows.
	ResourceVersion string
	// Objects is how many the store holds, Queued how much was read from the
	// server that is not in the store yet.
	Objects, Queued int
	Handlers        []HandlerStatus
}

// HandlerStatus says how a handler is doing.
type HandlerStatus struct {
	Name string
	// Synced says that it has been told of the initial list, Backlog how many
	// notifications wait for it, Panics how often it panicked.
	Synced  bool
	Backlog int
	Panics  int
}

// Status says how the informer is doing. Its parts are read one after another
// while the informer goes on.
func (i *informer[K]) Status() Status {
	i.mu.Lock()
	r, queue := i.reflector, i.queue
	stopped := i.stopped
	i.mu.Unlock()

	s := Status{
		Name:            i.config.name,
		Type:            i.config.typeName,
		State:           Idle,
		Synced:          i.HasSynced(),
		ResourceVersion: i.store.ResourceVersion(),
		Objects:         i.store.Len(),
	}
	if r != nil {
		h := r.Health()
		s.State, s.Since, s.Listed = State(h.State), h.Since, h.Synced
		s.LastError, s.FailingSince, s.Failures = h.LastError, h.FailingSince, h.Failures
		s.LastEvent, s.LastBookmark = h.LastEvent, h.LastBookmark
		s.Queued = queue.Len()
	}
	if stopped {
		s.State = Stopped
	}
	for _, handler := range *i.handlers.Load() {
		s.Handlers = append(s.Handlers, HandlerStatus{
			Name: handler.name, Synced: handler.HasSynced(), Backlog: handler.Backlog(), Panics: handler.Panics(),
		})
	}
	return s
}

// reporter is what has a Status. Informers of this package do; others don't.
type reporter interface{ Status() Status }

// StatusOf says how an informer is doing that may be of any make. ok is false if
// it can't tell; then only Name, Synced and State are set, and that as far as
// known. Of an informer that is nil LastError says so.
func StatusOf(i cache.SharedInformer) (s Status, ok bool) {
	if ours, ok := shell.As[reporter](i); ok {
		return ours.Status(), true
	}
	if isNil(i) {
		return Status{Name: fmt.Sprintf("%T", i), State: Idle, LastError: errNil}, false
	}
	s = Status{Synced: i.HasSynced(), Name: i.HasSyncedChecker().Name()}
	if i.IsStopped() {
		s.State = Stopped
	}
	return s, false
}
