package tour

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubewright/kubewright/runtime/cache"
	"github.com/kubewright/kubewright/runtime/runtimetest"
)

// A reflector lists a collection, then watches it from the list's version, and keeps a store equal to the
// server's state. When the watch ends it watches again from the last version that it saw; when the server
// has forgotten that version, it lists again. An informer is a reflector, a queue, an indexer and handlers.
func TestReflector(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := runtimetest.NewServer[corev1.ConfigMap, corev1.ConfigMapList]() // an API server in memory
		grain := func(name string) *corev1.ConfigMap {
			return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "town", Name: name}}
		}
		server.Create(grain("rye"))
		store := cache.NewStore(cache.MetaNamespaceKeyFunc)
		reflector := cache.NewReflectorWithOptions(server.ListerWatcher(), &corev1.ConfigMap{}, store,
			cache.ReflectorOptions{Name: "grains"})
		go reflector.RunWithContext(t.Context()) // until the test ends
		check := func(when string, want ...string) {
			t.Helper()
			<-time.After(time.Minute) // the bubble's: a reflector waits before it tries again
			synctest.Wait()           // until it waits for the server
			got := store.ListKeys()
			slices.Sort(got)
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s: the store has %v, want %v", when, got, want)
			}
			if version := reflector.LastSyncResourceVersion(); version != server.Version() {
				t.Errorf("%s: version %s, the server is at %s", when, version, server.Version())
			}
		}
		check("listed", "town/rye")
		server.Create(grain("oat"))
		server.Delete("town", "rye")
		check("watched", "town/oat")

		server.CloseWatches() // while nobody watches, things change, and the history is compacted
		server.Create(grain("spelt"))
		server.Compact()
		check("after 410 Gone it listed again", "town/oat", "town/spelt")
	})
}
