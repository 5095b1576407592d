package conformance

import (
	"context"
	"strings"

	"k8s.io/client-go/features"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/internal/guarantee"
	"github.com/kubewright/kubewright/runtime/runtimetest"
)

// stops are scenarios of stopping, and of actions before the start.
var stops = []Scenario{
	{Name: "stopped between two pages", Guarantee: guarantee.NoLeak,
		Server: (*ConfigMaps).NoWatchListClient, Script: func(w *World) {
			w.Fill(moreThanAPage)
			w.Handle("h")
			w.Server.OnRequest(func(ctx context.Context, r runtimetest.Request) error {
				if r.Options.Continue != "" {
					<-ctx.Done()
				}
				return ctx.Err()
			})
			w.Start()
		}},
	{Name: "stopped while it backs off", Guarantee: guarantee.NoLeak,
		Server: (*ConfigMaps).NoWatchListClient, Script: func(w *World) {
			w.HandleErrors()
			w.Server.Fail("LIST", errDenied)
			w.Handle("h")
			w.Start()
			w.Stop()
			w.Advance(LongEnough)
		}},
	{Name: "stopped while the server thinks", Guarantee: guarantee.NoLeak,
		Server: (*ConfigMaps).NoWatchListClient,
		Script: func(w *World) {
			w.HandleErrors()
			w.Server.OnRequest(func(ctx context.Context, _ runtimetest.Request) error {
				<-ctx.Done()
				return ctx.Err()
			})
			w.Handle("h")
			w.Start()
		}},
	{Name: "stopped while a watch is opened", Guarantee: guarantee.NoLeak,
		Server: (*ConfigMaps).NoWatchListClient,
		Script: func(w *World) {
			w.HandleErrors()
			w.Put("a")
			w.Server.OnRequest(func(ctx context.Context, r runtimetest.Request) error {
				if r.Verb == "WATCH" {
					<-ctx.Done()
				}
				return ctx.Err()
			})
			w.Handle("h")
			w.Start()
		}, Differs: "client-go reports the end of the context as an error of the watch"},
	{Name: "stopped while a handler is busy", Guarantee: guarantee.NoLeak, Script: func(w *World) {
		w.Put("a")
		slow := w.HandleSlowly("slow")
		w.Handle("fast")
		w.Start()
		stopped := make(chan struct{})
		stop := w.stop
		w.stop = nil
		go func() {
			defer close(stopped)
			stop()
			w.requests.add("Run returned")
		}()
		w.Step("asked to stop")
		w.Release(slow)
		<-stopped
	}},
	{Name: "stopped by a handler", Guarantee: guarantee.NoLeak, Script: func(w *World) {
		w.HandleAnd("stops", func(call string) {
			if strings.Contains(call, "b@") {
				go w.stop()
			}
		})
		w.Put("a")
		w.Start()
		w.Put("b")
	}},
	{Name: "started when it is over already", Guarantee: guarantee.NoLeak, Script: func(w *World) {
		ctx, cancel := context.WithCancel(w.T.Context())
		cancel()
		w.Put("a")
		w.Handle("h")
		w.Informer.RunWithContext(ctx)
		w.Server.Observe(nil)
		w.requests.takeLines() // whether there was another request is random
		w.Step("over")
	}},
	{Name: "run by a channel", Guarantee: guarantee.NoLeak, Script: func(w *World) {
		w.Put("a")
		w.Handle("h")
		stop, over := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(over)
			w.Informer.Run(stop)
		}()
		w.Step("run")
		close(stop)
		<-over
		w.Step("over")
	}},
	{Name: "setters after the start", Guarantee: guarantee.NoRace, Script: func(w *World) {
		w.Start()
		w.Note("%v", w.Informer.SetTransform(func(obj any) (any, error) { return obj, nil }))
		w.Note("%v", w.Informer.SetWatchErrorHandler(func(*cache.Reflector, error) {}))
		w.Note("%v",
			w.Informer.SetWatchErrorHandlerWithContext(func(context.Context, *cache.Reflector, error) {}))
	}},
	{Name: "the plain error handler", Guarantee: guarantee.Told,
		Server: (*ConfigMaps).NoWatchListClient, Script: func(w *World) {
			w.check(w.Informer.SetWatchErrorHandler(func(_ *cache.Reflector, err error) {
				w.requests.add("error " + reasonOf(err))
			}))
			w.Server.Fail("LIST", errDenied)
			w.Start()
			w.Advance(LongEnough)
		}},
	{Name: "its controller", Guarantee: guarantee.Complete, Script: aController},
	{Name: "its controller, which mustn't tell its version", Guarantee: guarantee.NoTimeTravel,
		Without: []features.Feature{features.InformerResourceVersion}, Script: aController},
	{Name: "after the end", Guarantee: guarantee.NoLeak,
		Options: InformerOptions{
			Indexers: cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}},
		Script: func(w *World) {
			w.Put("a")
			h := w.Handle("h")
			w.Start()
			w.Stop()
			w.Put("b")
			w.Unhandle(h)
			w.index(cache.NamespaceIndex)
			w.Note("%t %t", h.registration.HasSynced(), w.Informer.HasSynced())
		}},
}

// aController records what the result of GetController reports, before the start and later.
func aController(w *World) {
	c := w.Informer.GetController()
	note := func() {
		w.Note("%t %t %q", c.HasSynced(), cache.IsDone(c.HasSyncedChecker()), c.LastSyncResourceVersion())
	}
	note()
	w.Put("a")
	w.Start()
	note()
	c.RunWithContext(w.T.Context()) // this must not run the informer
	w.Put("b")
	note()
}
