package informer_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	kwcache "github.com/kubewright/kubewright/runtime/cache"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/runtimetest"
)

// gauges is a provider that keeps the last value of each metric, and the number of observations of a
// histogram.
type gauges struct {
	runtimetest.NoMetrics
	mu     sync.Mutex
	values map[string]float64
}

type gauge struct {
	of   *gauges
	name string
}

func (g gauge) Set(v float64) {
	g.of.mu.Lock()
	defer g.of.mu.Unlock()
	g.of.values[g.name] = v
}

func (g gauge) Observe(float64) {
	g.of.mu.Lock()
	defer g.of.mu.Unlock()
	g.of.values[g.name] = 1
}

func (g *gauges) NewQueuedItemMetric(id cache.InformerNameAndResource) cache.GaugeMetric {
	return gauge{of: g, name: fmt.Sprintf("queued %s %s", id.Name(), id.GroupVersionResource().Resource)}
}

func (g *gauges) NewProcessingLatencyMetric(id cache.InformerNameAndResource) cache.HistogramMetric {
	return gauge{of: g, name: fmt.Sprintf("latency %s %s", id.Name(), id.GroupVersionResource().Resource)}
}

func (g *gauges) NewStoreResourceVersionMetric(id cache.InformerNameAndResource) cache.GaugeMetric {
	return gauge{of: g, name: fmt.Sprintf("version %s %s", id.Name(), id.GroupVersionResource().Resource)}
}

func (g *gauges) take() map[string]float64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return maps.Clone(g.values)
}

// TestMetrics checks that our informer and client-go's have the same metrics.
func TestMetrics(t *testing.T) {
	resource := schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		s.put("a")
		shown := []*gauges{{values: map[string]float64{}}, {values: map[string]float64{}}}
		name := must[*cache.InformerName](t)(cache.NewInformerName("test"))
		ours := kwcache.NewSharedIndexInformerWithOptions(s.listerWatcher(), &configMap{},
			cache.SharedIndexInformerOptions{
				Identifier: name.WithResource(resource), InformerMetricsProvider: shown[0],
			})
		other := must[*cache.InformerName](t)(cache.NewInformerName("other"))
		theirs := cache.NewSharedIndexInformerWithOptions(s.listerWatcher(), &configMap{},
			cache.SharedIndexInformerOptions{
				Identifier: other.WithResource(resource), InformerMetricsProvider: shown[1],
			})
		stops := []func(){run(ours), run(theirs)}
		steps := []func(){
			func() {},
			func() { s.put("b") },
			func() { s.remove("a") },
			func() { s.version = 1234567890123456789; s.put("b") },
			s.bookmark,
			func() { s.forget(func() { s.put("c") }) },
			func() {
				s.raw(watch.Event{Type: watch.Modified,
					Object: &configMap{ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: "ns1",
						ResourceVersion: "opaque"}}})
			},
		}
		for n, step := range steps {
			step()
			synctest.Wait()
			got, want := shown[0].take(), shown[1].take()
			for metric, value := range got {
				kind, _, _ := cutName(metric)
				if theirs, ok := want[kind+" other configmaps"]; !ok || theirs != value {
					t.Errorf("step %d: %s is %v, client-go's %v", n, metric, value, theirs)
				}
			}
			if all := reflect.TypeFor[cache.InformerMetricsProvider]().NumMethod(); len(got) != all ||
				len(want) != all {
				t.Errorf("step %d: ours shows %v, client-go %v", n, got, want)
			}
		}
		for _, stop := range stops {
			stop()
		}
		name.Release()
		other.Release()
	})
}

func cutName(metric string) (kind, name, resource string) {
	_, _ = fmt.Sscan(metric, &kind, &name, &resource)
	return kind, name, resource
}

// processProvider is the provider of the process. It is set once in a run of the tests, since only the first
// one counts.
var processProvider = sync.OnceValue(func() *gauges {
	first := &gauges{values: map[string]float64{}}
	informer.SetMetricsProvider(first)
	return first
})

// TestMetricsOfTheProcess checks that an informer without a provider of its own has that of the process, and
// that an informer without an identity has none.
func TestMetricsOfTheProcess(t *testing.T) {
	shown := processProvider()
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		name := must[*cache.InformerName](t)(cache.NewInformerName("process"))
		defer name.Release()
		for _, id := range []cache.InformerNameAndResource{
			name.WithResource(schema.GroupVersionResource{Resource: "configmaps"}), {},
		} {
			defer run(kwcache.NewSharedIndexInformerWithOptions(s.listerWatcher(), &configMap{},
				cache.SharedIndexInformerOptions{Identifier: id}))()
		}
		s.put("a")
		synctest.Wait()
		got := fmt.Sprint(slices.Sorted(maps.Keys(shown.take())))
		const want = "[latency process configmaps queued process configmaps version process configmaps]"
		if got != want {
			t.Errorf("the metrics are %s, want %s", got, want)
		}
	})
}
