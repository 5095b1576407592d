package tour

import (
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubewright/kubewright/runtime/cache"
	"github.com/kubewright/kubewright/runtime/runtimetest"
)

// An informer keeps indexes of its objects: those that it was made with, and those of AddIndexers. Call
// AddIndexers before the start, also on the informers of a factory. With an index, a handler finds the
// objects that an event concerns without reading all.
func TestInformerIndex(t *testing.T) {
	// In this bubble, synctest.Wait returns once all other goroutines wait for something.
	synctest.Test(t, func(t *testing.T) {
		server := runtimetest.NewServer[corev1.ConfigMap, corev1.ConfigMapList]() // an API server in memory
		tool := func(name, owner string) *corev1.ConfigMap {
			return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "town", Name: name,
				Annotations: map[string]string{"example.com/owner": owner}}}
		}
		server.Create(tool("oven", "ann"))
		server.Create(tool("mill", "ann"))

		// It returns the values by which an object is found: any number.
		byOwner := func(obj any) ([]string, error) {
			if owner := obj.(*corev1.ConfigMap).Annotations["example.com/owner"]; owner != "" {
				return []string{owner}, nil
			}
			return nil, nil // nobody owns it
		}
		informer := cache.NewSharedIndexInformer(server.ListerWatcher(), &corev1.ConfigMap{},
			0, // no resync
			cache.Indexers{"owner": byOwner})
		// This index comes with the package. Listers of one namespace use it.
		err := informer.AddIndexers(cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
		if err != nil {
			t.Fatal(err)
		}
		owned := func(by string) int {
			t.Helper()
			objects, err := informer.GetIndexer().ByIndex("owner", by)
			if err != nil {
				t.Fatal(err)
			}
			return len(objects)
		}
		go informer.RunWithContext(t.Context())
		synctest.Wait()
		if owned("ann") != 2 || owned("ben") != 0 {
			t.Errorf("ann owns %d, ben %d; want 2 and 0", owned("ann"), owned("ben"))
		}
		server.Update(tool("mill", "ben")) // the index follows the object
		synctest.Wait()
		if owned("ann") != 1 || owned("ben") != 1 {
			t.Errorf("ann owns %d, ben %d; want 1 and 1", owned("ann"), owned("ben"))
		}
		if inTown, err := informer.GetIndexer().IndexKeys(cache.NamespaceIndex, "town"); len(inTown) != 2 {
			t.Errorf("in town: %v, error %v", inTown, err)
		}
	})
}
