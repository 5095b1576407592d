package conformance

import (
	"errors"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/internal/guarantee"
)

var (
	errBroken = apierrors.NewInternalError(errors.New("broken"))
	errDenied = apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "", errors.New("no"))
	errBusy   = apierrors.NewTooManyRequests("busy", 0)
)

// Scenarios are those that every informer has to pass.
var Scenarios = slices.Concat(basics, lists, streams, watches, foreignSources, handlers, resyncs, transforms,
	oddTransforms, stores, stops)

var basics = []Scenario{
	{Name: "an empty server", Guarantee: guarantee.SyncedMeansDelivered, Script: func(w *World) {
		w.Handle("h")
		w.Start()
		w.Put("a")
	}},
	{Name: "a list and changes", Guarantee: guarantee.Complete, Script: func(w *World) {
		w.Put("a", "b")
		w.Handle("h")
		w.Start()
		w.Put("a", "c")
		w.Remove("b")
		w.Put("b")
	}},
	{Name: "a list that is not streamed and changes", Guarantee: guarantee.Complete,
		Server: (*ConfigMaps).NoWatchListClient,
		Script: func(w *World) {
			w.Put("a", "b", "c")
			w.Handle("h")
			w.Start()
			w.Put("a")
		}},
	{Name: "a server that can't stream lists", Guarantee: guarantee.Converging, Script: func(w *World) {
		w.Server.NoWatchList()
		w.Put("a")
		w.Handle("h")
		w.Start()
		w.Relist(func() { w.Missed([]string{"a", "b"}, nil) })
	}},
	{Name: "several handlers", Guarantee: guarantee.Complete, Script: func(w *World) {
		w.Put("a")
		w.Handle("h1")
		w.Handle("h2")
		w.Start()
		w.Put("a", "b")
		w.Remove("a")
	}},
	{Name: "a late handler", Guarantee: guarantee.SyncedMeansDelivered, Script: func(w *World) {
		w.Put("a", "b")
		w.Handle("early")
		w.Start()
		w.Put("c")
		w.Remove("a")
		w.Handle("late")
		w.Put("b", "d")
	}},
	{Name: "a handler that leaves", Guarantee: guarantee.NoLeak, Script: func(w *World) {
		w.Put("a")
		h := w.Handle("leaves")
		w.Handle("stays")
		w.Start()
		w.Unhandle(h)
		w.Put("a", "b")
		w.Unhandle(h)
		w.Handle("comes")
	}},
	{Name: "a handler after the end", Guarantee: guarantee.NoLeak, Script: func(w *World) {
		w.Put("a")
		w.Start()
		w.Stop()
		w.Handle("too late")
	}},
	{Name: "a slow handler", Guarantee: guarantee.Isolated, Script: func(w *World) {
		w.Put("a")
		slow := w.HandleSlowly("slow")
		w.Handle("fast")
		w.Start()
		w.Put("a", "b")
		w.Remove("a")
		w.Release(slow)
		w.Put("c")
	}},
	{Name: "a relist without changes", Guarantee: guarantee.Unique, Script: func(w *World) {
		w.Put("a", "b")
		w.Handle("h")
		w.Start()
		w.Relist(func() {})
	}},
	{Name: "a relist with changes", Guarantee: guarantee.Complete, Script: func(w *World) {
		w.Put("a", "b", "c")
		w.Handle("h")
		w.Start()
		w.Relist(func() { w.Missed([]string{"b", "d"}, []string{"a"}) })
	}},
	{Name: "a relist of nothing", Guarantee: guarantee.Complete, Script: func(w *World) {
		w.Put("a", "b")
		w.Handle("h")
		w.Start()
		w.Relist(func() { w.Missed(nil, []string{"a", "b"}) })
	}},
	{Name: "recreated while disconnected", Guarantee: guarantee.Complete, Script: func(w *World) {
		w.Put("a")
		w.Handle("h")
		w.Start()
		w.Relist(func() { w.Missed(nil, []string{"a"}); w.Missed([]string{"a"}, nil) })
	}},
	{Name: "a relist without changes and a handler that resyncs", Guarantee: guarantee.Complete,
		Options: InformerOptions{ResyncPeriod: time.Hour}, Script: func(w *World) {
			w.Put("a")
			w.Handle("resyncs")
			w.Handle("doesn't", 0)
			w.Start()
			w.Relist(func() {})
		}},
	{Name: "resyncs", Guarantee: guarantee.Complete,
		Options: InformerOptions{ResyncPeriod: time.Minute}, Script: func(w *World) {
			w.Put("a")
			w.Handle("every minute")
			w.Handle("every two", 2*time.Minute)
			w.Handle("never", 0)
			w.Start()
			for range 4 {
				w.Advance(time.Minute)
			}
		}},
	{Name: "a late handler wants resyncs", Guarantee: guarantee.Complete,
		Options: InformerOptions{ResyncPeriod: time.Minute},
		Script: func(w *World) {
			w.Put("a")
			w.Start()
			w.Handle("late", 90*time.Second)
			for range 4 {
				w.Advance(time.Minute)
			}
		}},
	{Name: "a late handler wants resyncs where there are none", Guarantee: guarantee.Complete,
		Script: func(w *World) {
			w.Put("a")
			w.Start()
			w.Handle("late", 90*time.Second)
			w.Advance(10 * time.Minute)
		}},
	{Name: "a closed stream", Guarantee: guarantee.Resumable, Script: func(w *World) {
		w.Put("a")
		w.Handle("h")
		w.Start()
		w.Advance(time.Minute)
		w.Server.CloseWatches()
		w.Step("close")
		w.Put("a")
	}},
	{Name: "a bookmark and a closed stream", Guarantee: guarantee.Resumable, Script: func(w *World) {
		w.Put("a")
		w.Start()
		w.Server.Skip(10)
		w.Server.Bookmark()
		w.Step("bookmark")
		w.Server.CloseWatches()
		w.Step("close")
	}},
	{Name: "history is gone", Guarantee: guarantee.Converging, Script: func(w *World) {
		w.Put("a")
		w.Handle("h")
		w.Start()
		w.Put("b")
		w.Server.Skip(1)
		w.Server.Compact()
		w.Server.CloseWatches() // last, as the informer watches again at once
		w.Step("close")
		w.Advance(LongEnough)
	}},
	{Name: "the list is denied", Guarantee: guarantee.Converging,
		Server: (*ConfigMaps).NoWatchListClient, Script: func(w *World) {
			w.Server.Fail("LIST", errDenied)
			w.Put("a")
			w.Handle("h")
			w.Start()
			w.Advance(LongEnough)
		}},
	{Name: "the watch is denied", Guarantee: guarantee.Converging,
		Server: (*ConfigMaps).NoWatchListClient, Script: func(w *World) {
			w.Server.Fail("WATCH", errDenied)
			w.Put("a")
			w.Handle("h")
			w.Start()
			w.Advance(LongEnough)
		}},
	{Name: "a busy server", Guarantee: guarantee.BoundedLoad, Script: func(w *World) {
		w.Server.Fail("WATCH", errBusy)
		w.Put("a")
		w.Handle("h")
		w.Start()
		w.Advance(LongEnough)
		w.Server.FailWatches(errBusy)
		w.Advance(LongEnough)
	}},
	{Name: "a broken stream", Guarantee: guarantee.Converging, Script: func(w *World) {
		w.Put("a")
		w.Handle("h")
		w.Start()
		w.Server.FailWatches(errBroken)
		w.Step("break")
		w.Put("b")
		w.Advance(LongEnough)
	}},
	{Name: "an object of another type", Guarantee: guarantee.Complete, Script: func(w *World) {
		w.Handle("h")
		w.Start()
		w.Server.Inject(watch.Event{Type: watch.Added,
			Object: &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s", ResourceVersion: "999"}}})
		w.Step("inject")
		w.Put("a")
	}},
	{Name: "a deletion of what isn't known", Guarantee: guarantee.Complete, Script: func(w *World) {
		w.Handle("h")
		w.Start()
		w.Server.Inject(watch.Event{Type: watch.Deleted,
			Object: &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: "x",
				ResourceVersion: "200"}}})
		w.Step("inject")
	}},
	{Name: "changes before the end of a watch-list", Guarantee: guarantee.SyncedMeansDelivered,
		Script: func(w *World) {
			w.startUnended("a", "b")
			w.Put("a", "c")
			w.Remove("b")
			w.endInitialEvents()
		}},
	{Name: "stopped before it has synced", Guarantee: guarantee.NoLeak, Script: func(w *World) {
		w.startUnended("a")
	}},
	{Name: "stopped twice", Guarantee: guarantee.NoLeak, Script: func(w *World) {
		w.Put("a")
		w.Start()
		w.Stop()
		w.Start()
	}},
	{Name: "indexes", Guarantee: guarantee.IndexEqualsScan,
		Options: InformerOptions{Indexers: cache.Indexers{"namespace": cache.MetaNamespaceIndexFunc}},
		Script: func(w *World) {
			w.Put("a", "b")
			w.Start()
			note := func() {
				found, err := w.Informer.GetIndexer().IndexKeys("namespace", Namespace)
				w.Note("%v %v", found, err)
			}
			note()
			w.Remove("a")
			note()
			err := w.Informer.AddIndexers(cache.Indexers{"namespace": cache.MetaNamespaceIndexFunc})
			w.Note("a taken name: %t", err != nil)
			err = w.Informer.AddIndexers(cache.Indexers{"name": func(obj any) ([]string, error) {
				return []string{obj.(metav1.Object).GetName()}, nil
			}})
			found, _ := w.Informer.GetIndexer().IndexKeys("name", "b")
			w.Note("%v %v", found, err)
		}},
	{Name: "a transform", Guarantee: guarantee.Complete,
		Server: (*ConfigMaps).NoWatchListClient, Script: func(w *World) {
			err := w.Informer.SetTransform(func(obj any) (any, error) {
				cm := obj.(*corev1.ConfigMap)
				if cm.Name == "bad" {
					return nil, errBroken
				}
				cm.Name += "!"
				return cm, nil
			})
			w.Note("%v", err)
			w.Put("a")
			w.Handle("h")
			w.Start()
			w.Put("a", "bad", "b")
			w.Remove("a")
			err = w.Informer.SetTransform(nil)
			w.Note("after the start: %t", err != nil)
		}},
	{Name: "written from outside", Guarantee: guarantee.Complete, Script: func(w *World) {
		cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: "own",
			ResourceVersion: "1"}}
		w.Note("%v", w.Informer.GetIndexer().Add(cm))
		w.Step("added")
		w.Put("a")
		w.Handle("h")
		w.Start()
	}},
}
