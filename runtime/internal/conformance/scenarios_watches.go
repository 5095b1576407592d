package conformance

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/internal/guarantee"
)

// watches are scenarios of watches, their events and their ends.
var watches = []Scenario{
	{Name: "a watch is over", Guarantee: guarantee.Resumable, Script: func(w *World) {
		w.Put("a")
		w.Handle("h")
		w.Start()
		bubble.Pass(11 * time.Minute)
		w.Server.Observe(nil) // the number of watches depends on random timeouts
		w.requests.takeLines()
		w.Put("b")
	}},
	{Name: "a watch is over at once", Guarantee: guarantee.BoundedLoad, Script: func(w *World) {
		w.HandleErrors()
		w.Put("a")
		w.Handle("h")
		w.Start()
		w.Server.CloseWatches()
		w.Step("close")
		w.Advance(LongEnough)
	}},
	{Name: "a watch is over after one event", Guarantee: guarantee.Resumable, Script: func(w *World) {
		w.Put("a")
		w.Handle("h")
		w.Start()
		w.Put("b")
		w.Server.CloseWatches()
		w.Step("close")
		w.Put("b")
	}},
	{Name: "changes while nobody watches", Guarantee: guarantee.Complete, Script: func(w *World) {
		w.Put("a", "b")
		w.Handle("h")
		w.Start()
		w.Advance(time.Minute)
		w.Server.Fail("WATCH", errBusy)
		w.Server.CloseWatches()
		w.Step("close")
		w.Put("a", "a", "c")
		w.Remove("b")
		w.Advance(LongEnough)
	}},
	{Name: "created, changed and deleted while nobody watches", Guarantee: guarantee.Complete,
		Script: func(w *World) {
			w.Handle("h")
			w.Start()
			w.Advance(time.Minute)
			w.Server.Fail("WATCH", errRefused)
			w.Server.CloseWatches()
			w.Step("close")
			w.Put("a", "a")
			w.Remove("a")
			w.Advance(LongEnough)
		}},
	{Name: "the watch has expired when it is opened", Guarantee: guarantee.Converging, Script: func(w *World) {
		w.HandleErrors()
		w.Put("a")
		w.Handle("h")
		w.Start()
		w.Advance(time.Minute)
		w.Server.Fail("WATCH", expired())
		w.Server.CloseWatches()
		w.Step("close")
		w.Advance(LongEnough)
	}},
	{Name: "the watch is gone", Guarantee: guarantee.Converging, Script: func(w *World) {
		w.Put("a")
		w.Handle("h")
		w.Start()
		w.Server.FailWatches(apierrors.NewGone("gone"))
		w.Missed(nil, []string{"a"})
		w.Advance(LongEnough)
	}},
	{Name: "nobody is known any more", Guarantee: guarantee.Converging, Script: func(w *World) {
		w.HandleErrors()
		w.Put("a")
		w.Start()
		w.Server.FailWatches(errUnauthorized)
		w.Step("unauthorized")
		w.Server.Fail("WATCH", errUnauthorized)
		w.Server.Fail("LIST", errUnauthorized)
		w.Advance(LongEnough)
		w.Advance(LongEnough)
	}},
	{Name: "the resource is gone, and comes back", Guarantee: guarantee.Converging, Script: func(w *World) {
		w.HandleErrors()
		w.Put("a", "b")
		w.Handle("h")
		w.Start()
		w.Server.Fail("WATCH", errNotFound)
		w.Server.Fail("LIST", errNotFound)
		w.Server.FailWatches(errNotFound)
		w.Missed(nil, []string{"b"})
		w.Advance(2 * time.Second)
		w.Advance(LongEnough)
	}},
	{Name: "an added object that is known", Guarantee: guarantee.Complete, Script: func(w *World) {
		w.Put("a")
		w.Handle("h")
		w.Start()
		w.Inject(watch.Added, "a", "300")
	}},
	{Name: "a changed object that isn't known", Guarantee: guarantee.Complete, Script: func(w *World) {
		w.Handle("h")
		w.Start()
		w.Inject(watch.Modified, "a", "300")
	}},
	{Name: "the same event twice", Guarantee: guarantee.Unique,
		Options: InformerOptions{ResyncPeriod: time.Hour}, Script: func(w *World) {
			w.Handle("resyncs")
			w.Handle("doesn't", 0)
			w.Start()
			w.Inject(watch.Modified, "a", "300")
			w.Inject(watch.Modified, "a", "300")
			w.Advance(time.Minute)
		}},
	{Name: "an older state of an object", Guarantee: guarantee.Ordered, Script: func(w *World) {
		w.Put("a")
		w.Handle("h")
		w.Start()
		w.Inject(watch.Modified, "a", "90")
		w.Inject(watch.Deleted, "a", "80")
	}},
	{Name: "an event of no known type", Guarantee: guarantee.Converging, Script: func(w *World) {
		w.Handle("h")
		w.Start()
		w.Inject("SURPRISE", "a", "300")
		w.Put("b")
	}},
	{Name: "a bookmark of another type", Guarantee: guarantee.Converging, Script: func(w *World) {
		w.Put("a")
		w.Start()
		w.Server.Inject(watch.Event{Type: watch.Bookmark,
			Object: &corev1.Secret{ObjectMeta: metav1.ObjectMeta{ResourceVersion: "999"}}})
		w.Step("inject")
		w.Advance(time.Minute)
		w.Server.CloseWatches()
		w.Step("close")
	}},
	{Name: "an error that is no status", Guarantee: guarantee.Converging, Script: func(w *World) {
		w.HandleErrors()
		w.Put("a")
		w.Handle("h")
		w.Start()
		w.Server.Inject(watch.Event{Type: watch.Error, Object: &corev1.ConfigMap{}})
		w.Step("inject")
		w.Advance(LongEnough)
	}},
	{Name: "an event of an object without a version", Guarantee: guarantee.Complete, Script: func(w *World) {
		w.Put("a")
		w.Handle("h")
		w.Start()
		w.Inject(watch.Added, "b", "")
		w.Advance(time.Minute)
		w.Server.CloseWatches()
		w.Step("close")
	}, Differs: "in client-go the store forgets its version"},
	{Name: "a busy server says for how long", Guarantee: guarantee.BoundedLoad,
		Server: (*ConfigMaps).NoWatchListClient,
		Script: func(w *World) {
			w.Server.Fail("WATCH", apierrors.NewTooManyRequests("busy", 100))
			w.Put("a")
			w.Start()
			w.Advance(LongEnough)
			w.Advance(LongEnough)
		}, Differs: "client-go asks again earlier"},
	{Name: "bookmarks between changes", Guarantee: guarantee.Resumable, Script: func(w *World) {
		w.Handle("h")
		w.Start()
		w.Put("a")
		w.Server.Skip(5)
		w.Server.Bookmark()
		w.Step("bookmark")
		w.Put("a")
		w.Server.Bookmark()
		w.Step("bookmark of no news")
	}},
}

// expired returns the error of a server that no longer has the history since a version.
func expired() *apierrors.StatusError {
	return apierrors.NewResourceExpired("too old resource version")
}
