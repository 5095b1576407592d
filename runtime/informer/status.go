package informer

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/internal/clientgo"
	"github.com/kubewright/kubewright/runtime/internal/unwrap"
	"github.com/kubewright/kubewright/runtime/listwatch"
)

// State is what an informer is currently doing. While it reads a list, the state is "Listing" for a list in
// pages, "Streaming" for a list as the initial events of a watch. While its kind isn't served it is Absent of
// package optional. The others are constants.
type State string

const (
	// Idle: the informer has not been started.
	Idle State = "Idle"
	// Waiting: its list waits for those of other informers that share the limiter.
	Waiting State = "Waiting"
	// Watching: it receives changes.
	Watching State = "Watching"
	// BackingOff: it waits before the next attempt, or until it is certain whether its kind is served.
	BackingOff State = "BackingOff"
	// Stopped: it has run and stopped.
	Stopped State = "Stopped"
)

// Status is the state of an informer and its handlers. The time of an event that has not happened is zero.
// The fields are read one after another while the informer runs, so they may differ by some changes.
type Status struct {
	// Name is made from what the informer caches: "informer of apps/v1 deployments in
	// namespace shop", or from the type of its objects if the resource is unknown. The name
	// that identifies the informer in metrics, if it has one, follows in brackets. An informer made from a
	// ListerWatcher is named after the kind or the type of its objects; its namespace comes last, once known.
	Name string
	// Type is the type of its objects, Resource and Namespace are what it lists. Namespace is empty for all
	// namespaces. For an informer made from a ListerWatcher, both are known once the transport of
	// listwatch.Wrap has seen a request; they stay empty without that transport, and if the functions request
	// several.
	Type      string
	Resource  schema.GroupVersionResource
	Namespace string
	// LabelSelector and FieldSelector are those of the last request. Dropped are the fields that are left out
	// of objects, see Drop of Options. Indexes are the names of the cache's indexes, sorted.
	LabelSelector, FieldSelector string
	Dropped, Indexes             []string
	// State is what the informer is doing at the server, Since when that began.
	State State
	Since time.Time
	// ServedVersions are the versions in which the server serves the resource while this one is Absent, as far
	// as the last discovery knows.
	ServedVersions []string
	// Synced is set if the store holds a complete list. Listed is when the last list became visible,
	// zero while an optional kind is absent.
	Synced bool
	Listed time.Time
	// Lists counts the lists that became visible, and Watches the watches that were opened. ListTook is how long
	// the last list took, with its waits for others, and ListItems how many objects the server sent in it.
	// Relisted is why the last list but the first was necessary.
	// An informer of a part (runtime/shard/partial) lists ranges for the first time whenever some are added:
	// Relisted is never about that.
	Lists, Watches int
	ListTook       time.Duration
	ListItems      int
	Relisted       error
	// RecentLists are when the last three lists became visible, the latest last. The first is zero if there were
	// fewer. While an informer of a part reads some ranges apart, these are the lists of the ranges that were
	// listed most often lately. RelistingSince is when the first relist of those became visible of which each
	// three lists were within three minutes, zero if the last three weren't.
	RecentLists    [3]time.Time
	RelistingSince time.Time
	// ListingSince is when the list that is under way began, later by its waits for others that are over, zero
	// if none is. A list that is tried again at once, or after a refusal of the server, goes on.
	// Relisting is the error that made it necessary, nil if there was none.
	ListingSince time.Time
	Relisting    error
	// LastError is the last error of a list or watch, even if a later attempt succeeded. It also reports
	// server versions that went back, though that is not a failure. Failures counts the failures in a row
	// since a watch was last opened, and FailingSince is when the first of them happened. Both are zero if
	// there was none.
	LastError    error
	FailingSince time.Time
	Failures     int
	// LastEvent is when a watch last delivered anything, bookmarks included. LastBookmark is when the current
	// watch, or until it opens the one before, last delivered a bookmark, not counting the one that ends initial
	// events. A server that has sent one on a watch sends one about every minute, so an older one means that the
	// connection may be dead. Zero means nothing: a server without a watch cache sends none, and one whose etcd
	// sends no progress notifications sends none until something changes after the watch began.
	LastEvent, LastBookmark time.Time
	// FindsMutations is set if some cached objects are compared with copies, see MutationSample of Options.
	// Mutations counts those that were found to be modified. MutatedSince is when the first was found,
	// MutatedObject the last one.
	FindsMutations bool
	Mutations      int
	MutatedSince   time.Time
	MutatedObject  string
	// ResourceVersion is the version of the collection that the store reflects.
	ResourceVersion string
	// Objects is the number of objects in the store. Queued is the number of changes
	// that were read from the server and are not in the store yet.
	Objects, Queued int
	// Reading counts the lists and watches that were decoded while they arrived, and those
	// that weren't, with a reason. It also says whether the server was asked not to send managedFields.
	Reading  listwatch.Reading
	Handlers []HandlerStatus
	// Lag is how old objects were when watches delivered that they were added or modified: from the newest time
	// in their metadata.managedFields, which may be dropped by this informer but not by the server, until they
	// arrived. That is when somebody last wrote them, if only their status. It is counted from the first call of
	// CountLag on, for changes that this module decodes. These times are whole seconds, so ages are up to a
	// second too high, and clocks differ: negative ages count as 0. Objects that are being deleted don't count,
	// because the request to delete them leaves these times alone.
	Lag struct {
		Since time.Time
		// Buckets have the objects that are older than those of the bucket before, and up to UpTo seconds old.
		// The last one, whose UpTo is 0, has all that are older. Objects is how many all of them have, Seconds the
		// sum of their ages.
		Buckets []struct {
			UpTo    float64
			Objects uint64
		}
		Objects uint64
		Seconds float64
		// Absent is why there are none.
		Absent string
	}
	// CountLag makes the informer count Lag. Until the first call it isn't, because that takes time.
	CountLag func() `json:"-"`
	// Find returns the object that the store has by a key now. The object must not be modified. Find is nil if
	// the status isn't an informer's own.
	Find func(key string) (obj any, ok bool) `json:"-"`
}

