package tour

import (
	"context"
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
// server's state. By default both are one request, a WatchList: a watch that begins with the existing objects
// and marks their end. Servers that don't support it get a LIST and a WATCH.
//
// When the watch ends, the reflector watches again from the last version that it saw. If the server has
// dropped the history since then, it answers 410 Gone, and the reflector lists again. After an error,
// including 410, it waits first (back-off): 0.8 seconds, then twice as long each time, up to 30 seconds, plus
// a random time of up to the same length.
//
// An informer is a reflector, a queue, an indexer and handlers.
func TestReflector(t *testing.T) {
	// In this bubble, time stands still until all goroutines wait, and then jumps to the next timer.
	synctest.Test(t, func(t *testing.T) {
		server := runtimetest.NewServer[corev1.ConfigMap, corev1.ConfigMapList]() // an API server in memory
		grain := func(name string) *corev1.ConfigMap {
			return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "town", Name: name}}
		}
		server.Create(grain("rye"))
		store := cache.NewStore(cache.MetaNamespaceKeyFunc) // its keys are "namespace/name"
		reflector := cache.NewReflectorWithOptions(server.ListerWatcher(), &corev1.ConfigMap{}, store,
			cache.ReflectorOptions{Name: "grains"})
		go reflector.RunWithContext(t.Context()) // until the test ends
		check := func(when string, want ...string) {
			t.Helper()
			<-time.After(time.Minute) // of the bubble: longer than the reflector waits after an error
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

		// The connection breaks. Before the next watch, objects change, and Compact drops the history.
		requests, back := len(server.Requests()), make(chan struct{})
		server.OnRequest(func(context.Context, runtimetest.Request) error {
			<-back
			return nil
		})
		server.CloseWatches()
		server.Create(grain("spelt"))
		server.Compact()
		close(back)
		check("listed again", "town/oat", "town/spelt")
		for i, r := range server.Requests()[requests:] {
			if lists := r.Options.SendInitialEvents != nil; r.Verb != "WATCH" || lists != (i > 0) {
				t.Errorf("request %d: %s; want a watch, which fails with 410, then a WatchList", i, r)
			}
		}
	})
}
