package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	shopv1 "github.com/kubewright/kubewright/examples/apis/shop/v1"
	"github.com/kubewright/kubewright/examples/generated/informers/externalversions"
	"github.com/kubewright/kubewright/runtime/lister"
)

// lagging returns a configuration whose watches lag: each read of a response's body takes longer by that
// duration.
func lagging(config *rest.Config, by time.Duration) *rest.Config {
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			response, err := next.RoundTrip(r)
			if err == nil && !isList(r.URL.Query()) {
				response.Body = &lateBody{response.Body, by}
			}
			return response, err
		})
	})
	return config
}

type lateBody struct {
	io.ReadCloser
	by time.Duration
}

func (b *lateBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	<-time.After(b.by)
	return n, err
}

// bakeryLister is a lister, of all namespaces or of one.
type bakeryLister interface {
	List(labels.Selector) ([]*shopv1.Bakery, error)
}

// TestOwnWrites writes from several goroutines through a clientset whose informers lag by half a second.
// After WaitForOwnWrites the lister always shows the write; before that it may be behind.
func TestOwnWrites(t *testing.T) {
	modes(t, func(t *testing.T) {
		ctx := within(t, 2*time.Minute)
		client := clientset(t, lagging(cached.get(t).Config(), time.Second/2))
		factory := externalversions.NewSharedInformerFactory(client, 0)
		ctx, cancel := context.WithCancel(ctx)
		defer factory.Shutdown()
		defer cancel()
		all := factory.Shop().V1().Bakeries().Lister()
		factory.StartWithContext(ctx)
		if err := factory.WaitForCacheSyncWithContext(ctx).AsError(); err != nil {
			t.Fatal(err)
		}

		namespace := scope(t)
		stale := make(chan string, 1)
		var writers sync.WaitGroup
		for w := range 4 {
			writers.Go(func() {
				name := fmt.Sprint("bakery-", w)
				writer := client.ShopV1().Bakeries(namespace)
				// Every other goroutine reads through a lister of all namespaces.
				var from bakeryLister = all.Bakeries(namespace)
				if w%2 == 0 {
					from = all
				}
				// check reads before and after WaitForOwnWrites.
				check := func(wrote string, shows func(*shopv1.Bakery, error) bool) bool {
					if !shows(all.Bakeries(namespace).Get(name)) {
						select {
						case stale <- wrote:
						default:
						}
					}
					if err := lister.WaitForOwnWrites(ctx, from); err != nil {
						t.Error(err)
						return false
					}
					if read, err := all.Bakeries(namespace).Get(name); !shows(read, err) {
						t.Errorf("%s after %s: %v, %v", name, wrote, read, err)
						return false
					}
					return true
				}
				for range 3 {
					made, err := writer.Create(ctx,
						&shopv1.Bakery{ObjectMeta: metav1.ObjectMeta{Name: name},
							Spec: shopv1.BakerySpec{Bread: "rye"}}, metav1.CreateOptions{})
					if err != nil {
						t.Error(err)
						return
					}
					shown := func(version string) func(*shopv1.Bakery, error) bool {
						return func(read *shopv1.Bakery, err error) bool {
							return err == nil && read.ResourceVersion == version
						}
					}
					if !check("create", shown(made.ResourceVersion)) {
						return
					}
					patched, err := writer.Patch(ctx, name, types.MergePatchType,
						[]byte(`{"spec":{"bread":"wheat"}}`), metav1.PatchOptions{})
					if err != nil {
						t.Error(err)
						return
					}
					if !check("patch", shown(patched.ResourceVersion)) {
						return
					}
					if err := writer.Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
						t.Error(err)
						return
					}
					if !check("delete",
						func(_ *shopv1.Bakery, err error) bool { return apierrors.IsNotFound(err) }) {
						return
					}
				}
			})
		}
		writers.Wait()
		if len(stale) == 0 {
			t.Error("the lister was never behind: the test has shown nothing")
		}
		if left, err := all.Bakeries(namespace).List(labels.Everything()); err != nil || len(left) > 0 {
			t.Errorf("%d objects are left, %v", len(left), err)
		}
	})
}

// TestOwnWritesFinalizer checks that WaitForOwnWrites waits for a deletion that a finalizer delays to be
// shown as pending.
func TestOwnWritesFinalizer(t *testing.T) {
	ctx := within(t, time.Minute)
	client := clientset(t, lagging(cached.get(t).Config(), time.Second/2))
	namespace := scope(t)
	factory := externalversions.NewSharedInformerFactoryWithOptions(client, 0,
		externalversions.WithNamespace(namespace))
	ctx, cancel := context.WithCancel(ctx)
	defer factory.Shutdown()
	defer cancel()
	bakeries := factory.Shop().V1().Bakeries().Lister().Bakeries(namespace)
	factory.StartWithContext(ctx)

	writer := client.ShopV1().Bakeries(namespace)
	made, err := writer.Create(ctx,
		&shopv1.Bakery{
			ObjectMeta: metav1.ObjectMeta{Name: "kept", Finalizers: []string{"shop.kubewright.dev/keep"}},
			Spec:       shopv1.BakerySpec{Bread: "rye"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := writer.Delete(ctx, "kept", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := lister.WaitForOwnWrites(ctx, bakeries); err != nil {
		t.Fatal(err)
	}
	read, err := bakeries.Get("kept")
	if err != nil || read.DeletionTimestamp == nil {
		t.Fatalf("read %v, %v", read, err)
	}
	// Removing the last finalizer deletes the object. The server's answer doesn't show that.
	made.Finalizers, made.ResourceVersion = nil, read.ResourceVersion
	if _, err := writer.Update(ctx, made, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	// The informers of this factory don't wait for writes to other namespaces.
	if _, err := client.ShopV1().Bakeries(namespace+"-other").Create(ctx, &shopv1.Bakery{
		ObjectMeta: metav1.ObjectMeta{Name: "elsewhere"}, Spec: shopv1.BakerySpec{Bread: "rye"},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := lister.WaitForOwnWrites(ctx, bakeries); err != nil {
		t.Fatal(err)
	}
}
