package tour

import (
	"fmt"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubewright/kubewright/runtime/cache"
	"github.com/kubewright/kubewright/runtime/runtimetest"
)

// A filtering handler passes on the events of objects that pass its filter. An update after which an object
// passes is an addition for the handler behind it, and an update after which it no longer passes is a
// deletion. The cache has all objects in any case: to load fewer, change what the informer lists (see
// examples/listoptions).
func TestFilteringHandler(t *testing.T) {
	// In this bubble, synctest.Wait returns once all other goroutines wait for something.
	synctest.Test(t, func(t *testing.T) {
		server := runtimetest.NewServer[corev1.ConfigMap, corev1.ConfigMapList]() // an API server in memory
		// No resync, no indexes.
		informer := cache.NewSharedIndexInformer(server.ListerWatcher(), &corev1.ConfigMap{}, 0, cache.Indexers{})
		var told []string
		_, err := informer.AddEventHandler(cache.FilteringResourceEventHandler{
			FilterFunc: func(obj any) bool {
				// A filter also sees the tombstones of missed deletions, see tombstone_test.go.
				if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
					obj = tombstone.Obj
				}
				config, ok := obj.(*corev1.ConfigMap)
				return ok && config.Labels["organic"] == "yes"
			},
			Handler: cache.ResourceEventHandlerFuncs{
				AddFunc:    func(any) { told = append(told, "added") },
				UpdateFunc: func(_, _ any) { told = append(told, "updated") },
				DeleteFunc: func(any) { told = append(told, "deleted") },
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		go informer.RunWithContext(t.Context())
		synctest.Wait()
		grain := func(organic string) *corev1.ConfigMap {
			return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "town", Name: "rye",
				Labels: map[string]string{"organic": organic}}}
		}
		server.Create(grain("no")) // the handler isn't called
		server.Update(grain("yes"))
		server.Update(grain("yes"))
		server.Update(grain("no"))
		server.Delete("town", "rye") // nor here
		synctest.Wait()
		if got := fmt.Sprint(told); got != "[added updated deleted]" {
			t.Errorf("the handler received %s", got)
		}
	})
}
