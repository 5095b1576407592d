package tour

import (
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubewright/kubewright/runtime/cache"
	"github.com/kubewright/kubewright/runtime/runtimetest"
)

// A resync calls a handler's update function for every object in the store, from time to time. It isn't a
// list and sends no request to the server. Controllers use it to check again what changes outside the
// cluster.
//
// If both arguments have the same version, the object hasn't changed: the call comes from a resync, or the
// informer had to list again after an interruption.
func TestResync(t *testing.T) {
	// In this bubble, time stands still until all goroutines wait, and then jumps to the next timer.
	synctest.Test(t, func(t *testing.T) {
		server := runtimetest.NewServer[corev1.ConfigMap, corev1.ConfigMapList]() // an API server in memory
		server.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "town", Name: "rye"}})
		// The duration is the default period of handlers; 0 means no resyncs. No indexes.
		informer := cache.NewSharedIndexInformer(server.ListerWatcher(), &corev1.ConfigMap{}, 10*time.Second,
			cache.Indexers{})
		resyncs := 0
		_, err := informer.AddEventHandlerWithResyncPeriod(cache.ResourceEventHandlerFuncs{
			UpdateFunc: func(before, after any) {
				if before.(*corev1.ConfigMap).ResourceVersion == after.(*corev1.ConfigMap).ResourceVersion {
					resyncs++
				}
			},
		}, time.Minute) // a period of its own
		if err != nil {
			t.Fatal(err)
		}
		go informer.RunWithContext(t.Context())
		synctest.Wait()
		requests := len(server.Requests())

		// Less than five minutes, after which informers renew their watch.
		<-time.After(4*time.Minute + time.Second)
		synctest.Wait()
		if resyncs != 4 {
			t.Errorf("%d resyncs in 4 minutes, want 4", resyncs)
		}
		if sent := server.Requests()[requests:]; len(sent) != 0 {
			t.Errorf("resyncs sent requests: %v", sent)
		}
	})
}
