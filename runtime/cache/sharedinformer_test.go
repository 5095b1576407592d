package cache_test

import (
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	clientgo "k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/cache"
)

// TestSharedInformers checks what the constructors add. Package conformance compares the informers themselves
// with client-go's.
func TestSharedInformers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		s.Create(pod("x", "a", ""))
		i := cache.NewSharedInformer(s.ListerWatcher(), &corev1.Pod{}, 0)
		j := &journal{}
		handle, err := i.AddEventHandler(j)
		if err != nil {
			t.Fatal(err)
		}
		stop := running(t, i.RunWithContext)
		if got := j.take(); got != "add x/a@101 true" {
			t.Error(got)
		}
		if err := cache.ShutDownEventHandler(i, handle); err != nil {
			t.Error(err)
		}
		s.Create(pod("x", "b", ""))
		settle()
		if got := j.take(); got != "" {
			t.Errorf("%s after the handler was shut down", got)
		}
		stop()

		typed := cache.NewTypedSharedIndexInformer[*corev1.Pod](cache.NewSharedIndexInformer(
			s.ListerWatcher(), &corev1.Pod{}, 0, indexers()))
		var names []string
		_, err = typed.AddTypedEventHandler(cache.TypedResourceEventHandlerFuncs[*corev1.Pod]{
			AddFunc: func(p *corev1.Pod) { names = append(names, p.Name) },
		})
		if err != nil {
			t.Fatal(err)
		}
		stop = running(t, typed.RunWithContext)
		if len(names) != 2 {
			t.Errorf("%q", names)
		}
		if pods, err := typed.GetTypedIndexer().ByTypedIndex("namespace", "x"); err != nil || len(pods) != 2 {
			t.Errorf("%v, %v", pods, err)
		}
		stop()
	})
}

// TestSharedInformerDescriptions checks that logs contain the informer's description, and checkers its name.
func TestSharedInformerDescriptions(t *testing.T) {
	s := newServer()
	for want, i := range map[string]clientgo.SharedIndexInformer{
		"SharedIndexInformer *v1.Pod": cache.NewSharedIndexInformerWithOptions(s.ListerWatcher(),
			&corev1.Pod{}, cache.SharedIndexInformerOptions{ObjectDescription: "pods"}),
		"SharedIndexInformer <nil>": cache.NewSharedIndexInformer(s.ListerWatcher(), nil, 0, nil),
	} {
		if got := i.HasSyncedChecker().Name(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if i.HasSynced() {
			t.Error("synced before the start")
		}
	}
}

type foreignHandle struct {
	clientgo.ResourceEventHandlerRegistration
}

func TestShutDownForeignHandler(t *testing.T) {
	i := cache.NewSharedInformer(newServer().ListerWatcher(), &corev1.Pod{}, 0)
	if err := cache.ShutDownEventHandler(i, foreignHandle{}); err == nil {
		t.Error("a handle of a foreign informer was shut down")
	}
}
