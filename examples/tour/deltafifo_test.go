package tour

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubewright/kubewright/runtime/cache"
)

// A DeltaFIFO stands between the reflector, which produces, and the informer's loop, which consumes. It
// keeps what happened to each object, in order, and hands it out key by key. Informers of kubewright use a
// leaner queue inside; this is the type for programs that use one directly.
func Example_deltaFIFO() {
	// Known objects are those that the consumer has. With them, Replace can tell what is gone.
	known := cache.NewStore(cache.DeletionHandlingMetaNamespaceKeyFunc)
	queue := cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{
		KnownObjects:          known,
		EmitDeltaTypeReplaced: true, // else Replaced is called Sync, as in old code
	})
	rye := func(version string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "town", Name: "rye", ResourceVersion: version}}
	}
	oat := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "town", Name: "oat", ResourceVersion: "3"}}
	pop := func() {
		_, err := queue.Pop(func(obj any, isInInitialList bool) error {
			var changes []string
			for _, delta := range obj.(cache.Deltas) {
				key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(delta.Object)
				if err != nil {
					return err
				}
				changes = append(changes, fmt.Sprintf("%s %s (%T)", delta.Type, key, delta.Object))
				if delta.Type == cache.Deleted {
					err = known.Delete(delta.Object)
				} else {
					err = known.Add(delta.Object)
				}
				if err != nil {
					return err
				}
			}
			fmt.Println(strings.Join(changes, ", "))
			return nil
		})
		if err != nil {
			panic(err)
		}
	}
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}

	fmt.Println("produce: two changes of one key are popped together")
	check(queue.Add(rye("1")))
	check(queue.Update(rye("2")))
	pop()

	fmt.Println("replace, as after a list: rye isn't there any more")
	check(queue.Replace([]any{oat}, "3"))
	pop()
	pop()

	fmt.Println("resync: every known object once more")
	check(queue.Resync())
	pop()

	// A tombstone stands for an object whose deletion was missed: the last known state may be old.
	check(queue.Replace(nil, "4"))
	pop()
	queue.Close() // Pop returns cache.ErrFIFOClosed from now on
	// Output:
	// produce: two changes of one key are popped together
	// Added town/rye (*v1.ConfigMap), Updated town/rye (*v1.ConfigMap)
	// replace, as after a list: rye isn't there any more
	// Replaced town/oat (*v1.ConfigMap)
	// Deleted town/rye (cache.DeletedFinalStateUnknown)
	// resync: every known object once more
	// Sync town/oat (*v1.ConfigMap)
	// Deleted town/oat (cache.DeletedFinalStateUnknown)
}
