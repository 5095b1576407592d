package informer_test

import (
	"testing"
	"testing/synctest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gen "github.com/kubewright/kubewright/runtime/gen/informer"
	"github.com/kubewright/kubewright/runtime/informer"
)

// TestCoreRefusesOtherTypes checks that an object which a transform has turned into another type is refused,
// in lists and in watches.
func TestCoreRefusesOtherTypes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		s.put("listed")
		i := s.ours(gen.Options{})
		err := i.SetTransform(func(obj any) (any, error) {
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

func TestEventTypeNames(t *testing.T) {
	for value, want := range map[informer.EventType]string{
		0: "Invalid", informer.Added: "Added", informer.Updated: "Updated", informer.Deleted: "Deleted",
		informer.Synced: "Synced", informer.Released: "Released", 6: "Invalid", 255: "Invalid",
	} {
		if got := value.String(); got != want {
			t.Errorf("%d is %s, not %s", value, got, want)
		}
	}
}
