package conformance_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgo "k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/internal/conformance"
)

// These are differences from client-go that no transcript can show, or that not all of our informers have.

// TestRunWaitsForTheList checks that our informers wait for the end of a list function, but not for one that
// ignores its context, whose list isn't used. client-go's wait for neither.
func TestRunWaitsForTheList(t *testing.T) {
	obeys := func(ctx context.Context, _ <-chan struct{}) {
		<-ctx.Done()
		bubble.Pass(time.Second / 2)
	}
	ignores := func(_ context.Context, gate <-chan struct{}) { <-gate }
	for _, test := range []struct {
		conformance.Implementation
		list func(ctx context.Context, gate <-chan struct{})
		// left means that the function is left behind.
		left bool
	}{
		{conformance.ClientGo, obeys, true}, {facade, obeys, false},
		{conformance.ClientGo, ignores, true}, {facade, ignores, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			gate := make(chan struct{})
			var returned atomic.Bool
			s := conformance.NewConfigMaps()
			s.NoWatchListClient()
			i := test.New(s,
				conformance.InformerOptions{
					ListerWatcher: func(s *conformance.ConfigMaps) clientgo.ListerWatcher {
						return clientgo.ToListWatcherWithWatchListSemantics(&clientgo.ListWatch{
							ListWithContextFunc: func(
								ctx context.Context, _ metav1.ListOptions,
							) (runtime.Object, error) {
								test.list(ctx, gate)
								returned.Store(true)
								return &corev1.ConfigMapList{Items: []corev1.ConfigMap{*configMap("a")}}, nil
							},
						}, s)
					}})
			ctx, cancel := context.WithCancel(t.Context())
			over := make(chan struct{})
			go func() {
				defer close(over)
				i.RunWithContext(ctx)
			}()
			synctest.Wait()
			cancel()
			<-over
			if returned.Load() == test.left {
				t.Errorf("%s: Run returned, and the list function has: %t", test.Name, !test.left)
			}
			close(gate)
			bubble.Pass(time.Second)
			if keys := i.GetStore().ListKeys(); len(keys) > 0 || i.HasSynced() {
				t.Errorf("%s: %v is stored after the end", test.Name, keys)
			}
		})
	}
}

func TestTypedInformersRefuseOtherTypes(t *testing.T) {
	for _, test := range []struct {
		conformance.Implementation
		refuses bool
	}{{conformance.ClientGo, false}, {facade, false}, {typed, true}} {
		synctest.Test(t, func(t *testing.T) {
			s := conformance.NewConfigMaps()
			s.NoWatchListClient()
			i := test.New(s, conformance.InformerOptions{})
			secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "s"}}
			if err := i.GetStore().Add(secret); (err != nil) != test.refuses {
				t.Errorf("%s: %v", test.Name, err)
			}
			if err := i.SetTransform(func(any) (any, error) { return secret, nil }); err != nil {
				t.Fatal(err)
			}
			s.Create(configMap("a"))
			ctx, cancel := context.WithCancel(t.Context())
			over := make(chan struct{})
			go func() {
				defer close(over)
				i.RunWithContext(ctx)
			}()
			synctest.Wait()
			if _, stored, _ := i.GetStore().GetByKey("ns/s"); stored == test.refuses {
				t.Errorf("%s: what the transform made is stored: %t", test.Name, stored)
			}
			cancel()
			<-over
		})
	}
}

func TestIndexesOfAnInformerWithoutAny(t *testing.T) {
	add := func(implementation conformance.Implementation) (panics bool) {
		defer func() { panics = recover() != nil }()
		i := implementation.New(conformance.NewConfigMaps(), conformance.InformerOptions{})
		if err := i.AddIndexers(clientgo.Indexers{"color": indexByColor}); err != nil {
			t.Errorf("%s: %v", implementation.Name, err)
		}
		return false
	}
	for implementation, panics := range map[*conformance.Implementation]bool{
		&conformance.ClientGo: true, &facade: false, &typed: false,
	} {
		if add(*implementation) != panics {
			t.Errorf("%s: panics %t", implementation.Name, !panics)
		}
	}
}

func TestNilIndexFunctionIsRefused(t *testing.T) {
	for implementation, refuses := range map[*conformance.Implementation]bool{
		&conformance.ClientGo: false, &facade: true, &typed: true,
	} {
		i := implementation.New(conformance.NewConfigMaps(),
			conformance.InformerOptions{Indexers: clientgo.Indexers{}})
		if err := i.AddIndexers(clientgo.Indexers{"color": nil}); (err != nil) != refuses {
			t.Errorf("%s: %v, want an error: %t", implementation.Name, err, refuses)
		}
		func() {
			defer func() {
				if panicked := recover() != nil; panicked != refuses {
					t.Errorf("%s: made with a nil function, panics: %t, want %t", implementation.Name,
						panicked, refuses)
				}
			}()
			implementation.New(conformance.NewConfigMaps(),
				conformance.InformerOptions{Indexers: clientgo.Indexers{"color": nil}})
		}()
	}
}

func TestNilHandlerIsRefused(t *testing.T) {
	for implementation, refuses := range map[*conformance.Implementation]bool{
		&conformance.ClientGo: false, &facade: true, &typed: true,
	} {
		i := implementation.New(conformance.NewConfigMaps(), conformance.InformerOptions{})
		_, plain := i.AddEventHandler(nil)
		_, resyncing := i.AddEventHandlerWithResyncPeriod(nil, time.Hour)
		_, logging := i.AddEventHandlerWithOptions(nil, clientgo.HandlerOptions{})
		for _, err := range []error{plain, resyncing, logging} {
			if (err != nil) != refuses {
				t.Errorf("%s: %v, want an error: %t", implementation.Name, err, refuses)
			}
		}
	}
}
