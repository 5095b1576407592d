package factory_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/factory"
	genfactory "github.com/kubewright/kubewright/runtime/gen/factory"
	gen "github.com/kubewright/kubewright/runtime/gen/informer"
	genlister "github.com/kubewright/kubewright/runtime/gen/lister"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/internal/store"
	"github.com/kubewright/kubewright/runtime/runtimetest"
)

// generated takes the place of a generated factory.
type generated struct {
	genfactory.Handle
	informers *genfactory.Factory[*clientset]
}

func newGenerated(c *clientset) *generated {
	f := genfactory.New(c, 0)
	return &generated{f.Handle(), f}
}

func (g *generated) Start(stopCh <-chan struct{}) { g.informers.Start(stopCh) }

func (g *generated) Shutdown() { g.informers.Shutdown() }

func open() *clientset {
	gate := make(chan struct{})
	close(gate)
	return &clientset{gate: gate}
}

// TestThousandStartsAndStops checks that released informers leave no memory or goroutines behind.
func TestThousandStartsAndStops(t *testing.T) {
	// Go never frees a goroutine's descriptor, so their number depends on how many goroutines happened to be
	// alive at once. Create more than enough of them before measuring the heap.
	var descriptors sync.WaitGroup
	started := make(chan struct{})
	for range 1000 {
		descriptors.Go(func() { <-started })
	}
	close(started)
	descriptors.Wait()

	f := newGenerated(open())
	ctx, cancel := context.WithCancel(context.Background())
	var after100 uint64
	for n := range 1000 {
		i := f.informers.InformerFor(&corev1.Secret{}, secrets)
		r, err := i.AddEventHandler(cache.ResourceEventHandlerFuncs{})
		if err != nil {
			t.Fatal(err)
		}
		f.informers.StartWithContext(ctx)
		<-r.HasSyncedChecker().Done()
		if err := factory.Release(f, i); err != nil {
			t.Fatal(err)
		}
		<-r.(interface{ ShutdownChan() <-chan struct{} }).ShutdownChan()
		if n == 100 {
			after100 = heap()
		}
	}
	cancel()
	f.informers.Shutdown()
	if now := heap(); now > after100+after100/20 {
		t.Errorf("the heap grew from %d to %d bytes", after100, now)
	}
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestIdentityIsInherited checks that an informer that replaces a released one writes the same metrics.
func TestIdentityIsInherited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		name, err := cache.NewInformerName("released")
		if err != nil {
			t.Fatal(err)
		}
		provider.made = 0
		informer.SetMetricsProvider(provider)
		f := newGenerated(open())
		f.informers.SetInformerName(name)
		ctx, cancel := context.WithCancel(t.Context())
		named := func(c *clientset, resync time.Duration) cache.SharedIndexInformer {
			return gen.NewShared[*corev1.Secret](func() gen.ResourceClient[*corev1.SecretList] {
				return client[*corev1.SecretList]{c, &corev1.SecretList{}}
			}, gen.Options{Client: c, InformerName: name,
				Resource: corev1.SchemeGroupVersion.WithResource("secrets")})
		}
		for range 3 {
			i := f.informers.InformerFor(&corev1.Secret{}, named)
			f.informers.StartWithContext(ctx)
			<-i.HasSyncedChecker().Done()
			if err := factory.Release(f, i); err != nil {
				t.Error(err)
			}
		}
		cancel()
		f.informers.Shutdown()
		if provider.made != 3 {
			t.Errorf("%d of 3 informers had metrics", provider.made)
		}
	})
}

// provider is the metrics provider of the process, which can be set only once.
var provider = &counting{}

// counting is a provider that counts the informers that it makes metrics for.
type counting struct {
	runtimetest.NoMetrics
	made int
}

func (c *counting) NewQueuedItemMetric(id cache.InformerNameAndResource) cache.GaugeMetric {
	c.made++
	return c.NoMetrics.NewQueuedItemMetric(id)
}

