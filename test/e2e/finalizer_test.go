package e2e

import (
	"context"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	shopv1 "github.com/kubewright/kubewright/examples/apis/shop/v1"
	"github.com/kubewright/kubewright/examples/generated/clientset/versioned/typed/shop/v1"
	"github.com/kubewright/kubewright/examples/generated/informers/externalversions"
	"github.com/kubewright/kubewright/runtime/ownwrites"
	"github.com/kubewright/kubewright/runtime/queue"
)

// TestLastFinalizer checks that a key that removes the last finalizer of an object waits until the cache
// lacks the object. The server answers with the version that the object had.
func TestLastFinalizer(t *testing.T) {
	for name, remove := range map[string]func(context.Context, v1.BakeryInterface, *shopv1.Bakery) error{
		"update": func(ctx context.Context, c v1.BakeryInterface, b *shopv1.Bakery) error {
			b = b.DeepCopy()
			b.Finalizers = nil
			_, err := c.Update(ctx, b, metav1.UpdateOptions{})
			return err
		},
		"patch": func(ctx context.Context, c v1.BakeryInterface, b *shopv1.Bakery) error {
			_, err := c.Patch(ctx, b.Name, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`),
				metav1.PatchOptions{})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := within(t, time.Minute)
			namespace := scope(t)
			factory := externalversions.NewSharedInformerFactoryWithOptions(
				clientset(t, lagging(cached.get(t).Config(), time.Second/2)), 0,
				externalversions.WithNamespace(namespace))
			informer := factory.Shop().V1().Bakeries()

			tracker := &ownwrites.Tracker{}
			config := rest.CopyConfig(cached.get(t).Config())
			config.Wrap(tracker.Transport)
			writer := clientset(t, config).ShopV1().Bakeries(namespace)
			if err := tracker.Add(informer.Informer()); err != nil {
				t.Fatal(err)
			}
			q := ownwrites.NewQueue(tracker, queue.Config[string]{})
			defer q.ShutDown()
			informers, cancel := context.WithCancel(ctx)
			defer factory.Shutdown()
			defer cancel()
			factory.StartWithContext(informers)
			factory.WaitForCacheSync(ctx.Done())

			run := func(write func(context.Context) error) { // It ends when the cache shows what is written.
				t.Helper()
				q.Add("one")
				key, err := q.GetContext(ctx)
				if err != nil {
					t.Fatal(err)
				}
				if err := write(q.Context(ctx, key)); err != nil {
					t.Fatal(err)
				}
				q.Done(key)
			}
			run(func(ctx context.Context) error {
				_, err := writer.Create(ctx, &shopv1.Bakery{
					ObjectMeta: metav1.ObjectMeta{Name: "one", Finalizers: []string{"shop.kubewright.dev/keep"}},
					Spec:       shopv1.BakerySpec{Bread: "rye"},
				}, metav1.CreateOptions{})
				return err
			})
			run(func(ctx context.Context) error { return writer.Delete(ctx, "one", metav1.DeleteOptions{}) })
			run(func(ctx context.Context) error {
				cached, err := informer.Lister().Bakeries(namespace).Get("one")
				if err != nil || cached.DeletionTimestamp == nil {
					t.Fatalf("the cache has %+v, %v", cached, err)
				}
				return remove(ctx, writer, cached)
			})
			run(func(context.Context) error {
				_, err := informer.Lister().Bakeries(namespace).Get("one")
				if !apierrors.IsNotFound(err) {
					t.Errorf("the next run finds the object: %v", err)
				}
				return nil
			})
		})
	}
}
