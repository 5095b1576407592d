package informer_test

import (
	"fmt"
	"maps"
	"reflect"
	"sync"
	"testing"
	"testing/synctest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	kwcache "github.com/kubewright/kubewright/runtime/cache"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/internal/metrics"
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

// processProvider is the provider of the process, set by the first of two calls of SetMetricsProvider.
// firstProvider makes both calls, once in a run of the tests, and returns the previous provider.
var (
	processProvider = &gauges{values: map[string]float64{}}
	firstProvider   = sync.OnceValue(func() cache.InformerMetricsProvider {
		name, err := cache.NewInformerName("before")
		if err != nil {
			panic(err)
		}
		defer name.Release()
		before := metrics.ProviderFor(name.WithResource(schema.GroupVersionResource{Resource: "a"}), nil)
		informer.SetMetricsProvider(processProvider)
		informer.SetMetricsProvider(&gauges{})
		return before
	})
)

// TestMetricsNeedAnIdentity checks that an informer without a reserved identity has no metrics, and that a
// second one of the same identity has none either.
func TestMetricsNeedAnIdentity(t *testing.T) {
	if before := firstProvider(); before != nil {
		t.Errorf("before one was set, the process's provider was %v", before)
	}
	name := must[*cache.InformerName](t)(cache.NewInformerName("test"))
	defer name.Release()
	given := &gauges{}
	first, second := name.WithResource(schema.GroupVersionResource{Resource: "a"}),
		name.WithResource(schema.GroupVersionResource{Resource: "a"})
	for _, test := range []struct {
		id          cache.InformerNameAndResource
		given, want cache.InformerMetricsProvider
	}{
		{first, given, given},
		{second, given, nil},
		{cache.InformerNameAndResource{}, given, nil},
		{first, nil, processProvider},
		{second, nil, nil},
	} {
		if got := metrics.ProviderFor(test.id, test.given); got != test.want {
			t.Errorf("%v: %v", test, got)
		}
	}
}
