package informer_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/internal/bubble"
	gen "github.com/kubewright/kubewright/runtime/gen/informer"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/lister"
)

// must returns the first result of a function. It fails the test if the second, an error, isn't nil.
func must[V any](t *testing.T) func(V, error) V {
	return func(v V, err error) V {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func handlersOf(i cache.SharedInformer) []informer.HandlerStatus {
	status, _ := informer.StatusOf(i)
	return status.Handlers
}

func TestRemoval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		i := s.ours(gen.Options{})
		early := must[cache.ResourceEventHandlerRegistration](t)(i.AddEventHandler(&recorder{}))
		// Nothing runs yet: the handler is shut down at once.
		if err := cache.ShutDownEventHandler(i, early); err != nil {
			t.Error(err)
		}
		if n := len(handlersOf(i)); n != 0 {
			t.Errorf("%d handlers are left", n)
		}

		var self cache.ResourceEventHandlerRegistration
		inside := &recorder{}
		inside.before = func(string) {
			if err := i.RemoveEventHandler(self); err != nil {
				t.Error(err)
			}
		}
		self = must[cache.ResourceEventHandlerRegistration](t)(i.AddEventHandler(inside))
		slow := &recorder{before: func(string) { bubble.Pass(time.Minute) }}
		slowReg := must[cache.ResourceEventHandlerRegistration](t)(i.AddEventHandler(slow))
		stop := run(i)
		s.put("a")
		s.put("b")
		synctest.Wait()
		if calls := inside.take(); len(calls) != 1 {
			t.Errorf("a handler that removes itself was called: %q", calls)
		}
		start := time.Now()
		for range 2 {
			if err := cache.ShutDownEventHandler(i, slowReg); err != nil {
				t.Error(err)
			}
		}
		if waited := time.Since(start); waited != time.Minute {
			t.Errorf("the shutdown of a handler in a call took %v", waited)
		}
		if calls := slow.take(); len(calls) != 1 {
			t.Errorf("the slow handler was called: %q", calls)
		}

		other := s.ours(gen.Options{})
		foreign := must[cache.ResourceEventHandlerRegistration](t)(other.AddEventHandler(&recorder{}))
		if err := i.RemoveEventHandler(foreign); err != nil {
			t.Errorf("the handle of another informer: %v", err)
		}
		if len(handlersOf(other)) != 1 {
			t.Error("another informer's handler is gone")
		}
		theirs := must[cache.ResourceEventHandlerRegistration](t)(
			s.theirs(gen.Options{}).AddEventHandler(&recorder{}))
		if err := i.RemoveEventHandler(theirs); err == nil {
			t.Error("a handle of client-go is accepted")
		}
		stop()
		if n := len(handlersOf(i)); n != 0 {
			t.Errorf("%d handlers are left after the stop", n)
		}
	})
}

// TestAfterTheStart checks what is refused once an informer runs or has stopped.
func TestAfterTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		s.put("a")
		i := s.ours(gen.Options{})
		index := func(name string) cache.Indexers {
			return cache.Indexers{name: cache.MetaNamespaceIndexFunc}
		}
		if err := i.AddIndexers(index("early")); err != nil {
			t.Error(err)
		}
		r := must[cache.ResourceEventHandlerRegistration](t)(i.AddEventHandler(&recorder{}))
		if i.LastSyncResourceVersion() != "" || i.HasSynced() || r.HasSynced() || i.IsStopped() {
			t.Error("a new informer has a wrong state")
		}
		stop := run(i)
		synctest.Wait()
		if err := i.SetTransform(func(obj any) (any, error) { return obj, nil }); err == nil {
			t.Error("a late transform is accepted")
		}
		if err := i.SetWatchErrorHandler(func(*cache.Reflector, error) {}); err == nil {
			t.Error("a late watch error handler is accepted")
		}
		if err := i.AddIndexers(index("late")); err != nil {
			t.Error(err)
		}
		if err := i.AddTypedIndexers(cache.TypedIndexers[*configMap]{"late": nil}); err == nil {
			t.Error("an index is accepted twice")
		}
		for _, name := range []string{"early", "late"} {
			if found, err := i.GetTypedIndexer().ByTypedIndex(name, "ns1"); err != nil || len(found) != 1 {
				t.Errorf("index %s finds %v, %v", name, found, err)
			}
		}
		if _, err := i.AddTypedEventHandler(
			typedRecorder{}, cache.HandlerOptions{}, cache.HandlerOptions{},
		); err == nil {
			t.Error("two sets of options are accepted")
		}
		// The second run returns at once.
		i.Run(nil)
		c := i.GetController()
		c.Run(nil)
		c.RunWithContext(t.Context())
		if !c.HasSynced() || !cache.IsDone(c.HasSyncedChecker()) || c.LastSyncResourceVersion() != "1" {
			t.Error("the controller doesn't report its informer's state")
		}
		stop()
		if !i.IsStopped() {
			t.Error("it isn't stopped")
		}
		if _, err := i.AddEventHandler(&recorder{}); err == nil {
			t.Error("a handler is accepted after the stop")
		}
		if err := i.AddIndexers(index("too late")); err == nil {
			t.Error("an index is accepted after the stop")
		}
		if err := i.RemoveEventHandler(r); err != nil {
			t.Error(err)
		}
	})
}

func TestWatchErrorHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		s.fail = errNotToday
		i := s.ours(gen.Options{})
		var got []error
		if err := i.SetWatchErrorHandler(func(r *cache.Reflector, err error) {
			// The calls that handlers commonly make to the reflector must not panic.
			_, _ = r.Name(), r.LastSyncResourceVersion()
			got = append(got, err)
		}); err != nil {
			t.Fatal(err)
		}
		stop := run(i)
		synctest.Wait()
		if len(got) != 1 || !errors.Is(got[0], errNotToday) {
			t.Errorf("got %v", got)
		}
		stop()
	})
}

var errNotToday = errors.New("not today")

// TestNames compares the names that are reported when something hasn't synced.
func TestNames(t *testing.T) {
	s := newServer()
	ours, theirs := s.ours(gen.Options{}), s.theirs(gen.Options{})
	if o, th := ours.HasSyncedChecker().Name(), theirs.HasSyncedChecker().Name(); o != th {
		t.Errorf("informer %q, client-go has %q", o, th)
	}
	add := func(any) {}
	for _, handler := range []cache.ResourceEventHandler{
		&recorder{},
		cache.ResourceEventHandlerFuncs{},
		cache.ResourceEventHandlerFuncs{AddFunc: add},
		&cache.ResourceEventHandlerFuncs{AddFunc: add, DeleteFunc: func(any) {}},
		cache.ResourceEventHandlerFuncs{AddFunc: (&recorder{}).OnDelete, DeleteFunc: (&recorder{}).OnDelete},
		cache.ResourceEventHandlerFuncs{AddFunc: add, DeleteFunc: (&recorder{}).OnDelete},
		cache.ResourceEventHandlerDetailedFuncs{},
		cache.FilteringResourceEventHandler{Handler: &recorder{}},
		struct{ *recorder }{},
	} {
		o := must[cache.ResourceEventHandlerRegistration](t)(
			ours.AddEventHandler(handler)).HasSyncedChecker().Name()
		th := must[cache.ResourceEventHandlerRegistration](t)(
			theirs.AddEventHandler(handler)).HasSyncedChecker().Name()
		if o != th {
			t.Errorf("handler %q, client-go has %q", o, th)
		}
	}
	typed := must[cache.ResourceEventHandlerRegistration](t)(ours.AddTypedEventHandler(
		cache.TypedResourceEventHandlerFuncs[*configMap]{
			AddFunc: func(*configMap) {}})).HasSyncedChecker().Name()
	if want := "SharedIndexInformer *v1.ConfigMap + event handler " +
		"github.com/kubewright/kubewright/runtime/informer_test.TestNames"; !strings.HasPrefix(typed, want) {
		t.Errorf("typed handler %q", typed)
	}
	for _, handler := range []cache.TypedResourceEventHandler[*configMap]{
		cache.TypedResourceEventHandlerFuncs[*configMap]{},
		cache.TypedResourceEventHandlerFuncs[*configMap]{AddFunc: func(*configMap) {}},
		&cache.TypedResourceEventHandlerFuncs[*configMap]{AddFunc: func(*configMap) {}},
		cache.TypedResourceEventHandlerDetailedFuncs[*configMap]{},
		cache.TypedFilteringResourceEventHandler[*configMap]{},
	} {
		direct := must[cache.ResourceEventHandlerRegistration](t)(ours.AddTypedEventHandler(handler))
		wrapper := cache.NewTypedSharedIndexInformer[*configMap](ours)
		indirect := must[cache.ResourceEventHandlerRegistration](t)(wrapper.AddTypedEventHandler(handler))
		if o, th := direct.HasSyncedChecker().Name(), indirect.HasSyncedChecker().Name(); o != th {
			t.Errorf("typed handler %q, by client-go's typed informer over ours %q", o, th)
		}
	}
}

