package namespaces_test

import (
	"context"
	"testing"
	"testing/synctest"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
)

// TestPanicsWhileANamespaceLeaves removes a namespace from a set while a handler panics at every deletion.
// It checks that utilruntime handles the panics, and that each handler receives each deletion if the process
// survives.
func TestPanicsWhileANamespaceLeaves(t *testing.T) {
	panics := 0
	crash, handlers := utilruntime.ReallyCrash, utilruntime.PanicHandlers
	defer func() { utilruntime.ReallyCrash, utilruntime.PanicHandlers = crash, handlers }()
	utilruntime.ReallyCrash = false
	utilruntime.PanicHandlers = []func(context.Context, any){func(context.Context, any) { panics++ }}
	synctest.Test(t, func(t *testing.T) {
		s := newNamespacedServer()
		s.put("a", "x")
		s.put("a", "y")
		n := s.namespaces()
		i := n.Informer(inNamespace.configMaps)
		var told [2]int
		for h := range told {
			if _, err := i.AddEventHandler(cache.ResourceEventHandlerFuncs{DeleteFunc: func(any) {
				told[h]++
				if h == 0 {
					panic("what is this?")
				}
			}}); err != nil {
				t.Fatal(err)
			}
		}
		if err := n.Add("a"); err != nil {
			t.Fatal(err)
		}
		n.StartWithContext(t.Context())
		synctest.Wait()
		n.Remove("a")
		if told != [2]int{2, 2} || panics != 2 {
			t.Errorf("the handlers were told of %v deletions, with %d panics; want 2 each, 2", told, panics)
		}
		n.Shutdown()
	})
}
