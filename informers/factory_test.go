package informers_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
	clientgo "k8s.io/client-go/informers"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/informers"
	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/factory"
	"github.com/kubewright/kubewright/runtime/factory/namespaces"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/listwatch"
)

// pod returns a Pod in the namespace "ns".
func pod(name string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "ns", Name: name,
		Labels:        map[string]string{"all": "them", "one": "it"},
		ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "it"}},
	}}
}

func stripManagedFields(obj any) (any, error) {
	obj.(metav1.Object).SetManagedFields(nil)
	return obj, nil
}

// start starts a factory's informers and waits until they and their handlers are idle. The
// result stops them.
func start(t *testing.T, f informers.SharedInformerFactory) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	f.StartWithContext(ctx)
	synctest.Wait()
	return func() {
		cancel()
		f.Shutdown()
	}
}

// TestInformerFor checks that InformerFor calls its function and keeps the result. Of all ways to
// request a type, the first one makes the informer, as with client-go's factory.
func TestInformerFor(t *testing.T) {
	type constructor func(kubernetes.Interface, time.Duration) informers.SharedInformerFactory
	for name, newFactory := range map[string]constructor{
		"ours":      informers.NewSharedInformerFactory,
		"client-go": clientgo.NewSharedInformerFactory,
	} {
		t.Run(name, func(t *testing.T) {
			client := fake.NewSimpleClientset()
			var made []cache.SharedIndexInformer
			newFunc := func(got kubernetes.Interface, resync time.Duration) cache.SharedIndexInformer {
				if got != client || resync != time.Hour {
					t.Errorf("called with %v, %v", got, resync)
				}
				made = append(made, coreinformers.NewPodInformer(got, "ns", resync, cache.Indexers{}))
				return made[0]
			}
			pods := corev1.SchemeGroupVersion.WithResource("pods")
			ways := map[string]func(informers.SharedInformerFactory) cache.SharedIndexInformer{
				"function": func(f informers.SharedInformerFactory) cache.SharedIndexInformer {
					return f.InformerFor(&corev1.Pod{}, newFunc)
				},
				"group": func(f informers.SharedInformerFactory) cache.SharedIndexInformer {
					return f.Core().V1().Pods().Informer()
				},
				"resource": func(f informers.SharedInformerFactory) cache.SharedIndexInformer {
					i, err := f.ForResource(pods)
					if err != nil {
						t.Fatal(err)
					}
					return i.Informer()
				},
			}
			for first, ask := range ways {
				made = nil
				f := newFactory(client, time.Hour)
				i := ask(f)
				for way, again := range ways {
					if again(f).GetStore() != i.GetStore() {
						t.Errorf("first by %s: by %s comes another informer", first, way)
					}
				}
				if called := len(made); called != map[bool]int{true: 1}[first == "function"] {
					t.Errorf("first by %s: the function was called %d times", first, called)
				}
				_, ours := informer.StatusOf(i)
				if want := name == "ours" && first != "function"; ours != want {
					t.Errorf("first by %s: it is ours: %v", first, ours)
				}
			}
			f := newFactory(client, 0)
			_, err := f.ForResource(schema.GroupVersionResource{Group: "g", Version: "v", Resource: "r"})
			if err == nil || err.Error() != "no informer found for g/v, Resource=r" {
				t.Errorf("error %v", err)
			}
		})
	}
}

// TestForeignType checks that an informer of a type that isn't built in runs with the others.
func TestForeignType(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := informers.NewSharedInformerFactory(fake.NewSimpleClientset(), 0)
		foreign := &metav1.PartialObjectMetadata{}
		lw := &cache.ListWatch{
			ListFunc:  func(metav1.ListOptions) (runtime.Object, error) { return nil, errors.New("not today") },
			WatchFunc: func(metav1.ListOptions) (watch.Interface, error) { return watch.NewFake(), nil },
		}
		newFunc := func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer {
			return cache.NewSharedIndexInformer(lw, foreign, 0, cache.Indexers{})
		}
		i := f.InformerFor(foreign, newFunc)
		f.Core().V1().Pods().Informer()
		defer start(t, f)()
		ended, end := context.WithCancel(t.Context())
		end()
		result := f.WaitForCacheSyncWithContext(ended)
		want := map[reflect.Type]bool{reflect.TypeFor[*corev1.Pod](): true, reflect.TypeOf(foreign): false}
		if !reflect.DeepEqual(result.Synced, want) || result.Err == nil || i.HasSynced() {
			t.Errorf("synced %v, %v", result.Synced, result.Err)
		}
	})
}

