package reflector

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/runtimetest"
)

var (
	configMaps = schema.GroupResource{Resource: "configmaps"}
	expired    = apierrors.NewResourceExpired("expired")
	throttled  = apierrors.NewTooManyRequests("busy", 0)
	internal   = apierrors.NewInternalError(errors.New("broken"))
	forbidden  = apierrors.NewForbidden(configMaps, "", errors.New("no"))
	refused    = &url.Error{Op: "Get", URL: "https://server", Err: syscall.ECONNREFUSED}
	tooLarge   = func() error {
		err := apierrors.NewTimeoutError("Too large resource version", 1)
		err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: metav1.CauseTypeResourceVersionTooLarge}}
		return err
	}()
)

// listed is a server with a, at version 101, whose client can't stream lists.
func listed(w *world) {
	w.server.NoWatchListClient()
	w.create("a")
}

// streamed is the same server with a client that can.
func streamed(w *world) { w.create("a") }

// onPage runs f before a page after the first.
func onPage(w *world, f func() error) {
	w.server.OnRequest(func(_ context.Context, r runtimetest.Request) error {
		if r.Options.Continue != "" {
			return f()
		}
		return nil
	})
}

const (
	firstList  = `LIST rv="0" limit=500` + "\n"
	firstA     = "replace [a@101] at 101\n"
	watch101   = `WATCH rv="101" bookmarks timeout` + "\n"
	listedA    = firstList + firstA + watch101
	stream     = ` match=NotOlderThan bookmarks initial=true timeout` + "\n"
	firstA102  = "replace [a@101 b@102] at 102\n"
	streamedA  = `WATCH rv=""` + stream + firstA
	streamed10 = `WATCH rv="101"` + stream
)

// listings, watchings and streamings are the transitions out of each state.
var listings = []scenario{{
	name: "the list is committed", before: listed,
	want: listedA,
}, {
	name: "the list comes in pages", opts: options{pageSize: 2},
	before: func(w *world) { listed(w); w.create("b", "c", "d", "e") },
	want: `LIST rv="0" limit=2
LIST rv="" limit=2 continue=105:ns/b
LIST rv="" limit=2 continue=105:ns/d
replace [a@101 b@102 c@103 d@104 e@105] at 105
WATCH rv="105" bookmarks timeout
`,
}, {
	name: "pages show one version", opts: options{pageSize: 1},
	before: func(w *world) {
		listed(w)
		w.create("b")
		onPage(w, func() error { w.server.Create(configMap("c")); return nil })
	},
	want: `LIST rv="0" limit=1
LIST rv="" limit=1 continue=102:ns/a
` + firstA102 + `WATCH rv="102" bookmarks timeout
add c@103
`,
}, {
	name: "pages expire", opts: options{pageSize: 1},
	before: func(w *world) {
		listed(w)
		w.create("b")
		onPage(w, func() error { w.server.Skip(10); w.server.Compact(); return nil })
	},
	want: `LIST rv="0" limit=1
LIST rv="" limit=1 continue=102:ns/a
LIST rv="0"
replace [a@101 b@102] at 112
WATCH rv="112" bookmarks timeout
`,
}, {
	name: "a page fails", opts: options{pageSize: 1},
	before: func(w *world) {
		listed(w)
		w.create("b")
		fails := 1
		onPage(w, func() error {
			if fails--; fails == 0 {
				return internal
			}
			return nil
		})
	},
	then: func(w *world) {
		if !w.empty() {
			w.t.Error("the store isn't empty after a failed list")
		}
		bubble.Advance(backoff)
	},
	want: `LIST rv="0" limit=1
LIST rv="" limit=1 continue=102:ns/a
LIST rv="0" limit=1
LIST rv="" limit=1 continue=102:ns/a
` + firstA102 + `WATCH rv="102" bookmarks timeout
`,
}, {
	name: "a server without watch cache is listed in pages again",
	before: func(w *world) {
		w.server.NoWatchListClient()
		for i := range 501 {
			w.server.Create(configMap(fmt.Sprintf("n%03d", i)))
		}
	},
	then: func(w *world) {
		w.take()
		w.server.FailWatches(expired)
		bubble.Advance(backoff)
		lines := w.take()
		w.add("%s", lines[0])
	},
	want: `LIST rv="601" limit=500` + "\n",
}, {
	name: "a server with watch cache is listed at once", opts: options{},
	before: func(w *world) { listed(w); w.server.WatchCache(true) },
	then:   func(w *world) { w.server.FailWatches(expired); bubble.Advance(backoff) },
	want:   listedA + `LIST rv="101"` + "\n" + firstA + watch101,
}, {
	name: "the list fails", before: func(w *world) { listed(w); w.server.Fail("LIST", internal, forbidden) },
	then: func(w *world) { bubble.Advance(backoff); bubble.Advance(backoff) },
	want: firstList + firstList + listedA,
}, {
	name: "the first version has expired", before: func(w *world) { listed(w); w.server.Fail("LIST", expired) },
	want: firstList + `LIST rv="" limit=500` + "\n" + firstA + watch101,
}, {
	name: "the version has expired", before: listed,
	then: func(w *world) {
		w.server.Fail("LIST", expired)
		w.server.FailWatches(expired)
		bubble.Advance(backoff)
		w.server.FailWatches(expired)
		bubble.Advance(backoff)
	},
	want: listedA + `LIST rv="101"
LIST rv=""
` + firstA + watch101 + `LIST rv="101"
` + firstA + watch101,
}, {
	name: "the version is too large", before: listed,
	then: func(w *world) {
		w.server.Fail("LIST", tooLarge)
		w.server.FailWatches(expired)
		bubble.Advance(backoff)
	},
	want: listedA + `LIST rv="101"
LIST rv=""
` + firstA + watch101,
}, {
	name: "a version that stays unavailable", before: listed,
	then: func(w *world) {
		w.server.Fail("LIST", expired, expired)
		w.server.FailWatches(expired)
		bubble.Advance(backoff)
		bubble.Advance(backoff)
	},
	want: listedA + `LIST rv="101"
LIST rv=""
LIST rv="" limit=500
` + firstA + watch101,
}, {
	name: "the sink refuses the list", before: func(w *world) { listed(w); w.refusing(errors.New("full")) },
	then: func(w *world) { w.refusing(nil); bubble.Advance(backoff) },
	want: firstList + listedA,
}}

