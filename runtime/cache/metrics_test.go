package cache_test

import (
	"reflect"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgo "k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/cache"
)

// gauges are metrics of stores and queues.
type gauges struct {
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

func TestQueueMetricsAndName(t *testing.T) {
	name, err := cache.NewInformerName("queue")
	if err != nil {
		t.Fatal(err)
	}
	defer name.Release()
	set := &gauges{set: map[string]float64{}}
	f := cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{
		AtomicEvents: true, Identifier: name.WithResource(schema.GroupVersionResource{}), MetricsProvider: set,
	})
	if f.Name() != "queue" {
		t.Errorf("name %q", f.Name())
	}
	_ = f.Add(pod("x", "a", "1"))
	_ = f.Add(pod("x", "b", "2"))
	if set.set["queued"] != 2 {
		t.Errorf("%v", set.set)
	}
	_, _ = f.Pop(func(any, bool) error { return nil })
	if set.set["queued"] != 1 || set.set["latency"] != 1 {
		t.Errorf("%v", set.set)
	}
}
