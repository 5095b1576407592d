package kwctrl_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	kwctrl "github.com/kubewright/kubewright/contrib/controller-runtime"
	"github.com/kubewright/kubewright/contrib/controller-runtime/internal/configmaps"
	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/ownwrites"
)

// stamper is a reconciler that creates a child of each object, and stamps the object. It counts its runs.
type stamper struct {
	client client.Client
	// blindly makes it stamp without a version.
	blindly bool

	mu   sync.Mutex
	runs map[string]int
}

func (s *stamper) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	s.mu.Lock()
	s.runs[request.Name]++
	s.mu.Unlock()
	var parent, child corev1.ConfigMap
	if err := s.client.Get(ctx, request.NamespacedName, &parent); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	key := request.NamespacedName
	key.Name += "-child"
	err := s.client.Get(ctx, key, &child)
	if client.IgnoreNotFound(err) != nil {
		return reconcile.Result{}, err
	}
	if err != nil {
		child.Namespace, child.Name = key.Namespace, key.Name
		if err := s.client.Create(ctx, &child); err != nil {
			return reconcile.Result{}, err
		}
	}
	if parent.Annotations["stamp"] == "" {
		parent.Annotations = map[string]string{"stamp": "yes"}
		if s.blindly {
			parent.ResourceVersion = ""
		}
		return reconcile.Result{}, s.client.Update(ctx, &parent)
	}
	return reconcile.Result{}, nil
}

// TestSkipEchoes counts the runs of a controller that writes twice, on caches that lag by half a second: once
// for each object, once more if something may have come between, and once for somebody else's change.
func TestSkipEchoes(t *testing.T) {
	for name, test := range map[string]struct {
		skips, predicate, blindly bool
		want                      int
	}{
		"not asked for":               {want: 3},
		"a handler":                   {skips: true, want: 2},
		"a predicate":                 {skips: true, predicate: true, want: 2},
		"updates without a version":   {skips: true, blindly: true, want: 3},
		"the same by a predicate":     {skips: true, predicate: true, blindly: true, want: 3},
		"without versions, not asked": {blindly: true, want: 3},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const keys = 10
				s := &stamper{blindly: test.blindly, runs: map[string]int{}}
				api := configmaps.New()
				api.Lag = 500 * time.Millisecond
				for n := range keys {
					api.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
						Namespace: "ns", Name: fmt.Sprint("key-", n)}})
				}
				config := &rest.Config{Host: "http://api", QPS: -1, Transport: api}
				tracker := &ownwrites.Tracker{SkipEchoes: test.skips}
				config.Wrap(tracker.Transport)
				caches := kwctrl.NewCaches(kwctrl.Options{OwnWrites: tracker})
				mgr, err := manager.New(config, managerOptions(caches))
				if err != nil {
					t.Fatal(err)
				}
				s.client = mgr.GetClient()
				r, o, err := kwctrl.OwnWrites(caches, reconcile.Reconciler(s), controller.Options{})
				if err != nil {
					t.Fatal(err)
				}
				var h handler.EventHandler = handler.EnqueueRequestsFromMapFunc(owner)
				var watches []builder.WatchesOption
				if test.predicate {
					keys := func(o client.Object) []reconcile.Request { return owner(nil, o) }
					watches = append(watches, builder.WithPredicates(kwctrl.NotEcho(r, keys)))
				} else {
					h = kwctrl.SkipEchoes(h)
				}
				err = builder.ControllerManagedBy(mgr).Named("stamper").WithOptions(o).
					Watches(&corev1.ConfigMap{}, h, watches...).Complete(r)
				if err != nil {
					t.Fatal(err)
				}
				stop := startManager(t, mgr)
				bubble.Pass(time.Minute)
				for _, o := range api.Objects() {
					if !strings.HasSuffix(o.Name, "-child") {
						metav1.SetMetaDataAnnotation(&o.ObjectMeta, "changed", "yes")
						api.Update(o)
					}
				}
				bubble.Pass(time.Minute)
				stop()
				for key, runs := range s.runs {
					// Without SkipEchoes, echoes may be more than one run.
					if runs != test.want && (test.skips || runs < test.want) {
						t.Errorf("%s ran %d times, want %d", key, runs, test.want)
					}
				}
				if len(s.runs) != keys {
					t.Errorf("%d keys ran, want %d", len(s.runs), keys)
				}
			})
		})
	}
}

// adopter gives the child to the first owner that runs for it, and counts the runs of each.
type adopter struct {
	client client.Client

	mu   sync.Mutex
	runs map[string]int
}

func (a *adopter) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	a.mu.Lock()
	a.runs[request.Name]++
	a.mu.Unlock()
	var child corev1.ConfigMap
	if err := a.client.Get(ctx, client.ObjectKey{Namespace: "ns", Name: "child"}, &child); err != nil {
		return reconcile.Result{}, err
	}
	if request.Name == "old" || child.Labels["owner"] == request.Name {
		return reconcile.Result{}, nil
	}
	child.Labels["owner"] = request.Name
	return reconcile.Result{}, a.client.Update(ctx, &child)
}

// TestNotEchoOfFormerOwner checks that the former owner of an object runs when another key has adopted it.
// The change is an echo for the one, and news for the other.
func TestNotEchoOfFormerOwner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &adopter{runs: map[string]int{}}
		api := configmaps.New()
		owned := func(name, owner string) *corev1.ConfigMap {
			return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
				Namespace: "ns", Name: name, Labels: map[string]string{"owner": owner}}}
		}
		api.Create(owned("child", "old"))
		config := &rest.Config{Host: "http://api", QPS: -1, Transport: api}
		tracker := &ownwrites.Tracker{SkipEchoes: true}
		config.Wrap(tracker.Transport)
		caches := kwctrl.NewCaches(kwctrl.Options{OwnWrites: tracker})
		mgr, err := manager.New(config, managerOptions(caches))
		if err != nil {
			t.Fatal(err)
		}
		a.client = mgr.GetClient()
		r, o, err := kwctrl.OwnWrites(caches, reconcile.Reconciler(a), controller.Options{})
		if err != nil {
			t.Fatal(err)
		}
		keys := func(_ context.Context, o client.Object) []reconcile.Request {
			return []reconcile.Request{{NamespacedName: client.ObjectKey{Name: o.GetLabels()["owner"]}}}
		}
		of := func(o client.Object) []reconcile.Request { return keys(t.Context(), o) }
		err = builder.ControllerManagedBy(mgr).Named("adopter").WithOptions(o).
			Watches(&corev1.ConfigMap{}, handler.EnqueueRequestsFromMapFunc(keys),
				builder.WithPredicates(kwctrl.NotEcho(r, of))).Complete(r)
		if err != nil {
			t.Fatal(err)
		}
		stop := startManager(t, mgr)
		bubble.Pass(time.Minute)
		api.Create(owned("trigger", "new"))
		bubble.Pass(time.Minute)
		stop()
		if a.runs["old"] != 2 { // once at the start
			t.Errorf("runs of the former owner and of the new one: %v", a.runs)
		}
	})
}
