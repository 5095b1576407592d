package conformance_test

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgo "k8s.io/client-go/tools/cache"

	"go.uber.org/goleak"

	genfactory "github.com/kubewright/kubewright/runtime/gen/factory"
	"github.com/kubewright/kubewright/runtime/internal/conformance"
)

func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}}
}

// liveHeap returns the size of the heap when everything that can be freed has been.
func liveHeap() uint64 {
	var stats runtime.MemStats
	for range 3 { // finalizers and pools release memory at the next collection
		runtime.GC()
	}
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// TestNothingIsLeftBehind checks that starting and stopping leaves neither goroutines nor memory behind.
func TestNothingIsLeftBehind(t *testing.T) {
	server := conformance.NewConfigMaps()
	for n := range names {
		server.Create(configMap(name(n)))
	}
	// inform starts an informer, waits until it has synced, calls f, and stops it.
	inform := func(i clientgo.SharedIndexInformer, f func()) {
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { i.RunWithContext(ctx) })
		<-i.HasSyncedChecker().Done()
		f()
		cancel()
		running.Wait()
	}
	longLived := newTyped(server, 0).informer
	handler := func() {
		registration, err := longLived.AddEventHandler(&clientgo.ResourceEventHandlerFuncs{})
		if err != nil {
			t.Fatal(err)
		}
		<-registration.HasSyncedChecker().Done()
		if err := clientgo.ShutDownEventHandler(longLived, registration); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		name string
		once func()
	}{
		{"typed informers", func() { inform(newTyped(server, time.Hour).informer, func() {}) }},
		{"untyped informers", func() { inform(newUntyped(server, time.Hour).informer, func() {}) }},
		{"factories", func() {
			f := genfactory.New(server, time.Hour)
			f.InformerFor(&corev1.ConfigMap{},
				func(s *conformance.ConfigMaps, resync time.Duration) clientgo.SharedIndexInformer {
					return newTyped(s, resync).informer
				})
			f.InformerFor(&corev1.Secret{},
				func(s *conformance.ConfigMaps, resync time.Duration) clientgo.SharedIndexInformer {
					return newUntyped(s, resync).informer
				})
			ctx, cancel := context.WithCancel(t.Context())
			f.StartWithContext(ctx)
			f.WaitForCacheSyncWithContext(ctx)
			cancel()
			f.Shutdown()
		}},
		{"handlers", handler},
	}
	// Warm up, so that the process has all goroutine descriptors, pools and the like that it will ever need.
	// They take 40 KB, which would otherwise count against the first test. The last test, of handlers, needs
	// a running informer.
	for _, test := range tests[:3] {
		for range 300 {
			test.once()
		}
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			times := func(n int) {
				for range n {
					test.once()
				}
				server.ForgetRequests()
			}
			all := func() {
				times(100)
				goleak.VerifyNone(t, goleak.IgnoreCurrent())
				before := liveHeap()
				times(900)
				after := liveHeap()
				t.Logf("live heap: %d KB after 100, %d KB after 1,000", before/1024, after/1024)
				if after > before+before/20 {
					t.Errorf("the live heap grew from %d to %d bytes", before, after)
				}
			}
			ignore := goleak.IgnoreCurrent()
			if test.name == "handlers" {
				inform(longLived, all)
			} else {
				all()
			}
			goleak.VerifyNone(t, ignore)
		})
	}
}
