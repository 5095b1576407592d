package tour

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubewright/kubewright/runtime/cache"
)

// A DeltaFIFO is a queue between a reflector, which produces, and a consumer that keeps a store. It holds the
// changes of each object, in order, and returns them key by key, as Deltas. Informers were built on it, and
// yours can be. Those of client-go v0.37 have a RealFIFO instead, which keeps the order of arrival, and
// kubewright's have a queue inside the runtime.
func Example_deltaFIFO() {
	// Known objects are those that the consumer has. Replace compares with them to find what is gone.
	// The key is "town/rye"; this function also returns the key of a tombstone, see the end.
	known := cache.NewStore(cache.DeletionHandlingMetaNamespaceKeyFunc)
	queue := cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{
		KnownObjects:          known,
		EmitDeltaTypeReplaced: true, // without it, objects of a Replace have the type Sync, as in a Resync
	})
	rye := func(version string) *corev1.ConfigMap {
		return &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: "town", Name: "rye", ResourceVersion: version}}
	}
	oat := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "town", Name: "oat", ResourceVersion: "3"}}
	pop := func() {
		// isInInitialList: the object came with the first Replace.
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

	// A new list: its objects get the type Replaced, changed or not; known objects that it lacks are Deleted.
	fmt.Println("replace, as after a list: rye isn't there any more")
	check(queue.Replace([]any{oat}, "3"))
	pop()
	pop()

	// These objects have not changed: their type is Sync.
	fmt.Println("resync: every known object once more")
	check(queue.Resync())
	pop()

	// A DeletedFinalStateUnknown (tombstone) takes the place of an object that a list no longer has. Its Obj is
	// the last known state. DeleteFunc may get one: check for it before you assert the type.
	check(queue.Replace(nil, "4"))
	pop()
	queue.Close() // now Pop returns cache.ErrFIFOClosed
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
