package informer_test

import (
	"testing"
	"testing/synctest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/informer"
)

// TestCoreRefusesOtherTypes: what a transform of the untyped informer inside makes
// of an object is refused if it is of another type, in lists and in watches.
func TestCoreRefusesOtherTypes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		s.put("listed")
		i := s.ours(informer.Options{})
		err := i.Core().Informer.SetTransform(func(obj any) (any, error) {
			return &metav1.PartialObjectMetadata{ObjectMeta: obj.(*configMap).ObjectMeta}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		stop := run(i)
		s.put("watched")
		synctest.Wait()
		if found := i.Core().List(); len(found) != 0 {
			t.Errorf("stored %v", found)
		}
		stop()
	})
}

// TestNilHandler: a handler that is nil is taken by the typed face as by the
// others. It panics when it is called.
func TestNilHandler(t *testing.T) {
	i := newServer().ours(informer.Options{})
	r, err := i.Core().AddHandler(nil, informer.HandlerOptions{})
	if err != nil || r.Name() != "<nil>" {
		t.Errorf("%v, %v", r, err)
	}
	if _, err := i.Core().Informer.AddHandler(nil, informer.HandlerOptions{}); err != nil {
		t.Error(err)
	}
}

func TestEventTypeNames(t *testing.T) {
	for value, want := range map[informer.EventType]string{
		0: "Invalid", informer.Added: "Added", informer.Updated: "Updated", informer.Removed: "Removed", informer.Synced: "Synced", 5: "Invalid", 255: "Invalid",
	} {
		if got := value.String(); got != want {
			t.Errorf("%d is %s, not %s", value, got, want)
		}
	}
}

// unique is an informer of a type that can't be compared.
type unique struct {
	cache.SharedIndexInformer
	_ func()
}

func TestSame(t *testing.T) {
	s := newServer()
	ours, theirs := s.ours(informer.Options{}), s.theirs(informer.Options{})
	for _, test := range []struct {
		a, b cache.SharedInformer
		want bool
	}{
		{ours.TypedShared, ours, true},
		{theirs, informer.Typed[*configMap](theirs), true},
		{informer.Typed[*configMap](theirs), informer.Typed[*configMap](theirs), true},
		{informer.Typed[*metav1.PartialObjectMetadata](ours), ours, true},
		{ours, theirs, false},
		{s.theirs(informer.Options{}), theirs, false},
		{unique{theirs, nil}, unique{theirs, nil}, false},
		{informer.Typed[*configMap](unique{theirs, nil}), theirs, false},
		{nil, theirs, false},
	} {
		if got := informer.Same(test.a, test.b); got != test.want {
			t.Errorf("%T, %T: %t", test.a, test.b, got)
		}
	}
}