// TestSubject checks that an informer's name contains what it caches, so that informers of one type have
// different names, and so do their errors, statuses and checkers.
func TestSubject(t *testing.T) {
	resource := schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "configmaps"}
	ofCore := schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	name, err := cache.NewInformerName("named")
	if err != nil {
		t.Fatal(err)
	}
	defer name.Release()
	for want, options := range map[string]gen.Options{
		"*v1.ConfigMap":                                {},
		"*v1.ConfigMap (named)":                        {InformerName: name},
		"apps/v1 configmaps":                           {Resource: resource},
		"v1 pods":                                      {Resource: ofCore},
		"apps/v1 configmaps in namespace shop":         {Resource: resource, Namespace: "shop"},
		"apps/v1 configmaps in namespace shop (named)": {Resource: resource, Namespace: "shop", InformerName: name},
	} {
		i := newServer().ours(options)
		s, _ := informer.StatusOf(i)
		if s.Name != "informer of "+want || s.Type != "*v1.ConfigMap" || s.Resource != options.Resource ||
			s.Namespace != options.Namespace {
			t.Errorf("status %+v, want the name %q", s, want)
		}
		if err := s.NotSynced(); !strings.HasPrefix(err.Error(), "informer of "+want+": not started") {
			t.Errorf("error %q, want the name %q", err, want)
		}
		if got := i.HasSyncedChecker().Name(); got != "SharedIndexInformer "+strings.TrimSuffix(want, " (named)") {
			t.Errorf("the sync is called %q, want the name %q", got, want)
		}
	}
}

// removesItself is a handler that removes itself in OnDelete.
type removesItself struct {
	informer     cache.SharedIndexInformer
	registration cache.ResourceEventHandlerRegistration
	calls        []string
}

func (h *removesItself) OnAdd(any, bool)   { h.calls = append(h.calls, "add") }
func (h *removesItself) OnUpdate(any, any) { h.calls = append(h.calls, "update") }

func (h *removesItself) OnDelete(any) {
	h.calls = append(h.calls, "delete")
	_ = h.informer.RemoveEventHandler(h.registration)
}

// TestRemovalInRecreation checks that a handler that removes itself at the deletion of an object that was
// created again isn't called for the addition.
func TestRemovalInRecreation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		s.put("a")
		s.objects["a"].UID = "1"
		i := s.ours(gen.Options{})
		if err := informer.Configure(i, informer.Options{RecreationIsDeletion: true}); err != nil {
			t.Fatal(err)
		}
		h := &removesItself{informer: i}
		h.registration = must[cache.ResourceEventHandlerRegistration](t)(i.AddEventHandler(h))
		stop := run(i)
		defer stop()
		synctest.Wait()
		s.forget(func() {
			s.put("a")
			s.objects["a"].UID = "2"
		})
		bubble.Advance(time.Minute)
		if want := []string{"add", "delete"}; !slices.Equal(h.calls, want) {
			t.Errorf("calls %q, want %q", h.calls, want)
		}
	})
}

// TestNoIndexIsOneError checks that an indexer's error for a missing index is a *lister.NoIndexError.
func TestNoIndexIsOneError(t *testing.T) {
	_, err := newServer().ours(gen.Options{}).GetIndexer().ByIndex("none", "x")
	if missing := (*lister.NoIndexError)(nil); !errors.As(err, &missing) || missing.Name != "none" {
		t.Errorf("error %v", err)
	}
}