// TestWaitForSyncSaysWhy checks that the error gives the reason why informers have not synced, and that it is
// returned at once if giveUp returns true.
func TestWaitForSyncSaysWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newGenerated(open())
		f.informers.InformerFor(&corev1.Secret{}, secrets)
		f.informers.InformerFor(&corev1.ConfigMap{}, forbidden)
		ctx, cancel := context.WithCancel(t.Context())
		f.informers.StartWithContext(ctx)
		synctest.Wait() // until one has synced and the other was refused
		start := time.Now()
		err := factory.WaitForSyncOr(ctx, f, (*informer.SyncError).Permanent)
		var all *informer.NotSyncedError
		if !errors.As(err, &all) || len(all.Informers) != 1 || !all.Informers[0].Permanent() ||
			time.Since(start) != 0 {
			t.Errorf("error %v", err)
		}
		bubble.Pass(2 * time.Minute)
		if err := factory.HealthCheck(f, informer.HealthOptions{})(nil); err == nil ||
			!strings.Contains(err.Error(), "forbidden") {
			t.Errorf("health: %v", err)
		}
		statuses, err := factory.Statuses(f)
		if err != nil || len(statuses) != 2 || statuses[0].Synced || statuses[0].Failures == 0 ||
			!statuses[1].Synced || statuses[1].Objects != 1 {
			t.Errorf("statuses %+v, %v", statuses, err)
		}
		cancel()
		f.informers.Shutdown()
	})
}

func forbidden(*clientset, time.Duration) cache.SharedIndexInformer {
	return gen.NewShared[*corev1.ConfigMap](func() gen.ResourceClient[*corev1.ConfigMapList] {
		return refusing{}
	}, gen.Options{Client: &clientset{}})
}

type refusing struct{ client[*corev1.ConfigMapList] }

func (refusing) List(context.Context, metav1.ListOptions) (*corev1.ConfigMapList, error) {
	return nil, apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "", errors.New("no"))
}

// TestOnCreate checks that setUp is applied to every informer of a factory.
func TestOnCreate(t *testing.T) {
	f := newGenerated(open())
	setUp := func(i cache.SharedIndexInformer) error { return informer.IndexLabels(i, "app") }
	if err := factory.Configure(f, informer.Options{OnCreate: setUp}); err != nil {
		t.Fatal(err)
	}
	i := f.informers.InformerFor(&corev1.Secret{}, secrets)
	backed, ok := i.GetIndexer().(store.Backed[cache.ObjectName])
	if !ok || !backed.Store().HasIndex(store.LabelIndex("app")) {
		t.Error("the index is not there")
	}
	if err := i.GetIndexer().Add(
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s", Labels: map[string]string{"app": "a"}}},
	); err != nil {
		t.Fatal(err)
	}
	found, err := genlister.New[*corev1.Secret](i.GetIndexer(),
		schema.GroupResource{}).List(labels.SelectorFromSet(labels.Set{"app": "a"}))
	if err != nil || len(found) != 1 {
		t.Errorf("found %v, %v", found, err)
	}
}

// foreign is a factory of another implementation.
type foreign struct{}

func (foreign) Start(<-chan struct{}) {}
func (foreign) Shutdown()             {}

// TestUnsupportedFactory checks that a factory of another implementation is refused.
func TestUnsupportedFactory(t *testing.T) {
	f := foreign{}
	_, statuses := factory.Statuses(f)
	noSet := struct {
		foreign
		genfactory.Handle
	}{}
	for _, err := range []error{
		factory.WaitForSync(t.Context(), f), factory.HealthCheck(f, informer.HealthOptions{})(nil), statuses,
		factory.Retain(f, nil), factory.Release(noSet, nil), factory.Configure(f, informer.Options{}),
	} {
		if !errors.Is(err, factory.ErrUnsupportedFactory) {
			t.Errorf("error %v", err)
		}
	}
}

// TestNilFactory checks that a nil factory is an error.
func TestNilFactory(t *testing.T) {
	_, statuses := factory.Statuses(nil)
	for what, err := range map[string]error{
		"WaitForSync": factory.WaitForSync(t.Context(), nil),
		"HealthCheck": factory.HealthCheck(nil, informer.HealthOptions{})(nil),
		"Statuses":    statuses,
		"Retain":      factory.Retain(nil, nil),
		"Release":     factory.Release(nil, nil),
		"Configure":   factory.Configure(nil, informer.Options{}),
	} {
		if err == nil || !strings.Contains(err.Error(), "the factory is nil") ||
			errors.Is(err, factory.ErrUnsupportedFactory) {
			t.Errorf("%s: error %v", what, err)
		}
	}
}
