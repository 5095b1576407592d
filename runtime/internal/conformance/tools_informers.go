package conformance

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/features"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/internal/guarantee"
	"github.com/kubewright/kubewright/runtime/runtimetest"
)

// inform runs an informer that isn't shared while script runs.
func (b *Bench) inform(o cache.InformerOptions, script func(cache.Store, cache.Controller)) {
	b.observe()
	h := &Handler{name: "h", during: nil}
	o.ListerWatcher, o.ObjectType, o.Handler = b.Server.ListerWatcher(), &corev1.ConfigMap{}, h
	store, controller := b.Tools.Informer(o)
	stop := b.run(controller.RunWithContext)
	b.noteCalls(h)
	script(store, controller)
	synctest.Wait()
	b.noteCalls(h)
	b.contents(store)
	b.Note("synced %t, last %q", controller.HasSynced(), controller.LastSyncResourceVersion())
	stop()
}

func (b *Bench) noteCalls(h *Handler) {
	for _, call := range h.calls.ordered(true) {
		b.Note("%s", call)
	}
}

// inOldWays are the feature gates without which such informers split lists into single deltas.
var inOldWays = []features.Feature{features.AtomicFIFO, features.UnlockWhileProcessingFIFO,
	features.InOrderInformersBatchProcess}

// informers are scenarios of informers that aren't shared.
var informers = []ToolScenario{
	{Name: "Informer: changes", Guarantee: guarantee.Complete, Script: func(b *Bench) {
		b.Server.Create(configMap("a"))
		b.inform(cache.InformerOptions{}, func(cache.Store, cache.Controller) {
			b.Server.Update(configMap("a"))
			b.Server.Create(configMap("b"))
			b.Server.Delete(Namespace, "a")
		})
	}},
	{Name: "Informer: a relist", Guarantee: guarantee.Complete,
		Script: func(b *Bench) { b.relist(cache.InformerOptions{}) }},
	{Name: "Informer: a relist that is taken apart", Guarantee: guarantee.Complete, Without: inOldWays,
		Script: func(b *Bench) { b.relist(cache.InformerOptions{}) }},
	{Name: "Informer: resyncs", Guarantee: guarantee.Complete, Script: func(b *Bench) {
		b.Server.Create(configMap("a"))
		b.inform(cache.InformerOptions{ResyncPeriod: time.Minute},
			func(cache.Store, cache.Controller) { bubble.Pass(2*time.Minute + time.Second) })
	}},
	{Name: "Informer: resyncs that are taken apart", Guarantee: guarantee.Complete,
		Without: inOldWays, Script: func(b *Bench) {
			b.Server.Create(configMap("a"))
			b.inform(cache.InformerOptions{ResyncPeriod: time.Minute},
				func(cache.Store, cache.Controller) { bubble.Pass(2*time.Minute + time.Second) })
		}},
	{Name: "Informer: a transform", Guarantee: guarantee.Complete, Script: func(b *Bench) {
		b.Server.NoWatchListClient()
		b.Server.Create(configMap("a"))
		b.inform(cache.InformerOptions{Transform: func(obj any) (any, error) {
			cm := obj.(*corev1.ConfigMap)
			if cm.Name == "bad" {
				return nil, errBroken
			}
			cm.Name += "!"
			return cm, nil
		}}, func(cache.Store, cache.Controller) {
			b.Server.Create(configMap("bad"))
			b.Server.Create(configMap("b"))
			b.Server.Delete(Namespace, "a")
		})
	}},
	{Name: "Informer: a transform that changes keys", Guarantee: guarantee.Complete, Script: func(b *Bench) {
		b.Server.Create(configMap("a"))
		b.inform(cache.InformerOptions{Transform: transformOf(renamed)}, func(cache.Store, cache.Controller) {
			b.Server.Create(configMap("b"))
			b.Server.Update(configMap("a"))
			b.Server.Delete(Namespace, "a")
		})
	}},
	{Name: "Informer: a transform that changes keys, and a relist that is taken apart",
		Guarantee: guarantee.Complete,
		Without:   inOldWays,
		Differs:   "client-go deletes all objects and adds them again",
		Script:    func(b *Bench) { b.relist(cache.InformerOptions{Transform: transformOf(renamed)}) }},
	{Name: "Informer: a transform that gives an object another key", Guarantee: guarantee.Complete,
		Differs: "client-go keeps the object under the old key, too", Script: func(b *Bench) {
			b.Server.Create(configMap("a"))
			b.inform(cache.InformerOptions{Transform: transformOf(renamed)},
				func(cache.Store, cache.Controller) { b.Server.Update(labelled("a", "z")) })
		}},
	{Name: "Informer: a transform that fails for a change in a watch-list", Guarantee: guarantee.Complete,
		Script: func(b *Bench) {
			var fail atomic.Bool
			b.Server.Create(configMap("a"))
			b.Server.OmitEndBookmark(true)
			b.inform(cache.InformerOptions{Transform: func(obj any) (any, error) {
				if fail.Load() {
					return nil, errBroken
				}
				return obj, nil
			}}, func(cache.Store, cache.Controller) {
				fail.Store(true)
				b.Server.Update(configMap("a"))
				synctest.Wait()
				fail.Store(false)
				b.Server.EndInitialEvents()
			})
		}},
	{Name: "Informer: a transform that fails for a deletion", Guarantee: guarantee.Complete,
		Differs: "client-go keeps the object until the next list", Script: func(b *Bench) {
			var fail atomic.Bool
			b.Server.Create(configMap("a"))
			b.inform(cache.InformerOptions{Transform: func(obj any) (any, error) {
				if fail.Load() {
					return nil, errBroken
				}
				return obj, nil
			}}, func(cache.Store, cache.Controller) {
				fail.Store(true)
				b.Server.Delete(Namespace, "a")
			})
		}},
	{Name: "Informer: a transform to nil", Guarantee: guarantee.Complete,
		Differs: "client-go never gets a list", Script: func(b *Bench) {
			b.Server.Create(labelled("a", "out"))
			b.Server.Create(configMap("b"))
			b.Server.Create(configMap("c"))
			b.inform(cache.InformerOptions{Transform: transformOf(filtered)},
				func(cache.Store, cache.Controller) {
					b.Server.Update(configMap("a"))
					b.Server.Update(labelled("b", "out"))
					b.Server.Delete(Namespace, "b")
				})
		}},
	{Name: "Informer: a transform to nil, and a relist that is taken apart", Guarantee: guarantee.Complete,
		Without: inOldWays,
		Script: func(b *Bench) {
			b.Server.Create(labelled("out", "out"))
			b.relist(cache.InformerOptions{Transform: transformOf(filtered)})
		}},
	{Name: "Informer: the store holds something before the start", Guarantee: guarantee.Complete,
		Script: func(b *Bench) {
			b.Server.Create(configMap("a"))
			h := &Handler{name: "h"}
			store, controller := b.Tools.Informer(cache.InformerOptions{ListerWatcher: b.Server.ListerWatcher(),
				ObjectType: &corev1.ConfigMap{}, Handler: h})
			b.check(store.Add(object("a", "50")))
			b.check(store.Add(object("old", "50")))
			stop := b.run(controller.RunWithContext)
			b.noteCalls(h)
			b.contents(store)
			stop()
		}},
	{Name: "Informer: indexes", Guarantee: guarantee.IndexEqualsScan, Script: func(b *Bench) {
		b.Server.Create(configMap("ab"))
		b.inform(cache.InformerOptions{Indexers: cache.Indexers{"letter": byLetter}},
			func(s cache.Store, _ cache.Controller) {
				keys, err := s.(cache.Indexer).IndexKeys("letter", "b")
				b.Note("%v %v", keys, err)
			})
	}},
}

