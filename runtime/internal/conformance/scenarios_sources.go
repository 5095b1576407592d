package conformance

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/internal/guarantee"
)

// withList returns options with a lister-watcher that changes the server's lists.
func withList(change func(*corev1.ConfigMapList) (runtime.Object, error)) InformerOptions {
	return InformerOptions{ListerWatcher: func(s *ConfigMaps) cache.ListerWatcher {
		s.NoWatchListClient()
		return cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
			ListWithContextFunc: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
				list, err := s.List(ctx, opts)
				if err != nil {
					return nil, err
				}
				return change(list)
			},
			WatchFuncWithContext: s.Watch,
		}, s)
	}}
}

// withWatch returns options with a lister-watcher that replaces the server's watches.
func withWatch(open func(s *ConfigMaps, w watch.Interface) (watch.Interface, error)) InformerOptions {
	return InformerOptions{ListerWatcher: func(s *ConfigMaps) cache.ListerWatcher {
		s.NoWatchListClient()
		return cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
			ListWithContextFunc: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
				return s.List(ctx, opts)
			},
			WatchFuncWithContext: func(
				ctx context.Context, opts metav1.ListOptions,
			) (watch.Interface, error) {
				w, err := s.Watch(ctx, opts)
				if err != nil {
					return nil, err
				}
				return open(s, w)
			},
		}, s)
	}}
}

// foreignSources are scenarios with users' own lister-watchers.
var foreignSources = []Scenario{
	{Name: "a lister-watcher without contexts", Guarantee: guarantee.Complete,
		Options: InformerOptions{ListerWatcher: func(s *ConfigMaps) cache.ListerWatcher {
			return &cache.ListWatch{
				ListFunc: func(opts metav1.ListOptions) (runtime.Object, error) {
					return s.List(context.Background(), opts)
				},
				WatchFunc: func(opts metav1.ListOptions) (watch.Interface, error) {
					return s.Watch(context.Background(), opts)
				},
			}
		}}, Script: func(w *World) {
			w.Put("a")
			w.Handle("h")
			w.Start()
			w.Put("a", "b")
			w.Relist(func() { w.Missed(nil, []string{"a"}) })
		}},
	{Name: "a list with an object twice", Guarantee: guarantee.Unique,
		Options: withList(func(list *corev1.ConfigMapList) (runtime.Object, error) {
			again := list.Items[0].DeepCopy()
			again.ResourceVersion = "150"
			list.Items = append(list.Items, *again)
			return list, nil
		}), Script: func(w *World) {
			w.Put("a", "b")
			w.Start()
			w.Handle("late")
		}},
	{Name: "a list without a version", Guarantee: guarantee.Converging,
		Options: withList(func(list *corev1.ConfigMapList) (runtime.Object, error) {
			list.ResourceVersion = ""
			return list, nil
		}), Script: func(w *World) {
			w.HandleErrors()
			w.Put("a")
			w.Handle("h")
			w.Start()
			w.Put("b")
		}},
	{Name: "a list that is none", Guarantee: guarantee.Converging,
		Options: withList(func(list *corev1.ConfigMapList) (runtime.Object, error) {
			return &corev1.ConfigMap{}, nil
		}), Script: func(w *World) {
			w.HandleErrors()
			w.Put("a")
			w.Handle("h")
			w.Start()
		}},
	{Name: "a list of objects of another type", Guarantee: guarantee.Converging,
		Options: withList(func(list *corev1.ConfigMapList) (runtime.Object, error) {
			secrets := &corev1.SecretList{ListMeta: list.ListMeta}
			for _, cm := range list.Items {
				secrets.Items = append(secrets.Items, corev1.Secret{ObjectMeta: cm.ObjectMeta})
			}
			return secrets, nil
		}), Script: func(w *World) {
			w.Put("a")
			w.Handle("h")
			w.Start()
			for _, obj := range w.Informer.GetStore().List() {
				w.Note("%T", obj)
			}
			w.Put("b")
		}},
	{Name: "a list of objects without a namespace", Guarantee: guarantee.Complete,
		Options: withList(func(list *corev1.ConfigMapList) (runtime.Object, error) {
			for i := range list.Items {
				list.Items[i].Namespace = ""
			}
			return list, nil
		}), Script: func(w *World) {
			w.Put("a")
			w.Handle("h")
			w.Start()
			w.Put("a")
			w.Note("%v", len(w.Informer.GetStore().ListKeys()))
		}},
	{Name: "a lister that panics", Guarantee: guarantee.Converging, Panics: true,
		Options: withList(func() func(list *corev1.ConfigMapList) (runtime.Object, error) {
			return func(list *corev1.ConfigMapList) (runtime.Object, error) {
				if len(list.Items) < 2 {
					panic("too few")
				}
				return list, nil
			}
		}()), Script: func(w *World) {
			w.Put("a")
			w.Handle("h")
			w.Start()
			w.Missed([]string{"b"}, nil)
			w.Advance(LongEnough)
		}},
	{Name: "a watch that can't be opened, and no status says why", Guarantee: guarantee.Converging,
		Options: withWatch(func(s *ConfigMaps, w watch.Interface) (watch.Interface, error) {
			if len(s.Objects()) < 2 {
				w.Stop()
				return nil, errors.New("no")
			}
			return w, nil
		}), Script: func(w *World) {
			w.HandleErrors()
			w.Put("a")
			w.Handle("h")
			w.Start()
			w.Missed([]string{"b"}, nil)
			w.Advance(LongEnough)
		}},
	{Name: "a watch whose events are filtered", Guarantee: guarantee.Complete,
		Options: withWatch(func(_ *ConfigMaps, w watch.Interface) (watch.Interface, error) {
			return watch.Filter(w,
				func(e watch.Event) (watch.Event, bool) { return e, e.Type != watch.Modified }), nil
		}), Script: func(w *World) {
			w.Put("a")
			w.Handle("h")
			w.Start()
			w.Put("a")
			w.Remove("a")
			w.Put("b")
			w.Advance(LongEnough)
			w.Server.CloseWatches()
			w.Step("close")
		}},
	{Name: "untyped objects of a kind", Guarantee: guarantee.Complete, Options: InformerOptions{
		Example: kindOf("v1", "ConfigMap"),
		ListerWatcher: func(s *ConfigMaps) cache.ListerWatcher {
			return cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
				ListWithContextFunc: func(
					ctx context.Context, opts metav1.ListOptions,
				) (runtime.Object, error) {
					list, err := s.List(ctx, opts)
					if err != nil {
						return nil, err
					}
					all := &unstructured.UnstructuredList{}
					all.SetResourceVersion(list.ResourceVersion)
					for _, cm := range list.Items {
						u := kindOf("v1", "ConfigMap")
						u.SetNamespace(cm.Namespace)
						u.SetName(cm.Name)
						u.SetResourceVersion(cm.ResourceVersion)
						all.Items = append(all.Items, *u)
					}
					return all, nil
				},
				WatchFuncWithContext: s.Watch,
			}, s)
		}}, Server: (*ConfigMaps).NoWatchListClient, Script: func(w *World) {
		w.Put("a")
		w.Handle("h")
		w.Start()
		for _, kind := range []string{"ConfigMap", "Secret"} {
			u := kindOf("v1", kind)
			u.SetNamespace(Namespace)
			u.SetName("of-" + kind)
			u.SetResourceVersion("300")
			w.Server.Inject(watch.Event{Type: watch.Added, Object: u})
			w.Step("inject a " + kind)
		}
		w.Put("typed")
	}},
}

func kindOf(version, kind string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetAPIVersion(version)
	u.SetKind(kind)
	return u
}
