package namespaces_test

import (
	"errors"
	"runtime"
	"testing"
	"testing/synctest"

	"k8s.io/client-go/tools/cache"
)

// TestLooksCostNothing checks that, however often Done is called, one goroutine waits for an informer of
// namespaces and one for its handler. Removed namespaces are not waited for.
func TestLooksCostNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newNamespacedServer()
		s.closed["closed"], s.closed["other"] = true, true
		n := s.namespaces()
		i := n.Informer(inNamespace.configMaps)
		r, err := i.AddEventHandler(cache.ResourceEventHandlerFuncs{})
		if err := errors.Join(err, n.Add("open"), n.Add("closed")); err != nil {
			t.Fatal(err)
		}
		n.StartWithContext(t.Context())
		synctest.Wait()
		looks := map[cache.DoneChecker]int{}
		before := runtime.NumGoroutine()
		for range 1000 {
			for _, checker := range []cache.DoneChecker{i.HasSyncedChecker(), r.HasSyncedChecker()} {
				if looks[checker]++; cache.IsDone(checker) {
					t.Fatal("synced")
				}
			}
		}
		if after := runtime.NumGoroutine(); after > before+2 {
			t.Errorf("%d goroutines wait", after-before)
		}
		if len(looks) != 2 {
			t.Errorf("%d checkers", len(looks))
		}
		informerSynced, handlerSynced := i.HasSyncedChecker().Done(), r.HasSyncedChecker().Done()
		if err := n.Add("other"); err != nil {
			t.Fatal(err)
		}
		n.Remove("closed")
		synctest.Wait()
		if cache.IsDone(i.HasSyncedChecker()) || cache.IsDone(r.HasSyncedChecker()) {
			t.Error("synced without what was added")
		}
		n.Remove("other")
		<-informerSynced
		<-handlerSynced
		if !i.HasSynced() || !r.HasSynced() {
			t.Error("not synced")
		}
		n.Shutdown()
	})
}
