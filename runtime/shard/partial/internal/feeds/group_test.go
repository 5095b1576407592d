package feeds

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/internal/engine"
	"github.com/kubewright/kubewright/runtime/internal/reflector"
	"github.com/kubewright/kubewright/runtime/runtimetest"
	"github.com/kubewright/kubewright/runtime/shard"
)

// halves are the ranges of six of a world's namespaces each.
func (w *world) halves() (low, high shard.Ranges) {
	low = shard.Join(shard.Range{Last: w.cuts[maxNamespaces/2] - 1})
	return low, shard.All().Minus(low)
}

// inTowns calls f in a bubble with a server that has an object in each namespace and filters all requests.
func inTowns(t *testing.T, options reflector.Options, f func(*world)) {
	inWorld(t, shard.ByNamespace, options, func(w *world) {
		w.server.Sharding(true, true)
		for n := range maxNamespaces {
			w.put(namespaceOf(n), "bakery")
		}
		f(w)
	})
}

// twoFeeds makes a group read by two feeds, the second of which has just been started: nothing has happened
// since its list that the first could have received.
func (w *world) twoFeeds() {
	w.server.Skip(5)
	w.set(shard.All())
	synctest.Wait()
	if n := w.group.Status().Feeds; n != 2 {
		w.t.Errorf("%d feeds", n)
	}
}

// TestNoRanges checks that a group without ranges requests nothing and is complete.
func TestNoRanges(t *testing.T) {
	inTowns(t, reflector.Options{}, func(w *world) {
		if state := w.group.Health().State; state != reflector.Idle {
			t.Errorf("it is %s before it runs", state)
		}
		defer w.run()()
		w.settle()
		w.checkQuiet("without ranges")
		if n := len(w.server.Requests()); n > 0 {
			t.Errorf("%d requests", n)
		}
	})
}

// TestHeld checks that ranges are held when their list has reached the cache, and not before, and that those
// that were given up on the way there never are.
func TestHeld(t *testing.T) {
	inTowns(t, reflector.Options{}, func(w *world) {
		low, _ := w.halves()
		w.set(shard.All())
		defer w.run()()
		expect := func(what string, held shard.Ranges, completed int) {
			t.Helper()
			if got := w.group.Status().Held; !got.Equal(held) {
				t.Errorf("%s: %v are held, want %v", what, got, held)
			}
			w.read(func(s *mapSink) {
				if len(s.objects) != maxNamespaces || s.completed != completed {
					t.Errorf("%s: %d objects, completed %d times, want %d", what, len(s.objects), s.completed,
						completed)
				}
			})
		}
		expect("listed", nil, 0)
		w.set(low)
		w.set(shard.All())
		synctest.Wait()
		expect("listed again", nil, 0)
		w.store(1)
		expect("the first list has arrived", low, 0)
		w.store(1)
		expect("both lists have arrived", shard.All(), 1)
		w.settle()
		w.checkQuiet("in the end")
	})
}

// TestRefusedSelector checks that the server's refusal of a selector ends all feeds, is told once, though two
// feeds receive it, and is the error of SetRanges from then on.
func TestRefusedSelector(t *testing.T) {
	handled, failed := 0, 0
	inTowns(t, reflector.Options{
		ErrorHandler: func(context.Context, error) { handled++ }, Failed: func(error) { failed++ },
	}, func(w *world) {
		low, high := w.halves()
		w.server.NoWatchList()
		w.set(low)
		defer w.run()()
		refused := &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure,
			Code: http.StatusInternalServerError, Message: "invalid shard selector: it is too new"}}
		refuse := make(chan struct{})
		w.server.OnRequest(func(_ context.Context, r runtimetest.Request) error {
			if r.Verb != "LIST" {
				return nil
			}
			<-refuse
			return refused
		})
		w.set(low.Plus(only(high[0].First)))
		w.set(shard.All())
		synctest.Wait()
		if n := w.group.Status().Feeds; n != 3 {
			t.Errorf("%d feeds", n)
		}
		close(refuse)
		synctest.Wait()
		status, health := w.group.Status(), w.group.Health()
		if !errors.Is(status.Fatal, refused) || status.Feeds > 0 || w.server.Watches() > 0 {
			t.Errorf("%d watches, %+v", w.server.Watches(), status)
		}
		if health.State != reflector.Stopped || health.Failures != 1 || health.LastError != status.Fatal {
			t.Errorf("%+v", health)
		}
		if text := status.Fatal.Error(); !strings.Contains(text, "doesn't understand our shard selectors") {
			t.Error(text)
		}
		permanent, ok := status.Fatal.(interface{ Permanent() bool })
		if err := w.group.SetRanges(low); err != status.Fatal || !ok || !permanent.Permanent() {
			t.Error(err)
		}
		requests := len(w.server.Requests())
		bubble.Advance(time.Hour)
		if n := len(w.server.Requests()); n != requests || handled != 1 || failed != 1 {
			t.Errorf("%d requests, then %d, handled %d times, failed %d times", requests, n, handled, failed)
		}
	})
}

