package eyes_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubewright/kubewright/eyes"
	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/shard"
	"github.com/kubewright/kubewright/runtime/shard/partial"
)

// TestLimits checks findings right below their limits, and at them.
func TestLimits(t *testing.T) {
	then, now := time.Now().Add(-time.Minute), time.Now()
	handler := func(backlog int, delivered uint64) eyes.Snapshot {
		return eyes.Snapshot{Informers: []eyes.Informer{{
			Source: "shop", Name: "informer of ovens", State: "Watching", Synced: true,
			Handlers: []eyes.Handler{{Name: "baker", Busy: true, Backlog: backlog, Delivered: delivered}},
		}}}
	}
	running := func(seconds float64) eyes.Snapshot {
		return eyes.Snapshot{Queues: []eyes.Queue{{
			Source: "bakeries", InProcess: 2, LongestRunningSeconds: &seconds,
		}}}
	}
	for name, c := range map[string]struct {
		before, now eyes.Snapshot
		want        []string // parts of the text, none if there is no finding
	}{
		"a short backlog": {handler(10, 5), handler(999, 8), nil},
		"a backlog": {handler(10, 5), handler(1000, 8),
			[]string{"backlog grows: handler baker", "1000 ", "10 did", "it got 3", then.Format(time.RFC3339)}},
		"a backlog that doesn't grow": {handler(1000, 5), handler(1000, 8), nil},
		"a slow reconcile":            {running(1), running(599), nil},
		"a reconcile": {running(1), running(600),
			[]string{"reconcile hangs", "2 items", now.Add(-10 * time.Minute).Format(time.RFC3339)}},
	} {
		c.before.Taken, c.now.Taken = then, now
		var texts []string
		for _, f := range eyes.Findings(&c.before, &c.now) {
			texts = append(texts, f.String())
		}
		lacks := func(part string) bool { return len(texts) != 1 || !strings.Contains(texts[0], part) }
		if len(c.want) == 0 && len(texts) > 0 || slices.ContainsFunc(c.want, lacks) {
			t.Errorf("%s: found %q, want %q", name, texts, c.want)
		}
	}
}

// TestRelistsOfPart checks that an informer of a part is found if it relists too often, but not if its part
// grows.
func TestRelistsOfPart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.server.Sharding(true, true)
		part, err := partial.Shard(r.informer, shard.ByNamespace)
		if err != nil {
			t.Fatal(err)
		}
		r.start()
		for n := range uint64(4) {
			if err := part.SetRanges(shard.Range{Last: n << 61}); err != nil {
				t.Fatal(err)
			}
			bubble.Advance(time.Second)
		}
		looked := r.eyes.Snapshot()
		if i := looked.Informers[0]; i.Lists != 4 || i.Watches < 4 || len(looked.Findings) > 0 {
			t.Errorf("the part has grown: %d lists, %d watches, %v", i.Lists, i.Watches, looked.Findings)
		}
		for range 5 {
			r.server.FailWatches(apierrors.NewResourceExpired("too old"))
			bubble.Advance(5 * time.Second)
		}
		found := r.eyes.Snapshot().Findings
		if len(found) != 1 || found[0].Kind != "relists too often" || !strings.Contains(found[0].Cause, "too old") {
			t.Errorf("found %v", found)
		}
	})
}
