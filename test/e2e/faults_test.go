package e2e

import (
	"context"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/envtest/apiserver"
	"github.com/kubewright/kubewright/envtest/record"
	"github.com/kubewright/kubewright/envtest/tcpproxy"
	giftsv1 "github.com/kubewright/kubewright/examples/apis/gift-cards.promo/v1"
	"github.com/kubewright/kubewright/examples/crds"
)

// TestCutConnections cuts the informer's connection again and again while objects change. Handlers miss no
// change, and receive none twice.
func TestCutConnections(t *testing.T) {
	modes(t, func(t *testing.T) {
		ctx := within(t, 2*time.Minute)
		direct := cached.get(t).Config()
		config, proxy := tcpproxy.Before(t, direct)
		s := newSubject(t, bakeries, scope(t), clientset(t, direct), config)
		churn := newChurn(t, bakeries, s.client, s.scope)
		s.start()
		s.synced(ctx)
		connections := proxy.Connections()
		arrived := func() {
			name, version := churn.last(ctx)
			if err := s.first.WaitFor(ctx, name, version); err != nil {
				t.Fatal(err)
			}
		}
		// A watch that is cut before it has brought anything is followed by a list, which merges changes.
		churn.run(ctx, 1)
		arrived()
		const cuts = 5
		for range cuts {
			churn.run(ctx, 3)
			proxy.Cut()
			churn.run(ctx, 3)
			arrived() // Otherwise the next cut could come before the informer has connected again.
		}
		s.settle(ctx, churn)
		s.complete(churn)
		if again := proxy.Connections() - connections; again < cuts {
			t.Errorf("connected again %d times, want %d or more: the test cut nothing", again, cuts)
		}
	})
}

// TestExpired keeps the informer disconnected until the version that it would continue from is compacted. It
// has to list again and to report the differences to its handlers.
func TestExpired(t *testing.T) {
	modes(t, func(t *testing.T) {
		ctx := within(t, 2*time.Minute)
		server := uncached.get(t)
		config, proxy := tcpproxy.Before(t, server.Config())
		var gate sync.RWMutex // while it is locked, no watch gets through
		seen := &spy{before: func(q url.Values) {
			if !isList(q) {
				gate.RLock()
				defer gate.RUnlock()
			}
		}}
		s := newSubject(t, bakeries, scope(t), clientset(t, server.Config()), seen.on(config))
		churn := newChurn(t, bakeries, s.client, s.scope)
		churn.run(ctx, 20)
		s.start()
		s.synced(ctx)
		// When a change arrives, the informer is watching.
		name, version := churn.last(ctx)
		if err := s.first.WaitFor(ctx, name, version); err != nil {
			t.Fatal(err)
		}
		lists := seen.count(isFromScratch)

		gate.Lock()
		proxy.Cut()
		churn.run(ctx, 40)
		_, err := server.Compact(ctx)
		early := seen.count(isFromScratch) - lists
		gate.Unlock()
		if err != nil {
			t.Fatal(err)
		}
		s.settle(ctx, churn)
		if again := seen.count(isFromScratch) - lists; early != 0 || again == 0 {
			t.Errorf("listed %d times when cut and %d times when expired, want 0 and more",
				early, again-early)
		}

		// From now on the informer follows changes as before.
		told, before := len(s.first.Events()), len(churn.Done())
		churn.run(ctx, 20)
		s.settle(ctx, churn)
		if diff := record.Diff(s.first.Events()[told:], churn.Done()[before:]); diff != "" {
			t.Error(diff)
		}
	})
}

// TestDefinitionComesAndGoes starts an informer of a type that the server doesn't know yet, and deletes the
// type while the informer runs.
func TestDefinitionComesAndGoes(t *testing.T) {
	modes(t, func(t *testing.T) {
		ctx := within(t, 2*time.Minute)
		server, err := apiserver.Start(ctx, apiserver.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := server.Stop(); err != nil {
				t.Error(err)
			}
		})
		s := newSubject(t, people, scope(t), clientset(t, server.Config()), server.Config())
		refused := make(chan error)
		var once sync.Once
		err = s.cache.informer.SetWatchErrorHandlerWithContext(
			func(ctx context.Context, r *cache.Reflector, err error) {
				once.Do(func() { refused <- err })
			})
		if err != nil {
			t.Fatal(err)
		}
		s.start()
		select {
		case err := <-refused:
			if !apierrors.IsNotFound(err) {
				t.Errorf("without a definition: %v, want not found", err)
			}
		case <-ctx.Done():
			t.Fatal("the informer reported no error")
		}
		if s.cache.informer.HasSynced() {
			t.Error("synced without a definition")
		}

		if err := server.InstallCRDs(ctx, crds.Files); err != nil {
			t.Fatal(err)
		}
		s.synced(ctx)
		churn := newChurn(t, people, s.client, s.scope)
		churn.run(ctx, 20)
		s.settle(ctx, churn)
		s.complete(churn)

		if err := server.DeleteCRDs(ctx, people.name); err != nil {
			t.Fatal(err)
		}
		if err := s.first.Wait(
			ctx, func(present map[cache.ObjectName]*giftsv1.Person) bool { return len(present) == 0 },
		); err != nil {
			t.Fatalf("objects of a deleted definition stay: %v", err)
		}
		definitions, err := apiserver.ReadCRDs(crds.Files)
		if err != nil {
			t.Fatal(err)
		}
		definitions = slices.DeleteFunc(definitions,
			func(d *apiextensionsv1.CustomResourceDefinition) bool { return d.Name != people.name })
		if err := server.CreateCRDs(ctx, definitions...); err != nil {
			t.Fatal(err)
		}
		churn = newChurn(t, people, s.client, s.scope)
		churn.run(ctx, 20)
		s.settle(ctx, churn)
	})
}