var watchings = []scenario{{
	name: "changes", before: listed,
	then: func(w *world) {
		w.create("b")
		w.server.Update(configMap("a"))
		w.server.Delete("ns", "b")
	},
	want: listedA + "add b@102\nupdate a@103\ndelete b@104\n",
}, {
	name: "closed in good order", before: listed,
	then: func(w *world) {
		bubble.Advance(time.Minute)
		w.server.CloseWatches()
		w.settle()
		w.create("b")
		w.server.CloseWatches()
	},
	want: listedA + watch101 + "add b@102\n" + `WATCH rv="102" bookmarks timeout` + "\n",
}, {
	name: "closed after the time asked for", before: listed,
	then: func(w *world) { bubble.Advance(599 * time.Second) },
	want: listedA + watch101,
}, {
	name: "a bookmark", before: listed,
	then: func(w *world) {
		w.server.Skip(7)
		w.server.Bookmark()
		w.settle()
		w.server.CloseWatches()
	},
	want: listedA + "bookmark 108\n" + `WATCH rv="108" bookmarks timeout` + "\n",
}, {
	name: "very short", before: listed,
	then: func(w *world) { w.server.CloseWatches(); w.settle(); bubble.Advance(backoff) },
	want: listedA + `LIST rv="101"` + "\n" + firstA + watch101,
}, {
	name: "short, but with an event", before: listed,
	then: func(w *world) { w.create("b"); w.server.CloseWatches() },
	want: listedA + "add b@102\n" + `WATCH rv="102" bookmarks timeout` + "\n",
}, {
	name: "history is gone", before: listed,
	then: func(w *world) {
		bubble.Advance(time.Minute)
		w.server.OnRequest(func(_ context.Context, r runtimetest.Request) error {
			if r.Verb == "WATCH" && r.Options.ResourceVersion == "101" {
				w.server.Delete("ns", "a")
				w.server.Compact()
			}
			return nil
		})
		w.server.CloseWatches()
		w.settle()
		bubble.Advance(backoff)
	},
	want: listedA + watch101 + `LIST rv="101"
replace [] at 102
WATCH rv="102" bookmarks timeout
`,
}, {
	name: "expired when it is opened", before: func(w *world) { listed(w); w.server.Fail("WATCH", expired) },
	then: func(w *world) { bubble.Advance(backoff) },
	want: listedA + `LIST rv="101"` + "\n" + firstA + watch101,
}, {
	name: "throttled when it is opened", before: func(w *world) { listed(w); w.server.Fail("WATCH", throttled, throttled) },
	then: func(w *world) { bubble.Advance(backoff); bubble.Advance(backoff) },
	want: listedA + watch101 + watch101,
}, {
	name: "throttled while it is open", before: listed,
	then: func(w *world) { w.server.FailWatches(throttled); bubble.Advance(backoff) },
	want: listedA + watch101,
}, {
	name: "connection refused", before: func(w *world) { listed(w); w.server.Fail("WATCH", refused, refused) },
	then: func(w *world) { bubble.Advance(backoff); bubble.Advance(backoff) },
	want: listedA + watch101 + watch101,
}, {
	name: "forbidden", before: func(w *world) { listed(w); w.server.Fail("WATCH", forbidden) },
	then: func(w *world) { bubble.Advance(backoff) },
	want: listedA + `LIST rv="101"` + "\n" + firstA + watch101,
}, {
	name: "unauthorized while it is open", before: listed,
	then: func(w *world) { w.server.FailWatches(apierrors.NewUnauthorized("who?")); bubble.Advance(backoff) },
	want: listedA + `LIST rv="101"` + "\n" + firstA + watch101,
}, {
	name: "internal error", before: listed,
	then: func(w *world) { w.server.FailWatches(internal); bubble.Advance(backoff) },
	want: listedA + `LIST rv="101"` + "\n" + firstA + watch101,
}, {
	name: "internal errors and patience", before: listed, opts: options{internalPatience: 10 * time.Second},
	then: func(w *world) {
		for range 3 { // after 0, 5 and 10 seconds, and once too late
			w.server.FailWatches(internal)
			bubble.Advance(5 * time.Second)
		}
		w.server.FailWatches(internal)
		bubble.Advance(backoff)
	},
	want: listedA + watch101 + watch101 + watch101 + `LIST rv="101"` + "\n" + firstA + watch101,
}, {
	name: "internal errors far apart", before: listed, opts: options{internalPatience: 10 * time.Second},
	then: func(w *world) {
		for range 3 {
			w.server.FailWatches(internal)
			bubble.Advance(time.Minute)
		}
	},
	want: listedA + watch101 + watch101 + watch101,
}, {
	name: "objects of another type", before: listed,
	then: func(w *world) {
		stray := metav1.ObjectMeta{Name: "stray", ResourceVersion: "999"}
		w.server.Inject(watch.Event{Type: watch.Added, Object: &corev1.Secret{ObjectMeta: stray}})
		w.server.Inject(watch.Event{Type: watch.Bookmark, Object: &corev1.Secret{ObjectMeta: stray}})
		w.settle()
		bubble.Advance(time.Minute)
		w.server.CloseWatches()
	},
	want: listedA + watch101,
}, {
	name: "an event of no known type", before: listed,
	then: func(w *world) {
		w.server.Inject(watch.Event{Type: "FUNNY", Object: &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{ResourceVersion: "110"}}})
		w.settle()
		w.server.CloseWatches()
	},
	want: listedA + `WATCH rv="110" bookmarks timeout` + "\n",
}, {
	name: "the sink refuses an event", before: listed,
	then: func(w *world) {
		w.refusing(errors.New("full"))
		w.create("b")
		w.refusing(nil)
		w.create("c")
		w.server.CloseWatches()
	},
	want: listedA + "add c@103\n" + `WATCH rv="103" bookmarks timeout` + "\n",
}, {
	name: "silent for too long", before: listed, opts: options{silence: time.Minute},
	// All of it takes less than the five minutes after which watches may time out.
	then: func(w *world) {
		bubble.Advance(59 * time.Second)
		w.create("b")
		bubble.Advance(59 * time.Second)
		w.server.Bookmark()
		bubble.Advance(59 * time.Second)
		bubble.Advance(time.Second)
	},
	want:    listedA + "add b@102\nbookmark 102\n" + `WATCH rv="102" bookmarks timeout` + "\n",
	differs: "client-go waits until the watch times out",
}, {
	name: "resync", before: listed, opts: options{resync: time.Hour},
	then: func(w *world) { bubble.Advance(time.Hour); onlyResyncs(w) },
	want: "resync\n",
}, {
	name: "resync counts on while watches come and go", before: listed, opts: options{resync: 3 * time.Hour},
	then: func(w *world) { bubble.Advance(7 * time.Hour); onlyResyncs(w) },
	want: "resync\nresync\n",
}, {
	name: "resync counts anew from a list", before: listed, opts: options{resync: time.Hour},
	then: func(w *world) {
		bubble.Advance(50 * time.Minute)
		w.server.FailWatches(expired)
		bubble.Advance(50 * time.Minute)
		onlyResyncs(w)
	},
	want: "",
}, {
	name: "resync is not wanted", before: listed,
	opts: options{resync: time.Hour, shouldResync: func() bool { return false }},
	then: func(w *world) { bubble.Advance(3 * time.Hour); onlyResyncs(w) },
	want: "",
}, {
	name: "resync fails", before: listed, opts: options{resync: time.Minute},
	then: func(w *world) {
		w.refusing(errors.New("full"))
		bubble.Advance(time.Minute)
		w.refusing(nil)
		bubble.Advance(50 * time.Second)
	},
	want: listedA + `LIST rv="101"` + "\n" + firstA + watch101,
}}

