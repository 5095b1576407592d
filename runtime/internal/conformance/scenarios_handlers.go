package conformance

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/internal/guarantee"
)

// handlers are scenarios of adding, removing and calling handlers.
var handlers = []Scenario{
	{Name: "a handler leaves while it is called", Guarantee: guarantee.NoLeak, Script: func(w *World) {
		var h *Handler
		h = w.HandleAnd("leaves", func(call string) {
			if strings.Contains(call, "b@") {
				w.check(w.Informer.RemoveEventHandler(h.registration))
			}
		})
		w.Handle("stays")
		w.Start()
		w.Put("a")
		w.Put("b")
		w.Put("c")
	}},
	{Name: "a handler removes another one", Guarantee: guarantee.NoLeak, Script: func(w *World) {
		victim := w.HandleSlowly("victim")
		w.HandleAnd("remover", func(call string) {
			if strings.Contains(call, "b@") {
				w.check(w.Informer.RemoveEventHandler(victim.registration))
			}
		})
		w.Start()
		w.Put("a")
		w.Put("b")
		w.Release(victim)
		w.Put("c")
	}},
	{Name: "a handler brings another one", Guarantee: guarantee.Complete, Script: func(w *World) {
		w.HandleAnd("brings", func(call string) {
			if strings.Contains(call, "b@") {
				h := &Handler{name: "brought"}
				registration, err := w.Informer.AddEventHandler(h)
				w.check(err)
				h.registration = registration
				w.handlers = append(w.handlers, h)
			}
		})
		w.Put("a")
		w.Start()
		w.Put("b")
		w.Put("c")
	}},
	{Name: "one handler registered twice", Guarantee: guarantee.Unique, Script: func(w *World) {
		h := w.Handle("h")
		w.register(h)
		w.Put("a")
		w.Start()
		w.Unhandle(h)
		w.Put("a")
	}},
	{Name: "a handler leaves before the start", Guarantee: guarantee.NoLeak, Script: func(w *World) {
		h := w.Handle("leaves")
		w.Handle("stays")
		w.Unhandle(h)
		w.Put("a")
		w.Start()
	}},
	{Name: "a handler leaves with a backlog", Guarantee: guarantee.NoLeak, Script: func(w *World) {
		slow := w.HandleSlowly("slow")
		w.Handle("fast")
		w.Start()
		w.Put("a", "b", "c")
		w.Unhandle(slow)
		w.Release(slow)
		w.Put("d")
	}},
	{Name: "everybody leaves and somebody comes", Guarantee: guarantee.SyncedMeansDelivered,
		Script: func(w *World) {
			w.Put("a")
			h := w.Handle("h")
			w.Start()
			w.Unhandle(h)
			w.Put("b")
			w.Remove("a")
			w.Handle("comes")
			w.Put("c")
		}},
	{Name: "a late handler is slow", Guarantee: guarantee.Isolated, Script: func(w *World) {
		w.Put("a")
		w.Start()
		slow := w.HandleSlowly("slow")
		w.Put("a", "c")
		w.Remove("c")
		w.Release(slow)
		w.Put("a")
	}},
	{Name: "a late handler while another is behind", Guarantee: guarantee.Isolated, Script: func(w *World) {
		w.Put("a")
		slow := w.HandleSlowly("slow")
		w.Start()
		w.Put("a", "b")
		w.Remove("a")
		w.Handle("late")
		w.Put("c")
		w.Release(slow)
	}},
	{Name: "a slow handler during a relist", Guarantee: guarantee.Isolated, Script: func(w *World) {
		w.Put("a")
		slow := w.HandleSlowly("slow")
		w.Handle("fast")
		w.Start()
		w.Put("b")
		w.Relist(func() { w.Missed([]string{"b"}, []string{"a"}) })
		w.Put("c")
		w.Remove("b")
		w.Handle("late")
		w.Server.Observe(nil)
		w.requests.add("LIST what the slow one is behind with") // the list has no order
		w.Release(slow)
	}},
	{Name: "a slow handler has synced when it is done", Guarantee: guarantee.SyncedMeansDelivered,
		Script: func(w *World) {
			w.Put("a")
			slow := w.HandleSlowly("slow")
			w.Handle("fast")
			w.Start()
			w.Note("%t", w.Informer.HasSynced())
			w.Release(slow)
		}},
	{Name: "a handler panics", Guarantee: guarantee.Isolated, Panics: true, Script: func(w *World) {
		w.Put("a")
		w.HandleAnd("panics", func(call string) {
			if strings.Contains(call, "a@") {
				panic("what is this?")
			}
		})
		w.Handle("doesn't")
		w.Start()
		w.Advance(time.Minute)
		w.Put("a")
		w.Advance(time.Minute)
		w.Put("c")
	}, Differs: "in client-go a handler that panicked during its initial list never becomes synced"},
	{Name: "a handler panics later", Guarantee: guarantee.Isolated, Panics: true, Script: func(w *World) {
		w.HandleAnd("panics", func(call string) {
			if strings.Contains(call, "a@") {
				panic("what is this?")
			}
		})
		w.Handle("doesn't")
		w.Start()
		w.Put("a")
		w.Advance(time.Minute)
		w.Missed([]string{"b"}, nil)
		w.Advance(time.Minute)
	}},
	{Name: "a handler that looks into the store", Guarantee: guarantee.Complete, Script: func(w *World) {
		look := func(call string) {
			words := strings.FieldsFunc(call, notInNames)
			obj, exists, err := w.Informer.GetStore().GetByKey(Namespace + "/" + words[1])
			w.requests.add("store " + describe(obj) + yesNo(exists) + yesNo(err == nil))
		}
		w.HandleAnd("looks", look)
		w.Start()
		w.Put("a")
		w.Put("a")
		w.Remove("a")
	}},
	{Name: "a filtering handler", Guarantee: guarantee.Complete, Script: func(w *World) {
		inner := &Handler{name: "filtered"}
		// Objects enter and leave the filter with their labels.
		filter := func(obj any) bool { return obj.(*corev1.ConfigMap).Labels["on"] == "yes" }
		registration, err := w.Informer.AddEventHandler(cache.FilteringResourceEventHandler{
			FilterFunc: filter, Handler: inner})
		w.check(err)
		inner.registration = registration
		w.handlers = append(w.handlers, inner)
		w.Start()
		for _, on := range []string{"no", "yes", "yes", "no", "yes"} {
			w.putLabelled("a", on)
			w.Step("on: " + on)
		}
		w.Remove("a")
	}},
	{Name: "a handler of few functions", Guarantee: guarantee.Complete, Script: func(w *World) {
		var seen lines
		_, err := w.Informer.AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(old, new any) {
			seen.add("update " + describe(old) + " to " + describe(new))
		}})
		w.check(err)
		_, err = w.Informer.AddEventHandler(
			cache.ResourceEventHandlerDetailedFuncs{AddFunc: func(obj any, initial bool) {
				seen.add("add " + describe(obj) + yesNo(initial))
			}})
		w.check(err)
		w.Put("a")
		w.Start()
		w.Put("a")
		w.Put("b")
		w.Remove("a")
		w.Note("%v", seen.takeLines())
	}},
	{Name: "names to wait for", Guarantee: guarantee.SyncedMeansDelivered, Script: func(w *World) {
		h := w.Handle("h")
		w.Note("%s", w.Informer.HasSyncedChecker().Name())
		w.Note("%s", h.registration.HasSyncedChecker().Name())
		funcs, err := w.Informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) {}})
		w.check(err)
		w.Note("%s", funcs.HasSyncedChecker().Name())
	}},
	{Name: "shutting a handler down", Guarantee: guarantee.NoLeak, Script: func(w *World) {
		w.Put("a")
		h := w.Handle("h")
		slow := w.HandleSlowly("slow")
		w.Start()
		w.check(cache.ShutDownEventHandler(w.Informer, h.registration))
		w.Put("b")
		go func() {
			w.check(cache.ShutDownEventHandler(w.Informer, slow.registration))
			w.requests.add("slow was shut down")
		}()
		w.Step("asked to shut down")
		w.Release(slow)
		w.Put("c")
	}},
	{Name: "shutting a handler down before the start", Guarantee: guarantee.NoLeak, Script: func(w *World) {
		h := w.Handle("h")
		go func() {
			w.check(cache.ShutDownEventHandler(w.Informer, h.registration))
			w.requests.add("h was shut down")
		}()
		w.Step("asked to shut down")
		w.Put("a")
		w.Start()
	}},
	{Name: "a registration of another informer", Guarantee: guarantee.NoLeak, Script: func(w *World) {
		other := w.newInformer(w.Server, InformerOptions{})
		registration, err := other.AddEventHandler(&Handler{})
		w.check(err)
		w.Handle("h")
		w.Note("an error: %t", w.Informer.RemoveEventHandler(registration) != nil)
		w.Put("a")
		w.Start()
	}},
}
