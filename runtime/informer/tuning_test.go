package informer_test

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/informer"
)

// TestRecreation: an object that was replaced by another of its name while nobody
// watched is an update, or what it is where asked for.
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
				i := s.ours(informer.Options{})
				if err := informer.Tune(i, informer.Tuning{RecreationIsDeletion: test.asked}); err != nil {
					t.Fatal(err)
				}
				handler := &recorder{}
				r := must[cache.ResourceEventHandlerRegistration](t)(informer.AddEventHandler(i, handler, informer.HandlerOptions{Coalesce: coalesce}))
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
				if err := informer.Tune(i, informer.Tuning{}); err == nil {
					t.Error("tuned what has run")
				}
			})
		}
	}
	if err := informer.Tune(newServer().theirs(informer.Options{}), informer.Tuning{}); !errors.Is(err, informer.ErrOfAnotherMake) {
		t.Errorf("client-go's: %v", err)
	}
}

// TestSampledMutation: of many objects those that are watched were modified, and
// are reported once each.
func TestSampledMutation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		i := s.ours(informer.Options{})
		var found []string
		err := informer.Tune(i, informer.Tuning{MutationSample: 10, OnMutation: func(original, modified runtime.Object) {
			found = append(found, original.(*configMap).Labels["who"]+" "+modified.(*configMap).Labels["who"])
		}})
		if err != nil {
			t.Fatal(err)
		}
		stop := run(i)
		synctest.Wait()
		for n := range 100 {
			s.put(string(rune('A' + n)))
		}
		synctest.Wait()
		bubble.Advance(30 * time.Second)
		if found != nil {
			t.Errorf("found %q", found)
		}
		for _, obj := range i.GetStore().List() {
			metav1.SetMetaDataLabel(&obj.(*configMap).ObjectMeta, "who", "me")
		}
		// What comes later takes the detector's lock, which tells the race
		// detector that the mutations came before the comparison.
		for n := range 10 {
			s.put(string(rune('a' + n)))
		}
		synctest.Wait()
		bubble.Advance(30 * time.Second)
		if len(found) != 10 {
			t.Errorf("found %q before the end", found)
		}
		stop()
		if len(found) != 10 || slices.ContainsFunc(found, func(s string) bool { return s != " me" }) {
			t.Errorf("found %q", found)
		}
	})
}

// TestMutationBeforeTheEnd: what a handler modified is found when the informer
// stops, be it long before the next comparison.
func TestMutationBeforeTheEnd(t *testing.T) {
	s := newServer()
	s.put("a")
	i := s.ours(informer.Options{})
	var found []string
	err := informer.Tune(i, informer.Tuning{MutationSample: 1, OnMutation: func(original, modified runtime.Object) {
		found = append(found, original.(*configMap).Labels["who"]+" "+modified.(*configMap).Labels["who"])
	}})
	if err != nil {
		t.Fatal(err)
	}
	modifying := must[cache.ResourceEventHandlerRegistration](t)(i.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) {
		metav1.SetMetaDataLabel(&obj.(*configMap).ObjectMeta, "who", "me")
	}}))
	stop := run(i)
	<-modifying.HasSyncedChecker().Done()
	stop()
	if !slices.Equal(found, []string{" me"}) {
		t.Errorf("found %q", found)
	}
}
