package reflector

import (
	"errors"
	"time"

	"github.com/kubewright/kubewright/internal/bubble"
)

// streamings are the transitions from the state of streaming.
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
	want: streamedA + stream101 + firstA,
}, {
	name: "the version has expired", before: streamed,
	then: func(w *world) {
		w.server.Fail("WATCH", expired)
		w.server.FailWatches(expired)
		bubble.Advance(backoff)
	},
	want: streamedA + stream101 + streamedA,
}, {
	name: "the version is too large", before: streamed,
	then: func(w *world) {
		w.server.Fail("WATCH", tooLarge)
		w.server.FailWatches(expired)
		bubble.Advance(backoff)
	},
	want: streamedA + stream101 + streamedA,
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
	want: `WATCH rv=""` + stream + firstList + "replace [] at 102\n" +
		`WATCH rv="102" bookmarks timeout` + "\n",
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
	name:   "cut in the middle every time",
	before: func(w *world) { streamed(w); w.server.OmitEndBookmark(true) },
	then: func(w *world) {
		w.server.CloseWatches()
		w.settle()
		w.server.CloseWatches()
		w.settle()
	},
	want:    `WATCH rv=""` + stream + `WATCH rv=""` + stream,
	differs: "client-go asks again at once each time",
}}
