package e2e

import (
	"context"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	clientfeatures "k8s.io/client-go/features"
	clientfeaturestesting "k8s.io/client-go/features/testing"
	"k8s.io/client-go/rest"

	"github.com/kubewright/kubewright/envtest/record"
	"github.com/kubewright/kubewright/examples/generated/clientset/versioned"
	"github.com/kubewright/kubewright/examples/generated/informers/externalversions"
)

// modes runs a test with streamed and with plain lists. Such a test can't be parallel, since the feature gate
// belongs to the process.
func modes(t *testing.T, run func(t *testing.T)) {
	for name, watchList := range map[string]bool{"WatchList": true, "List": false} {
		t.Run(name, func(t *testing.T) {
			clientfeaturestesting.SetFeatureDuringTest(t, clientfeatures.WatchListClient, watchList)
			run(t)
		})
	}
}

// subject is an informer under test, with a handler that was added before it started.
type subject[T object, L runtime.Object] struct {
	t        *testing.T
	resource resource[T, L]
	client   versioned.Interface // not the informer's: connects to the server directly
	scope    string
	factory  externalversions.SharedInformerFactory
	cache    informerAndLister[T]
	first    *record.Recorder[T]
}

// newSubject returns an informer of a scope's objects that connects as in config and has not been started. It
// is stopped when the test ends.
func newSubject[T object, L runtime.Object](
	t *testing.T, r resource[T, L], scope string, direct versioned.Interface, config *rest.Config,
) *subject[T, L] {
	t.Helper()
	factory := externalversions.NewSharedInformerFactoryWithOptions(clientset(t, config), 0,
		externalversions.WithTweakListOptions(func(o *metav1.ListOptions) {
			o.LabelSelector = scopeLabel + "=" + scope
		}))
	s := &subject[T, L]{t: t, resource: r, client: direct, scope: scope, factory: factory,
		cache: r.cache(factory)}
	s.first = s.handler()
	return s
}

// handler adds a further handler.
func (s *subject[T, L]) handler() *record.Recorder[T] {
	s.t.Helper()
	recorder := record.New[T]()
	if _, err := s.cache.informer.AddTypedEventHandler(recorder); err != nil {
		s.t.Fatal(err)
	}
	return recorder
}

func (s *subject[T, L]) start() {
	ctx, stop := context.WithCancel(context.Background())
	s.factory.StartWithContext(ctx)
	s.t.Cleanup(func() {
		stop()
		s.factory.Shutdown()
	})
}

func (s *subject[T, L]) synced(ctx context.Context) {
	s.t.Helper()
	if err := s.factory.WaitForCacheSyncWithContext(ctx).AsError(); err != nil {
		s.t.Fatal(err)
	}
}

// stored returns the contents of the informer's store.
func (s *subject[T, L]) stored() []T {
	var objects []T
	for _, obj := range s.cache.informer.GetStore().List() {
		objects = append(objects, obj.(T))
	}
	return objects
}

// settle waits until the handlers have seen the last object of c, then compares what the informer stores and
// what it reported with the server.
func (s *subject[T, L]) settle(ctx context.Context, c *churning[T], handlers ...*record.Recorder[T]) {
	s.t.Helper()
	name, version := c.last(ctx)
	fresh := s.resource.fresh(ctx, s.t, s.client, s.scope)
	for i, handler := range append(handlers, s.first) {
		if err := handler.WaitFor(ctx, name, version); err != nil {
			s.t.Fatalf("handler %d: %v", i, err)
		}
		got, want := handler.Versions(), record.Versions(fresh)
		for name, version := range want {
			if got[name] != version {
				s.t.Errorf("handler %d received %s in version %q, want %q", i, name, got[name], version)
			}
		}
		if len(got) != len(want) {
			s.t.Errorf("handler %d received %d objects, want %d", i, len(got), len(want))
		}
		for _, problem := range handler.Problems() {
			s.t.Errorf("handler %d: %s", i, problem)
		}
	}
	equal(s.t, "the informer's store", s.stored(), fresh)
	listed, err := s.cache.list(labels.Everything())
	if err != nil {
		s.t.Fatal(err)
	}
	equal(s.t, "the lister", listed, fresh)
	for _, obj := range fresh {
		got, err := s.cache.get(obj.GetNamespace(), obj.GetName())
		if err != nil {
			s.t.Errorf("the lister's Get: %v", err)
			continue
		}
		equal(s.t, "the lister's Get", []T{got}, []T{obj})
	}
	none, err := s.cache.list(labels.SelectorFromSet(labels.Set{scopeLabel: "other"}))
	if err != nil || len(none) > 0 {
		s.t.Errorf("the lister has %d objects of another scope (%v)", len(none), err)
	}
}

// TestInformers churns the objects of each type while an informer watches. Its handlers receive each change
// once and in order, and its store and its lister contain the objects that a new list returns.
func TestInformers(t *testing.T) {
	modes(t, func(t *testing.T) {
		for name, r := range everything {
			t.Run(name, r.testInformer)
		}
	})
}

func (r resource[T, L]) testInformer(t *testing.T) {
	ctx := within(t, time.Minute)
	config := cached.get(t).Config()
	client, seen := clientset(t, config), &spy{}
	churn := newChurn(t, r, client, scope(t))
	churn.run(ctx, 20)

	s := newSubject(t, r, scope(t), client, seen.on(config))
	s.start()
	s.synced(ctx)
	if clientfeatures.FeatureGates().Enabled(clientfeatures.WatchListClient) {
		if lists, streams := seen.count(isList), seen.count(isWatchList); lists != 0 || streams != 1 {
			t.Errorf("synced by %d lists and %d streams, want one stream", lists, streams)
		}
	} else if lists, streams := seen.count(isList), seen.count(isWatchList); lists != 1 || streams != 0 {
		t.Errorf("synced by %d lists and %d streams, want one list", lists, streams)
	}

	churn.run(ctx, 40)
	late := s.handler()
	churn.run(ctx, 40)
	s.settle(ctx, churn, late)
	s.complete(churn)
}

// complete checks that the first handler received all changes of c, and nothing else.
func (s *subject[T, L]) complete(c *churning[T]) {
	s.t.Helper()
	if err := record.Complete(s.first.Events(), s.first.Initial(), c.Done()); err != nil {
		s.t.Error(err)
	}
}
