package conformance

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/internal/guarantee"
)

// failing sets a transform that fails while the returned switch is on.
func (w *World) failing() *atomic.Bool {
	var on atomic.Bool
	w.transforming(func(cm *corev1.ConfigMap) (any, error) {
		if on.Load() {
			return nil, errors.New("can't")
		}
		return cm, nil
	})
	return &on
}

// panicking sets a transform that panics while the returned switch is on.
func (w *World) panicking() *atomic.Bool {
	var on atomic.Bool
	w.transforming(func(cm *corev1.ConfigMap) (any, error) {
		if on.Load() {
			panic("a transform")
		}
		return cm, nil
	})
	return &on
}

// panicsAtFirst has a transform panic for what is listed first.
func panicsAtFirst(w *World) {
	panics := w.panicking()
	panics.Store(true)
	w.Put("a", "b")
	w.Handle("h")
	w.Start()
	panics.Store(false)
	w.Advance(LongEnough)
	w.Put("a", "c")
}

// renamed is a transform that renames objects of the namespace ns: to another name, if they have a label
// "on", else by a prefix.
func renamed(cm *corev1.ConfigMap) (any, error) {
	if cm.Namespace == Namespace { // client-go transforms some objects twice
		if cm.Namespace = "other"; cm.Labels["on"] != "" {
			cm.Name = cm.Labels["on"]
		} else {
			cm.Name = "x" + cm.Name
		}
	}
	return cm, nil
}

// filtered is a transform that leaves out objects with a label "on".
func filtered(cm *corev1.ConfigMap) (any, error) {
	if cm.Labels["on"] != "" {
		return nil, nil
	}
	return cm, nil
}

