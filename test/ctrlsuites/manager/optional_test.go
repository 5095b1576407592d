package manager

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	ctrlmanager "sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	kwctrl "github.com/kubewright/kubewright/contrib/controller-runtime"
	"github.com/kubewright/kubewright/envtest/apiserver"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/test/ctrlsuites/internal/boats"
)

// TestOptionalKind runs a manager whose controller watches boats while no boats are defined. It works without
// boats, sees them when they are defined, and that they are gone with their definition. The same manager on
// controller-runtime alone ends.
func TestOptionalKind(t *testing.T) {
	ctx, cancel := context.WithTimeoutCause(t.Context(), 2*time.Minute, fmt.Errorf("not within two minutes"))
	defer cancel()
	server, err := apiserver.Start(ctx, apiserver.Options{Logs: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	}()
	settings := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "settings"}}
	_, err = kubernetes.NewForConfigOrDie(server.Config()).CoreV1().ConfigMaps("default").Create(
		ctx, settings, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Run("controller-runtime", func(t *testing.T) { testWithout(ctx, t, server) })
	t.Run("kubewright", func(t *testing.T) { testWith(ctx, t, server) })
}

const byLength = "spec.length"

// counter counts the boats of three metres whenever a setting or a boat changes.
type counter struct {
	mgr    ctrlmanager.Manager
	counts chan int
}

// newCounter returns a manager with a counter, which doesn't run yet.
func newCounter(t *testing.T, server *apiserver.Server, options ctrlmanager.Options) *counter {
	t.Helper()
	options.Metrics = metricsserver.Options{BindAddress: "0"}
	options.Client = client.Options{Cache: &client.CacheOptions{Unstructured: true}}
	options.Controller = config.Controller{SkipNameValidation: new(true), CacheSyncTimeout: time.Second}
	mgr, err := ctrl.NewManager(server.Config(), options)
	if err != nil {
		t.Fatal(err)
	}
	c := &counter{mgr, make(chan int)}
	toSettings := func(context.Context, client.Object) []reconcile.Request {
		return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: "default", Name: "settings"}}}
	}
	if err := ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).
		Watches(boats.New(), handler.EnqueueRequestsFromMapFunc(toSettings)).Complete(c); err != nil {
		t.Fatal(err)
	}
	return c
}

// index declares the index by which the counter reads.
func (c *counter) index(ctx context.Context) error {
	return c.mgr.GetFieldIndexer().IndexField(ctx, boats.New(), byLength, func(o client.Object) []string {
		length, _, _ := unstructured.NestedInt64(o.(*unstructured.Unstructured).Object, "spec", "length")
		return []string{fmt.Sprint(length)}
	})
}

func (c *counter) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(boats.New().GroupVersionKind())
	if err := c.mgr.GetClient().List(ctx, list, client.MatchingFields{byLength: "3"}); err != nil {
		return reconcile.Result{}, err
	}
	select {
	case c.counts <- len(list.Items):
	case <-ctx.Done():
	}
	return reconcile.Result{}, nil
}

// until reads counts until one is n.
func (c *counter) until(ctx context.Context, t *testing.T, n int) {
	t.Helper()
	for {
		select {
		case got := <-c.counts:
			if got == n {
				return
			}
		case <-ctx.Done():
			t.Fatalf("no count of %d boats: %v", n, context.Cause(ctx))
		}
	}
}

// testWithout shows that the manager needs the definition: IndexField fails, and the controller ends the
// manager.
func testWithout(ctx context.Context, t *testing.T, server *apiserver.Server) {
	c := newCounter(t, server, ctrlmanager.Options{})
	if err := c.index(ctx); !meta.IsNoMatchError(err) {
		t.Errorf("an index of a kind that isn't defined: %v", err)
	}
	err := c.mgr.Start(ctx)
	if err == nil || ctx.Err() != nil || !strings.Contains(err.Error(), "cache") {
		t.Errorf("the manager ends with %v", err)
	}
	t.Logf("controller-runtime's manager ends: %v", err)
}

func testWith(ctx context.Context, t *testing.T, server *apiserver.Server) {
	caches := kwctrl.NewCaches(kwctrl.Options{Optional: []kwctrl.Kind{{
		GVK: boats.New().GroupVersionKind(), Resource: boats.Resource.Resource, Namespaced: true,
	}}})
	c := newCounter(t, server, ctrlmanager.Options{NewCache: caches.NewCache})
	if err := c.index(ctx); err != nil {
		t.Fatal(err)
	}
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- c.mgr.Start(running) }()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	began := time.Now()
	c.until(ctx, t, 0)
	t.Logf("the controller works %v after the start", time.Since(began))
	health := caches.HealthCheck(informer.HealthOptions{Synced: true})
	if err := health(new(http.Request)); err != nil {
		t.Errorf("with an absent kind the caches are unhealthy: %v", err)
	}
	direct := dynamic.NewForConfigOrDie(server.Config()).Resource(boats.Resource).Namespace("default")
	for range 2 {
		if err := server.InstallCRDs(ctx, boats.Definitions); err != nil {
			t.Fatal(err)
		}
		boat := boats.New()
		boat.SetName("b")
		boat.Object["spec"] = map[string]any{"length": int64(3)}
		if _, err := direct.Create(ctx, boat, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		c.until(ctx, t, 1)
		if err := server.DeleteCRDs(ctx, "boats.harbour.example"); err != nil {
			t.Fatal(err)
		}
		c.until(ctx, t, 0)
	}
}
