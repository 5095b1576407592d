package factory_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/factory"
	"github.com/kubewright/kubewright/runtime/informer"
)

// TestWaitsEndWithTheirInformer checks that a wait for a sync ends when its informer is released, also before
// it was started, and that the error names the informer.
func TestWaitsEndWithTheirInformer(t *testing.T) {
	for _, started := range []bool{true, false} {
		for name, test := range map[string]struct {
			name string
			wait func(context.Context, *generated, cache.SharedInformer) error
		}{
			"informer, released": {"*v1.ConfigMap", func(ctx context.Context, _ *generated,
				i cache.SharedInformer) error {
				return informer.WaitForSync(ctx, i)
			}},
			"factory, released": {"*v1.ConfigMap", func(ctx context.Context, f *generated,
				_ cache.SharedInformer) error {
				return factory.WaitForSync(ctx, f)
			}},
			"own writes, released": {"stopped", func(ctx context.Context, _ *generated,
				i cache.SharedInformer) error {
				return informer.WaitForVersion(ctx, i, "5")
			}},
			"WaitForCacheSync, released": {"*v1.ConfigMap", func(ctx context.Context, f *generated,
				_ cache.SharedInformer) error {
				result := f.informers.WaitForCacheSyncWithContext(ctx)
				if len(result.Synced) == 0 {
					return errors.New("nothing was started, so nothing is waited for: *v1.ConfigMap")
				}
				return result.Err
			}},
		} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f := newGenerated(open())
					i := f.informers.InformerFor(&corev1.ConfigMap{}, forbidden)
					defer f.informers.Shutdown()
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					if started {
						f.informers.StartWithContext(ctx)
					}
					patient, end := context.WithTimeout(ctx, time.Hour)
					defer end()
					ended := make(chan error)
					go func() { ended <- test.wait(patient, f, i) }()
					synctest.Wait()
					if err := factory.Release(f, i); err != nil {
						t.Error(err)
					}
					if err := <-ended; err == nil || !strings.Contains(err.Error(), test.name) ||
						errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("the wait ended with %v, want an error with %q", err, test.name)
					}
				})
			})
		}
	}
}
