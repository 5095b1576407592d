package conformance

import (
	"errors"
	"slices"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/internal/guarantee"
)

// transforming sets a transform of config maps.
func (w *World) transforming(f func(*corev1.ConfigMap) (any, error)) {
	w.check(w.Informer.SetTransform(func(obj any) (any, error) {
		cm, ok := obj.(*corev1.ConfigMap)
		if !ok {
			w.requests.add("transform of " + describe(obj))
			return obj, nil
		}
		return f(cm)
	}))
}

// transforms are scenarios with a transform. Unless a scenario says otherwise, lists aren't streamed.
var transforms = []Scenario{
	{Name: "a transform counts its objects", Guarantee: guarantee.Complete,
		Server: (*ConfigMaps).NoWatchListClient, Script: func(w *World) {
			w.transforming(func(cm *corev1.ConfigMap) (any, error) {
				w.requests.add("transform " + cm.Name)
				return cm, nil
			})
			w.Put("a", "b")
			w.Handle("h")
			w.Start()
			w.Put("a")
			w.Remove("b")
			w.Relist(func() { w.Missed([]string{"c"}, []string{"a"}) })
			w.Server.Bookmark()
			w.Step("bookmark")
		}},
	{Name: "a transform and a watch-list", Guarantee: guarantee.Complete, Script: func(w *World) {
		var calls atomic.Int32
		w.transforming(func(cm *corev1.ConfigMap) (any, error) { calls.Add(1); return cm, nil })
		w.Put("a", "b")
		w.Handle("h")
		w.Start()
		w.Note("%d calls", calls.Load())
	}, Differs: "client-go transforms what is streamed twice"},
	{Name: "a transform that fails in a list", Guarantee: guarantee.Converging,
		Server: (*ConfigMaps).NoWatchListClient,
		Script: func(w *World) {
			w.HandleErrors()
			var fail atomic.Bool
			fail.Store(true)
			w.transforming(func(cm *corev1.ConfigMap) (any, error) {
				if cm.Name == "b" && fail.Load() {
					return nil, errors.New("can't")
				}
				return cm, nil
			})
			w.Put("a", "b")
			w.Handle("h")
			w.Start()
			fail.Store(false)
			w.Advance(LongEnough)
		}},
	{Name: "a transform that fails in a relist", Guarantee: guarantee.Converging,
		Server: (*ConfigMaps).NoWatchListClient,
		Script: func(w *World) {
			var fail atomic.Bool
			w.transforming(func(cm *corev1.ConfigMap) (any, error) {
				if cm.Name == "b" && fail.Load() {
					return nil, errors.New("can't")
				}
				return cm, nil
			})
			w.Put("a", "b")
			w.Handle("h")
			w.Start()
			fail.Store(true)
			w.Missed([]string{"c"}, []string{"a"})
			w.Step("changes")
			w.Server.FailWatches(expired())
			w.Advance(2 * time.Second)
			fail.Store(false)
			w.Advance(LongEnough)
		}},
	{Name: "a transform that fails for a deletion", Guarantee: guarantee.Complete,
		Server: (*ConfigMaps).NoWatchListClient,
		Script: func(w *World) {
			var fail atomic.Bool
			w.transforming(func(cm *corev1.ConfigMap) (any, error) {
				if fail.Load() {
					return nil, errors.New("can't")
				}
				return cm, nil
			})
			w.Put("a")
			w.Handle("h")
			w.Start()
			fail.Store(true)
			w.Remove("a")
			fail.Store(false)
			w.Relist(func() {})
		}, Differs: "client-go keeps the object until the next list"},
	{Name: "a transform that drops what isn't needed", Guarantee: guarantee.Complete,
		Server: (*ConfigMaps).NoWatchListClient,
		Script: func(w *World) {
			w.transforming(func(cm *corev1.ConfigMap) (any, error) { cm.Labels = nil; return cm, nil })
			w.Handle("h")
			w.putLabelled("a", "yes")
			w.Start()
			w.putLabelled("a", "no")
			w.Step("put")
			for _, obj := range w.Informer.GetStore().List() {
				w.Note("%v", obj.(metav1.Object).GetLabels())
			}
		}},
	{Name: "a transform that drops versions", Guarantee: guarantee.Complete,
		Server: (*ConfigMaps).NoWatchListClient,
		Script: func(w *World) {
			w.transforming(func(cm *corev1.ConfigMap) (any, error) {
				cm.ResourceVersion = ""
				return cm, nil
			})
			w.Put("a")
			w.Handle("never", 0)
			w.Start()
			w.Put("a")
			w.Advance(time.Minute)
		},
		Differs: "client-go takes two objects without a version for unchanged: after the first look at the " +
			"clock it reports no update of them to handlers that don't resync, and the store has no version"},
	{Name: "a transform to another type", Guarantee: guarantee.Complete,
		Options: InformerOptions{Example: &corev1.ConfigMap{}},
		Server:  (*ConfigMaps).NoWatchListClient, Script: func(w *World) {
			w.transforming(func(cm *corev1.ConfigMap) (any, error) {
				return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: cm.Namespace,
					Name:            "s" + cm.Name,
					ResourceVersion: cm.ResourceVersion}}, nil
			})
			w.Put("a", "b")
			w.Handle("h")
			w.Start()
			w.Put("a")
			w.Remove("b")
			w.Relist(func() { w.Missed([]string{"c"}, []string{"a"}) })
			for _, obj := range w.Informer.GetStore().List() {
				w.Note("%T", obj)
			}
		}},
	{Name: "a transform to something without a key", Guarantee: guarantee.Complete,
		Options: InformerOptions{Example: &corev1.ConfigMap{}},
		Server:  (*ConfigMaps).NoWatchListClient, Script: func(w *World) {
			w.transforming(func(cm *corev1.ConfigMap) (any, error) {
				if cm.Name == "a" {
					return "no object", nil
				}
				return cm, nil
			})
			w.Put("b")
			w.Handle("h")
			w.Start()
			w.Put("a")
			w.Put("b")
		}},
	{Name: "a transform is set twice", Guarantee: guarantee.Complete,
		Server: (*ConfigMaps).NoWatchListClient, Script: func(w *World) {
			w.transforming(func(cm *corev1.ConfigMap) (any, error) { cm.Name = "first"; return cm, nil })
			w.transforming(func(cm *corev1.ConfigMap) (any, error) { cm.Name = "second"; return cm, nil })
			w.Put("a")
			w.Handle("h")
			w.Start()
		}},
}

