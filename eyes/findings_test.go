package eyes_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/eyes"
	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/informer"
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
	idle := func(s eyes.Snapshot) eyes.Snapshot { s.Informers[0].Handlers[0].Busy = false; return s }
	twice := func(s eyes.Snapshot) eyes.Snapshot { s.Informers = append(s.Informers, s.Informers...); return s }
	ready := func(handedOut uint64) eyes.Snapshot {
		return eyes.Snapshot{Queues: []eyes.Queue{{
			Source: "bakeries", Ready: 1, HandedOut: handedOut, StalledSince: then,
		}}}
	}
	late := func(s eyes.Snapshot, since time.Time) eyes.Snapshot { s.Queues[0].StalledSince = since; return s }
	for name, c := range map[string]struct {
		before, now eyes.Snapshot
		want        []string // parts of the text, none if there is no finding
	}{
		"a burst": {handler(999, 5), handler(5000, 8), nil},
		"a backlog": {handler(1000, 5), handler(1001, 8),
			[]string{"backlog grows: handler baker", "1001 ", "1000 did", "it got 3", then.Format(time.RFC3339)}},
		"a backlog that doesn't grow":        {handler(1000, 5), handler(1000, 8), nil},
		"a backlog of one that gets nothing": {idle(handler(1000, 5)), handler(1001, 5), nil},
		"a backlog of one that is new":       {handler(1000, 8), handler(1001, 5), nil},
		"one that hangs":                     {handler(10, 5), handler(10, 5), []string{"handler hangs"}},
		"two, of which one may hang":         {handler(10, 5), twice(handler(10, 5)), nil},
		"two, of which one may have hung":    {twice(handler(10, 5)), handler(10, 5), nil},
		"no worker yet":                      {ready(0), ready(0), nil},
		"no worker for nine seconds":         {ready(1), late(ready(1), now.Add(-9*time.Second)), nil},
		"no worker any more":                 {ready(1), ready(1), []string{"no worker: the queue"}},
		"a slow reconcile":                   {running(1), running(599), nil},
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

// lack adds an item to the queue, whose worker has ended after the first one.
func (r *rig) lack() {
	r.queue.Add("ns/first")
	r.queue.Get()
	r.queue.Done("ns/first")
	r.queue.Add("ns/a")
}

// another adds another handler.
func (r *rig) another(name string) {
	_, err := informer.AddEventHandler(r.informer, cache.ResourceEventHandlerFuncs{},
		informer.HandlerOptions{Name: name})
	if err != nil {
		r.Fatal(err)
	}
}

// hang makes a handler hang, with another notification behind it.
func hang(r *rig) {
	never := make(chan struct{})
	r.handle(func() { <-never })
	r.start()
	r.Cleanup(func() { close(never) })
	r.server.Create(configMap("a"))
	r.server.Create(configMap("b"))
	synctest.Wait()
}