// TestResyncs checks that the sink resyncs once in a period, however many feeds there are, unless it
// shouldn't.
func TestResyncs(t *testing.T) {
	var shouldNot atomic.Bool
	inTowns(t, reflector.Options{
		ResyncPeriod: time.Minute, ShouldResync: func() bool { return !shouldNot.Load() },
	}, func(w *world) {
		low, _ := w.halves()
		stop := w.run()
		resyncs := 0
		expect := func(what string, n int) {
			t.Helper()
			bubble.Advance(3 * time.Minute)
			before := resyncs
			w.read(func(s *mapSink) { resyncs = s.resyncs })
			if got := resyncs - before; got != n {
				t.Errorf("%s: %d resyncs, want %d", what, got, n)
			}
		}
		expect("no feed", 3)
		w.set(low)
		expect("one feed", 3)
		w.twoFeeds()
		expect("two feeds", 3)
		shouldNot.Store(true)
		expect("not now", 0)
		shouldNot.Store(false)
		stop()
		expect("stopped", 0)
	})
}

// TestHealth checks that the health is that of the feed that doesn't watch, whichever that is, with the
// version that all have reached.
func TestHealth(t *testing.T) {
	inTowns(t, reflector.Options{}, func(w *world) {
		low, high := w.halves()
		w.server.NoWatchList()
		w.set(low)
		defer w.run()()
		at := w.server.Version()
		w.twoFeeds()
		for _, failing := range []shard.Ranges{low, high} {
			bubble.Advance(time.Minute)
			if h := w.group.Health(); h.State != reflector.Watching || h.Failures > 0 ||
				w.group.LastSyncResourceVersion() != at {
				t.Errorf("two feeds: %+v", h)
			}
			busy := apierrors.NewTooManyRequestsError("busy") // the next watch begins where the last one was
			selector, _ := shard.Selector(w.by, failing)
			w.server.OnRequest(func(_ context.Context, r runtimetest.Request) error {
				if r.Options.ShardSelector == selector {
					return busy
				}
				return nil
			})
			w.server.CloseWatches()
			synctest.Wait()
			h := w.group.Health()
			if h.State != reflector.BackingOff || h.Failures != 1 || h.FailingSince.IsZero() ||
				h.LastError != error(busy) || w.group.LastSyncResourceVersion() != at {
				t.Errorf("%v fails: %+v", failing, h)
			}
			w.server.OnRequest(nil)
		}
		synced := w.group.Health().Synced
		w.settle()
		w.checkQuiet("in the end")
		if h := w.group.Health(); h.Failures > 0 || !h.FailingSince.IsZero() || h.LastError == nil ||
			h.Synced.Before(synced) {
			t.Errorf("joined: %+v", h)
		}
	})
}

