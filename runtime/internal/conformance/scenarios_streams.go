package conformance

import (
	"time"

	"github.com/kubewright/kubewright/internal/guarantee"
)

// streams are scenarios of lists that are streamed.
var streams = []Scenario{
	{Name: "a stream is cut before its end", Guarantee: guarantee.Converging, Script: func(w *World) {
		w.Put("a", "b")
		w.Server.OmitEndBookmark(true)
		w.Handle("h")
		w.Start()
		w.Server.OmitEndBookmark(false)
		w.Missed([]string{"c"}, []string{"a"})
		w.Server.CloseWatches()
		w.Step("cut")
	}},
	{Name: "a stream is cut before its end, again and again", Guarantee: guarantee.BoundedLoad,
		Script: func(w *World) {
			w.Put("a")
			w.Server.OmitEndBookmark(true)
			w.Start()
			for range 3 {
				w.Server.CloseWatches()
				w.Step("cut")
			}
			w.Server.OmitEndBookmark(false)
			w.Server.CloseWatches()
			w.Step("cut for the last time")
		}, Differs: "client-go asks again at once, each time"},
	{Name: "a stream breaks before its end", Guarantee: guarantee.Converging, Script: func(w *World) {
		w.HandleErrors()
		w.Put("a")
		w.Server.OmitEndBookmark(true)
		w.Handle("h")
		w.Start()
		w.Server.FailWatches(errBroken)
		w.Step("break")
	}},
	{Name: "a stream expires before its end", Guarantee: guarantee.Converging, Script: func(w *World) {
		w.Put("a")
		w.Server.OmitEndBookmark(true)
		w.Handle("h")
		w.Start()
		w.Server.OmitEndBookmark(false)
		w.Missed([]string{"b"}, nil)
		w.Server.FailWatches(expired())
		w.Step("expire")
		w.Advance(LongEnough)
	}},
	{Name: "a busy server ends a stream", Guarantee: guarantee.BoundedLoad, Script: func(w *World) {
		w.Put("a")
		w.Server.OmitEndBookmark(true)
		w.Start()
		w.Server.OmitEndBookmark(false)
		w.Server.FailWatches(errBusy)
		w.Advance(LongEnough)
	}},
	{Name: "a stream is refused", Guarantee: guarantee.Converging, Script: func(w *World) {
		w.HandleErrors()
		w.Server.Fail("WATCH", errDenied)
		w.Put("a")
		w.Handle("h")
		w.Start()
		w.Relist(func() {})
	}},
	{Name: "a stream and then the list are refused", Guarantee: guarantee.Converging, Script: func(w *World) {
		w.HandleErrors()
		w.Server.Fail("WATCH", errDenied)
		w.Server.Fail("LIST", errDenied)
		w.Put("a")
		w.Handle("h")
		w.Start()
		w.Advance(LongEnough)
	}},
	{Name: "nobody is there to stream", Guarantee: guarantee.Converging, Script: func(w *World) {
		w.HandleErrors()
		w.Server.Fail("WATCH", errRefused, errRefused)
		w.Put("a")
		w.Start()
		w.Advance(LongEnough)
		w.Advance(LongEnough)
	}},
	{Name: "a stream of a version that has expired", Guarantee: guarantee.Converging, Script: func(w *World) {
		w.Put("a")
		w.Handle("h")
		w.Start()
		w.Server.Fail("WATCH", expired())
		w.Relist(func() { w.Missed([]string{"b"}, []string{"a"}) })
		w.Relist(func() {})
	}},
	{Name: "a stream of a version that is to come", Guarantee: guarantee.Converging, Script: func(w *World) {
		w.Put("a")
		w.Start()
		w.Server.Fail("WATCH", errTooLarge)
		w.Relist(func() { w.Missed([]string{"b"}, nil) })
	}},
	{Name: "a bookmark before the end of a stream", Guarantee: guarantee.SyncedMeansDelivered,
		Script: func(w *World) {
			w.Put("a")
			w.Server.OmitEndBookmark(true)
			w.Start()
			w.Server.Bookmark()
			w.Step("a bookmark that isn't the end")
			w.Server.EndInitialEvents()
			w.Step("the end")
		}},
	{Name: "created and deleted before the end of a stream", Guarantee: guarantee.Complete,
		Script: func(w *World) {
			w.startUnended("a")
			w.Put("b")
			w.Remove("b", "a")
			w.Put("a")
			w.endInitialEvents()
		}},
	{Name: "the end of a stream comes a minute late", Guarantee: guarantee.SyncedMeansDelivered,
		Script: func(w *World) {
			w.startUnended("a")
			w.Advance(time.Minute)
			w.Handle("another")
			w.endInitialEvents()
		}},
	{Name: "the end of a stream comes twice", Guarantee: guarantee.SyncedMeansDelivered, Script: func(w *World) {
		w.Put("a")
		w.Handle("h")
		w.Start()
		w.endInitialEvents()
		w.Put("a")
	}},
	{Name: "a stream is empty", Guarantee: guarantee.SyncedMeansDelivered, Script: func(w *World) {
		w.Put("a")
		w.Handle("h")
		w.Start()
		w.Relist(func() { w.Missed(nil, []string{"a"}) })
		w.Put("a")
	}},
}
