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

// A shared informer has one list, one watch and one store for the whole program, and any number of handlers.
// Each handler gets one call at a time, in the order of changes, and may lag behind the store: a slow handler
// doesn't hold up the others. Its backlog has no bound by default; informer.HandlerOptions.Coalesce sets one,
// see docs/memory.md#the-backlog-of-handlers.
func TestSharedInformer(t *testing.T) {
	// In this bubble, synctest.Wait returns once all other goroutines wait for something.
	synctest.Test(t, func(t *testing.T) {
		server := runtimetest.NewServer[corev1.ConfigMap, corev1.ConfigMapList]() // an API server in memory
		create := func(name string) {
			server.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "town", Name: name}})
		}
		// The ConfigMap gives the type; no resync, no indexes.
		informer := cache.NewSharedIndexInformer(server.ListerWatcher(), &corev1.ConfigMap{}, 0, cache.Indexers{})
		var quick, slow []string
		mayGoOn := make(chan struct{})
		add := func(names *[]string, wait func()) cache.ResourceEventHandlerRegistration {
			registration, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) {
				wait()
				*names = append(*names, obj.(*corev1.ConfigMap).Name)
			}})
			if err != nil {
				t.Fatal(err)
			}
			return registration
		}
		quickly := add(&quick, func() {})
		slowly := add(&slow, func() { <-mayGoOn })

		create("rye") // is in the first list
		go informer.RunWithContext(t.Context())
		synctest.Wait()
		// HasSynced of an informer: the store has the first list. HasSynced of a handler's registration: the
		// handler has also returned from its call for every object of that list.
		if !informer.HasSynced() || !quickly.HasSynced() || slowly.HasSynced() {
			t.Errorf("synced: informer %t, quick handler %t, stuck handler %t; want only the last one not",
				informer.HasSynced(), quickly.HasSynced(), slowly.HasSynced())
		}
		create("oat")
		create("spelt")
		synctest.Wait()
		if got := fmt.Sprint(quick, slow, len(informer.GetStore().List())); got != "[rye oat spelt] [] 3" {
			t.Errorf("while one handler is stuck: %s", got)
		}

		// A handler that is added later first gets the objects in the store, as additions.
		var late []string
		add(&late, func() {})
		close(mayGoOn)
		synctest.Wait()
		if len(late) != 3 || fmt.Sprint(slow) != "[rye oat spelt]" || !slowly.HasSynced() {
			t.Errorf("late handler: %v, slow handler: %v, synced %t", late, slow, slowly.HasSynced())
		}
	})
}
