package conformance

import (
	"fmt"
	"io"
	"net/url"
	"syscall"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/features"

	"github.com/kubewright/kubewright/internal/guarantee"
)

var (
	errUnauthorized = apierrors.NewUnauthorized("who are you?")
	errNotFound     = apierrors.NewNotFound(schema.GroupResource{Resource: "configmaps"}, "")
	errRefused      = &url.Error{Op: "Get", URL: "http://server", Err: syscall.ECONNREFUSED}
	errCut          = fmt.Errorf("reading the body: %w", io.ErrUnexpectedEOF)
	errTooLarge     = newTooLarge()
)

func newTooLarge() error {
	err := apierrors.NewTimeoutError("Too large resource version: 900, current: 100", 1)
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: metav1.CauseTypeResourceVersionTooLarge,
		Message: "Too large resource version"}}
	return err
}

// moreThanAPage is a number of objects that exceeds a page.
const moreThanAPage = 502

// lists are scenarios of lists that aren't streamed.
var lists = []Scenario{
	{Name: "a list in pages", Guarantee: guarantee.Complete,
		Server: (*ConfigMaps).NoWatchListClient, Script: func(w *World) {
			w.Fill(moreThanAPage)
			w.Start()
			w.Handle("late")
		}},
	{Name: "changes between two pages", Guarantee: guarantee.Complete,
		Server: (*ConfigMaps).NoWatchListClient, Script: func(w *World) {
			w.Fill(moreThanAPage)
			w.OnPage(func() error { w.Missed([]string{"n000", "new"}, []string{"n501"}); return nil })
			w.Handle("h")
			w.Start()
		}},
	{Name: "pages expire", Guarantee: guarantee.Converging,
		Server: (*ConfigMaps).NoWatchListClient, Script: func(w *World) {
			w.Fill(moreThanAPage)
			w.OnPage(func() error { w.Missed(nil, []string{"n000"}); w.Server.Compact(); return nil })
			w.Handle("h")
			w.Start()
		}},
	{Name: "pages expire and so does the whole list", Guarantee: guarantee.Converging,
		Server: (*ConfigMaps).NoWatchListClient,
		Script: func(w *World) {
			w.HandleErrors()
			w.Fill(moreThanAPage)
			w.OnPage(func() error { w.Server.Fail("LIST", expired()); return expired() })
			w.Start()
			w.Server.OnRequest(nil)
			w.Advance(LongEnough)
		}},
	{Name: "a page fails", Guarantee: guarantee.Converging,
		Server: (*ConfigMaps).NoWatchListClient, Script: func(w *World) {
			w.HandleErrors()
			w.Fill(moreThanAPage)
			w.OnPage(func() error { return errBroken })
			w.Handle("h")
			w.Start()
			w.Server.OnRequest(nil)
			w.Missed(nil, []string{"n000", "n501"})
			w.Advance(LongEnough)
		}},
	{Name: "a page of a relist fails", Guarantee: guarantee.Converging,
		Server: (*ConfigMaps).NoWatchListClient, Script: func(w *World) {
			w.Fill(moreThanAPage)
			w.Handle("h")
			w.Start()
			w.OnPage(func() error { return errBroken })
			w.Server.FailWatches(expired())
			w.Missed([]string{"n000"}, []string{"n001", "n501"})
			w.Advance(2 * time.Second)
			w.Server.OnRequest(nil)
			w.Advance(LongEnough)
		}},
	{Name: "a relist where lists come in pages", Guarantee: guarantee.Complete,
		Server: (*ConfigMaps).NoWatchListClient,
		Script: func(w *World) {
			w.Fill(moreThanAPage)
			w.Start()
			w.Relist(func() { w.Missed([]string{"new"}, []string{"n400"}) })
		}},
	{Name: "a relist where the watch cache answers", Guarantee: guarantee.NoTimeTravel,
		Server: func(s *ConfigMaps) { s.NoWatchListClient(); s.WatchCache(true) }, Script: func(w *World) {
			w.Fill(moreThanAPage)
			w.Start()
			w.Relist(func() { w.Missed([]string{"new"}, []string{"n400"}) })
		}},
	{Name: "the version of a relist has expired", Guarantee: guarantee.Converging,
		Server: (*ConfigMaps).NoWatchListClient,
		Script: func(w *World) {
			w.Put("a", "b")
			w.Handle("h")
			w.Start()
			w.Server.Fail("LIST", expired())
			w.Relist(func() { w.Missed([]string{"c"}, []string{"a"}) })
		}},
	{Name: "the version of a relist is gone", Guarantee: guarantee.Converging,
		Server: (*ConfigMaps).NoWatchListClient,
		Script: func(w *World) {
			w.Put("a")
			w.Start()
			w.Server.Fail("LIST", apierrors.NewGone("gone"))
			w.Relist(func() { w.Missed([]string{"c"}, nil) })
		}},
	{Name: "the version of a relist is to come", Guarantee: guarantee.Converging,
		Server: (*ConfigMaps).NoWatchListClient,
		Script: func(w *World) {
			w.Put("a", "b")
			w.Handle("h")
			w.Start()
			w.Server.Fail("LIST", errTooLarge)
			w.Relist(func() { w.Missed([]string{"c"}, []string{"a"}) })
			w.Relist(func() {})
		}},
	{Name: "the newest list has expired, too", Guarantee: guarantee.Converging,
		Server: (*ConfigMaps).NoWatchListClient,
		Script: func(w *World) {
			w.HandleErrors()
			w.Put("a")
			w.Start()
			w.Server.Fail("LIST", expired(), expired(), expired())
			w.Relist(func() { w.Missed([]string{"b"}, nil) })
		}},
	{Name: "lists fail in all ways, one after the other", Guarantee: guarantee.BoundedLoad,
		Server: (*ConfigMaps).NoWatchListClient,
		Script: func(w *World) {
			w.HandleErrors()
			w.Server.Fail("LIST", errUnauthorized, errNotFound, errRefused, errBusy, errCut,
				io.EOF, errBroken)
			w.Put("a")
			w.Handle("h")
			w.Start()
			w.Advance(3 * LongEnough)
		}},
	{Name: "a relist fails and nothing is lost", Guarantee: guarantee.Complete,
		Server: (*ConfigMaps).NoWatchListClient,
		Script: func(w *World) {
			w.HandleErrors()
			w.Put("a", "b")
			w.Handle("h")
			w.Start()
			w.Server.Fail("LIST", errDenied)
			w.Server.FailWatches(expired())
			w.Missed([]string{"b"}, []string{"a"})
			w.Advance(2 * time.Second)
			w.Advance(LongEnough)
		}},
	{Name: "a handler comes before the list does", Guarantee: guarantee.SyncedMeansDelivered,
		Server: (*ConfigMaps).NoWatchListClient,
		Script: func(w *World) {
			w.Server.Fail("LIST", errDenied)
			w.Put("a")
			w.Start()
			w.Handle("early")
			w.Advance(LongEnough)
		}},
	{Name: "streams are switched off", Guarantee: guarantee.Complete,
		Without: []features.Feature{features.WatchListClient},
		Script: func(w *World) {
			w.Put("a")
			w.Handle("h")
			w.Start()
			w.Relist(func() { w.Missed([]string{"b"}, []string{"a"}) })
		}},
	{Name: "lists are taken apart", Guarantee: guarantee.Complete, Without: inOldWays, Script: func(w *World) {
		w.Put("a", "b")
		w.Handle("h")
		w.Start()
		w.Relist(func() { w.Missed([]string{"b", "c"}, []string{"a"}) })
	}, Differs: "without AtomicFIFO, client-go's store has no version"},
	{Name: "deleted and created again between two lists", Guarantee: guarantee.Complete,
		Server: (*ConfigMaps).NoWatchListClient,
		Script: func(w *World) {
			w.Put("a", "b")
			w.Handle("h")
			w.Start()
			w.Relist(func() { w.Missed(nil, []string{"a"}); w.Missed([]string{"a"}, nil) })
		}},
	{Name: "two relists in a row", Guarantee: guarantee.Unique, Script: func(w *World) {
		w.Put("a", "b")
		w.Handle("h")
		w.Start()
		w.Relist(func() { w.Missed(nil, []string{"a"}) })
		w.Relist(func() { w.Missed([]string{"a"}, []string{"b"}) })
		w.Put("a")
	}},
}
