// Package sharded runs managers of controller-runtime that share their objects, against the embedded API
// server with the feature gate ShardedListAndWatch. The gate is global to a process, so the package is apart.
package sharded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	kwctrl "github.com/kubewright/kubewright/contrib/controller-runtime"
	"github.com/kubewright/kubewright/contrib/controller-runtime/kwsharding"
	"github.com/kubewright/kubewright/envtest/apiserver"
	"github.com/kubewright/kubewright/sharding"
	"github.com/kubewright/kubewright/test/ctrlsuites/internal/boats"
)

// Each harbour is a namespace with some boats.
const (
	harbours = 12
	perPort  = 5
)

// TestManagers lets a second manager join, and the first one stop. Each boat's berth, a config map that the
// boat owns, must always follow the boat's length, and no two managers may reconcile the same boat at the
// same time.
func TestManagers(t *testing.T) {
	ctx, cancel := context.WithTimeoutCause(t.Context(), 3*time.Minute, errors.New("not within three minutes"))
	defer cancel()
	server, err := apiserver.Start(ctx, apiserver.Options{Logs: io.Discard, ShardedListAndWatch: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // after the managers, which leave their group
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	if err := server.InstallCRDs(ctx, boats.Definitions); err != nil {
		t.Fatal(err)
	}
	c := &coast{
		T: t, ctx: ctx, server: server.Config(), news: make(chan struct{}),
		running: map[client.ObjectKey]string{}, done: map[client.ObjectKey]mooring{},
	}
	c.build(10)
	first := c.join("first")
	c.wait(10, nil)

	first.requests.forget()
	second := c.join("second")
	c.until("both own harbours", func() bool {
		return len(first.Status().Owned) > 0 && len(second.Status().Owned) > 0
	})
	c.build(20)
	by := c.wait(20, nil)
	if by["first"] == 0 || by["second"] == 0 {
		t.Errorf("berths made by %v", by)
	}
	second.waitForItsPart()
	if lists := first.requests.lists(); len(lists) > 0 {
		t.Errorf("the first listed again when the second joined: %v", lists)
	}

	first.stop()
	c.build(30)
	if by := c.wait(30, second); by["second"] != harbours*perPort {
		t.Errorf("after the first one's end, berths made by %v", by)
	}
	second.waitForItsPart()
	second.stop()
	c.leases("harbour-controller", "harbour-controller-balancer") // no member's own
	for _, r := range []*replica{first, second} {
		if whole := r.requests.withoutSelector(); len(whole) > 0 {
			t.Errorf("%s requested whole kinds: %v", r.name, whole)
		}
	}
}

// coast is the state that the managers share, and the record of what they did.
type coast struct {
	*testing.T
	ctx    context.Context
	server *rest.Config

	mu      sync.Mutex
	running map[client.ObjectKey]string
	done    map[client.ObjectKey]mooring
	news    chan struct{} // closed and replaced when something happened
}

// mooring is the last reconcile of a boat.
type mooring struct {
	by     string
	length int64
}

// build creates the boats, or gives them another length.
func (c *coast) build(length int64) {
	c.Helper()
	all := dynamic.NewForConfigOrDie(c.unlimited()).Resource(boats.Resource)
	for h := range harbours {
		for b := range perPort {
			boat := boats.New()
			boat.SetName(fmt.Sprint("boat-", b))
			if err := unstructured.SetNestedField(boat.Object, length, "spec", "length"); err != nil {
				c.Fatal(err)
			}
			_, err := all.Namespace(fmt.Sprint("harbour-", h)).Apply(c.ctx, boat.GetName(), boat,
				metav1.ApplyOptions{FieldManager: "owner", Force: true})
			if err != nil {
				c.Fatal(err)
			}
		}
	}
}

func (c *coast) unlimited() *rest.Config {
	config := rest.CopyConfig(c.server)
	config.QPS = -1
	return config
}

// wait waits until every boat has been reconciled at a length, by the given manager if there is one, and
// checks the state of the server then. It returns how many berths each manager wrote.
func (c *coast) wait(length int64, by *replica) map[string]int {
	c.Helper()
	c.until(fmt.Sprintf("every boat reconciled at %d", length), func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, m := range c.done {
			if m.length != length || by != nil && m.by != by.name {
				return false
			}
		}
		return len(c.done) == harbours*perPort
	})
	berths, err := kubernetes.NewForConfigOrDie(c.server).CoreV1().ConfigMaps("").List(
		c.ctx, metav1.ListOptions{LabelSelector: "berth"})
	if err != nil {
		c.Fatal(err)
	}
	if len(berths.Items) != harbours*perPort {
		c.Errorf("%d berths", len(berths.Items))
	}
	made := map[string]int{}
	for _, berth := range berths.Items {
		if berth.Data["length"] != fmt.Sprint(length) {
			c.Errorf("the berth of %s/%s has length %s, not %d",
				berth.Namespace, berth.Name, berth.Data["length"], length)
		}
		made[berth.Data["by"]]++
	}
	return made
}

// until waits for a condition. News or the cache may make it true; the cache doesn't notify.
func (c *coast) until(what string, holds func() bool) {
	c.Helper()
	for {
		c.mu.Lock()
		news := c.news
		c.mu.Unlock()
		if holds() {
			return
		}
		select {
		case <-news:
		case <-time.After(100 * time.Millisecond):
		case <-c.ctx.Done():
			c.Fatalf("%s: %v", what, context.Cause(c.ctx))
		}
	}
}

func (c *coast) tell() {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.news)
	c.news = make(chan struct{})
}

