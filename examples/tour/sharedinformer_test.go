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

// A shared informer has one list, one watch and one store, whoever asks for the objects, and any number of
// handlers. Each handler is called by one goroutine, in the order of changes, and may lag behind the store:
// a slow one doesn't hold up the others. What it hasn't seen yet is kept for it.
func TestSharedInformer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := runtimetest.NewServer[corev1.ConfigMap, corev1.ConfigMapList]()
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
		add(&quick, func() {})
		registered := add(&slow, func() { <-mayGoOn })
		go informer.RunWithContext(t.Context())
		synctest.Wait() // it watches
		for _, name := range []string{"rye", "oat", "spelt"} {
			server.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "town", Name: name}})
		}
		synctest.Wait()
		if got := fmt.Sprint(quick, slow, len(informer.GetStore().List())); got != "[rye oat spelt] [] 3" {
			t.Errorf("while one handler is stuck: %s", got)
		}

		// Handlers of an informer that runs get what is in the store first, as additions.
		var late []string
		add(&late, func() {})
		close(mayGoOn)
		synctest.Wait()
		if len(late) != 3 || fmt.Sprint(slow) != "[rye oat spelt]" {
			t.Errorf("late handler: %v, slow handler: %v", late, slow)
		}
		// The informer has synced when the store has the first list; a handler, when it has seen all of that.
		if !informer.HasSynced() || !registered.HasSynced() {
			t.Error("not synced")
		}
	})
}
