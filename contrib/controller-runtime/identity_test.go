package kwctrl_test

import (
	"context"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	dto "github.com/prometheus/client_model/go"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	kwctrl "github.com/kubewright/kubewright/contrib/controller-runtime"
)

// published returns the names and resources, sorted, that each metric of informers has for a server, and the
// values of the gauges.
func published(t *testing.T, host string) (names map[string][]string, values map[string]float64) {
	t.Helper()
	u, err := url.Parse(host)
	if err != nil {
		t.Fatal(err)
	}
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	names, values = map[string][]string{}, map[string]float64{}
	for _, family := range families {
		if !strings.HasPrefix(family.GetName(), "informer_") {
			continue
		}
		for _, metric := range family.Metric {
			labels := map[string]string{}
			for _, label := range metric.Label {
				labels[label.GetName()] = label.GetValue()
			}
			of, ok := strings.CutPrefix(labels["name"], u.Host+"/")
			if !ok {
				continue
			}
			of += " " + labels["group"] + "/" + labels["version"] + " " + labels["resource"]
			names[family.GetName()] = append(names[family.GetName()], of)
			if family.GetType() == dto.MetricType_GAUGE {
				values[family.GetName()+" "+of] = metric.Gauge.GetValue()
			}
		}
	}
	for _, of := range names {
		slices.Sort(of)
	}
	return names, values
}

func wantPublished(t *testing.T, host string, names ...string) (values map[string]float64) {
	t.Helper()
	got, values := published(t, host)
	want := map[string][]string{}
	for _, metric := range []string{"queued_items", "processing_latency_seconds", "store_resource_version"} {
		want["informer_"+metric] = names
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("there are %v, not %v", got, want)
	}
	return values
}

// startAllForms starts informers of all forms, in a cache of all namespaces and in one of two.
func startAllForms(t *testing.T, caches *kwctrl.Caches, config *rest.Config) {
	t.Helper()
	opts := options()
	opts.DefaultNamespaces = map[string]cache.Config{"ns": {}, "other": {}}
	for _, opts := range []cache.Options{options(), opts} {
		c, err := caches.NewCache(config, opts)
		if err != nil {
			t.Fatal(err)
		}
		ctx := start(t, c)
		for _, form := range forms {
			obj, _ := form()
			if _, err := c.GetInformer(ctx, obj); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestMetrics checks that informers of all forms, of several namespaces and of several caches each have their
// own metrics in controller-runtime's registry.
func TestMetrics(t *testing.T) {
	config := newServer(t, jsonEncoding)
	caches := kwctrl.NewCaches(kwctrl.Options{})
	startAllForms(t, caches, config)
	values := wantPublished(t, config.Host, "metadata /v1 configmaps", "metadata/2 /v1 configmaps",
		"metadata/3 /v1 configmaps", "typed /v1 configmaps", "typed/2 /v1 configmaps",
		"typed/3 /v1 configmaps", "unstructured /v1 configmaps", "unstructured/2 /v1 configmaps",
		"unstructured/3 /v1 configmaps")
	for _, form := range []string{"metadata", "typed", "unstructured"} {
		// The server's list has version 3, its events up to 6.
		metric := "informer_store_resource_version " + form + " /v1 configmaps"
		if v := values[metric]; v < 3 || v > 6 {
			t.Errorf("%s is %v", metric, v)
		}
	}
	if statuses := caches.Statuses(); len(statuses) != 9 {
		t.Errorf("%d statuses", len(statuses))
	}
}

// TestNamesAreUsedAgain checks that an informer of a new cache has the name of one that has stopped.
func TestNamesAreUsedAgain(t *testing.T) {
	config := newServer(t, jsonEncoding)
	for range 3 {
		c, err := kwctrl.NewCaches(kwctrl.Options{}).NewCache(config, options())
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() {
			if err := c.Start(ctx); err != nil {
				t.Error(err)
			}
		})
		c.WaitForCacheSync(ctx)
		obj, _ := forms["typed"]()
		if _, err := c.GetInformer(ctx, obj); err != nil {
			t.Error(err)
		}
		cancel()
		running.Wait()
	}
	wantPublished(t, config.Host, "typed /v1 configmaps")
}

// TestManyCachesAtOnce starts and stops caches of one server at the same time.
func TestManyCachesAtOnce(t *testing.T) {
	config := newServer(t, jsonEncoding)
	caches := kwctrl.NewCaches(kwctrl.Options{})
	var running sync.WaitGroup
	const many = 8
	started := make(chan struct{}, many)
	ctx, cancel := context.WithCancel(t.Context())
	for range many {
		running.Go(func() {
			c, err := caches.NewCache(config, options())
			if err != nil {
				t.Error(err)
				return
			}
			running.Go(func() {
				if err := c.Start(ctx); err != nil {
					t.Error(err)
				}
			})
			c.WaitForCacheSync(ctx)
			obj, _ := forms["typed"]()
			if _, err := c.GetInformer(ctx, obj); err != nil {
				t.Error(err)
			}
			started <- struct{}{}
		})
	}
	for range many {
		<-started
	}
	names, _ := published(t, config.Host)
	cancel()
	running.Wait()
	if got := len(names["informer_queued_items"]); got != many {
		t.Errorf("%d of %d informers have metrics: %v", got, many, names)
	}
}

// The status of an informer names the resource that the mapper has, in every form, before any request. A kind
// that the mapper doesn't know has none until a request is seen: a guess could be wrong.
func TestStatusesNameResources(t *testing.T) {
	kind := corev1.SchemeGroupVersion.WithKind("ConfigMap")
	irregular := corev1.SchemeGroupVersion.WithResource("configset")
	for name, form := range forms {
		opts := options()
		mapper := meta.NewDefaultRESTMapper(nil)
		mapper.AddSpecific(kind, irregular, corev1.SchemeGroupVersion.WithResource("one"), meta.RESTScopeNamespace)
		opts.Mapper = mapper
		caches := kwctrl.NewCaches(kwctrl.Options{})
		c, err := caches.NewCache(newServer(t, jsonEncoding), opts)
		if err != nil {
			t.Fatal(err)
		}
		obj, _ := form()
		if _, err := c.GetInformer(t.Context(), obj, cache.BlockUntilSynced(false)); err != nil {
			t.Fatal(err)
		}
		if status := caches.Statuses(); len(status) != 1 || status[0].Resource != irregular {
			t.Errorf("%s: %+v", name, status)
		}
	}
	// Without a mapper, one is made that queries the server. This server doesn't answer.
	opts := options()
	opts.Mapper = nil
	caches := kwctrl.NewCaches(kwctrl.Options{NewCache: func(
		_ *rest.Config, opts cache.Options,
	) (cache.Cache, error) {
		if opts.Mapper == nil {
			t.Error("the cache has another mapper than its informers")
		}
		opts.NewInformer(&toolscache.ListWatch{}, &corev1.ConfigMap{}, 0, nil)
		return nil, nil
	}})
	refusing := newServer(t, jsonEncoding)
	refusing.Host = "http://127.0.0.1:0"
	if _, err := caches.NewCache(refusing, opts); err != nil {
		t.Fatal(err)
	}
	if status := caches.Statuses(); len(status) != 1 || !status[0].Resource.Empty() {
		t.Errorf("%+v", status)
	}
}