// leases fails the test if there are other Leases than those named.
func (c *coast) leases(names ...string) {
	c.Helper()
	list, err := kubernetes.NewForConfigOrDie(c.server).CoordinationV1().Leases("default").List(
		c.ctx, metav1.ListOptions{})
	if err != nil {
		c.Fatal(err)
	}
	var left []string
	for _, lease := range list.Items {
		left = append(left, lease.Name)
	}
	if !slices.Equal(left, names) {
		c.Errorf("leases %q are left", left)
	}
}

// replica is a manager that shares boats and berths.
type replica struct {
	*kwsharding.Shards[reconcile.Request]
	coast    *coast
	name     string
	client   client.Client
	requests *requests
	stop     func()
}

// join starts a manager.
func (c *coast) join(name string) *replica {
	c.Helper()
	r := &replica{coast: c, name: name, requests: &requests{}}
	restConfig := c.unlimited()
	restConfig.Wrap(r.requests.record)
	restConfig.Wrap(sharding.FencingTransport)
	mgr, err := ctrl.NewManager(restConfig, manager.Options{
		NewCache: kwctrl.NewCaches(kwctrl.Options{}).NewCache,
		// By default, managers' clients read unstructured objects from the server.
		Client:     client.Options{Cache: &client.CacheOptions{Unstructured: true}},
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: new(true)},
	})
	if err != nil {
		c.Fatal(err)
	}
	r.client = mgr.GetClient()
	r.Shards, err = kwsharding.Shard[reconcile.Request](mgr, sharding.Config{
		Leases: kubernetes.NewForConfigOrDie(restConfig).CoordinationV1().Leases("default"),
		Group:  "harbour-controller", Identity: name, JoinDelay: time.Second,
		Changed: func([]sharding.Owned) { c.tell() },
	}, boats.New(), &corev1.ConfigMap{})
	if err != nil {
		c.Fatal(err)
	}
	err = r.Complete(ctrl.NewControllerManagedBy(mgr).For(boats.New()).Owns(&corev1.ConfigMap{}), r,
		controller.Options{MaxConcurrentReconciles: 2})
	if err != nil {
		c.Fatal(err)
	}
	ctx, cancel := context.WithCancel(c.ctx)
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	r.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			c.Errorf("%s ended: %v", name, err)
		}
	})
	c.Cleanup(r.stop)
	return r
}

// Reconcile gives a boat a berth of its length.
func (r *replica) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	defer r.begin(request.NamespacedName)()
	boat := boats.New()
	if err := r.client.Get(ctx, request.NamespacedName, boat); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	length, _, err := unstructured.NestedInt64(boat.Object, "spec", "length")
	if err != nil {
		return reconcile.Result{}, err
	}
	berth := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: request.Namespace, Name: request.Name, Labels: map[string]string{"berth": ""}}}
	_, err = controllerutil.CreateOrUpdate(ctx, r.client, berth, func() error {
		berth.Data = map[string]string{"length": fmt.Sprint(length), "by": r.name}
		return controllerutil.SetControllerReference(boat, berth, r.client.Scheme())
	})
	if err != nil {
		return reconcile.Result{}, err
	}
	r.coast.mu.Lock()
	r.coast.done[request.NamespacedName] = mooring{r.name, length}
	r.coast.mu.Unlock()
	r.coast.tell()
	return reconcile.Result{}, nil
}

// begin fails the test if the boat is already being reconciled.
func (r *replica) begin(boat client.ObjectKey) (end func()) {
	c := r.coast
	c.mu.Lock()
	defer c.mu.Unlock()
	if other, ok := c.running[boat]; ok {
		c.Errorf("%s and %s reconcile %s at the same time", other, r.name, boat)
	}
	c.running[boat] = r.name
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.running, boat)
	}
}

// waitForItsPart waits until the manager's cache has the boats of its ranges and no others.
func (r *replica) waitForItsPart() {
	r.coast.Helper()
	r.coast.until("the cache of "+r.name+" has its part", r.hasItsPart)
}

func (r *replica) hasItsPart() bool {
	r.coast.Helper()
	var list unstructured.UnstructuredList
	list.SetGroupVersionKind(boats.Resource.GroupVersion().WithKind("BoatList"))
	if err := r.client.List(r.coast.ctx, &list); err != nil {
		r.coast.Fatal(err)
	}
	got, want := map[string]int{}, map[string]int{}
	for _, boat := range list.Items {
		got[boat.GetNamespace()]++
	}
	for h := range harbours {
		if harbour := fmt.Sprint("harbour-", h); r.Accepts(harbour) {
			want[harbour] = perPort
		}
	}
	return maps.Equal(got, want)
}

// requests are the lists and watches of boats and config maps that a manager's cache sent.
type requests struct {
	mu   sync.Mutex
	sent []request
}

type request struct {
	path           string
	list, selector bool
}

func (r *requests) record(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(q *http.Request) (*http.Response, error) {
		path, query := q.URL.Path, q.URL.Query()
		if q.Method == http.MethodGet &&
			(path == "/api/v1/configmaps" || path == "/apis/harbour.example/v1/boats") {
			r.mu.Lock()
			r.sent = append(r.sent, request{
				path: path, selector: query.Get("shardSelector") != "",
				list: query.Get("watch") == "" || query.Get("sendInitialEvents") == "true",
			})
			r.mu.Unlock()
		}
		return next.RoundTrip(q)
	})
}

func (r *requests) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sent = nil
}

func (r *requests) lists() []request { return r.of(func(q request) bool { return q.list }) }

func (r *requests) withoutSelector() []request {
	return r.of(func(q request) bool { return !q.selector })
}

func (r *requests) of(which func(request) bool) (found []request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, q := range r.sent {
		if which(q) {
			found = append(found, q)
		}
	}
	return found
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(q *http.Request) (*http.Response, error) { return f(q) }