// HandlerStatus is the state of a handler.
type HandlerStatus struct {
	Name string
	// At is the file and the line where the handler was added, "" if its options name it, or where a loop called
	// Events. It tells handlers apart that one function adds, or that have one type.
	At string
	// Synced is set if the handler has received the initial list, Busy if it hasn't returned from a
	// notification, or is about to be given one. Backlog is how many notifications wait for it, without that
	// one. Delivered grows with each notification that it is given. Panics is how often it has panicked,
	// Panicked when it last did. PanickingSince is when the last series of panics began, which are at most ten
	// minutes apart. Both are nil if it never has.
	Synced, Busy             bool
	Backlog                  int
	Delivered                uint64
	Panics                   int
	Panicked, PanickingSince *time.Time
}

// reporter is an informer that has a Status, like those of this module.
type reporter interface{ Status() Status }

// StatusOf returns the state of any informer. If it is not an informer of this module, ok is false and s has
// only Name, Synced and whether it has stopped; if it can't be told, because this version of client-go hides
// the informer inside its typed one, also Reading.NotStreamed. For a nil informer, ok is false and LastError
// is set. It is safe for concurrent use.
func StatusOf(i cache.SharedInformer) (s Status, ok bool) {
	if ours, ok := unwrap.As[reporter](i); ok {
		return ours.Status(), true
	}
	if isNil(i) {
		return Status{Name: fmt.Sprintf("%T", i), State: Idle, LastError: errNil}, false
	}
	s = Status{Synced: i.HasSynced(), Name: i.HasSyncedChecker().Name()}
	_, _, s.Reading.NotStreamed = clientgo.Untyped(unwrap.Innermost(i))
	if i.IsStopped() {
		s.State = Stopped
	}
	return s, false
}

// SyncError describes why an informer has not synced.
type SyncError struct {
	// Informer is the informer's name, State what it is doing.
	Informer string
	State    State
	// Reason is a short description for people. After an error it is "forbidden", "unauthorized", "not
	// served", "throttled", "unreachable", "undecodable" or "failed"; else it is "not started", "pending",
	// "stopped" or "waiting for the lists of other informers". Programs should check State,
	// [SyncError.Permanent], or Err with [k8s.io/apimachinery/pkg/api/errors].
	Reason string
	// Err is the last error, or nil if there was none. Attempts counts the errors in a row, and Since is when
	// the first of them happened.
	Err      error
	Since    time.Time
	Attempts int
}