// oddTransforms are scenarios of transforms that fail, change keys, or leave objects out.
var oddTransforms = []Scenario{
	{Name: "a transform that fails for a change in a watch-list", Guarantee: guarantee.Complete,
		Script: func(w *World) {
			fail := w.failing()
			w.startUnended("a", "b")
			fail.Store(true)
			w.Put("a", "c")
			fail.Store(false)
			w.endInitialEvents()
			w.Put("a")
		}},
	{Name: "a transform that fails for a deletion in a watch-list", Guarantee: guarantee.Complete,
		Script: func(w *World) {
			fail := w.failing()
			w.startUnended("a", "b")
			fail.Store(true)
			w.Remove("a")
			fail.Store(false)
			w.endInitialEvents()
		}},
	{Name: "a transform that fails for a change", Guarantee: guarantee.Complete, Script: func(w *World) {
		fail := w.failing()
		w.Put("a")
		w.Handle("h")
		w.Start()
		fail.Store(true)
		w.Put("a", "b")
		fail.Store(false)
		w.Put("a", "b")
	}},
	{Name: "a transform that fails for a deletion on a watch", Guarantee: guarantee.Complete,
		Differs: "client-go keeps the object until the next list", Script: func(w *World) {
			fail := w.failing()
			w.Put("a")
			w.Handle("h")
			w.Start()
			fail.Store(true)
			w.Remove("a")
		}},
	{Name: "a transform that panics for a list", Guarantee: guarantee.Converging, Panics: true,
		Server: (*ConfigMaps).NoWatchListClient, Script: panicsAtFirst},
	{Name: "a transform that panics for a watch-list", Guarantee: guarantee.Converging, Panics: true,
		Script: panicsAtFirst},
	{Name: "a transform that panics for a change", Guarantee: guarantee.Converging, Panics: true,
		Script: func(w *World) {
			panics := w.panicking()
			w.Put("a", "b")
			w.Handle("h")
			w.Start()
			panics.Store(true)
			w.Put("a", "b")
			panics.Store(false)
			w.Advance(LongEnough)
			w.Put("a")
		}},
	{Name: "a transform that changes keys, and a watch-list", Guarantee: guarantee.Complete,
		Script: func(w *World) {
			w.transforming(renamed)
			w.startUnended("a", "b", "c")
			w.Remove("a")
			w.Put("b")
			w.endInitialEvents()
			w.Put("b")
			w.Remove("b", "c")
		}},
	{Name: "a transform that changes keys, and lists", Guarantee: guarantee.Complete,
		Server: (*ConfigMaps).NoWatchListClient,
		Script: func(w *World) {
			w.transforming(renamed)
			w.Put("a", "b")
			w.Handle("h")
			w.Start()
			w.Relist(func() { w.Missed([]string{"c"}, []string{"a"}) })
			w.Remove("b", "c")
		}},
	{Name: "a transform that gives an object another key", Guarantee: guarantee.Complete,
		Differs: "client-go keeps the object under the old key, too", Script: func(w *World) {
			w.transforming(renamed)
			w.Put("a")
			w.Handle("h")
			w.Start()
			w.putLabelled("a", "z")
			w.Step("put")
			w.Remove("a")
		}},
	{Name: "a transform that gives an object another key in a watch-list", Guarantee: guarantee.Complete,
		Script: func(w *World) {
			w.transforming(renamed)
			w.startUnended("a", "b")
			w.putLabelled("a", "z")
			w.Step("put")
			w.endInitialEvents()
			w.Remove("a")
		}},
	{Name: "a transform that gives two objects one key", Guarantee: guarantee.Complete, Script: func(w *World) {
		w.transforming(renamed)
		w.Handle("h")
		w.Start()
		for _, name := range []string{"a", "b", "a"} {
			w.putLabelled(name, "z")
			w.Step("put")
		}
		w.Remove("b")
		w.putLabelled("a", "z")
		w.Step("put")
		w.Remove("a")
	}},
	{Name: "a transform that gives two objects of a watch-list one key, one of which is deleted",
		Guarantee: guarantee.Complete,
		Differs:   "client-go keeps the other one", Script: func(w *World) {
			w.transforming(renamed)
			w.Server.OmitEndBookmark(true)
			w.putLabelled("a", "z")
			w.putLabelled("b", "z")
			w.Handle("h")
			w.Start()
			w.Remove("a")
			w.endInitialEvents()
		}},
	{Name: "a transform that gives two objects of a list one key", Guarantee: guarantee.Complete,
		Server:  (*ConfigMaps).NoWatchListClient,
		Differs: "client-go reports both as added", Script: func(w *World) {
			w.transforming(renamed)
			w.putLabelled("a", "z")
			w.putLabelled("b", "z")
			w.Handle("h")
			w.Start()
		}},
	{Name: "pages of a list repeat an object", Guarantee: guarantee.Unique,
		Options: repeating(), Differs: "client-go reports it twice",
		Script: func(w *World) {
			w.Put("a", "b")
			w.Handle("h")
			w.Start()
		}},
	{Name: "a transform to nil in a list", Guarantee: guarantee.Complete,
		Server:  (*ConfigMaps).NoWatchListClient,
		Differs: "client-go never gets a list", Script: func(w *World) {
			w.transforming(filtered)
			w.putLabelled("a", "out")
			w.Put("b")
			w.Handle("h")
			w.Start()
			w.Relist(func() { w.putLabelled("b", "out"); w.Missed([]string{"c"}, nil) })
		}},
	{Name: "a transform to nil in a watch-list", Guarantee: guarantee.Complete,
		Differs: "client-go never gets a list",
		Script: func(w *World) {
			w.transforming(filtered)
			w.putLabelled("a", "out")
			w.startUnended("b", "c")
			w.putLabelled("b", "out")
			w.Step("put")
			w.endInitialEvents()
		}},
	{Name: "a transform to nil on a watch", Guarantee: guarantee.Complete,
		Differs: "client-go logs an error and keeps the old object",
		Script: func(w *World) {
			w.transforming(filtered)
			w.Put("a")
			w.Handle("h")
			w.Start()
			for range 2 {
				w.putLabelled("a", "out")
				w.Step("put")
			}
			w.Put("a")
			w.putLabelled("b", "out")
			w.Remove("b")
		}},
	{Name: "a transform to a typed nil", Guarantee: guarantee.Complete,
		Panics: true, Differs: "client-go panics", Script: func(w *World) {
			w.transforming(func(cm *corev1.ConfigMap) (any, error) {
				if cm.Labels["on"] != "" {
					cm = nil
				}
				return cm, nil
			})
			w.Put("a")
			w.Handle("h")
			w.Start()
			w.putLabelled("a", "out")
			w.Step("put")
			w.Put("a")
		}},
	{Name: "a transform to nil and resyncs", Guarantee: guarantee.Complete,
		Options: InformerOptions{ResyncPeriod: time.Minute},
		Differs: "client-go keeps the old object", Script: func(w *World) {
			w.transforming(filtered)
			w.Put("a", "b")
			w.Handle("h")
			w.Start()
			w.putLabelled("a", "out")
			w.Advance(2 * time.Minute)
		}},
}

// repeating returns options with a lister-watcher of two pages, which both have the first object.
func repeating() InformerOptions {
	return InformerOptions{ListerWatcher: func(s *ConfigMaps) cache.ListerWatcher {
		s.NoWatchListClient()
		return cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
			ListWithContextFunc: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
				list, err := s.List(ctx, metav1.ListOptions{})
				if err != nil {
					return nil, err
				}
				if opts.Continue == "" {
					list.Items, list.Continue = list.Items[:1], "more"
					return list, nil
				}
				list.Items[0].ResourceVersion = strings.Repeat("9", 3)
				return list, nil
			},
			WatchFuncWithContext: s.Watch,
		}, s)
	}}
}