// transformOf returns a transform of config maps that leaves other objects as they are.
func transformOf(f func(*corev1.ConfigMap) (any, error)) cache.TransformFunc {
	return func(obj any) (any, error) {
		if cm, ok := obj.(*corev1.ConfigMap); ok {
			return f(cm)
		}
		return obj, nil
	}
}

func (b *Bench) relist(o cache.InformerOptions) {
	b.Server.NoWatchListClient()
	for _, name := range []string{"a", "b", "c"} {
		b.Server.Create(configMap(name))
	}
	b.inform(o, func(cache.Store, cache.Controller) {
		once := sync.OnceFunc(func() {
			b.Server.Delete(Namespace, "a")
			b.Server.Update(configMap("b"))
			b.Server.Create(configMap("d"))
		})
		b.Server.OnRequest(func(context.Context, runtimetest.Request) error { once(); return nil })
		b.Server.FailWatches(expired())
		bubble.Pass(LongEnough)
	})
}

// controllers are scenarios of the loop below those informers.
var controllers = []ToolScenario{
	{Name: "Controller: a queue and a process function", Guarantee: guarantee.Complete, Script: func(b *Bench) {
		b.control(cache.Config{}, func() {
			b.Server.Update(configMap("a"))
			b.step("update")
			b.Server.Delete(Namespace, "a")
		})
	}},
	{Name: "Controller: processing fails", Guarantee: guarantee.Converging, Script: func(b *Bench) {
		fails := true
		b.control(cache.Config{Process: func(obj any, initial bool) error {
			b.Note("process %s %t", describeQueued(obj), initial)
			if fails {
				fails = false
				return errBroken
			}
			return nil
		}}, func() { b.Server.Update(configMap("a")) })
	}},
	{Name: "Controller: processing panics", Guarantee: guarantee.Converging,
		Panics: true, Script: func(b *Bench) {
			panics := true
			b.control(cache.Config{Process: func(obj any, initial bool) error {
				b.Note("process %s %t", describeQueued(obj), initial)
				if panics {
					panics = false
					panic("what is this?")
				}
				return nil
			}}, func() {
				b.Server.Update(configMap("a"))
				bubble.Pass(2 * time.Second)
			})
		}},
	{Name: "Controller: asked whether to resync", Guarantee: guarantee.Complete, Script: func(b *Bench) {
		b.control(
			cache.Config{FullResyncPeriod: time.Minute,
				ShouldResync: func() bool { b.Note("asked"); return true }}, func() {
				bubble.Pass(61 * time.Second)
			})
	}},
	{Name: "Controller: errors", Guarantee: guarantee.Told, Script: func(b *Bench) {
		b.Server.NoWatchListClient()
		b.Server.Fail("LIST", errDenied)
		b.control(cache.Config{WatchErrorHandler: func(r *cache.Reflector, err error) {
			b.Note("error %s of %s", reasonOf(err), r.TypeDescription())
		}}, func() { bubble.Pass(LongEnough) })
	}},
	{Name: "Controller: its queue is closed by somebody", Guarantee: guarantee.NoLeak, Script: func(b *Bench) {
		q := b.deltaFIFO(nil)
		b.control(cache.Config{Queue: q}, func() {
			q.Close()
			bubble.Pass(3 * time.Second)
			b.Server.Create(configMap("b"))
			bubble.Pass(3 * time.Second)
		})
	}},
}

