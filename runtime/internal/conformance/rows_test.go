package conformance_test

import (
	"context"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgo "k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/internal/conformance"
)

// Differences from client-go that no transcript can show, or that not all of our informers have.

func TestRunWaitsForTheLister(t *testing.T) {
	for _, test := range []struct {
		conformance.Implementation
		waits bool
	}{{conformance.ClientGo, false}, {facade, true}} {
		synctest.Test(t, func(t *testing.T) {
			gate := make(chan struct{})
			s := conformance.NewConfigMaps()
			s.NoWatchListClient()
			i := test.New(s,
				conformance.InformerOptions{
					ListerWatcher: func(s *conformance.ConfigMaps) clientgo.ListerWatcher {
						return clientgo.ToListWatcherWithWatchListSemantics(&clientgo.ListWatch{
							ListFunc: func(metav1.ListOptions) (runtime.Object, error) {
								<-gate
								return nil, context.Canceled
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
			synctest.Wait()
			select {
			case <-over:
				if test.waits {
					t.Errorf("%s: Run returned before the lister did", test.Name)
				}
			default:
				if !test.waits {
					t.Errorf("%s: Run waits for the lister; there is no difference", test.Name)
				}
			}
			close(gate)
			<-over
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
