package namespaces_test

import (
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"

	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/factory"
)

// TestCombinedInformersAreLetGo checks that a combined informer that nobody holds leaves next to nothing in
// memory, unless it has a handler or a setting, which apply to later namespaces.
func TestCombinedInformersAreLetGo(t *testing.T) {
	s := newNamespacedServer()
	n := s.namespaces()
	if err := n.Add("a"); err != nil {
		t.Fatal(err)
	}
	added := 0
	func() {
		_, err := n.Informer(inNamespace.configMaps).AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: func(any) { added++ }})
		if err != nil {
			t.Fatal(err)
		}
		if err := n.Informer(inNamespace.configMaps).AddIndexers(cache.Indexers{
			"kept": func(any) ([]string, error) { return []string{"x"}, nil }}); err != nil {
			t.Fatal(err)
		}
		i := n.Informer(inNamespace.configMaps)
		r, err := i.AddEventHandler(cache.ResourceEventHandlerFuncs{})
		if err != nil {
			t.Fatal(err)
		}
		if err := i.RemoveEventHandler(r); err != nil {
			t.Fatal(err)
		}
	}()
	before := heap()
	const calls = 100_000
	for range calls {
		n.Informer(inNamespace.configMaps).GetIndexer()
	}
	if grown := int(heap()-before) / calls; grown > 50 { // an informer has hundreds
		t.Errorf("each informer leaves %d bytes", grown)
	}
	s.put("b", "x")
	if err := n.Add("b"); err != nil {
		t.Fatal(err)
	}
	n.StartWithContext(t.Context())
	if err := factory.WaitForSync(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	f, _ := n.Factory("b")
	if found, err := f.configMaps().GetIndexer().ByIndex("kept", "x"); err != nil || len(found) != 1 {
		t.Errorf("a setting was let go: %v, %v", found, err)
	}
	n.Shutdown()
	if added != 1 {
		t.Errorf("%d additions: the handler was let go", added)
	}
	runtime.KeepAlive(n)
}

// TestHandlersKeepNoRecord checks that a handler of a combined informer needs no memory for the objects that
// it has received.
func TestHandlersKeepNoRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const objects = 2000
		s := newNamespacedServer()
		for o := range objects {
			s.put("a", fmt.Sprint("object", o))
		}
		n := s.namespaces()
		i := n.Informer(inNamespace.configMaps)
		if err := n.Add("a"); err != nil {
			t.Fatal(err)
		}
		n.StartWithContext(t.Context())
		if err := factory.WaitForSync(t.Context(), n); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		before := heap()
		received := 0
		_, err := i.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) { received++ }})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if grown := (int(heap()) - int(before)) / objects; received != objects || grown > 20 {
			t.Errorf("%d objects, %d bytes each", received, grown)
		}
		n.Shutdown()
	})
}

// TestRemoveOfABusyHandler checks that a handler that hasn't received everything when its namespace is
// removed, or when the informers are stopped before, receives a deletion of each object that it knows, in its
// last state that the handler knows, and of no other.
func TestRemoveOfABusyHandler(t *testing.T) {
	for _, stopped := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := newNamespacedServer()
			for _, name := range []string{"changed", "deleted", "kept"} {
				s.put("a", name)
			}
			n := s.namespaces()
			i := n.Informer(inNamespace.configMaps)
			h := &knowing{t: t, known: map[string]string{}}
			enough := make(chan struct{})
			blocks := false
			_, err := i.AddEventHandler(cache.ResourceEventHandlerFuncs{
				AddFunc: func(obj any) {
					h.OnAdd(obj, false)
					if blocks {
						<-enough
					}
				},
				UpdateFunc: h.OnUpdate,
				DeleteFunc: h.OnDelete,
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := n.Add("a"); err != nil {
				t.Fatal(err)
			}
			n.StartWithContext(t.Context())
			synctest.Wait()
			blocks = true
			s.put("a", "last") // The handler is at it.
			synctest.Wait()
			s.put("a", "changed")
			s.put("a", "new")
			if err := s.Delete(configMapsResource, "a", "deleted"); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if stopped {
				go n.Shutdown()
				synctest.Wait()
			}
			removed := make(chan struct{})
			go func() {
				n.Remove("a")
				close(removed)
			}()
			synctest.Wait()
			if len(h.known) != 4 {
				t.Errorf("the handler knows %v before it is removed", h.known)
			}
			close(enough)
			<-removed
			if len(h.known) != 0 {
				t.Errorf("the handler still knows %v", h.known)
			}
			n.Shutdown()
		})
	}
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