// control runs a controller while script runs.
func (b *Bench) control(config cache.Config, script func()) {
	var requests lines // for two concurrent goroutines
	b.Server.Observe(func(r runtimetest.Request) { requests.add(r.String()) })
	b.Server.Create(configMap("a"))
	known := cache.NewIndexer(keyOfNamed, cache.Indexers{})
	if config.Queue == nil {
		config.Queue = b.deltaFIFO(known)
	}
	config.ListerWatcher, config.ObjectType = b.Server.ListerWatcher(), &corev1.ConfigMap{}
	if config.Process == nil {
		config.Process = func(obj any, initial bool) error {
			b.Note("process %s %t", describeQueued(obj), initial)
			newest := obj.(cache.Deltas).Newest()
			if newest.Type == cache.Deleted {
				return known.Delete(newest.Object)
			}
			return known.Add(newest.Object)
		}
	}
	c := b.Tools.Controller(&config)
	b.Note("%t %q", c.HasSynced(), c.LastSyncResourceVersion())
	stop := b.run(c.RunWithContext)
	script()
	synctest.Wait()
	b.Note("%t %q", c.HasSynced(), c.LastSyncResourceVersion())
	stop()
	_, err := config.Queue.Pop(func(any, bool) error { return nil })
	b.Note("%q", requests.takeLines())
	b.Note("closed %t", errors.Is(err, cache.ErrFIFOClosed))
}
