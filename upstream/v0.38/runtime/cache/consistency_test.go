package cache_test

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/consistency"

	"github.com/kubewright/kubewright/runtime/cache"
	"github.com/kubewright/kubewright/runtime/runtimetest"
)

// TestConsistencyStore checks that client-go's store of written versions works over our informers: it isn't
// ready between a write and the moment when the informer shows it.
func TestConsistencyStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := runtimetest.NewServer[corev1.ConfigMap, corev1.ConfigMapList]()
		object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a"}}
		server.Create(object)
		informer := cache.NewSharedIndexInformer(server.ListerWatcher(), &corev1.ConfigMap{}, 0, nil)
		resource := schema.GroupResource{Resource: "configmaps"}
		writes := consistency.NewConsistencyStore(map[schema.GroupResource]consistency.LastSyncRVGetter{
			resource: informer.GetStore(),
		})
		owner := types.NamespacedName{Namespace: "ns", Name: "owner"}
		var late *consistency.ConsistencyError

		writes.WroteAt(owner, "u", resource, server.Update(object))
		if err := writes.EnsureReady(owner); !errors.As(err, &late) {
			t.Errorf("before the informer runs: %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			informer.RunWithContext(ctx)
			close(ended)
		}()
		synctest.Wait()
		if err := writes.EnsureReady(owner); err != nil {
			t.Errorf("after the list: %v", err)
		}
		last, err := strconv.Atoi(server.Version())
		if err != nil {
			t.Fatal(err)
		}
		writes.WroteAt(owner, "u", resource, strconv.Itoa(last+1))
		if err := writes.EnsureReady(owner); !errors.As(err, &late) {
			t.Errorf("before the event: %v", err)
		}
		server.Update(object)
		synctest.Wait()
		if err := writes.EnsureReady(owner); err != nil {
			t.Errorf("after the event: %v", err)
		}
		cancel()
		<-ended
	})
}
