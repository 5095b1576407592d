package informer_test

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/internal/bubble"
	gen "github.com/kubewright/kubewright/runtime/gen/informer"
	"github.com/kubewright/kubewright/runtime/informer"
)

// TestRecreation checks that an object which was replaced by another of its name while the informer didn't
// watch is reported as an update or, with RecreationIsDeletion, as a deletion and an addition.
func TestRecreation(t *testing.T) {
	for _, test := range []struct {
		asked bool
		want  []string
	}{
		{false, []string{"update ns1/a@1 -> ns1/a@3", "update ns1/b@2 -> ns1/b@4"}},
		{true, []string{"missed ns1/a ns1/a@1", "add ns1/a@3", "update ns1/b@2 -> ns1/b@4"}},
	} {
		for _, coalesce := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				s := newServer()
				identify := func(name string, uid types.UID) {
					s.mu.Lock()
					defer s.mu.Unlock()
					s.objects[name].UID = uid
				}
				for _, name := range []string{"a", "b"} {
					s.put(name)
					identify(name, "1")
				}
				i := s.ours(gen.Options{})
				if err := informer.Configure(
					i, informer.Options{RecreationIsDeletion: test.asked},
				); err != nil {
					t.Fatal(err)
				}
				handler := &recorder{}
				r := must[cache.ResourceEventHandlerRegistration](t)(informer.AddEventHandler(i, handler,
					informer.HandlerOptions{Coalesce: coalesce}))
				stop := run(i)
				<-r.HasSyncedChecker().Done()
				handler.take()
				s.forget(func() {
					s.put("a")
					identify("a", "2")
					s.put("b")
					identify("b", "1")
				})
				bubble.Advance(time.Minute)
				if calls := handler.take(); !slices.Equal(calls, test.want) {
					t.Errorf("asked for %v, coalesced %v: %q", test.asked, coalesce, calls)
				}
				stop()
				if err := informer.Configure(i, informer.Options{}); err == nil {
					t.Error("tuned an informer that has run")
				}
			})
		}
	}
	if err := informer.Configure(
		newServer().theirs(gen.Options{}), informer.Options{},
	); !errors.Is(err, informer.ErrUnsupportedInformer) {
		t.Errorf("client-go's: %v", err)
	}
}
