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

// A resync calls a handler's update function for every object in the store, from time to time. No request
// is sent: it isn't a list. Controllers use it to look again at what changes outside the cluster. Both
// arguments are then the same object, so the versions tell a resync from a change.
func TestResync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := runtimetest.NewServer[corev1.ConfigMap, corev1.ConfigMapList]()
		server.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "town", Name: "rye"}})
		informer := cache.NewSharedIndexInformer(server.ListerWatcher(), &corev1.ConfigMap{}, time.Minute,
			cache.Indexers{})
		resyncs := 0
		_, err := informer.AddEventHandlerWithResyncPeriod(cache.ResourceEventHandlerFuncs{
			UpdateFunc: func(before, after any) {
				if before.(*corev1.ConfigMap).ResourceVersion == after.(*corev1.ConfigMap).ResourceVersion {
					resyncs++
				}
			},
		}, 10*time.Minute) // each handler may have a period of its own
		if err != nil {
			t.Fatal(err)
		}
		go informer.RunWithContext(t.Context())
		synctest.Wait()
		requests := len(server.Requests())

		<-time.After(time.Hour + time.Second) // the bubble's hour
		synctest.Wait()
		if resyncs != 6 {
			t.Errorf("%d resyncs in an hour, want 6", resyncs)
		}
		for _, r := range server.Requests()[requests:] {
			if r.Verb == "LIST" {
				t.Errorf("a resync sent the request %s", r)
			}
		}
	})
}