// index records the contents of an index.
func (w *World) index(name string) {
	values := w.Informer.GetIndexer().ListIndexFuncValues(name)
	slices.Sort(values)
	for _, value := range values {
		keys, err := w.Informer.GetIndexer().IndexKeys(name, value)
		w.check(err)
		found, err := w.Informer.GetIndexer().ByIndex(name, value)
		w.check(err)
		names := make([]string, len(found))
		for i, obj := range found {
			names[i] = describe(obj)
		}
		slices.Sort(keys)
		slices.Sort(names)
		w.Note("%s: %v %v", value, keys, names)
	}
}

// stores are scenarios that read an informer's store.
var stores = []Scenario{
	{Name: "an index of several values", Guarantee: guarantee.IndexEqualsScan,
		Options: InformerOptions{Indexers: cache.Indexers{"letter": byLetter}}, Script: func(w *World) {
			w.Put("ab", "bc", "cab")
			w.Start()
			w.index("letter")
			w.Put("ab", "b")
			w.Remove("bc")
			w.index("letter")
			w.Relist(func() { w.Missed([]string{"a"}, []string{"cab"}) })
			w.index("letter")
		}},
	{Name: "an index that comes late", Guarantee: guarantee.IndexEqualsScan,
		Options: InformerOptions{Indexers: cache.Indexers{}},
		Script: func(w *World) {
			w.Put("ab", "b")
			w.Start()
			before := len(w.Informer.GetIndexer().GetIndexers())
			w.check(w.Informer.AddIndexers(cache.Indexers{"letter": byLetter}))
			w.index("letter")
			w.Put("c")
			w.index("letter")
			w.Note("%d more", len(w.Informer.GetIndexer().GetIndexers())-before)
		}},
	{Name: "an index that comes too late", Guarantee: guarantee.IndexEqualsScan, Script: func(w *World) {
		w.Put("a")
		w.Start()
		w.Stop()
		w.Note("an error: %t", w.Informer.AddIndexers(cache.Indexers{"letter": byLetter}) != nil)
	}},
	{Name: "an index that there isn't", Guarantee: guarantee.IndexEqualsScan, Script: func(w *World) {
		w.Put("a")
		w.Start()
		_, err := w.Informer.GetIndexer().ByIndex("letter", "a")
		w.Note("%v", err)
		_, err = w.Informer.GetIndexer().IndexKeys("letter", "a")
		w.Note("%v", err)
		_, err = w.Informer.GetIndexer().Index("letter", &corev1.ConfigMap{})
		w.Note("%v", err)
		w.Note("%v", w.Informer.GetIndexer().ListIndexFuncValues("letter"))
	}},
	{Name: "what shares an index value with an object", Guarantee: guarantee.IndexEqualsScan,
		Options: InformerOptions{Indexers: cache.Indexers{"letter": byLetter}}, Script: func(w *World) {
			w.Put("ab", "bc", "cd")
			w.Start()
			for _, name := range []string{"b", "bd", "x"} {
				found, err := w.Informer.GetIndexer().Index("letter", configMap(name))
				w.check(err)
				names := make([]string, len(found))
				for i, obj := range found {
					names[i] = describe(obj)
				}
				slices.Sort(names)
				w.Note("%s: %v", name, names)
			}
		}},
	{Name: "an index function that fails", Guarantee: guarantee.IndexEqualsScan, Panics: true,
		Options: InformerOptions{Indexers: cache.Indexers{"bad": notOfBad}}, Script: func(w *World) {
			w.Put("a")
			w.Handle("h")
			w.Start()
			w.Put("bad")
			w.Advance(2 * time.Second)
			w.Put("b")
		}, Differs: "client-go keeps the object that has no index values, and tells no handler of it"},
	{Name: "an index function that fails in a list", Guarantee: guarantee.IndexEqualsScan, Panics: true,
		Options: InformerOptions{Indexers: cache.Indexers{"bad": notOfBad}}, Script: func(w *World) {
			w.Put("a", "bad", "b")
			w.Handle("h")
			w.Start()
			w.Advance(5 * time.Second)
			w.Put("c")
		},
		Differs: "client-go keeps the object that has no index values, and tells no handler of anything in " +
			"the list"},
	{Name: "changed from outside", Guarantee: guarantee.Complete, Script: func(w *World) {
		w.Put("a", "b")
		w.Handle("h")
		w.Start()
		w.check(w.Informer.GetStore().Delete(configMap("a")))
		cm := configMap("own")
		cm.ResourceVersion = "500"
		w.check(w.Informer.GetStore().Add(cm))
		w.Step("changed")
		w.Handle("late")
		w.Put("a")
		w.Remove("b")
		w.Relist(func() {})
	}},
	{Name: "replaced from outside", Guarantee: guarantee.Complete, Script: func(w *World) {
		w.Put("a", "b")
		w.Handle("h")
		w.Start()
		cm := configMap("own")
		cm.ResourceVersion = "500"
		w.check(w.Informer.GetStore().Replace([]any{cm}, "500"))
		w.Step("replaced")
		w.Put("a")
		w.Remove("b")
	}},
	{Name: "keys that there are not", Guarantee: guarantee.Complete, Script: func(w *World) {
		w.Put("a")
		w.Start()
		for _, key := range []string{"a", "ns/a", "ns/a/b", "", "/", "other/a"} {
			_, exists, err := w.Informer.GetStore().GetByKey(key)
			w.Note("%q: %t %v", key, exists, err)
		}
		_, exists, err := w.Informer.GetStore().Get("no object")
		w.Note("%t %t", exists, err != nil)
		w.Note("%t", w.Informer.GetStore().Add("no object") != nil)
		w.Note("%t", w.Informer.GetStore().Delete("no object") != nil)
		_, exists, err = w.Informer.GetStore().Get(cache.DeletedFinalStateUnknown{Key: "ns/a"})
		w.Note("%t %v", exists, err)
		w.Note("%v", w.Informer.GetStore().Resync())
	}},
	{Name: "the version of the store", Guarantee: guarantee.NoTimeTravel, Script: func(w *World) {
		w.Put("a")
		w.Start()
		w.Server.Skip(5)
		w.Server.Bookmark()
		w.Step("bookmark")
		w.Put("b")
		w.Remove("a")
		w.Relist(func() { w.Server.Skip(3) })
	}},
}
