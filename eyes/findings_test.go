package eyes_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubewright/kubewright/eyes"
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
