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
	"github.com/kubewright/kubewright/runtime/internal/shell"
)

// startPatience is how long who waits for a factory lets others start it: once
// they get there, that takes microseconds.
const startPatience = time.Second

// errNotStarted is why a wait ends for what nobody starts.
var errNotStarted = errors.New("not all were started")

// WaitForSync waits, on channels, until every informer that f, a generated
// factory, was asked for by now has synced. If ctx is done before, the error is an
// *[informer.NotSyncedError] that says of each that has not why, since when, and
// how often it was tried.
//
// The same error comes a second after the call if there are informers then that
// nobody has started, and says which: forgetting Start, or asking for one after
// it, is no success here, as it is for the factory's own WaitForCacheSync. Who
// starts informers much later waits for them then, or for the others with
// [informer.WaitForSync]. Informers of another make are waited for if f has
// started them.
func WaitForSync(ctx context.Context, f any) error {
	return WaitForSyncOr(ctx, f, func(*informer.SyncError) bool { return false })
}

// WaitForSyncOr is WaitForSync that also ends as soon as giveUp, which may be
// [informer.SyncError.Permanent], says so of an informer's error.
func WaitForSyncOr(ctx context.Context, f any, giveUp func(*informer.SyncError) bool) error {
	o, err := ownerOf(f)
	if err != nil {
		return err
	}
	informers := observed(o)
	if slices.ContainsFunc(notStarted(o), among(informers)) {
		patient, cancel := context.WithTimeoutCause(ctx, startPatience, errNotStarted)
		defer cancel()
		err := informer.WaitForSyncOr(patient, giveUp, informers...)
		if err == nil || !errors.Is(err, errNotStarted) || slices.ContainsFunc(notStarted(o), among(informers)) {
			return err
		}
	}
	return informer.WaitForSyncOr(ctx, giveUp, informers...)
}

// HealthCheck returns a check of all informers that f, a generated factory, has
// been asked for when the check is made; see [informer.HealthCheck]. Where it is
// asked for Synced, an informer that nobody has started is not healthy: a program
// that starts them only when it leads is ready no sooner by this check. Informers
// of another make are looked at if f has started them.
func HealthCheck(f any, options informer.HealthOptions) func(*http.Request) error {
	return func(request *http.Request) error {
		o, err := ownerOf(f)
		if err != nil {
			return err
		}
		informers := observed(o)
		slices.SortStableFunc(informers, func(a, b cache.SharedInformer) int { return strings.Compare(nameOf(a), nameOf(b)) })
		return informer.HealthCheck(options, informers...)(request)
	}
}

func nameOf(i cache.SharedInformer) string {
	status, _ := informer.StatusOf(i)
	return status.Name
}

// observed returns the informers of ours and those that the factory has started:
// others may run without our knowing.
func observed(o owner) []cache.SharedInformer {
	var list []cache.SharedInformer
	started, others := o.all()
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

// notStarted returns the informers that neither the factory nor, as far as known,
// somebody else has started.
func notStarted(o owner) []cache.SharedInformer {
	var list []cache.SharedInformer
	_, others := o.all()
	for _, i := range others {
		s, _ := informer.StatusOf(i)
		if e := s.NotSynced(); e != nil && e.State == informer.Idle {
			list = append(list, i)
		}
	}
	return list
}

func among(informers []cache.SharedInformer) func(cache.SharedInformer) bool {
	return func(i cache.SharedInformer) bool {
		return slices.ContainsFunc(informers, func(one cache.SharedInformer) bool { return shell.Same(one, i) })
	}
}