func (e *SyncError) Error() string {
	switch {
	case e.Err == nil && e.State == Idle:
		return fmt.Sprintf("%s: %s: call Start of its factory, or its own Run", e.Informer, e.Reason)
	case e.Err == nil:
		return fmt.Sprintf("%s: %s", e.Informer, e.Reason)
	}
	stopped, advice := "", ""
	if e.State == Stopped {
		stopped = ", has stopped"
	}
	if _, ok := errors.AsType[*listwatch.DecodingError](e.Err); !ok && apierrors.IsNotFound(e.Err) {
		advice = " (a custom resource needs its CustomResourceDefinition, with this version)"
	}
	return fmt.Sprintf("%s: %s since %s (attempt %d%s): %v%s", e.Informer, e.Reason,
		e.Since.Format(time.RFC3339), e.Attempts, stopped, e.Err, advice)
}

// Unwrap returns Err.
func (e *SyncError) Unwrap() error { return e.Err }

// Permanent reports whether the error rarely goes away by itself: missing permissions, unknown credentials, a
// resource that isn't served, often because its CustomResourceDefinition is missing, or the refusal of a
// shard selector. It can be the giveUp of [WaitForSyncOr].
func (e *SyncError) Permanent() bool {
	var refused interface{ Permanent() bool }
	return errors.As(e.Err, &refused) && refused.Permanent() || apierrors.IsForbidden(e.Err) ||
		apierrors.IsUnauthorized(e.Err) || isNotServed(e.Err)
}

func isNotServed(err error) bool {
	return apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err)
}

// NotSyncedError is returned by [WaitForSync] and [WaitForSyncOr].
type NotSyncedError struct {
	// Cause is why the context ended, or nil if the wait ended for another reason.
	Cause error
	// Informers has an error for each informer that has not synced, sorted by name.
	Informers []*SyncError
}

func (e *NotSyncedError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d informers have not synced", len(e.Informers))
	if len(e.Informers) == 1 {
		b.Reset()
		b.WriteString("an informer has not synced")
	}
	if e.Cause != nil {
		fmt.Fprintf(&b, " (%v)", e.Cause)
	}
	for n, one := range e.Informers {
		b.WriteString([]string{": ", "; "}[min(n, 1)])
		b.WriteString(one.Error())
	}
	return b.String()
}

// Unwrap returns the cause and each informer's error.
func (e *NotSyncedError) Unwrap() []error {
	var all []error
	if e.Cause != nil {
		all = append(all, e.Cause)
	}
	for _, one := range e.Informers {
		all = append(all, one)
	}
	return all
}

// NotSynced returns why the informer has not synced, or nil if it has.
func (s Status) NotSynced() *SyncError {
	if s.Synced {
		return nil
	}
	e := &SyncError{Informer: s.Name, State: s.State, Reason: "pending"}
	switch {
	case s.Failures > 0:
		// The failure is the reason even if the informer has stopped since.
		e.Err, e.Since, e.Attempts, e.Reason = s.LastError, s.FailingSince, s.Failures, reasonOf(s.LastError)
	case s.State == Waiting:
		e.Reason = "waiting for the lists of other informers"
	case s.State == Stopped:
		e.Reason = "stopped"
	case s.State == Idle:
		e.Reason = "not started"
	}
	return e
}

// reasonOf returns the Reason for an error of a list or watch.
func reasonOf(err error) string {
	var network net.Error
	var decoding *listwatch.DecodingError
	switch {
	case apierrors.IsForbidden(err):
		return "forbidden"
	case apierrors.IsUnauthorized(err):
		return "unauthorized"
	case isNotServed(err):
		return "not served"
	case apierrors.IsTooManyRequests(err):
		return "throttled"
	case apierrors.IsServiceUnavailable(err), errors.As(err, &network):
		return "unreachable"
	case errors.As(err, &decoding) && decoding.Status >= http.StatusInternalServerError:
		return "unreachable" // A proxy or a load balancer before the server answers.
	case errors.As(err, &decoding):
		return "undecodable"
	default:
		return "failed"
	}
}
