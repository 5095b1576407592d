package tour

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubewright/kubewright/runtime/cache"
	"github.com/kubewright/kubewright/runtime/runtimetest"
)

// DeleteFunc gets the object or, if the informer missed its deletion, a tombstone: a value, not a pointer, of
// type cache.DeletedFinalStateUnknown. There is one for each object in the store that a list after an
// interruption lacks. Its Obj is the last state in the store, which may be old. So check for a tombstone
// before you assert the type.
func TestTombstone(t *testing.T) {
	// In this bubble, synctest.Wait returns once all other goroutines wait for something.
	synctest.Test(t, func(t *testing.T) {
		server := runtimetest.NewServer[corev1.ConfigMap, corev1.ConfigMapList]() // an API server in memory
		grain := func(name, price string) *corev1.ConfigMap {
			return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "town", Name: name},
				Data: map[string]string{"price": price}}
		}
		server.Create(grain("rye", "1"))
		server.Create(grain("oat", "1"))
		// No resync, no indexes.
		informer := cache.NewSharedIndexInformer(server.ListerWatcher(), &corev1.ConfigMap{}, 0, cache.Indexers{})
		var told []string
		_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{DeleteFunc: func(obj any) {
			// This function accepts tombstones, too, and returns namespace/name; MetaNamespaceKeyFunc returns an
			// error for them. Handlers that queue keys need nothing else.
			key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj)
			if err != nil {
				t.Error(err)
			}
			how := "deleted"
			if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				how, obj = "missed the deletion of", tombstone.Obj
			}
			told = append(told, fmt.Sprintf("%s %s at %s", how, key, obj.(*corev1.ConfigMap).Data["price"]))
		}})
		if err != nil {
			t.Fatal(err)
		}
		go informer.RunWithContext(t.Context())
		synctest.Wait()
		server.Delete("town", "rye")
		synctest.Wait()

		// The connection breaks. Meanwhile oat changes and is deleted, and Compact drops the server's history:
		// when requests get through again, the informer can't resume its watch, and lists.
		back := make(chan struct{})
		server.OnRequest(func(context.Context, runtimetest.Request) error {
			<-back
			return nil
		})
		server.CloseWatches()
		server.Update(grain("oat", "2"))
		server.Delete("town", "oat")
		server.Compact()
		close(back)
		<-time.After(time.Minute) // of the bubble, so it takes no time: informers wait before they list again
		synctest.Wait()
		if got := fmt.Sprint(told); got != "[deleted town/rye at 1 missed the deletion of town/oat at 1]" {
			t.Errorf("the handler received %s", got)
		}
	})
}
