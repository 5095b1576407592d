package partial_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/runtimetest"
	"github.com/kubewright/kubewright/runtime/shard"
	"github.com/kubewright/kubewright/runtime/shard/partial"
)

// halves are two ranges with six of a partWorld's namespaces each.
func (w *partWorld) halves() (low, high shard.Ranges) {
	low = shard.Join(shard.Range{Last: w.cuts[6] - 1})
	return low, shard.All().Minus(low)
}

// paged makes a server whose lists are read in pages, and which has an object in each namespace.
func paged(s *partServer) {
	s.NoWatchListClient()
	for n := range 12 {
		s.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
			Namespace: fmt.Sprint("namespace-", n), Name: "name"}})
	}
}

func inBubble(t *testing.T, by shard.Field, f func(*partWorld)) {
	synctest.Test(t, func(t *testing.T) {
		w := newPartWorld(t, by, paged)
		w.handle(false)
		f(w)
		if w.stop != nil {
			w.stop()
		}
	})
}

func (w *partWorld) expectRequests(what, want string) {
	w.t.Helper()
	if got := w.requestsOf(); got != want {
		w.t.Errorf("%s: requests\n%s\nwant\n%s", what, got, want)
	}
}

// TestPartWithoutRanges checks that an informer without ranges requests nothing, has synced, and that waits
// return at once.
func TestPartWithoutRanges(t *testing.T) {
	inBubble(t, shard.ByNamespace, func(w *partWorld) {
		w.start()
		w.settle()
		w.check("at first")
		w.expectRequests("at first", "")
		if s := w.part.Status(); s.Lists != "unknown" || s.Watches != "unknown" {
			w.t.Errorf("%+v", s)
		}
		low, _ := w.halves()
		w.set(low)
		w.settle()
		w.check("with ranges")
		w.requestsOf()
		w.set(nil)
		if len(w.stored()) > 0 || w.server.Watches() > 0 {
			w.t.Errorf("%v are stored, %d watches", w.stored(), w.server.Watches())
		}
		w.settle()
		w.check("without ranges")
		w.expectRequests("without ranges", "")
	})
}

// TestNarrowing checks that removing ranges causes no request: their objects leave the store and are
// released, their later events are dropped, and the next watch selects less, from the last one's version.
func TestNarrowing(t *testing.T) {
	inBubble(t, shard.ByNamespace, func(w *partWorld) {
		low, _ := w.halves()
		w.set(shard.All())
		w.start()
		w.server.Bookmark()
		synctest.Wait()
		w.check("at first")
		w.requestsOf()
		w.set(low)
		w.check("narrowed")
		if n := w.handlers[0].released; n != 6 {
			w.t.Errorf("%d objects were released", n)
		}
		for _, o := range w.server.Objects() {
			w.server.Update(o)
		}
		synctest.Wait()
		w.server.Bookmark()
		synctest.Wait()
		w.check("after events of what left")
		w.expectRequests("narrowed", "")
		w.server.CloseWatches()
		synctest.Wait()
		w.expectRequests("the next watch", fmt.Sprintf("WATCH rv=%q %s", w.server.Version(), low))
	})
}

// TestWidening checks that adding ranges causes one list of them, from the newest state, and that one watch
// remains, from a version that both feeds had reached.
func TestWidening(t *testing.T) {
	inBubble(t, shard.ByNamespace, func(w *partWorld) {
		low, high := w.halves()
		w.set(low)
		w.start()
		w.settle()
		w.check("at first")
		w.server.Skip(7)
		before, listed := w.informer.LastSyncResourceVersion(), w.server.Version()
		w.requestsOf()
		w.set(shard.All())
		w.expectRequests("widened",
			fmt.Sprintf("LIST rv=\"\" %s\nWATCH rv=%q %s", high, listed, high))
		if s := w.part.Status(); !s.Held.Equal(shard.All()) || s.Feeds != 2 || len(w.stored()) != 12 {
			w.t.Errorf("%+v, %d objects", s, len(w.stored()))
		}
		// Only one feed has reached the version that is waited for.
		if at := w.informer.LastSyncResourceVersion(); at != before {
			w.t.Errorf("it is at %s, one feed at %s", at, before)
		}
		waits := func(version string) {
			ctx, cancel := context.WithCancel(w.t.Context())
			cancel()
			if err := informer.WaitForVersion(ctx, w.informer, version); !errors.Is(err, context.Canceled) {
				w.t.Errorf("version %s, which one feed hasn't reached: %v", version, err)
			}
		}
		waits(listed)
		for _, o := range w.server.Objects() {
			if high.Contains(shard.ByNamespace.Hash(o)) {
				now := w.server.Update(o)
				synctest.Wait()
				waits(now)
			}
		}
		w.server.Bookmark()
		synctest.Wait()
		w.expectRequests("joined", fmt.Sprintf("WATCH rv=%q %s", w.server.Version(), shard.All()))
		w.check("joined")
	})
}

