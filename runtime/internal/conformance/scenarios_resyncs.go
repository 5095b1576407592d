package conformance

import (
	"time"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/internal/guarantee"
)

// resyncs are scenarios that report unchanged objects again.
var resyncs = []Scenario{
	{Name: "a resync period under a second", Guarantee: guarantee.Complete,
		Options: InformerOptions{ResyncPeriod: time.Minute},
		Script: func(w *World) {
			w.Put("a")
			w.Handle("hasty", time.Millisecond)
			w.Start()
			w.Advance(500 * time.Millisecond)
			w.Advance(600 * time.Millisecond)
			w.Advance(time.Second)
		}},
	{Name: "a handler wants resyncs before the start where there are none", Guarantee: guarantee.Complete,
		Script: func(w *World) {
			w.Put("a")
			w.Handle("wants", 10*time.Second)
			w.Start()
			w.Advance(11 * time.Second)
		}},
	{Name: "the handler that resyncs leaves", Guarantee: guarantee.NoLeak,
		Options: InformerOptions{ResyncPeriod: time.Minute},
		Script: func(w *World) {
			w.Put("a")
			h := w.Handle("resyncs")
			w.Handle("doesn't", 0)
			w.Start()
			w.Advance(time.Minute)
			w.Unhandle(h)
			w.Advance(2 * time.Minute)
		}},
	{Name: "a resync of what changed and what went", Guarantee: guarantee.Complete,
		Options: InformerOptions{ResyncPeriod: time.Minute},
		Script: func(w *World) {
			w.Put("a", "b", "c")
			w.Handle("h")
			w.Start()
			w.Put("a")
			w.Remove("b")
			w.Advance(time.Minute)
		}},
	{Name: "a slow handler misses no resync", Guarantee: guarantee.Complete,
		Options: InformerOptions{ResyncPeriod: time.Minute},
		Script: func(w *World) {
			w.Put("a")
			slow := w.HandleSlowly("slow")
			w.Handle("fast")
			w.Start()
			w.Advance(time.Minute)
			w.Advance(time.Minute)
			w.Put("a")
			w.Release(slow)
		}},
	{Name: "a resync before the list", Guarantee: guarantee.Complete,
		Options: InformerOptions{ResyncPeriod: time.Minute},
		Server:  (*ConfigMaps).NoWatchListClient, Script: func(w *World) {
			w.Server.Fail("LIST", errDenied)
			w.Put("a")
			w.Handle("h")
			w.Start()
			w.Advance(2 * time.Second)
			w.Advance(58 * time.Second)
			w.Advance(2 * time.Second)
		}},
	{Name: "resyncs while a handler is late", Guarantee: guarantee.Isolated,
		Options: InformerOptions{ResyncPeriod: time.Minute},
		Script: func(w *World) {
			w.Put("a")
			w.Handle("early")
			w.Start()
			w.Advance(30 * time.Second)
			w.Handle("late")
			w.Advance(30 * time.Second)
			w.Advance(30 * time.Second)
			w.Advance(30 * time.Second)
		}},
	{Name: "a relist after a resync reaches whom it was for", Guarantee: guarantee.Complete,
		Options: InformerOptions{ResyncPeriod: time.Hour}, Server: (*ConfigMaps).NoWatchListClient,
		Script: func(w *World) {
			w.Put("a", "b")
			w.Handle("every hour")
			w.Handle("every two", 2*time.Hour)
			w.Handle("never", 0)
			w.Start()
			w.Relist(func() {})
			bubble.Pass(time.Hour)
			w.Server.Observe(nil) // the number of watches depends on random timeouts
			w.requests.takeLines()
			w.Step("an hour")
			w.Relist(func() { w.Missed([]string{"a"}, nil) })
		}},
	{Name: "a relist before any resync reaches who comes late", Guarantee: guarantee.Complete,
		Options: InformerOptions{ResyncPeriod: time.Hour}, Script: func(w *World) {
			w.Put("a")
			w.Handle("never", 0)
			w.Start()
			w.Advance(time.Minute)
			w.Handle("late and never", 0)
			w.Relist(func() {})
		}},
	{Name: "a relist without changes and nobody who resyncs", Guarantee: guarantee.Unique,
		Script: func(w *World) {
			w.Put("a", "b")
			w.Handle("never", 0)
			w.Handle("never either", 0)
			w.Start()
			w.Relist(func() {})
			w.Relist(func() { w.Missed([]string{"b"}, nil) })
		}},
}