// TestRelists checks that the health counts the lists and watches of all feeds, also of those that ended,
// that the first list of added ranges is no relist, and that a list after feeds were joined is one.
func TestRelists(t *testing.T) {
	inTowns(t, reflector.Options{MinWatchTimeout: time.Hour}, func(w *world) {
		w.server.NoWatchList()
		low, _ := w.halves()
		w.set(low)
		defer w.run()()
		relist := func(reason string) {
			bubble.Advance(time.Minute)
			w.server.FailWatches(apierrors.NewResourceExpired(reason))
			bubble.Advance(time.Minute)
		}
		expect := func(when string, lists, watches int, relisted string, third bool) {
			t.Helper()
			h := w.group.Health()
			reason := ""
			if h.Relisted != nil {
				reason = h.Relisted.Error()
			}
			if h.Lists != lists || h.Watches != watches || !strings.Contains(reason, relisted) ||
				(reason == "") != (relisted == "") || h.RecentLists[0].IsZero() == third {
				t.Errorf("%s: %+v, want %d lists, %d watches", when, h, lists, watches)
			}
		}
		expect("at first", 1, 1, "", false)
		relist("once")
		expect("after a relist", 2, 2, "once", false)
		w.twoFeeds()
		expect("with two feeds", 3, 3, "once", false)
		w.put(namespaceOf(1), "baker")
		w.settle()
		expect("joined", 3, 4, "once", false)
		for n, reason := range []string{"twice", "thrice", "four times"} {
			relist(reason)
			expect(reason, 4+n, 5+n, reason, n == 2)
		}
	})
}

// TestWentBack checks that the data of a server is said to have gone back only by a list of all that the sink
// shows.
func TestWentBack(t *testing.T) {
	for feeds, want := range map[int]int{1: 1, 2: 0} {
		newest, wentBack := 0, 0
		inWorld(t, shard.ByNamespace, reflector.Options{Newest: func() func() {
			newest++
			return func() { wentBack++ }
		}}, func(w *world) {
			low, _ := w.halves()
			w.server.Skip(50)
			w.set(low)
			defer w.run()()
			if feeds == 2 {
				w.twoFeeds()
			}
			old := w.server
			w.server = newServer()
			old.FailWatches(apierrors.NewResourceExpired("expired"))
			bubble.Advance(5 * time.Minute)
			if newest != feeds || wentBack != want || w.group.Status().Feeds != 1 {
				t.Errorf("%d feeds listed the newest state %d times, it went back %d times: %+v",
					feeds, newest, wentBack, w.group.Status())
			}
		})
	}
}

// TestEndedFeed checks that nothing comes of what a feed reads that has ended.
func TestEndedFeed(t *testing.T) {
	inWorld(t, shard.ByNamespace, reflector.Options{}, func(w *world) {
		f := &feed{group: w.group, ranges: shard.All()}
		sink, source := feedSink{f}, feedSource{w.group.source, f}
		list := sink.Begin()
		f.ended = true
		object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{ResourceVersion: "7"}}
		for what, err := range map[string]error{
			"an object of a list": list.Add(object, "7"), "an addition": sink.Added(object, "7"),
			"an update": sink.Updated(object, "7"), "a deletion": sink.Deleted(object, "7"),
			"a bookmark": sink.Bookmark("7"),
		} {
			if err != nil {
				t.Errorf("%s: %v", what, err)
			}
		}
		if err := list.Commit("7"); !errors.Is(err, errEnded) {
			t.Error(err)
		}
		if s := w.sink; s.version != 0 || len(s.told) > 0 || s.discarded != 1 || len(s.stored) > 0 || f.at != "" {
			t.Errorf("%+v, %+v", s, f)
		}
		if _, err := source.List(t.Context(), metav1.ListOptions{}, nil); !errors.Is(err, errEnded) {
			t.Error(err)
		}
		if _, err := source.Watch(t.Context(), metav1.ListOptions{}); !errors.Is(err, errEnded) {
			t.Error(err)
		}
	})
}

// refusing is a sink that refuses all changes.
type refusing struct{ engine.Sink }

var errRefused = errors.New("refused")

func (refusing) Prepare(watch.EventType, any, string) (func(func(any) bool), error) {
	return nil, errRefused
}

// TestRefusedChange checks that the sink's error of a change is returned, also of something without a hash,
// and that the feed goes on from its version.
func TestRefusedChange(t *testing.T) {
	g := New(nil, refusing{}, Options{Field: shard.ByUID})
	f := &feed{group: g, ranges: shard.All()}
	for version, obj := range map[string]any{"7": &corev1.ConfigMap{}, "8": "text"} {
		if err := (feedSink{f}).Updated(obj, version); !errors.Is(err, errRefused) || f.at != version {
			t.Errorf("%v: %v, at %s", obj, err, f.at)
		}
	}
}
