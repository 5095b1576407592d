package kwctrl_test

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	kwctrl "github.com/kubewright/kubewright/contrib/controller-runtime"
	"github.com/kubewright/kubewright/contrib/controller-runtime/internal/configmaps"
	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/ownwrites"
	"github.com/kubewright/kubewright/runtime/queue"
)

// counted has the metrics of a controller's gate.
type counted struct {
	mu                    sync.Mutex
	waits, bound, unknown int
}

type counterFunc func()

func (f counterFunc) Inc()            { f() }
func (f counterFunc) Dec()            { f() }
func (f counterFunc) Set(float64)     { f() }
func (f counterFunc) Observe(float64) { f() }

// newQueue is the NewQueue of a controller whose queue has the metrics.
func (c *counted) newQueue(
	name string, limiter workqueue.TypedRateLimiter[reconcile.Request],
) workqueue.TypedRateLimitingInterface[reconcile.Request] {
	return kwctrl.NewPriorityQueue(name, queue.Config[reconcile.Request]{Limiter: limiter, Metrics: c.metrics()})
}

func (c *counted) metrics() *queue.Metrics {
	count := func(n *int) counterFunc {
		return func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			*n++
		}
	}
	none := counterFunc(func() {})
	return &queue.Metrics{
		Depth: none, Adds: none, Latency: none, WorkDuration: none, UnfinishedWork: none, LongestRunning: none,
		Retries:        none,
		ParkedDuration: count(&c.waits), Late: count(&c.bound), UnknownWrites: count(&c.unknown),
	}
}

func (c *counted) now() (waits, bound, unknown int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.waits, c.bound, c.unknown
}

// writer is a reconciler that writes an object for each key, again and again, at once: it creates, updates,
// patches and deletes it, in this order. It checks that the cache shows the last write.
type writer struct {
	t      *testing.T
	client client.Client
	form   string
	rounds int

	mu    sync.Mutex
	steps map[types.NamespacedName]int
	last  map[types.NamespacedName]string
	stale []string
	runs  int
}

