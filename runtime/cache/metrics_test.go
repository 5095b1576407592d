package cache_test

import (
	"reflect"
	"sync"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgo "k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/cache"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/runtimetest"
)

// gauges are metrics of stores and queues.
type gauges struct {
	runtimetest.NoMetrics
	mu  sync.Mutex
	set map[string]float64
}

type gauge struct {
	*gauges
	name string
}

func (g gauge) Set(v float64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.set[g.name] = v
}
func (g gauge) Observe(float64) { g.Set(1) }

func (g *gauges) NewQueuedItemMetric(clientgo.InformerNameAndResource) clientgo.GaugeMetric {
	return gauge{g, "queued"}
}
func (g *gauges) NewProcessingLatencyMetric(clientgo.InformerNameAndResource) clientgo.HistogramMetric {
	return gauge{g, "latency"}
}
func (g *gauges) NewStoreResourceVersionMetric(clientgo.InformerNameAndResource) clientgo.GaugeMetric {
	return gauge{g, "version"}
}

func TestStoreMetrics(t *testing.T) {
	name, err := cache.NewInformerName("test")
	if err != nil {
		t.Fatal(err)
	}
	defer cache.ResetInformerNamesForTesting()
	id := name.WithResource(schema.GroupVersionResource{Resource: "pods"})
	ours, theirs := &gauges{set: map[string]float64{}}, &gauges{set: map[string]float64{}}
	a := cache.NewStore(keyFunc, cache.WithStoreMetrics(id, ours))
	b := clientgo.NewStore(keyFunc, clientgo.WithStoreMetrics(id, theirs))
	for _, step := range []func(clientgo.Store) error{
		func(s clientgo.Store) error { return s.Add(pod("x", "a", "5")) },
		func(s clientgo.Store) error { return s.Delete(pod("x", "a", "7")) },
		func(s clientgo.Store) error { return s.Replace(nil, "9007199254740993123") },
		func(s clientgo.Store) error { s.Bookmark("opaque"); return nil },
	} {
		if err := step(a); err != nil {
			t.Fatal(err)
		}
		if err := step(b); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(ours.set, theirs.set) {
			t.Errorf("%v, theirs %v", ours.set, theirs.set)
		}
	}
	set := &gauges{set: map[string]float64{}}
	c := cache.NewThreadSafeStore(nil, nil, cache.WithThreadSafeStoreMetrics(id, set))
	c.Add("k", pod("x", "a", "5"))
	if set.set["version"] != 5 {
		t.Errorf("%v", set.set)
	}
}

// common is the provider of this process: only the first call that sets one has an effect.
var common = &gauges{}

// TestQueueMetrics checks that the queue of an informer without a provider of its own uses the provider that
// was set for our informers, which client-go's queue doesn't know.
func TestQueueMetrics(t *testing.T) {
	name, err := cache.NewInformerName("queue")
	if err != nil {
		t.Fatal(err)
	}
	defer name.Release()
	common.set = map[string]float64{}
	informer.SetMetricsProvider(common)
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		_, controller := cache.NewInformerWithOptions(cache.InformerOptions{
			ListerWatcher: s.ListerWatcher(), ObjectType: &corev1.Pod{}, Handler: &journal{},
			Identifier: name.WithResource(schema.GroupVersionResource{Resource: "pods"}),
		})
		stop := running(t, controller.RunWithContext)
		s.Create(pod("x", "a", ""))
		settle()
		stop()
	})
	if common.set["latency"] != 1 || common.set["version"] == 0 || len(common.set) != 3 {
		t.Errorf("%v", common.set)
	}
}
