package reflector

import (
	"context"
	"errors"
	"fmt"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/runtimetest"
)

// onPage calls f before a page after the first.
func onPage(w *world, f func() error) {
	w.server.OnRequest(func(_ context.Context, r runtimetest.Request) error {
		if r.Options.Continue != "" {
			return f()
		}
		return nil
	})
}

// listings are the transitions from the state of listing.
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
	name:   "the first version has expired",
	before: func(w *world) { listed(w); w.server.Fail("LIST", expired) },
	want:   firstList + `LIST rv="" limit=500` + "\n" + firstA + watch101,
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
