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

	"github.com/kubewright/kubewright/runtime/internal/reflector"
)

// Reason says in a word why an informer has not synced.
type Reason string

const (
	// Forbidden is missing permission to list or watch.
	Forbidden Reason = "forbidden"
	// Unauthorized is credentials that the server doesn't know.
	Unauthorized Reason = "unauthorized"
	// NotServed is a resource that the server doesn't have: often a
	// CustomResourceDefinition that is missing, or another version of it.
	NotServed Reason = "not served"
	// Throttled is a server that asks to come back later.
	Throttled Reason = "throttled"
	// Unreachable is no answer from the server.
	Unreachable Reason = "unreachable"
	// Failed is any other error.
	Failed Reason = "failed"
	// Waiting is a list that has to wait for those of other informers with the
	// same limiter.
	Waiting Reason = "waiting for the lists of other informers"
	// Pending is nothing that went wrong so far.
	Pending Reason = "pending"
	// NotStarted and Stopped are an informer that doesn't run.
	NotStarted Reason = "not started"
	Stopped    Reason = "stopped"
)

// SyncError says why an informer has not synced.
type SyncError struct {
	// Informer is its name.
	Informer string
	Reason   Reason
	// Err is the last error, nil if there was none. Since is when the first of
	// the errors in a row happened, Attempts how many there were.
	Err      error
	Since    time.Time
	Attempts int
}

func (e *SyncError) Error() string {
	switch {
	case e.Err == nil && e.Reason == NotStarted:
		return fmt.Sprintf("%s: %s: call Start of its factory, or its own Run", e.Informer, e.Reason)
	case e.Err == nil:
		return fmt.Sprintf("%s: %s", e.Informer, e.Reason)
	}
	return fmt.Sprintf("%s: %s since %s (attempt %d): %v", e.Informer, e.Reason, e.Since.Format(time.RFC3339), e.Attempts, e.Err)
}

// Unwrap returns Err.
func (e *SyncError) Unwrap() error { return e.Err }

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
	e := &SyncError{Informer: s.Name, Reason: Pending}
	if s.Failures > 0 {
		e.Err, e.Since, e.Attempts, e.Reason = s.LastError, s.FailingSince, s.Failures, reasonOf(s.LastError)
	}
	switch {
	case s.State == reflector.Waiting && s.Failures == 0:
		e.Reason = Waiting
	case s.State == reflector.Stopped:
		e.Reason = Stopped
	case s.State == reflector.Idle:
		e.Reason = NotStarted
	}
	return e
}

// reasonOf sorts the errors of lists and watches.
func reasonOf(err error) Reason {
	var network net.Error
	var request *url.Error
	switch {
	case apierrors.IsForbidden(err):
		return Forbidden
	case apierrors.IsUnauthorized(err):
		return Unauthorized
	case apierrors.IsNotFound(err), apierrors.IsMethodNotSupported(err):
		return NotServed
	case apierrors.IsTooManyRequests(err):
		return Throttled
	case apierrors.IsServiceUnavailable(err), errors.As(err, &network), errors.As(err, &request):
		return Unreachable
	default:
		return Failed
	}
}

func byName(errs []*SyncError) {
	slices.SortFunc(errs, func(a, b *SyncError) int { return strings.Compare(a.Informer, b.Informer) })
}
