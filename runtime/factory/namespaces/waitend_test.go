package namespaces_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/factory"
	"github.com/kubewright/kubewright/runtime/factory/namespaces"
	"github.com/kubewright/kubewright/runtime/informer"
)

// TestWaitsEndWithTheirInformer checks that a wait for a sync ends when what it waits for is removed or shut
// down, also before it was started, and that the error names the informer.
func TestWaitsEndWithTheirInformer(t *testing.T) {
	type set = *namespaces.Set[inNamespace]
	for _, started := range []bool{true, false} {
		for name, test := range map[string]struct {
			name string
			end  func(set)
			wait func(context.Context, set, cache.SharedInformer) error
		}{
			"set, removed": {"*v1.ConfigMap", func(n set) { n.Remove("one") },
				func(ctx context.Context, n set, _ cache.SharedInformer) error { return factory.WaitForSync(ctx, n) }},
			"combined, shut down": {"informers of namespaces", set.Shutdown,
				func(ctx context.Context, _ set, combined cache.SharedInformer) error {
					return informer.WaitForSync(ctx, combined)
				}},
		} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := newNamespacedServer()
					s.closed["one"] = true
					n := s.namespaces()
					defer n.Shutdown()
					combined := n.Informer(inNamespace.configMaps)
					if err := n.Add("one"); err != nil {
						t.Fatal(err)
					}
					if started {
						n.StartWithContext(t.Context())
					}
					patient, end := context.WithTimeout(t.Context(), time.Hour)
					defer end()
					ended := make(chan error)
					go func() { ended <- test.wait(patient, n, combined) }()
					synctest.Wait()
					test.end(n)
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
