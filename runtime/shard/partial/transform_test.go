package partial_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/shard"
)

func keyOf(obj any) string { return cache.MetaObjectToName(obj.(*corev1.ConfigMap)).String() }

// TestTransformsOfAPart checks that an informer of a part knows under which keys its objects are stored,
// while its ranges change: it deletes the objects that the server deletes, and only those.
func TestTransformsOfAPart(t *testing.T) {
	for _, by := range []shard.Field{shard.ByNamespace, shard.ByUID} {
		t.Run(string(by), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newPartWorld(t, by, paged)
				if err := w.informer.SetTransform(func(obj any) (any, error) {
					cm := obj.(*corev1.ConfigMap)
					if cm.Labels["out"] != "" {
						return (*corev1.ConfigMap)(nil), nil
					}
					cm.Name = "renamed-" + cm.Name
					return cm, nil
				}); err != nil {
					t.Fatal(err)
				}
				known := map[string]bool{}
				if _, err := w.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
					AddFunc:    func(obj any) { known[keyOf(obj)] = true },
					DeleteFunc: func(obj any) { delete(known, keyOf(obj)) },
				}); err != nil {
					t.Fatal(err)
				}
				low, high := w.halves()
				w.set(low)
				w.start()
				defer w.stop()
				w.set(shard.All())
				w.settle()
				w.set(high)
				w.settle()
				w.set(shard.All())
				w.settle()
				left := map[string]bool{}
				for n, o := range w.server.Objects() {
					switch n % 3 {
					case 0:
						w.server.Delete(o.Namespace, o.Name)
					case 1:
						out := o.DeepCopy()
						out.Labels = map[string]string{"out": "yes"}
						w.server.Update(out)
					default:
						left[fmt.Sprintf("%s/renamed-%s", o.Namespace, o.Name)] = true
					}
				}
				w.settle()
				stored := map[string]bool{}
				for _, key := range w.informer.GetStore().ListKeys() {
					stored[key] = true
				}
				if !maps.Equal(stored, left) || !maps.Equal(known, left) {
					t.Errorf("stored %v, known %v, want %v", slices.Sorted(maps.Keys(stored)),
						slices.Sorted(maps.Keys(known)), slices.Sorted(maps.Keys(left)))
				}
			})
		})
	}
}

// TestTransformsKeepTheHash checks that a transform must not change the field by which objects are sharded.
func TestTransformsKeepTheHash(t *testing.T) {
	for by, change := range map[shard.Field]func(*corev1.ConfigMap){
		shard.ByNamespace: func(cm *corev1.ConfigMap) { cm.Namespace = "other" },
		shard.ByUID:       func(cm *corev1.ConfigMap) { cm.UID = "other" },
	} {
		t.Run(string(by), func(t *testing.T) {
			inBubble(t, by, func(w *partWorld) {
				if err := w.informer.SetTransform(func(obj any) (any, error) {
					change(obj.(*corev1.ConfigMap))
					return obj, nil
				}); err != nil {
					t.Fatal(err)
				}
				w.set(shard.All())
				w.start()
				status, _ := informer.StatusOf(w.informer)
				if err := status.LastError; err == nil || !strings.Contains(err.Error(),
					"transform namespace-0/name: the function changed the "+string(by)) {
					t.Errorf("the last error is %v", err)
				}
				if n := len(w.informer.GetStore().ListKeys()); n > 0 {
					t.Errorf("%d objects are stored", n)
				}
			})
		})
	}
}