// TestOptions checks that the options have the effect of client-go's of the same name.
func TestOptions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewSimpleClientset(pod("a"),
			&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: map[string]string{"all": "them"}}})
		name, err := cache.NewInformerName("informers-test")
		if err != nil {
			t.Fatal(err)
		}
		f := informers.NewSharedInformerFactoryWithOptions(client, time.Hour,
			informers.WithNamespace("ns"),
			informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.LabelSelector = "all=them" }),
			informers.WithCustomResyncConfig(map[metav1.Object]time.Duration{&corev1.Node{}: time.Minute}),
			informers.WithTransform(stripManagedFields),
			informers.WithInformerName(name))
		if f.InformerName() != name {
			t.Error("it has no name")
		}
		tweak := func(o *metav1.ListOptions) { o.LabelSelector += ",one=it" }
		if err := factory.Configure(f, informer.Options{Overrides: map[schema.GroupResource]informer.Options{
			corev1.Resource("pods"): {TweakListOptions: tweak},
		}}); err != nil {
			t.Error(err)
		}
		var resyncs [2]atomic.Int32
		core := f.Core().V1()
		for n, i := range []cache.SharedIndexInformer{core.Pods().Informer(), core.Nodes().Informer()} {
			handler := cache.ResourceEventHandlerFuncs{UpdateFunc: func(_, _ any) { resyncs[n].Add(1) }}
			if _, err := i.AddEventHandler(handler); err != nil {
				t.Error(err)
			}
		}
		defer start(t, f)()
		if got, err := f.Core().V1().Pods().Lister().Pods("ns").Get("a"); err != nil || len(got.ManagedFields) > 0 {
			t.Errorf("got %v, %v", got, err)
		}
		var lists []string
		for _, action := range client.Actions() {
			if list, ok := action.(clienttesting.ListAction); ok {
				selector := list.GetListRestrictions().Labels.String()
				lists = append(lists, action.GetNamespace()+" "+action.GetResource().Resource+" "+selector)
			}
		}
		slices.Sort(lists)
		if want := []string{" nodes all=them", "ns pods all=them,one=it"}; !slices.Equal(lists, want) {
			t.Errorf("lists %q, want %q", lists, want)
		}
		statuses, err := factory.Statuses(f)
		if err != nil || len(statuses) != 2 {
			t.Fatalf("statuses %+v, %v", statuses, err)
		}
		nodes, pods := statuses[0], statuses[1]
		if nodes.Name != "informer of v1 nodes (informers-test)" || nodes.Namespace != "" ||
			pods.Name != "informer of v1 pods in namespace ns (informers-test)" || pods.Namespace != "ns" {
			t.Errorf("statuses %+v", statuses)
		}
		bubble.Advance(61*time.Minute + time.Second)
		if pods, nodes := resyncs[0].Load(), resyncs[1].Load(); pods != 1 || nodes != 61 {
			t.Errorf("%d resyncs of pods, %d of nodes", pods, nodes)
		}
		if _, err := cache.NewInformerName("informers-test"); err == nil {
			t.Error("the name of a factory that runs can be taken")
		}
	})
	name, err := cache.NewInformerName("informers-test")
	if err != nil {
		t.Errorf("Shutdown has not released the name: %v", err)
	}
	name.Release()
}

// TestFiltered checks that the deprecated constructor equals the other one with two options.
func TestFiltered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewSimpleClientset()
		tweak := func(o *metav1.ListOptions) { o.LabelSelector = "all=them" }
		f := informers.NewFilteredSharedInformerFactory(client, 0, "ns", tweak)
		f.Core().V1().Pods().Informer()
		start(t, f)()
		list, ok := client.Actions()[0].(clienttesting.ListAction)
		if !ok || list.GetNamespace() != "ns" || list.GetListRestrictions().Labels.String() != "all=them" {
			t.Errorf("actions %v", client.Actions())
		}
	})
}

