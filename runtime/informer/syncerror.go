package informer

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// SyncError says why an informer has not synced.
type SyncError struct {
	// Informer is its name, State what it is doing.
	Informer string
	State    State
	// Reason says in a word what is wrong: forbidden, unauthorized, not served,
	// throttled, unreachable or failed after an error, else not started, pending,
	// stopped, or waiting for the lists of other informers. It is for people:
	// programs ask State, [SyncError.Permanent], or [k8s.io/apimachinery/pkg/api/errors]
	// about Err.
	Reason string
	// Err is the last error, nil if there was none. Since is when the first of
	// the errors in a row happened, Attempts how many there were.
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
	return fmt.Sprintf("%s: %s since %s (attempt %d): %v", e.Informer, e.Reason, e.Since.Format(time.RFC3339), e.Attempts, e.Err)
}

// Unwrap returns Err.
func (e *SyncError) Unwrap() error { return e.Err }

// Permanent says that time alone rarely mends the error: missing permission,
// unknown credentials, or a resource that isn't served, which often is a missing
// CustomResourceDefinition. It is meant for [WaitForSyncOr].
func (e *SyncError) Permanent() bool {
	return apierrors.IsForbidden(e.Err) || apierrors.IsUnauthorized(e.Err) || isNotServed(e.Err)
}

func isNotServed(err error) bool {
	return apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err)
}

// NotSyncedError is what a wait for several informers returns.
type NotSyncedError struct {
	// Cause is why the wait ended, nil if it wasn't because of its context.
	Cause error
	// Informers are those that have not synced, by name.
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

// NotSynced returns why the informer has not synced, and nil if it has.
func (s Status) NotSynced() *SyncError {
	if s.Synced {
		return nil
	}
	e := &SyncError{Informer: s.Name, State: s.State, Reason: "pending"}
	if s.Failures > 0 {
		e.Err, e.Since, e.Attempts, e.Reason = s.LastError, s.FailingSince, s.Failures, reasonOf(s.LastError)
	}
	switch {
	case s.State == Waiting && s.Failures == 0:
		e.Reason = "waiting for the lists of other informers"
	case s.State == Stopped:
		e.Reason = "stopped"
	case s.State == Idle:
		e.Reason = "not started"
	}
	return e
}

// reasonOf sorts the errors of lists and watches.
func reasonOf(err error) string {
	var network net.Error
	var request *url.Error
	switch {
	case apierrors.IsForbidden(err):
		return "forbidden"
	case apierrors.IsUnauthorized(err):
		return "unauthorized"
	case isNotServed(err):
		return "not served"
	case apierrors.IsTooManyRequests(err):
		return "throttled"
	case apierrors.IsServiceUnavailable(err), errors.As(err, &network), errors.As(err, &request):
		return "unreachable"
	default:
		return "failed"
	}
}

func byName(errs []*SyncError) {
	slices.SortFunc(errs, func(a, b *SyncError) int { return strings.Compare(a.Informer, b.Informer) })
}