func (w *writer) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	key := request.NamespacedName
	child, _ := forms[w.form]()
	err := w.client.Get(ctx, types.NamespacedName{Namespace: key.Namespace, Name: key.Name + "-child"}, child)
	if client.IgnoreNotFound(err) != nil {
		return reconcile.Result{}, err
	}
	w.mu.Lock()
	step, last := w.steps[key], w.last[key]
	w.runs++
	if !showsWrite(child, err, last) {
		w.stale = append(w.stale, fmt.Sprintf("%v, step %d: the cache has version %q (%v), want %s",
			key, step, child.GetResourceVersion(), err, last))
	}
	w.mu.Unlock()
	if step == 4*w.rounds {
		return reconcile.Result{}, nil
	}
	version, err := w.write(ctx, step%4, key, child)
	if err != nil {
		if apierrors.IsConflict(err) || apierrors.IsNotFound(err) || apierrors.IsAlreadyExists(err) {
			return reconcile.Result{RequeueAfter: 100 * time.Millisecond}, nil // The cache was stale.
		}
		return reconcile.Result{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.steps[key], w.last[key] = step+1, version
	return reconcile.Result{RequeueAfter: time.Millisecond}, nil
}

// deleted stands for the version of a deleted object.
const deleted = "deleted"

// showsWrite reports whether what was read of an object has the last write of a key.
func showsWrite(read client.Object, err error, last string) bool {
	if last == "" || last == deleted {
		return apierrors.IsNotFound(err)
	}
	got, _ := strconv.Atoi(read.GetResourceVersion())
	want, _ := strconv.Atoi(last)
	return err == nil && got >= want
}

func (w *writer) write(
	ctx context.Context, step int, key types.NamespacedName, child client.Object,
) (version string, err error) {
	whole := child
	if w.form == "metadata" {
		whole = &corev1.ConfigMap{} // Metadata can't be created.
	}
	for _, o := range []client.Object{child, whole} {
		o.SetNamespace(key.Namespace)
		o.SetName(key.Name + "-child")
	}
	patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"step":"2"}}}`))
	switch {
	case step == 0:
		err = w.client.Create(ctx, whole)
		return whole.GetResourceVersion(), err
	case step == 1 && w.form != "metadata":
		child.SetAnnotations(map[string]string{"step": "1"})
		err = w.client.Update(ctx, child)
	case step == 3:
		return deleted, w.client.Delete(ctx, child)
	default:
		err = w.client.Patch(ctx, child, patch)
	}
	return child.GetResourceVersion(), err
}

// owner returns the key of an object: its own, or that of the object for which it was written.
func owner(_ context.Context, object client.Object) []reconcile.Request {
	return []reconcile.Request{{NamespacedName: types.NamespacedName{
		Namespace: object.GetNamespace(), Name: strings.TrimSuffix(object.GetName(), "-child")}}}
}

// written is a run of a manager with a writer.
type written struct {
	*writer
	counted counted
}

// runWriter runs a manager with a writer, on caches that lag by half a second. tracks says whether the
// controller waits for its own writes. adjust may be nil.
func runWriter(t *testing.T, form string, tracks bool, adjust func(*manager.Options)) *written {
	const keys, rounds = 20, 2
	w := &written{writer: &writer{
		t: t, form: form, rounds: rounds,
		steps: map[types.NamespacedName]int{}, last: map[types.NamespacedName]string{},
	}}
	api := configmaps.New()
	api.Lag = 500 * time.Millisecond
	for n := range keys {
		api.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
			Namespace: []string{"ns", "other"}[n%2], Name: fmt.Sprint("key-", n)}})
	}
	config := &rest.Config{Host: "http://api", QPS: -1, Transport: api}
	tracker := &ownwrites.Tracker{}
	config.Wrap(tracker.Transport)
	caches := kwctrl.NewCaches(kwctrl.Options{OwnWrites: tracker})
	options := managerOptions(caches)
	if adjust != nil {
		adjust(&options)
	}
	mgr, err := manager.New(config, options)
	if err != nil {
		t.Fatal(err)
	}
	w.client = mgr.GetClient()
	var r reconcile.Reconciler = w.writer
	o := controller.Options{MaxConcurrentReconciles: 8, NewQueue: w.counted.newQueue}
	if tracks {
		if r, o, err = kwctrl.OwnWrites(caches, r, o); err != nil {
			t.Fatal(err)
		}
	}
	watched, _ := forms[form]()
	err = builder.ControllerManagedBy(mgr).Named("writer").WithOptions(o).
		Watches(watched, handler.EnqueueRequestsFromMapFunc(owner)).Complete(r)
	if err != nil {
		t.Fatal(err)
	}
	stop := startManager(t, mgr)
	bubble.Pass(time.Minute)
	stop()
	for key, step := range w.steps {
		if step != 4*rounds {
			t.Errorf("%v has made %d of %d writes", key, step, 4*rounds)
		}
	}
	if len(w.steps) != keys {
		t.Errorf("%d of %d keys were written", len(w.steps), keys)
	}
	return w
}

// startManager runs a manager until stop is called, which waits for its end.
func startManager(t *testing.T, mgr manager.Manager) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- mgr.Start(ctx) }()
	return func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

func managerOptions(caches *kwctrl.Caches) manager.Options {
	return manager.Options{
		NewCache: caches.NewCache,
		MapperProvider: func(*rest.Config, *http.Client) (meta.RESTMapper, error) {
			return configmaps.Mapper(), nil
		},
		Client:     client.Options{Cache: &client.CacheOptions{Unstructured: true}},
		Metrics:    server.Options{BindAddress: "0"},
		Logger:     logr.Discard(),
		Controller: ctrlconfig.Controller{SkipNameValidation: new(true)},
	}
}

// TestOwnWrites runs controllers that write and are requeued at once, on caches that lag. No reconcile begins
// on a cache without its own writes. Without OwnWrites, they do.
func TestOwnWrites(t *testing.T) {
	namespaces := func(o *manager.Options) {
		o.Cache.DefaultNamespaces = map[string]cache.Config{"ns": {}, "other": {}}
	}
	for form := range forms {
		for name, adjust := range map[string]func(*manager.Options){"one cache": nil, "namespaces": namespaces} {
			t.Run(form+"/"+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := runWriter(t, form, true, adjust)
					if len(w.stale) > 0 {
						t.Errorf("%d of %d reconciles are stale: %s", len(w.stale), w.runs, w.stale[0])
					}
					waits, bound, unknown := w.counted.now()
					if bound+unknown > 0 || waits == 0 {
						t.Errorf("%d waits, %d by the bound, %d unknown", waits, bound, unknown)
					}
				})
			})
		}
		t.Run(form+"/without", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := runWriter(t, form, false, nil)
				if len(w.stale) == 0 {
					t.Errorf("none of %d reconciles is stale: the test shows nothing", w.runs)
				}
				if waits, _, _ := w.counted.now(); waits > 0 {
					t.Error("keys have waited")
				}
			})
		})
	}
}

// TestOwnWritesWithBarrier checks that controller-runtime's own option, by which reads wait, is no obstacle.
func TestOwnWritesWithBarrier(t *testing.T) {
	if !isV025() {
		t.Skip("controller-runtime v0.24 doesn't have the option")
	}
	for form := range forms {
		t.Run(form, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := runWriter(t, form, true, func(o *manager.Options) {
					// By reflection, because v0.24 doesn't have the option.
					reflect.ValueOf(o.Client.Cache).Elem().FieldByName("EnableReadYourWritesConsistency").
						Set(reflect.ValueOf(new(true)))
				})
				if _, bound, _ := w.counted.now(); len(w.stale) > 0 || bound > 0 {
					t.Errorf("%d stale reconciles, %d by the bound", len(w.stale), bound)
				}
			})
		})
	}
}

// TestOwnWritesRefusesCaches checks that caches aren't made if own writes would go unseen.
func TestOwnWritesRefusesCaches(t *testing.T) {
	tracker := &ownwrites.Tracker{}
	other := &ownwrites.Tracker{}
	wrapped := func(wrappers ...func(http.RoundTripper) http.RoundTripper) *rest.Config {
		config := &rest.Config{Host: "http://api", Transport: configmaps.New(), BearerToken: "token"}
		for _, w := range wrappers {
			config.Wrap(w)
		}
		return config
	}
	unwrappable := func(next http.RoundTripper) http.RoundTripper { return hiding{next} }
	const unwrapped = "config.Wrap(tracker.Transport)"
	for name, test := range map[string]struct {
		config *rest.Config
		adjust func(*cache.Options)
		want   string
	}{
		"not wrapped":          {config: wrapped(), want: unwrapped},
		"another tracker":      {config: wrapped(other.Transport), want: unwrapped},
		"hidden":               {config: wrapped(tracker.Transport, unwrappable), want: unwrapped},
		"wrapped":              {config: wrapped(tracker.Transport)},
		"a wrapper before":     {config: wrapped(unwrappable, tracker.Transport)},
		"one of two trackers":  {config: wrapped(tracker.Transport, other.Transport)},
		"another HTTP client":  {config: wrapped(tracker.Transport), adjust: withPlainClient, want: unwrapped},
		"informers of others'": {config: wrapped(tracker.Transport), adjust: withNewInformer, want: "NewInformer"},
	} {
		t.Run(name, func(t *testing.T) {
			o := options()
			if test.adjust != nil {
				test.adjust(&o)
			}
			_, err := kwctrl.NewCaches(kwctrl.Options{OwnWrites: tracker}).NewCache(test.config, o)
			if test.want == "" && err != nil ||
				test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
	caches := kwctrl.NewCaches(kwctrl.Options{OwnWrites: tracker})
	for _, host := range []string{"http://one", "http://one", "http://two"} {
		config := wrapped(tracker.Transport)
		config.Host = host
		_, err := caches.NewCache(config, options())
		refused := err != nil && strings.Contains(err.Error(), "other Caches")
		if refused != (host == "http://two") {
			t.Errorf("a cache for %s: %v", host, err)
		}
	}
}

type hiding struct{ http.RoundTripper }

func withPlainClient(o *cache.Options) { o.HTTPClient = &http.Client{} }

func withNewInformer(o *cache.Options) {
	o.NewInformer = func(
		lw toolscache.ListerWatcher, obj runtime.Object, resync time.Duration, indexers toolscache.Indexers,
	) toolscache.SharedIndexInformer {
		return toolscache.NewSharedIndexInformer(lw, obj, resync, indexers)
	}
}

// TestOwnWritesRefusesQueues checks that a controller isn't made if its requests couldn't wait.
func TestOwnWritesRefusesQueues(t *testing.T) {
	caches := kwctrl.NewCaches(kwctrl.Options{OwnWrites: &ownwrites.Tracker{}})
	nothing := reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
		return reconcile.Result{}, nil
	})
	prioritised := func(c queue.Config[reconcile.Request]) newQueue {
		return func(name string, l limiter[reconcile.Request]) limitingQueue {
			c.Limiter = l
			return kwctrl.NewPriorityQueue(name, c)
		}
	}
	noQueue := func(string, limiter[reconcile.Request]) limitingQueue { return nil }
	gated := queue.Config[reconcile.Request]{Gate: func(reconcile.Request) bool { return false }}
	for name, test := range map[string]struct {
		caches   *kwctrl.Caches
		r        reconcile.Reconciler
		newQueue newQueue
		want     string
	}{
		"by default":    {caches, nothing, nil, ""},
		"ours":          {caches, nothing, kwctrl.NewQueue[reconcile.Request], ""},
		"with options":  {caches, nothing, prioritised(queue.Config[reconcile.Request]{Ageing: time.Second}), ""},
		"client-go's":   {caches, nothing, newClientGo, "it makes a *workqueue."},
		"none":          {caches, nothing, noQueue, "<nil>"},
		"gated":         {caches, nothing, prioritised(gated), "Config.Gate"},
		"no tracker":    {kwctrl.NewCaches(kwctrl.Options{}), nothing, nil, "set OwnWrites"},
		"no reconciler": {caches, nil, nil, "got nil"},
	} {
		t.Run(name, func(t *testing.T) {
			o := controller.Options{NewQueue: test.newQueue, MaxConcurrentReconciles: 3}
			_, o, err := kwctrl.OwnWrites(test.caches, test.r, o)
			switch {
			case test.want != "":
				if err == nil || !strings.Contains(err.Error(), test.want) {
					t.Errorf("error %v, want %q", err, test.want)
				}
				return
			case err != nil || o.Reconciler != nil || o.MaxConcurrentReconciles != 3:
				t.Fatalf("%+v, %v", o, err)
			}
			limiter := workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]()
			q := o.NewQueue("", limiter)
			if _, ok := q.(priority[reconcile.Request]); !ok {
				t.Errorf("the queue is a %T", q)
			}
			defer q.ShutDown()
			defer func() {
				if r := recover(); !strings.Contains(fmt.Sprint(r), "two controllers") {
					t.Errorf("the same options a second time: %v", r)
				}
			}()
			o.NewQueue("", limiter)
		})
	}
}

// TestOwnWritesKeepsQueueOptions checks that a queue that waits has the options that it was made with.
func TestOwnWritesKeepsQueueOptions(t *testing.T) {
	caches := kwctrl.NewCaches(kwctrl.Options{OwnWrites: &ownwrites.Tracker{}})
	flows := func(name string, l limiter[reconcile.Request]) limitingQueue {
		return kwctrl.NewPriorityQueue(name, queue.Config[reconcile.Request]{
			Limiter: l, Flow: func(r reconcile.Request) string { return r.Namespace }})
	}
	r := reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
		return reconcile.Result{}, nil
	})
	_, o, err := kwctrl.OwnWrites(caches, reconcile.Reconciler(r), controller.Options{NewQueue: flows})
	if err != nil {
		t.Fatal(err)
	}
	q := o.NewQueue(t.Name(), workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	defer q.ShutDown()
	for _, namespace := range []string{"a", "a", "a", "b"} {
		q.Add(reconcile.Request{NamespacedName: types.NamespacedName{
			Namespace: namespace, Name: fmt.Sprint(q.Len())}})
	}
	var order []string
	for range 4 {
		item, _ := q.Get()
		order = append(order, item.Namespace)
		q.Done(item)
	}
	if want := []string{"a", "b", "a", "a"}; !slices.Equal(order, want) {
		t.Errorf("the order is %v, want %v", order, want)
	}
	m := measure(t, t.Name())
	if m.adds != 4 {
		t.Errorf("%v additions are counted", m.adds)
	}
	if got := m.labels["workqueue_parked"]; got != "controller name " {
		t.Errorf("workqueue_parked has the labels %q", got)
	}
}
