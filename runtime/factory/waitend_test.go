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

// TestWaitsEndWithTheirInformer checks that a wait for a sync ends when its informer is removed, also before
// it was started, and that the error names the informer.
func TestWaitsEndWithTheirInformer(t *testing.T) {
	type of = *factory.Factory[*clientset]
	for _, started := range []bool{true, false} {
		for name, test := range map[string]struct {
			name   string
			remove func(*generated, cache.SharedInformer, *factory.Namespaces[of])
			wait   func(context.Context, *generated, cache.SharedInformer, *factory.Namespaces[of]) error
		}{
			"informer, released": {"*v1.ConfigMap", release, func(ctx context.Context, _ *generated,
				i cache.SharedInformer, _ *factory.Namespaces[of]) error {
				return informer.WaitForSync(ctx, i)
			}},
			"factory, released": {"*v1.ConfigMap", release, func(ctx context.Context, f *generated,
				_ cache.SharedInformer, _ *factory.Namespaces[of]) error {
				return factory.WaitForSync(ctx, f)
			}},
			"own writes, released": {"stopped", release, func(ctx context.Context, _ *generated,
				i cache.SharedInformer, _ *factory.Namespaces[of]) error {
				return informer.WaitForVersion(ctx, i, "5")
			}},
			"namespaces, removed": {"*v1.ConfigMap", func(_ *generated, _ cache.SharedInformer,
				n *factory.Namespaces[of]) {
				n.Remove("one")
			}, func(ctx context.Context, _ *generated, _ cache.SharedInformer, n *factory.Namespaces[of]) error {
				return n.WaitForSync(ctx)
			}},
			"combined, shut down": {"informers of namespaces", func(_ *generated, _ cache.SharedInformer,
				n *factory.Namespaces[of]) {
				n.Shutdown()
			}, func(ctx context.Context, _ *generated, _ cache.SharedInformer, n *factory.Namespaces[of]) error {
				return informer.WaitForSync(ctx, n.Informer(askOne))
			}},
			"WaitForCacheSync, released": {"*v1.ConfigMap", release, func(ctx context.Context, f *generated,
				_ cache.SharedInformer, _ *factory.Namespaces[of]) error {
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
					n := factory.NewNamespaces(func(string) of { return factory.New(open(), 0) })
					defer f.informers.Shutdown()
					defer n.Shutdown()
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					combined := n.Informer(askOne)
					if err := n.Add("one"); err != nil {
						t.Fatal(err)
					}
					if started {
						f.informers.StartWithContext(ctx)
						n.StartWithContext(ctx)
					}
					patient, end := context.WithTimeout(ctx, time.Hour)
					defer end()
					ended := make(chan error)
					go func() { ended <- test.wait(patient, f, i, n) }()
					synctest.Wait()
					test.remove(f, i, n)
					if err := <-ended; err == nil || !strings.Contains(err.Error(), test.name) ||
						errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("the wait ended with %v, want an error with %q", err, test.name)
					}
					_ = combined.IsStopped() // It is held.
				})
			})
		}
	}
}

func release(f *generated, i cache.SharedInformer, _ *factory.Namespaces[*factory.Factory[*clientset]]) {
	_ = factory.Release(f, i)
}

func askOne(f *factory.Factory[*clientset]) cache.SharedIndexInformer {
	return f.InformerFor(&corev1.ConfigMap{}, forbidden)
}
