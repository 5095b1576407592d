// Package manager runs a manager of controller-runtime against the embedded API server, with nothing but the
// server's configuration: with controller-runtime's own caches, and with ours.
package manager

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	ctrlmanager "sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	kwctrl "github.com/kubewright/kubewright/contrib/controller-runtime"
	"github.com/kubewright/kubewright/envtest/apiserver"
	"github.com/kubewright/kubewright/test/ctrlsuites/internal/boats"
)

func TestManager(t *testing.T) {
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
	if err := server.InstallCRDs(ctx, boats.Definitions); err != nil {
		t.Fatal(err)
	}
	for name, newCache := range map[string]cache.NewCacheFunc{
		"controller-runtime": nil, "kubewright": kwctrl.NewCaches(kwctrl.Options{}).NewCache,
	} {
		t.Run(name, func(t *testing.T) { testManager(ctx, t, server, name, newCache) })
	}
}

// testManager runs a controller that makes a config map for each boat of a namespace, by the settings in
// another config map, and reports that as events, through the older recorder and the newer one.
func testManager(
	ctx context.Context, t *testing.T, server *apiserver.Server, namespace string, newCache cache.NewCacheFunc,
) {
	metrics := freeAddress(t)
	mgr, err := ctrl.NewManager(server.Config(), ctrlmanager.Options{
		NewCache:                      newCache,
		Cache:                         cache.Options{DefaultNamespaces: map[string]cache.Config{namespace: {}}},
		LeaderElection:                true,
		LeaderElectionID:              "harbour",
		LeaderElectionNamespace:       namespace,
		LeaderElectionReleaseOnCancel: true,
		Metrics:                       metricsserver.Options{BindAddress: metrics},
		Controller:                    config.Controller{SkipNameValidation: new(true)},
	})
	if err != nil {
		t.Fatal(err)
	}
	r := &reconciler{mgr: mgr}
	err = ctrl.NewControllerManagedBy(mgr).For(boats.New()).Owns(&corev1.ConfigMap{}).Complete(r)
	if err != nil {
		t.Fatal(err)
	}
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(running) }()
	stopped := false
	stopManager := func() {
		if stopped {
			return
		}
		stopped = true
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	defer stopManager()
	select {
	case <-mgr.Elected():
	case <-ctx.Done():
		t.Fatal(context.Cause(ctx))
	}

	direct := kubernetes.NewForConfigOrDie(server.Config())
	settings := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings"},
		Data: map[string]string{"greeting": "ahoy"}}
	_, err = direct.CoreV1().ConfigMaps(namespace).Create(ctx, settings, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range []string{"elsewhere-" + namespace, namespace} {
		boat := boats.New()
		boat.SetName("b")
		if _, err := dynamic.NewForConfigOrDie(server.Config()).Resource(boats.Resource).Namespace(in).Create(
			ctx, boat, metav1.CreateOptions{},
		); err != nil {
			t.Fatal(err)
		}
	}

	reported(ctx, t, direct, namespace, "Greeted", "Moored")
	made, err := direct.CoreV1().ConfigMaps(namespace).Get(ctx, "b", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if made.Data["says"] != "ahoy b" || !metav1.IsControlledBy(made, r.boat(ctx, t, namespace)) {
		t.Errorf("the controller made %v", made)
	}
	elsewhere, err := direct.CoreV1().ConfigMaps("elsewhere-"+namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(elsewhere.Items) > 0 {
		t.Error("the controller works in a namespace that isn't in its cache")
	}
	text := get(t, "http://"+metrics+"/metrics")
	if !strings.Contains(text, "controller_runtime_reconcile_total") {
		t.Error("the metrics count no reconciles")
	}
	lease, err := direct.CoordinationV1().Leases(namespace).Get(ctx, "harbour", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if *lease.Spec.HolderIdentity == "" {
		t.Error("nobody leads")
	}
	stopManager()
	lease, err = direct.CoordinationV1().Leases(namespace).Get(ctx, "harbour", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if *lease.Spec.HolderIdentity != "" {
		t.Errorf("%s still leads", *lease.Spec.HolderIdentity)
	}
}

type reconciler struct{ mgr ctrlmanager.Manager }

func (r *reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	c := r.mgr.GetClient()
	boat := boats.New()
	if err := c.Get(ctx, request.NamespacedName, boat); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	var settings corev1.ConfigMap
	name := client.ObjectKey{Namespace: request.Namespace, Name: "settings"}
	if err := c.Get(ctx, name, &settings); err != nil {
		return reconcile.Result{}, err
	}
	made := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: request.Namespace, Name: request.Name}}
	done, err := controllerutil.CreateOrUpdate(ctx, c, made, func() error {
		made.Data = map[string]string{"says": settings.Data["greeting"] + " " + request.Name}
		return controllerutil.SetControllerReference(boat, made, r.mgr.GetScheme())
	})
	if err != nil || done == controllerutil.OperationResultNone {
		return reconcile.Result{}, err
	}
	// Most controllers still use the older recorder.
	r.mgr.GetEventRecorderFor("harbour").Event(boat, corev1.EventTypeNormal, "Greeted", made.Data["says"])
	r.mgr.GetEventRecorder("harbour").Eventf(boat, made, corev1.EventTypeNormal, "Moored", "Mooring", "in time")
	return reconcile.Result{}, nil
}

func (r *reconciler) boat(ctx context.Context, t *testing.T, namespace string) *unstructured.Unstructured {
	t.Helper()
	boat := boats.New()
	if err := r.mgr.GetClient().Get(ctx, client.ObjectKey{Namespace: namespace, Name: "b"}, boat); err != nil {
		t.Fatal(err)
	}
	return boat
}

// reported waits until there are events with all of the reasons.
func reported(
	ctx context.Context, t *testing.T, direct kubernetes.Interface, namespace string, reasons ...string,
) {
	t.Helper()
	w, err := direct.EventsV1().Events(namespace).Watch(ctx, metav1.ListOptions{ResourceVersion: "0"})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	missing := map[string]bool{}
	for _, reason := range reasons {
		missing[reason] = true
	}
	for len(missing) > 0 {
		select {
		case event, ok := <-w.ResultChan():
			if !ok {
				t.Fatal("the watch of events ended")
			}
			if e, ok := event.Object.(*eventsv1.Event); ok {
				delete(missing, e.Reason)
			}
		case <-ctx.Done():
			t.Fatalf("no events %v: %v", missing, context.Cause(ctx))
		}
	}
}

// freeAddress returns an address that nothing listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

func get(t *testing.T, url string) string {
	t.Helper()
	answer, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}
