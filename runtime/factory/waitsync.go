package factory

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/internal/unwrap"
)

// startPatience is how long WaitForSync waits for informers to be started. Starting them on
// another goroutine takes microseconds.
const startPatience = time.Second

// errNotStarted is why a wait ends if informers are not started.
var errNotStarted = errors.New("not all were started")

// WaitForSync waits, without polling, until every informer that f has made by the time
// of the call has synced. If ctx is done first, it returns an *[informer.NotSyncedError], which reports for
// each informer that has not synced why, since when, and after how many attempts. WaitForSync is safe for
// concurrent use.
//
// It also returns a NotSyncedError after a second if an informer has not been started by then. So, unlike
// with the factory's own WaitForCacheSync, a forgotten Start is an error, and so is an informer that was
// requested after Start. A program that starts informers later should call WaitForSync after that, or wait
// for the others with [informer.WaitForSync]. WaitForSync waits for informers of other packages only if f has
// started them.
func WaitForSync(ctx context.Context, f Interface) error {
	return WaitForSyncOr(ctx, f, func(*informer.SyncError) bool { return false })
}

// WaitForSyncOr is like WaitForSync, but also ends when giveUp returns true for an informer's error. giveUp
// may be (*[informer.SyncError]).Permanent.
func WaitForSyncOr(ctx context.Context, f Interface, giveUp func(*informer.SyncError) bool) error {
	set, err := informersOf(f)
	if err != nil {
		return err
	}
	informers := observable(set)
	if notStarted(set, informers) {
		patient, cancel := context.WithTimeoutCause(ctx, startPatience, errNotStarted)
		defer cancel()
		err := informer.WaitForSyncOr(patient, giveUp, informers...)
		if err == nil || !errors.Is(err, errNotStarted) || notStarted(set, informers) {
			return err
		}
	}
	return informer.WaitForSyncOr(ctx, giveUp, informers...)
}

// HealthCheck returns a check of all informers that f has made when the check runs; see
// [informer.HealthCheck]. With options.Synced, an informer that was not started is unhealthy, so a program
// that starts its informers only as the leader is not ready before it leads. Informers of other packages are
// checked only if f has started them. The check is safe for concurrent use.
func HealthCheck(f Interface, options informer.HealthOptions) func(*http.Request) error {
	return func(request *http.Request) error {
		set, err := informersOf(f)
		if err != nil {
			return err
		}
		informers := observable(set)
		slices.SortStableFunc(informers,
			func(a, b cache.SharedInformer) int { return strings.Compare(nameOf(a), nameOf(b)) })
		return informer.HealthCheck(options, informers...)(request)
	}
}

func nameOf(i cache.SharedInformer) string {
	status, _ := informer.StatusOf(i)
	return status.Name
}

// observable returns the informers whose state is known: those of package informer, and those
// that the factory has started.
func observable(set informers) []cache.SharedInformer {
	var list []cache.SharedInformer
	started, others := set.Informers()
	for _, i := range started {
		list = append(list, i)
	}
	for _, i := range others {
		if _, ours := informer.StatusOf(i); ours {
			list = append(list, i)
		}
	}
	return list
}

// notStarted reports whether one of the informers was not started, by the factory or otherwise.
func notStarted(set informers, informers []cache.SharedInformer) bool {
	_, others := set.Informers()
	return slices.ContainsFunc(others, func(i cache.SharedIndexInformer) bool {
		s, _ := informer.StatusOf(i)
		return !s.Synced && s.State == informer.Idle && slices.ContainsFunc(informers,
			func(one cache.SharedInformer) bool { return unwrap.Same(one, i) })
	})
}