// TestGeneratedFunctions checks that functions of packages factory and informer for generated
// factories and informers accept these, although client-go wraps the informers in its own typed ones.
func TestGeneratedFunctions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewSimpleClientset(pod("a"))
		client.PrependReactor("list", "events", func(action clienttesting.Action) (bool, runtime.Object, error) {
			resource := action.GetResource()
			return resource.Group != "", nil, apierrors.NewForbidden(resource.GroupResource(), "", nil)
		})
		f := informers.NewSharedInformerFactory(client, 0)
		limiter := listwatch.NewLimiter(1)
		if err := factory.Configure(f, informer.Options{
			Limiter: limiter, OnCreate: func(i cache.SharedIndexInformer) error {
				return informer.Configure(i, informer.Options{Limiter: limiter, SilenceTimeout: time.Hour})
			},
		}); err != nil {
			t.Error(err)
		}
		pods := f.Core().V1().Pods().Informer()
		for what, err := range map[string]error{
			"an index of labels": informer.IndexLabels(pods, "app"),
			"an index of a field": informer.IndexField(pods, "spec.nodeName", func(p *corev1.Pod) []string {
				return []string{p.Spec.NodeName}
			}),
			"options": informer.Configure(pods, informer.Options{Limiter: limiter, ShareValues: true}),
			"retain":  factory.Retain(f, f.Core().V1().Pods().TypedInformer()),
			"another": factory.Retain(f, pods),
		} {
			if err != nil {
				t.Errorf("%s: %v", what, err)
			}
		}
		err := factory.Configure(f, informer.Options{ShareValues: true})
		if !errors.Is(err, informer.ErrTooLate) ||
			!strings.Contains(err.Error(), "informer of v1 pods has been made") {
			t.Errorf("options that come too late: %v", err)
		}
		named := informer.HandlerOptions{Name: "it"}
		registration, err := informer.AddEventHandler(pods, cache.ResourceEventHandlerFuncs{}, named)
		if err != nil {
			t.Error(err)
		}
		handler := coreinformers.PodHandlerFuncs{AddFunc: func(*corev1.Pod) {}}
		if _, err := f.Core().V1().Pods().TypedInformer().AddTypedEventHandler(handler); err != nil {
			t.Error(err)
		}
		f.Core().V1().Events().Informer()
		f.Events().V1().Events().Informer()
		stop := start(t, f)

		err = factory.WaitForSyncOr(t.Context(), f, (*informer.SyncError).Permanent)
		var unsynced *informer.NotSyncedError
		if !errors.As(err, &unsynced) || len(unsynced.Informers) != 1 ||
			unsynced.Informers[0].Informer != "informer of events.k8s.io/v1 events" {
			t.Errorf("error %v", err)
		}
		if err := informer.WaitForSync(t.Context(), pods); err != nil || !registration.HasSynced() {
			t.Errorf("not synced: %v", err)
		}
		core, ok := informer.Of[*corev1.Pod](pods)
		if !ok {
			t.Fatal("the informer has no core")
		}
		if p, ok := core.Get(cache.NewObjectName("ns", "a")); !ok || p.Name != "a" {
			t.Errorf("got %v", p)
		}
		status, _ := informer.StatusOf(pods)
		if h := status.Handlers; len(h) != 2 || h[0].Name != "it" ||
			!strings.Contains(h[1].Name, ".TestGeneratedFunctions") {
			t.Errorf("handlers %+v", h)
		}

		for _, left := range []bool{true, false} {
			if err := factory.Release(f, f.Core().V1().Pods().Informer()); err != nil {
				t.Error(err)
			}
			synctest.Wait()
			same := f.Core().V1().Pods().Informer().GetStore() == pods.GetStore()
			if same != left || pods.IsStopped() == left {
				t.Errorf("users left: %v; it is the factory's: %v; it has stopped: %v", left, same, pods.IsStopped())
			}
		}
		stop()
	})
}

// TestNamespaces checks that a set of namespaces runs these factories.
func TestNamespaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewSimpleClientset(pod("a"))
		n := namespaces.New(func(namespace string) informers.SharedInformerFactory {
			return informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(namespace))
		})
		pods := n.Informer(func(f informers.SharedInformerFactory) cache.SharedIndexInformer {
			return f.Core().V1().Pods().Informer()
		})
		n.StartWithContext(t.Context())
		for _, namespace := range []string{"ns", "other"} {
			if err := n.Add(namespace); err != nil {
				t.Error(err)
			}
		}
		if err := factory.WaitForSync(t.Context(), n); err != nil {
			t.Error(err)
		}
		if keys := pods.GetStore().ListKeys(); !slices.Equal(keys, []string{"ns/a"}) {
			t.Errorf("it has %q", keys)
		}
		n.Shutdown()
	})
}

// TestNilClientset checks that a factory without a clientset makes informers, and that a running
// one panics with a text that explains why.
func TestNilClientset(t *testing.T) {
	defer func(really bool) { utilruntime.ReallyCrash = really }(utilruntime.ReallyCrash)
	utilruntime.ReallyCrash = false
	said := make(chan any, 1)
	handlers := utilruntime.PanicHandlers
	defer func() { utilruntime.PanicHandlers = handlers }()
	utilruntime.PanicHandlers = []func(context.Context, any){func(_ context.Context, v any) {
		select {
		case said <- v:
		default:
		}
	}}
	f := informers.NewSharedInformerFactoryWithOptions(nil, 0, informers.WithNamespace("ns"))
	f.Core().V1().Pods().Informer()
	ctx, cancel := context.WithCancel(t.Context())
	f.StartWithContext(ctx)
	want := "the informer of v1 pods in namespace ns, or its factory, was made with a nil clientset"
	if v := fmt.Sprint(<-said); !strings.Contains(v, want) {
		t.Errorf("panic %s", v)
	}
	cancel()
	f.Shutdown()
}