// TestEndedFeedsTellNothing checks that events that a feed has read when it is joined with another are not
// reported twice.
func TestEndedFeedsTellNothing(t *testing.T) {
	inBubble(t, shard.ByNamespace, func(w *partWorld) {
		low, _ := w.halves()
		w.start()
		for range 30 {
			w.set(low)
			w.server.Skip(1)
			w.set(shard.All())
			w.server.Bookmark() // joins them, while they read the rest
			for _, o := range w.server.Objects() {
				w.server.Delete(o.Namespace, o.Name)
				w.server.Create(o)
			}
			synctest.Wait()
		}
		w.settle()
		w.check("the end")
	})
}

// TestWideningOfWhole checks that a server that filters nothing gets one list when ranges are added, and that
// there is one watch before and after.
func TestWideningOfWhole(t *testing.T) {
	inBubble(t, shard.ByNamespace, func(w *partWorld) {
		w.server.Sharding(false, false)
		low, high := w.halves()
		w.set(low)
		w.start()
		w.settle()
		w.check("at first")
		if s := w.part.Status(); s.Lists != "whole" {
			w.t.Errorf("%+v", s)
		}
		for _, o := range w.server.Objects() {
			w.server.Update(o)
		}
		synctest.Wait()
		w.requestsOf()
		at := w.server.Version()
		w.set(shard.All())
		w.expectRequests("widened", fmt.Sprintf("LIST rv=\"\" %s\nWATCH rv=%q %s", high, at, shard.All()))
		if s := w.part.Status(); s.Lists != "whole" || s.Watches != "whole" {
			w.t.Errorf("%+v", s)
		}
		w.check("joined")
	})
}

// TestListIsNotOlder checks that a list after a join requests a version that is at least as new as that of
// every range in the store, not only that of the joined watch.
func TestListIsNotOlder(t *testing.T) {
	inBubble(t, shard.ByNamespace, func(w *partWorld) {
		w.server.Sharding(false, false)
		low, high := w.halves()
		w.set(low)
		w.start()
		at := w.server.Version()
		w.server.Skip(7)
		w.requestsOf()
		w.set(shard.All())
		w.expectRequests("joined", fmt.Sprintf("LIST rv=\"\" %s\nWATCH rv=%q %s", high, at, shard.All()))
		w.server.FailWatches(apierrors.NewResourceExpired("expired"))
		bubble.Advance(time.Minute)
		now := w.server.Version()
		w.expectRequests("expired",
			fmt.Sprintf("LIST rv=%q %s\nWATCH rv=%q %s", now, shard.All(), now, shard.All()))
		w.check("listed")
	})
}

// TestHalfFiltering checks the status for a server that filters only its lists, and for one that begins to
// filter.
func TestHalfFiltering(t *testing.T) {
	inBubble(t, shard.ByNamespace, func(w *partWorld) {
		for n := range 30 {
			w.server.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
				Namespace: fmt.Sprint("namespace-", n%12), Name: fmt.Sprint("another-", n)}})
		}
		w.server.Sharding(true, false)
		low, _ := w.halves()
		w.set(low)
		w.start()
		update := func() {
			for _, o := range w.server.Objects() {
				w.server.Update(o)
			}
			w.settle()
			w.check("updated")
		}
		update()
		if s := w.part.Status(); s.Lists != "filtered" || s.Watches != "whole" {
			w.t.Errorf("lists only: %+v", s)
		}
		w.server.Sharding(true, true)
		w.server.CloseWatches()
		// The server may have ended a watch just before. Then this one was so short that a list follows, and
		// only a list would show what changes now.
		w.settle()
		update()
		if s := w.part.Status(); s.Lists != "filtered" || s.Watches != "filtered" {
			w.t.Errorf("both: %+v", s)
		}
	})
}

// TestPagesKeepTheirSelector checks that a list continues with the selector that it began with, though its
// ranges have changed, and that objects outside the new ranges aren't stored.
func TestPagesKeepTheirSelector(t *testing.T) {
	inBubble(t, shard.ByNamespace, func(w *partWorld) {
		w.server.MaxPage(5)
		low, _ := w.halves()
		w.set(shard.All())
		w.hold(w.start, func() {
			if err := w.part.SetRanges(low...); err != nil {
				w.t.Error(err)
			}
		})
		var selectors []string
		for _, r := range w.server.Requests() {
			if r.Verb == "LIST" {
				selectors = append(selectors, r.Options.ShardSelector)
			}
		}
		whole, _ := shard.Selector(shard.ByNamespace, shard.All())
		if len(selectors) != 3 || selectors[1] != whole || selectors[2] != whole {
			w.t.Errorf("%q", selectors)
		}
		w.settle()
		w.check("listed")
	})
}

