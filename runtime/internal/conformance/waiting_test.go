package conformance_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	clientgo "k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/cache"
	genfactory "github.com/kubewright/kubewright/runtime/gen/factory"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/internal/conformance"
	"github.com/kubewright/kubewright/runtime/runtimetest"
)

// TestWaitingNeverPolls checks that waits for a factory, an informer or a handler end at the exact moment
// when it has synced, which a polling wait would miss.
func TestWaitingNeverPolls(t *testing.T) {
	for _, newSubject := range []func(*conformance.ConfigMaps, time.Duration) *subject{newTyped, newUntyped} {
		synctest.Test(t, func(t *testing.T) {
			release := make(chan struct{})
			server := conformance.NewConfigMaps()
			server.Create(configMap("a"))
			server.OnRequest(func(ctx context.Context, _ runtimetest.Request) error {
				select {
				case <-release:
				case <-ctx.Done():
				}
				return ctx.Err()
			})
			f := genfactory.New(server, 0)
			i := f.InformerFor(&corev1.ConfigMap{},
				func(s *conformance.ConfigMaps, resync time.Duration) clientgo.SharedIndexInformer {
					return newSubject(s, resync).informer
				})
			registration, err := i.AddEventHandler(clientgo.ResourceEventHandlerFuncs{})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			f.StartWithContext(ctx)

			var waiters sync.WaitGroup
			for what, wait := range map[string]func() bool{
				"the factory, by context": func() bool {
					return f.WaitForCacheSyncWithContext(ctx).Err == nil
				},
				"the factory, by channel": func() bool {
					for _, synced := range f.WaitForCacheSync(ctx.Done()) {
						if !synced {
							return false
						}
					}
					return true
				},
				"the informer": func() bool {
					return cache.WaitFor(ctx, "", i.HasSyncedChecker())
				},
				"the informer, with its errors": func() bool { return informer.WaitForSync(ctx, i) == nil },
				"the handler": func() bool {
					return cache.WaitFor(ctx, "", registration.HasSyncedChecker())
				},
			} {
				waiters.Go(func() {
					if !wait() {
						t.Errorf("%s: not synced", what)
					}
				})
			}
			// No polling interval divides this duration.
			bubble.Advance(1_234_567_891 * time.Nanosecond)
			start := time.Now()
			close(release)
			waiters.Wait()
			if waited := time.Since(start); waited != 0 {
				t.Errorf("the clock moved by %v while what had synced was awaited", waited)
			}
			cancel()
			f.Shutdown()
		})
	}
}
