package factory_test

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	genfactory "github.com/kubewright/kubewright/runtime/gen/factory"
	"github.com/kubewright/kubewright/runtime/gen/informer"
)

func TestMain(m *testing.M) {
	klog.SetLogger(logr.Discard())
	utilruntime.ErrorHandlers = nil
	goleak.VerifyTestMain(m)
}

// clientset takes the place of a generated clientset. Its lists wait for gate.
type clientset struct{ gate chan struct{} }

func (c *clientset) IsWatchListSemanticsUnSupported() bool { return true }

type client[L runtime.Object] struct {
	*clientset
	list L
}

func (c client[L]) List(ctx context.Context, _ metav1.ListOptions) (L, error) {
	select {
	case <-c.gate:
		return c.list, nil
	case <-ctx.Done():
		return c.list, ctx.Err()
	}
}

func (c client[L]) Watch(context.Context, metav1.ListOptions) (watch.Interface, error) {
	return watch.NewFake(), nil
}

// secrets and configMaps are what generated code passes to InformerFor.
func secrets(c *clientset, resync time.Duration) cache.SharedIndexInformer {
	return informer.NewShared[*corev1.Secret](func() informer.ResourceClient[*corev1.SecretList] {
		return client[*corev1.SecretList]{c,
			&corev1.SecretList{Items: []corev1.Secret{{ObjectMeta: metav1.ObjectMeta{Name: "s"}}}}}
	}, informer.Options{Client: c, ResyncPeriod: resync})
}

func configMaps(c *clientset, resync time.Duration) cache.SharedIndexInformer {
	return informer.NewShared[*corev1.ConfigMap](func() informer.ResourceClient[*corev1.ConfigMapList] {
		return client[*corev1.ConfigMapList]{c, &corev1.ConfigMapList{}}
	}, informer.Options{Client: c, ResyncPeriod: resync})
}

var (
	secretType    = reflect.TypeFor[*corev1.Secret]()
	configMapType = reflect.TypeFor[*corev1.ConfigMap]()
)

func TestInformerFor(t *testing.T) {
	f := genfactory.New[*clientset](nil, time.Minute)
	f.SetCustomResync(map[metav1.Object]time.Duration{&corev1.Secret{}: time.Hour})
	var transformed int
	f.SetTransform(func(obj any) (any, error) { transformed++; return obj, nil })

	var periods []time.Duration
	make := func(c *clientset, resync time.Duration) cache.SharedIndexInformer {
		periods = append(periods, resync)
		return secrets(c, resync)
	}
	first := f.InformerFor(&corev1.Secret{}, make)
	if second := f.InformerFor(&corev1.Secret{}, make); second != first {
		t.Error("a type has two informers")
	}
	if other := f.InformerFor(&corev1.ConfigMap{},
		func(c *clientset, resync time.Duration) cache.SharedIndexInformer {
			periods = append(periods, resync)
			return configMaps(c, resync)
		}); other == first {
		t.Error("two types share an informer")
	}
	if want := []time.Duration{time.Hour, time.Minute}; !reflect.DeepEqual(periods, want) {
		t.Errorf("resync periods %v, want %v", periods, want)
	}
	// An informer of a factory without a client can still be filled and read.
	g := genfactory.NewGeneric(first, schema.GroupResource{Resource: "secrets"})
	if err := g.Informer().GetIndexer().Add(
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "s"}},
	); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Lister().ByNamespace("n").Get("s"); err != nil {
		t.Error(err)
	}
	if _, err := g.Lister().Get("s"); !apierrors.IsNotFound(err) || err.Error() != `secrets "s" not found` {
		t.Errorf("got %v", err)
	}
}

// TestWaiting checks that a wait ends at the moment of the sync, without the clock moving. If its context
// ends first, the error names the informers that have not synced.
func TestWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &clientset{gate: make(chan struct{})}
		f := genfactory.New(c, 0)
		if got := f.WaitForCacheSyncWithContext(t.Context()); got.Err != nil || len(got.Synced) != 0 {
			t.Errorf("nothing is started: %+v", got)
		}
		f.InformerFor(&corev1.Secret{}, secrets)
		f.InformerFor(&corev1.ConfigMap{},
			func(c *clientset, resync time.Duration) cache.SharedIndexInformer {
				// This informer is not ours.
				return cache.NewSharedIndexInformer(
					cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
						ListWithContextFunc: func(
							ctx context.Context, opts metav1.ListOptions,
						) (runtime.Object, error) {
							return client[*corev1.ConfigMapList]{c, &corev1.ConfigMapList{}}.List(ctx, opts)
						},
						WatchFuncWithContext: client[*corev1.ConfigMapList]{}.Watch,
					}, c), &corev1.ConfigMap{}, resync, nil)
			})

		stop := make(chan struct{})
		f.Start(stop)
		f.Start(stop) // running informers aren't started again
		// This informer has not started, so it is not waited for.
		f.InformerFor(&corev1.Pod{}, func(*clientset, time.Duration) cache.SharedIndexInformer {
			return cache.NewSharedIndexInformer(&cache.ListWatch{}, &corev1.Pod{}, 0, nil)
		})

		cause := errors.New("out of patience")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(cause)
		got := f.WaitForCacheSyncWithContext(ctx)
		if want := map[reflect.Type]bool{secretType: false,
			configMapType: false}; !reflect.DeepEqual(got.Synced, want) || !errors.Is(got.AsError(), cause) {
			t.Errorf("given up: %+v", got)
		}

		synctest.Wait()
		start := time.Now()
		go close(c.gate)
		if got, want := f.WaitForCacheSync(stop), map[reflect.Type]bool{
			secretType: true, configMapType: true,
		}; !reflect.DeepEqual(got, want) {
			t.Errorf("got %v", got)
		}
		if waited := time.Since(start); waited != 0 {
			t.Errorf("the clock moved by %v", waited)
		}
		if got := f.WaitForCacheSyncWithContext(ctx); got.Err != nil {
			t.Errorf("all are synced: %+v", got)
		}
		close(stop)
		f.Shutdown()
	})
}

func TestShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		name, err := cache.NewInformerName("factory-test")
		if err != nil {
			t.Fatal(err)
		}
		c := &clientset{gate: make(chan struct{})}
		f := genfactory.New(c, 0)
		f.SetInformerName(name)
		if f.InformerName() != name {
			t.Error("the name is lost")
		}
		i := f.InformerFor(&corev1.Secret{}, secrets)
		ctx, cancel := context.WithCancel(t.Context())
		f.StartWithContext(ctx)
		down := make(chan struct{})
		go func() { f.Shutdown(); close(down) }()
		synctest.Wait()
		select {
		case <-down:
			t.Error("the shutdown didn't wait")
		default:
		}
		late := f.InformerFor(&corev1.ConfigMap{}, configMaps)
		f.StartWithContext(ctx)
		cancel()
		<-down
		if !i.IsStopped() || late.IsStopped() {
			t.Errorf("stopped: %v, one that was requested during the shutdown: %v", i.IsStopped(),
				late.IsStopped())
		}
		if _, err := cache.NewInformerName("factory-test"); err != nil {
			t.Errorf("the name wasn't released: %v", err)
		}
		cache.ResetInformerNamesForTesting()
	})
}
