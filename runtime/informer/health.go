package informer

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/internal/served"
)

// HealthOptions define when an informer is unhealthy.
type HealthOptions struct {
	// FailingFor is how long lists and watches may keep failing. Zero means a minute.
	FailingFor time.Duration
	// SilentFor is how long an open watch may deliver nothing, not even a bookmark. Zero means unlimited. Some
	// servers send no bookmarks while nothing changes, see LastBookmark of [Status]: with them, an idle watch is
	// unhealthy, too.
	SilentFor time.Duration
	// Backlog is how many notifications may wait for a handler. Zero means unlimited.
	Backlog int
	// Synced makes an informer unhealthy until it has synced, for a readiness
	// check.
	Synced bool
	// Served makes an informer unhealthy while its kind is absent, see Options.Definitions.
	Served bool
}

// HealthCheck returns a check of informers for a health endpoint. It has the type of controller-runtime's
// healthz.Checker and of the function that apiserver's healthz.NamedCheck takes. Its error gives the reason
// for each unhealthy informer: it has stopped, it fails, or it violates one of the options. For an informer
// of another package, it checks only whether it has stopped or synced. A nil informer is unhealthy. The check
// is safe for concurrent use.
func HealthCheck(options HealthOptions, informers ...cache.SharedInformer) func(*http.Request) error {
	return func(*http.Request) error {
		var errs []error
		for n, i := range informers {
			if isNil(i) {
				errs = append(errs, missing(n, len(informers)))
				continue
			}
			s, _ := StatusOf(i)
			errs = append(errs, options.check(s, time.Now()))
		}
		return errors.Join(errs...)
	}
}

// missing returns the error for a nil informer: the n-th of several, counted from 0.
func missing(n, of int) error { return fmt.Errorf("informer %d of %d: %w", n+1, of, errNil) }

// defaultFailingFor is longer than the restart of a server takes.
const defaultFailingFor = time.Minute

func (o HealthOptions) check(s Status, now time.Time) error {
	patience := cmp.Or(o.FailingFor, defaultFailingFor)
	switch {
	case s.State == Stopped:
		return fmt.Errorf("%s: stopped", s.Name)
	case o.Synced && !s.Synced:
		return s.NotSynced()
	case o.Served && s.State == State(served.AbsentState):
		return s.absence()
	case s.Failures > 0 && now.Sub(s.FailingSince) > patience:
		return fmt.Errorf("%s: %s since %s (attempt %d): %w", s.Name, reasonOf(s.LastError),
			s.FailingSince.Format(time.RFC3339), s.Failures, s.LastError)
	case o.SilentFor > 0 && s.State == Watching && now.Sub(latest(s.LastEvent, s.Since)) > o.SilentFor:
		return fmt.Errorf("%s: nothing arrived on the watch since %s", s.Name,
			latest(s.LastEvent, s.Since).Format(time.RFC3339))
	}
	for _, h := range s.Handlers {
		if o.Backlog > 0 && h.Backlog > o.Backlog {
			return fmt.Errorf("%s: %d notifications wait for handler %s", s.Name, h.Backlog, h.Name)
		}
	}
	return nil
}

// absence says since when a kind is absent, and in which versions it is served.
func (s Status) absence() error {
	versions := "the server doesn't serve it"
	if len(s.ServedVersions) > 0 {
		versions = "the server serves it as " + strings.Join(s.ServedVersions, ", ")
	}
	return fmt.Errorf("%s: absent since %s: %s", s.Name, s.Since.Format(time.RFC3339), versions)
}

func latest(times ...time.Time) time.Time { return slices.MaxFunc(times, time.Time.Compare) }
