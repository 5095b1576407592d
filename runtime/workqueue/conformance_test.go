package workqueue_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	upstream "k8s.io/client-go/util/workqueue"

	"github.com/kubewright/kubewright/runtime/workqueue"
)

// side is one of the two implementations that run the scenarios.
type side struct {
	name        string
	exponential func(base, longest time.Duration) upstream.TypedRateLimiter[string]
	plain       func(config) upstream.TypedInterface[string]
	delaying    func(config) upstream.TypedDelayingInterface[string]
	limiting    func(config) upstream.TypedRateLimitingInterface[string]
}

// config is what the configurations of both have.
type config struct {
	name     string
	provider upstream.MetricsProvider
	order    upstream.Queue[string]
	queue    upstream.TypedInterface[string]
	delaying upstream.TypedDelayingInterface[string]
	limiter  upstream.TypedRateLimiter[string]
}

var theirs = side{
	name:        "client-go",
	exponential: upstream.NewTypedItemExponentialFailureRateLimiter[string],
	plain: func(c config) upstream.TypedInterface[string] {
		return upstream.NewTypedWithConfig(upstream.TypedQueueConfig[string]{Name: c.name, MetricsProvider: c.provider, Queue: c.order})
	},
	delaying: func(c config) upstream.TypedDelayingInterface[string] {
		return upstream.NewTypedDelayingQueueWithConfig(upstream.TypedDelayingQueueConfig[string]{Name: c.name, MetricsProvider: c.provider, Queue: c.queue})
	},
	limiting: func(c config) upstream.TypedRateLimitingInterface[string] {
		return upstream.NewTypedRateLimitingQueueWithConfig(c.limiter, upstream.TypedRateLimitingQueueConfig[string]{Name: c.name, MetricsProvider: c.provider, DelayingQueue: c.delaying})
	},
}

var ours = side{
	name:        "ours",
	exponential: workqueue.NewTypedItemExponentialFailureRateLimiter[string],
	plain: func(c config) upstream.TypedInterface[string] {
		return workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[string]{Name: c.name, MetricsProvider: c.provider, Queue: c.order})
	},
	delaying: func(c config) upstream.TypedDelayingInterface[string] {
		return workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[string]{Name: c.name, MetricsProvider: c.provider, Queue: c.queue})
	},
	limiting: func(c config) upstream.TypedRateLimitingInterface[string] {
		return workqueue.NewTypedRateLimitingQueueWithConfig(c.limiter, workqueue.TypedRateLimitingQueueConfig[string]{Name: c.name, MetricsProvider: c.provider, DelayingQueue: c.delaying})
	},
}

// differences are the scenarios, of those in scenarios_test.go, whose outcome
// isn't client-go's, and why.
var differences = map[string]string{
	"done without get": "client-go makes an item that is ready and that someone calls Done for ready a second time, " +
		"so that two workers can have it at once; here Done of an item that isn't in process does nothing",
	"many drain": "client-go wakes one of several that wait in ShutDownWithDrain, and the others wait for ever; here all go on",
	"idle gauges": "client-go updates the gauges of unfinished work twice a second, and from its creation to its shutdown; " +
		"here they are updated while an item is in process, also after a shutdown, and once more to say 0",
	"long backoff": "client-go's delay overflows when it reaches 2^63 ns exactly, and the item is added at once; " +
		"here it is the longest delay",
}

// TestConformance runs each scenario over both and compares what they say.
func TestConformance(t *testing.T) {
	for name, scenario := range scenarios {
		t.Run(name, func(t *testing.T) {
			said := map[string][]string{}
			for _, s := range []side{theirs, ours} {
				synctest.Test(t, func(t *testing.T) {
					said[s.name] = scenario(s)
				})
			}
			same := slices.Equal(said["ours"], said["client-go"])
			reason, differs := differences[name]
			switch {
			case !same && !differs:
				i := 0
				for ; i < min(len(said["ours"]), len(said["client-go"])) && said["ours"][i] == said["client-go"][i]; i++ {
				}
				t.Errorf("after %q\nours      %q\nclient-go %q", said["ours"][max(i-20, 0):i], said["ours"][i:], said["client-go"][i:])
			case same && differs:
				t.Errorf("no difference any more, but a reason for one: %s", reason)
			}
		})
	}
	for name := range differences {
		if scenarios[name] == nil {
			t.Errorf("%q isn't a scenario", name)
		}
	}
}
