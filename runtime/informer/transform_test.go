package informer_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	gen "github.com/kubewright/kubewright/runtime/gen/informer"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/runtimetest"
	"github.com/kubewright/kubewright/runtime/shard"
)

// TestTransformErrorsNameTheObject checks that the status has the error of a transform, with the namespace
// and name of the server's object, wherever the object came from, and that only a list in pages counts it as
// a failure.
func TestTransformErrorsNameTheObject(t *testing.T) {
	cause := errors.New("can't")
	for name, c := range map[string]struct {
		prepare func(*partServer)
		after   func(*partServer)
		failed  bool
	}{
		"a list in pages": {prepare: func(s *partServer) {
			s.NoWatchListClient()
			s.Create(configMapIn("ns", "bad"))
		}, failed: true},
		"a watch-list": {prepare: func(s *partServer) { s.Create(configMapIn("ns", "bad")) }},
		"a change in a watch-list": {
			prepare: func(s *partServer) { s.OmitEndBookmark(true) },
			after:   func(s *partServer) { s.Create(configMapIn("ns", "bad")); s.Update(configMapIn("ns", "bad")) },
		},
		"a watch": {after: func(s *partServer) { s.Create(configMapIn("ns", "bad")) }},
		"a deletion": {after: func(s *partServer) {
			s.Create(configMapIn("ns", "bad"))
			s.Delete("ns", "bad")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := runtimetest.NewServer[corev1.ConfigMap, corev1.ConfigMapList]()
				if c.prepare != nil {
					c.prepare(s)
				}
				i := gen.NewShared[*corev1.ConfigMap](
					func() gen.ResourceClient[*corev1.ConfigMapList] { return s }, gen.Options{Client: s})
				if err := i.SetTransform(func(obj any) (any, error) {
					obj.(*corev1.ConfigMap).Name = "changed"
					return nil, cause
				}); err != nil {
					t.Fatal(err)
				}
				stop := run(i)
				defer stop()
				synctest.Wait()
				if c.after != nil {
					c.after(s)
					synctest.Wait()
				}
				status, _ := informer.StatusOf(i)
				if err := status.LastError; !errors.Is(err, cause) || !strings.Contains(err.Error(), "ns/bad") {
					t.Errorf("the last error is %v", err)
				}
				if failed := status.Failures > 0; failed != c.failed {
					t.Errorf("%d failures", status.Failures)
				}
			})
		})
	}
}

func keyOf(obj any) string { return cache.MetaObjectToName(obj.(*corev1.ConfigMap)).String() }

func configMapIn(namespace, name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
}

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

// TestCoalescedMissedDeletion checks that a handler with a bounded backlog receives the deletion of an object
// for whose last state the transform fails.
func TestCoalescedMissedDeletion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		i := s.ours(gen.Options{})
		fails := false
		h := &recorder{}
		_, err := informer.AddEventHandler(i, h, informer.HandlerOptions{Coalesce: true})
		if err := errors.Join(err, i.SetTransform(func(obj any) (any, error) {
			if fails {
				return nil, errors.New("can't")
			}
			return obj, nil
		})); err != nil {
			t.Fatal(err)
		}
		stop := run(i)
		defer stop()
		s.put("a")
		synctest.Wait()
		fails = true
		s.remove("a")
		synctest.Wait()
		calls := h.take()
		if !slices.Equal(calls, []string{"initial ns1/a@1", "missed ns1/a ns1/a@1"}) {
			t.Errorf("calls %q", calls)
		}
	})
}