// hold does something that leads to a list of several pages, and something else before the second page.
func (w *partWorld) hold(lead, meanwhile func()) {
	goOn := make(chan struct{})
	w.server.OnRequest(func(ctx context.Context, r runtimetest.Request) error {
		if r.Options.Continue != "" {
			<-goOn
		}
		return nil
	})
	lead()
	synctest.Wait()
	meanwhile()
	close(goOn)
	synctest.Wait()
}

// TestInvalidSelector checks that the server's error for a selector that it can't read ends all requests, and
// that the status, waits and SetRanges report it.
func TestInvalidSelector(t *testing.T) {
	inBubble(t, shard.ByNamespace, func(w *partWorld) {
		refused := &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure,
			Code: http.StatusInternalServerError, Message: "invalid shard selector: it is too new"}}
		w.server.Fail("LIST", refused)
		w.set(shard.All())
		w.start()
		bubble.Advance(time.Hour)
		if n := len(w.server.Requests()); n != 1 {
			w.t.Errorf("%d requests", n)
		}
		status, _ := informer.StatusOf(w.informer)
		for what, err := range map[string]error{
			"part": w.part.Status().Err, "status": status.LastError, "SetRanges": w.part.SetRanges(),
			"sync": informer.WaitForSyncOr(w.t.Context(), (*informer.SyncError).Permanent, w.informer),
		} {
			if err == nil || !strings.Contains(err.Error(), "it is too new") {
				w.t.Errorf("%s: %v", what, err)
			}
		}
	})
}

// TestWaitForRanges checks that a wait ends when the objects are in the store, and not before.
func TestWaitForRanges(t *testing.T) {
	inBubble(t, shard.ByNamespace, func(w *partWorld) {
		low, high := w.halves()
		w.set(low)
		w.start()
		done := make(chan int, 1)
		go func() {
			if err := w.part.WaitFor(w.t.Context(), high...); err != nil {
				w.t.Error(err)
			}
			done <- len(w.stored())
		}()
		synctest.Wait()
		select {
		case <-done:
			w.t.Error("it waited for nothing")
		default:
		}
		w.set(shard.All())
		if n := <-done; n != 12 {
			w.t.Errorf("%d objects", n)
		}
	})
}

// TestShardErrors checks what Shard refuses.
func TestShardErrors(t *testing.T) {
	inBubble(t, shard.ByUID, func(w *partWorld) {
		if _, err := partial.Shard(w.informer, shard.ByUID); err == nil {
			t.Error("an informer has two parts")
		}
		w.start()
		if _, err := partial.Shard(w.informer, shard.ByUID); err == nil {
			t.Error("a part of an informer that has started")
		}
		other := newPartWorld(t, shard.ByUID, nil)
		if _, err := partial.Shard(other.informer, "object.metadata.name"); err == nil {
			t.Error("names are hashed")
		}
		theirs := cache.NewSharedInformer(w.server.ListerWatcher(), &corev1.ConfigMap{}, 0)
		if _, err := partial.Shard(theirs, shard.ByUID); !errors.Is(err, informer.ErrUnsupportedInformer) {
			t.Error(err)
		}
	})
}

// TestReleasedIsAnEvent checks that a loop over events and a typed handler receive released objects.
func TestReleasedIsAnEvent(t *testing.T) {
	inBubble(t, shard.ByNamespace, func(w *partWorld) {
		low, _ := w.halves()
		w.set(shard.All())
		w.start()
		core, _ := informer.Of[*corev1.ConfigMap](w.informer)
		typed := &typedReleases{}
		if _, err := core.AddEventHandler(typed, informer.HandlerOptions{}); err != nil {
			t.Fatal(err)
		}
		counts := map[informer.EventType]int{}
		ctx, cancel := context.WithCancel(w.t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for event := range core.Events(ctx) {
				counts[event.Type]++
			}
		}()
		synctest.Wait()
		w.set(low)
		cancel()
		<-ended
		want := map[informer.EventType]int{informer.Added: 12, informer.Synced: 1, informer.Released: 6}
		if fmt.Sprint(counts) != fmt.Sprint(want) || typed.added != 12 || typed.released != 6 {
			t.Errorf("%v, want %v; typed: %+v", counts, want, typed)
		}
	})
}

type typedReleases struct {
	cache.TypedResourceEventHandlerFuncs[*corev1.ConfigMap]
	added, released int
}

func (h *typedReleases) OnAdd(*corev1.ConfigMap, bool)   { h.added++ }
func (h *typedReleases) OnRelease(obj *corev1.ConfigMap) { h.released++ }