// onlyResyncs leaves nothing but resyncs in the transcript: how many watches
// there are in hours is drawn at random.
func onlyResyncs(w *world) {
	for _, line := range w.take() {
		if line == "resync" {
			w.add("resync")
		}
	}
}

var streamings = []scenario{{
	name: "the list is committed", before: streamed,
	then: func(w *world) { w.create("b") },
	want: streamedA + "add b@102\n",
}, {
	name: "the watch goes on from there", before: streamed,
	then: func(w *world) { bubble.Advance(time.Minute); w.server.CloseWatches() },
	want: streamedA + watch101,
}, {
	name: "the server doesn't know how", before: func(w *world) { streamed(w); w.server.NoWatchList() },
	want: `WATCH rv=""` + stream + listedA,
}, {
	name: "streamed again", before: streamed,
	then: func(w *world) { w.server.FailWatches(expired); bubble.Advance(backoff) },
	want: streamedA + streamed10 + firstA,
}, {
	name: "the version has expired", before: streamed,
	then: func(w *world) {
		w.server.Fail("WATCH", expired)
		w.server.FailWatches(expired)
		bubble.Advance(backoff)
	},
	want: streamedA + streamed10 + streamedA,
}, {
	name: "the version is too large", before: streamed,
	then: func(w *world) {
		w.server.Fail("WATCH", tooLarge)
		w.server.FailWatches(expired)
		bubble.Advance(backoff)
	},
	want: streamedA + streamed10 + streamedA,
}, {
	name: "throttled", before: func(w *world) { streamed(w); w.server.Fail("WATCH", throttled, refused) },
	then: func(w *world) { bubble.Advance(backoff); bubble.Advance(backoff) },
	want: `WATCH rv=""` + stream + `WATCH rv=""` + stream + streamedA,
}, {
	name: "throttled in the middle", before: func(w *world) { streamed(w); w.server.OmitEndBookmark(true) },
	then: func(w *world) {
		w.server.OmitEndBookmark(false)
		w.server.FailWatches(throttled)
		bubble.Advance(backoff)
	},
	want: `WATCH rv=""` + stream + streamedA,
}, {
	name: "cut in the middle", before: func(w *world) { streamed(w); w.server.OmitEndBookmark(true) },
	then: func(w *world) {
		w.server.OmitEndBookmark(false)
		w.server.Delete("ns", "a")
		w.create("b")
		w.server.CloseWatches()
	},
	want: `WATCH rv=""` + stream + `WATCH rv=""` + stream + "replace [b@103] at 103\n",
}, {
	name: "closed at once", before: func(w *world) {
		w.server.Create(configMap("a"))
		w.server.Delete("ns", "a")
		w.server.OmitEndBookmark(true)
	},
	then: func(w *world) { w.server.CloseWatches() },
	want: `WATCH rv=""` + stream + firstList + "replace [] at 102\n" + `WATCH rv="102" bookmarks timeout` + "\n",
}, {
	name: "an error in the middle", before: func(w *world) { streamed(w); w.server.OmitEndBookmark(true) },
	then: func(w *world) { w.server.FailWatches(internal) },
	want: `WATCH rv=""` + stream + listedA,
}, {
	name:   "changes before the end",
	before: func(w *world) { streamed(w); w.create("b", "c"); w.server.OmitEndBookmark(true) },
	then: func(w *world) {
		w.server.Update(configMap("a"))
		w.server.Delete("ns", "b")
		w.server.Bookmark()
		w.settle()
		w.server.EndInitialEvents()
	},
	want: `WATCH rv=""` + stream + "replace [a@104 c@103] at 105\n",
}, {
	name:   "a late end",
	before: func(w *world) { streamed(w); w.server.OmitEndBookmark(true) },
	then:   func(w *world) { bubble.Advance(time.Minute); w.server.EndInitialEvents() },
	want:   `WATCH rv=""` + stream + firstA,
}, {
	name: "the sink refuses the list", before: func(w *world) { streamed(w); w.refusing(errors.New("full")) },
	then: func(w *world) { w.refusing(nil); bubble.Advance(backoff) },
	want: `WATCH rv=""` + stream + firstList + streamedA,
}, {
	name: "the end doesn't come", opts: options{initialTimeout: 20 * time.Second},
	before:  func(w *world) { streamed(w); w.server.OmitEndBookmark(true) },
	then:    func(w *world) { bubble.Advance(time.Minute) },
	want:    `WATCH rv=""` + stream + listedA,
	differs: "client-go waits for ever",
}, {
	name: "cut in the middle every time", before: func(w *world) { streamed(w); w.server.OmitEndBookmark(true) },
	then: func(w *world) {
		w.server.CloseWatches()
		w.settle()
		w.server.CloseWatches()
		w.settle()
	},
	want:    `WATCH rv=""` + stream + `WATCH rv=""` + stream,
	differs: "client-go asks again at once each time",
}}
