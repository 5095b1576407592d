package kwctrl_test

import (
	"context"
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	kwctrl "github.com/kubewright/kubewright/contrib/controller-runtime"
	"github.com/kubewright/kubewright/runtime/ownwrites"
)

// TestOwnWritesWithoutReconciler checks that the queue of a controller with another reconciler says so once.
func TestOwnWritesWithoutReconciler(t *testing.T) {
	lines := 0
	log.SetLogger(funcr.New(func(_, args string) {
		if strings.Contains(args, "reconciler that kwctrl.OwnWrites has returned") {
			lines++
		}
	}, funcr.Options{}))
	for name, right := range map[string]bool{"right": true, "wrong": false} {
		caches := kwctrl.NewCaches(kwctrl.Options{OwnWrites: &ownwrites.Tracker{}})
		inner := reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
			return reconcile.Result{}, nil
		})
		outer, o, err := kwctrl.OwnWrites(caches, reconcile.Reconciler(inner), controller.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !right {
			outer = inner
		}
		q := o.NewQueue(t.Name()+name, workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
		lines = 0
		for range 2 {
			q.Add(reconcile.Request{})
			request, _ := q.Get()
			if _, err := outer.Reconcile(t.Context(), request); err != nil {
				t.Error(err)
			}
			q.Done(request)
		}
		q.ShutDown()
		if (lines == 0) != right || lines > 1 {
			t.Errorf("%s: %d lines", name, lines)
		}
	}
}

// TestOwnWritesWithoutOptions checks that a reconciler whose controller lacks the options says so once.
func TestOwnWritesWithoutOptions(t *testing.T) {
	lines := 0
	logger := funcr.New(func(_, args string) {
		if strings.Contains(args, "options that kwctrl.OwnWrites has returned") {
			lines++
		}
	}, funcr.Options{})
	ctx := log.IntoContext(t.Context(), logger)
	caches := kwctrl.NewCaches(kwctrl.Options{OwnWrites: &ownwrites.Tracker{}})
	inner := reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
		return reconcile.Result{}, nil
	})
	r, _, err := kwctrl.OwnWrites(caches, inner, controller.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := r.Reconcile(ctx, reconcile.Request{}); err != nil {
			t.Error(err)
		}
	}
	if lines != 1 {
		t.Errorf("%d lines, want 1", lines)
	}
}
