package workqueue_test

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	upstream "k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"

	"github.com/kubewright/kubewright/internal/guarantee"
	"github.com/kubewright/kubewright/runtime/workqueue"
)

// side is one of the two implementations that run the scenarios.
type side struct {
	name     string
	plain    func(config) upstream.TypedInterface[string]
	delaying func(config) upstream.TypedDelayingInterface[string]
	limiting func(config) upstream.TypedRateLimitingInterface[string]
}

// exponential is the limiter of the scenarios: both sides use client-go's.
var exponential = upstream.NewTypedItemExponentialFailureRateLimiter[string]

// config is the configuration of either side.
type config struct {
	name     string
	provider upstream.MetricsProvider
	order    upstream.Queue[string]
	queue    upstream.TypedInterface[string]
	delaying upstream.TypedDelayingInterface[string]
	limiter  upstream.TypedRateLimiter[string]
	clock    clock.WithTicker
}

var theirs = side{
	name: "client-go",
	plain: func(c config) upstream.TypedInterface[string] {
		return upstream.NewTypedWithConfig(upstream.TypedQueueConfig[string]{Name: c.name,
			MetricsProvider: c.provider, Queue: c.order})
	},
	delaying: func(c config) upstream.TypedDelayingInterface[string] {
		return upstream.NewTypedDelayingQueueWithConfig(upstream.TypedDelayingQueueConfig[string]{
			Name: c.name, MetricsProvider: c.provider, Queue: c.queue, Clock: c.clock})
	},
	limiting: func(c config) upstream.TypedRateLimitingInterface[string] {
		return upstream.NewTypedRateLimitingQueueWithConfig(c.limiter,
			upstream.TypedRateLimitingQueueConfig[string]{Name: c.name, MetricsProvider: c.provider,
				DelayingQueue: c.delaying})
	},
}

var ours = side{
	name: "ours",
	plain: func(c config) upstream.TypedInterface[string] {
		return workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[string]{Name: c.name,
			MetricsProvider: c.provider, Queue: c.order})
	},
	delaying: func(c config) upstream.TypedDelayingInterface[string] {
		return workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[string]{
			Name: c.name, MetricsProvider: c.provider, Queue: c.queue, Clock: c.clock})
	},
	limiting: func(c config) upstream.TypedRateLimitingInterface[string] {
		return workqueue.NewTypedRateLimitingQueueWithConfig(c.limiter,
			workqueue.TypedRateLimitingQueueConfig[string]{Name: c.name, MetricsProvider: c.provider,
				DelayingQueue: c.delaying})
	},
}

// differences returns the scenarios that docs/differences.md names, whose transcripts must differ.
func differences(t *testing.T) map[string]bool {
	text, err := os.ReadFile("../../docs/differences.md")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if _, name, ok := strings.Cut(line, " `runtime/workqueue` TestConformance/"); ok {
			names[strings.ReplaceAll(strings.TrimRight(name, " |\n"), "_", " ")] = true
		}
	}
	return names
}

// scenario is what happens to a queue, and the guarantee that it is about. It shuts its queues down.
type scenario struct {
	about guarantee.Guarantee
	play  func(side) (transcript []string)
}

// allScenarios returns the scenarios by name. Each runs in a bubble.
func allScenarios() map[string]scenario {
	all := map[string]scenario{}
	for _, scenarios := range []map[string]scenario{plainScenarios, delayScenarios, callerScenarios} {
		maps.Copy(all, scenarios)
	}
	return all
}

// TestConformance runs each scenario with both implementations and compares the transcripts.
func TestConformance(t *testing.T) {
	scenarios, differences := allScenarios(), differences(t)
	for name, scenario := range scenarios {
		t.Run(name, func(t *testing.T) {
			if scenario.about == "" {
				t.Error("it has no guarantee")
			}
			said := map[string][]string{}
			for _, s := range []side{theirs, ours} {
				synctest.Test(t, func(t *testing.T) {
					said[s.name] = scenario.play(s)
				})
			}
			same := slices.Equal(said["ours"], said["client-go"])
			switch {
			case !same && !differences[name]:
				i := 0
				for ; i < min(len(said["ours"]), len(said["client-go"])) &&
					said["ours"][i] == said["client-go"][i]; i++ {
				}
				t.Errorf("%s: after %q\nours      %q\nclient-go %q", scenario.about, said["ours"][max(i-20, 0):i],
					said["ours"][i:], said["client-go"][i:])
			case same && differences[name]:
				t.Errorf("%s: docs/differences.md has a difference that isn't there", scenario.about)
			}
		})
	}
	for name := range differences {
		if scenarios[name].play == nil {
			t.Errorf("%q isn't a scenario", name)
		}
	}
}
