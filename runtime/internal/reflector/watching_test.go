package reflector

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/runtimetest"
)

// watchings are the transitions from the state of watching.
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
	name:   "throttled when it is opened",
	before: func(w *world) { listed(w); w.server.Fail("WATCH", throttled, throttled) },
	then:   func(w *world) { bubble.Advance(backoff); bubble.Advance(backoff) },
	want:   listedA + watch101 + watch101,
}, {
	name: "throttled while it is open", before: listed,
	then: func(w *world) { w.server.FailWatches(throttled); bubble.Advance(backoff) },
	want: listedA + watch101,
}, {
	name:   "connection refused",
	before: func(w *world) { listed(w); w.server.Fail("WATCH", refused, refused) },
	then:   func(w *world) { bubble.Advance(backoff); bubble.Advance(backoff) },
	want:   listedA + watch101 + watch101,
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
		w.server.Inject(watch.Event{Type: "FUNNY",
			Object: &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{ResourceVersion: "110"}}})
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
	// Together this takes less than the five minutes after which watches may time out.
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
	name: "silent for too long, twice, and the server is behind", before: listed,
	opts: options{silence: 2 * time.Minute}, // longer than backoff, or the last watch may be silent, too
	then: func(w *world) {
		w.server.Fail("LIST", tooLarge)
		bubble.Advance(2 * time.Minute)
		bubble.Advance(2 * time.Minute)
		bubble.Advance(backoff)
	},
	want:    listedA + watch101 + asks101 + `LIST rv="" limit=500` + "\n" + firstA + watch101,
	differs: "client-go watches on, and sees nothing until the server has reached the version",
}, {
	name: "silent for too long, twice, and the server isn't behind", before: listed,
	opts: options{silence: time.Minute},
	then: func(w *world) {
		bubble.Advance(time.Minute)
		bubble.Advance(time.Minute)
		w.create("b")
	},
	want:    listedA + watch101 + asks101 + watch101 + "add b@102\n",
	differs: "client-go waits until the watch times out",
}, {
	name: "silent for too long, twice, and the server doesn't answer", before: listed,
	opts: options{silence: time.Minute},
	then: func(w *world) {
		w.server.OnRequest(func(ctx context.Context, r runtimetest.Request) error {
			if r.Verb == "LIST" {
				<-ctx.Done()
			}
			return ctx.Err()
		})
		bubble.Advance(time.Minute)
		bubble.Advance(time.Minute)
		bubble.Advance(answerTime)
		w.create("b")
	},
	want:    listedA + watch101 + asks101 + watch101 + "add b@102\n",
	differs: "client-go waits until the watch times out",
}, {
	name: "silent for too long, twice, but not in a row", before: listed, opts: options{silence: time.Minute},
	then: func(w *world) {
		bubble.Advance(time.Minute)
		w.server.Bookmark()
		w.settle()
		bubble.Advance(time.Minute)
	},
	want:    listedA + watch101 + "bookmark 101\n" + watch101,
	differs: "client-go waits until the watch times out",
}, {
	name: "a watch that isn't answered for too long", opts: options{silence: time.Minute},
	before: func(w *world) {
		listed(w)
		w.server.OnRequest(func(ctx context.Context, r runtimetest.Request) error {
			if r.Verb == "WATCH" {
				w.server.OnRequest(nil)
				<-ctx.Done()
			}
			return ctx.Err()
		})
	},
	then: func(w *world) {
		w.create("b")
		bubble.Advance(time.Minute)
	},
	want:    listedA + `WATCH rv="101" bookmarks timeout` + "\nadd b@102\n",
	differs: "client-go waits for ever",
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

// onlyResyncs leaves only resyncs in the transcript: the number of watches in several hours is random.
func onlyResyncs(w *world) {
	for _, line := range w.take() {
		if line == "resync" {
			w.add("resync")
		}
	}
}
