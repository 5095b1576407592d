package namespaces_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/factory"
	"github.com/kubewright/kubewright/runtime/factory/namespaces"
	genlister "github.com/kubewright/kubewright/runtime/gen/lister"
	"github.com/kubewright/kubewright/runtime/informer"
)

// TestSet checks that after any additions, removals and changes, handlers and listers know the objects
// in the namespaces of the set.
func TestSet(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 0))
			s := newNamespacedServer()
			n := s.namespaces()
			i := n.Informer(inNamespace.configMaps)
			of := genlister.New[*corev1.ConfigMap](i.GetIndexer(), configMapsResource.GroupResource())
			type handler struct {
				*knowing
				registration cache.ResourceEventHandlerRegistration
			}
			var handlers []handler
			there := map[string]bool{}
			check := func(err error) {
				t.Helper()
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
			}
			startAt := random.IntN(20)
			for step := range 150 {
				namespace := fmt.Sprint("ns", random.IntN(4))
				switch random.IntN(9) {
				case 0:
					check(n.Add(namespace))
					there[namespace] = true
				case 1:
					n.Remove(namespace)
					delete(there, namespace)
				case 2:
					h := &knowing{t: t, known: map[string]string{}}
					r, err := i.AddEventHandler(h)
					check(err)
					handlers = append(handlers, handler{h, r})
				case 3:
					if len(handlers) > 0 {
						at := random.IntN(len(handlers))
						check(i.RemoveEventHandler(handlers[at].registration))
						handlers = slices.Delete(handlers, at, at+1)
					}
				case 4:
					// The tracker doesn't report deletions between a list and the watch that follows.
					synctest.Wait()
					_ = s.Delete(configMapsResource, namespace, fmt.Sprint("object", random.IntN(3)))
				default:
					s.put(namespace, fmt.Sprint("object", random.IntN(3)))
				}
				if step == startAt {
					n.StartWithContext(t.Context())
				}
				if step < startAt || random.IntN(4) > 0 {
					continue
				}
				check(factory.WaitForSync(t.Context(), n))
				for _, h := range handlers {
					<-h.registration.HasSyncedChecker().Done()
				}
				synctest.Wait()
				if !i.HasSynced() {
					t.Fatalf("seed %d: not synced", seed)
				}
				want := map[string]string{}
				for namespace := range there {
					list, err := quarter{s, namespace}.List(t.Context(), metav1.ListOptions{})
					check(err)
					for _, obj := range list.Items {
						want[namespace+"/"+obj.Name] = obj.ResourceVersion
					}
				}
				got := map[string]string{}
				all, err := of.List(labels.Everything())
				check(err)
				for _, obj := range all {
					got[obj.Namespace+"/"+obj.Name] = obj.ResourceVersion
					one, err := genlister.NewNamespaced(of, obj.Namespace).Get(obj.Name)
					check(err)
					if one != obj {
						t.Fatalf("seed %d: got %v", seed, one)
					}
				}
				if !maps.Equal(got, want) {
					t.Fatalf("seed %d: listed %v, want %v", seed, got, want)
				}
				if keys := i.GetStore().ListKeys(); len(keys) != len(want) {
					t.Fatalf("seed %d: keys %v", seed, keys)
				}
				in, err := genlister.NewNamespaced(of, namespace).List(labels.Everything())
				check(err)
				for _, obj := range in {
					if obj.Namespace != namespace {
						t.Fatalf("seed %d: %s is in %s", seed, obj.Name, namespace)
					}
				}
				for _, h := range handlers {
					if !maps.Equal(h.known, want) {
						t.Fatalf("seed %d: a handler knows %v, want %v", seed, h.known, want)
					}
				}
				if !slices.Equal(n.Names(), slices.Sorted(maps.Keys(there))) {
					t.Fatalf("seed %d: %v, want %v", seed, n.Names(), there)
				}
			}
			n.Shutdown()
			if !i.IsStopped() {
				t.Error("not stopped")
			}
		})
	}
}

// TestSync checks that the error names a namespace that can't be read, and that waits end when the
// set is shut down.
func TestSync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newNamespacedServer()
		s.put("open", "a")
		s.closed["closed"] = true
		n := s.namespaces()
		i := n.Informer(inNamespace.configMaps)
		r, err := i.AddEventHandler(cache.ResourceEventHandlerFuncs{})
		if err := errors.Join(err, n.Add("open"), n.Add("closed"), n.Add("closed")); err != nil {
			t.Fatal(err)
		}
		early := r.HasSyncedChecker().Done()
		n.StartWithContext(t.Context())
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err = factory.WaitForSync(ctx, n)
		var unsynced *informer.NotSyncedError
		if !errors.As(err, &unsynced) || len(unsynced.Informers) != 1 ||
			!strings.Contains(err.Error(), "forbidden") {
			t.Errorf("error %v", err)
		}
		if i.HasSynced() || r.HasSynced() {
			t.Error("synced")
		}
		if _, ok, _ := i.GetStore().GetByKey("open/a"); !ok {
			t.Error("what is open isn't shown")
		}
		s.mu.Lock()
		s.closed["closed"] = false
		s.mu.Unlock()
		<-early
		<-i.HasSyncedChecker().Done()
		if err := n.Add("new"); err != nil {
			t.Fatal(err)
		}
		if f, ok := n.Factory("new"); !ok || f.configMaps() == i {
			t.Error("no factory of a namespace")
		}
		s.mu.Lock()
		s.closed["never"] = true
		s.mu.Unlock()
		if err := n.Add("never"); err != nil {
			t.Fatal(err)
		}
		late := i.HasSyncedChecker().Done()
		n.Shutdown()
		select {
		case <-late:
			t.Error("synced by being shut down")
		default:
		}
	})
}

// TestSetUp checks that earlier settings apply to later namespaces, and that invalid ones are
// refused.
func TestSetUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newNamespacedServer()
		s.put("a", "x")
		s.put("b", "x")
		s.put("b", "filtered")
		n := s.namespaces()
		if err := n.Add("a"); err != nil {
			t.Fatal(err)
		}
		i := n.Informer(inNamespace.configMaps)
		err := errors.Join(
			i.AddIndexers(cache.Indexers{"name": func(obj any) ([]string, error) {
				return []string{obj.(*corev1.ConfigMap).Name}, nil
			}}),
			i.SetTransform(func(obj any) (any, error) {
				if obj.(*corev1.ConfigMap).Name == "filtered" {
					return nil, nil
				}
				obj.(*corev1.ConfigMap).Data = map[string]string{"seen": "yes"}
				return obj, nil
			}),
			n.Add("b"),
		)
		if err != nil {
			t.Fatal(err)
		}
		n.StartWithContext(t.Context())
		if err := factory.WaitForSync(t.Context(), n); err != nil {
			t.Fatal(err)
		}
		found, err := i.GetIndexer().ByIndex("name", "x")
		if err != nil || len(found) != 2 || len(i.GetStore().ListKeys()) != 2 {
			t.Errorf("found %v, %v, of %v", found, err, i.GetStore().ListKeys())
		}
		for _, obj := range found {
			if obj.(*corev1.ConfigMap).Data["seen"] != "yes" {
				t.Errorf("%v wasn't transformed", obj)
			}
		}
		keys, err := i.GetIndexer().IndexKeys("name", "x")
		if err != nil || !slices.Equal(keys, []string{"a/x", "b/x"}) {
			t.Errorf("keys %v, %v", keys, err)
		}
		if values := i.GetIndexer().ListIndexFuncValues("name"); !slices.Equal(values, []string{"x"}) {
			t.Errorf("values %v", values)
		}
		if err := i.SetTransform(nil); err == nil {
			t.Error("a transform was set too late")
		}
		_, added := i.AddEventHandler(nil)
		for _, err := range []error{
			i.GetStore().Add(found[0]), i.GetStore().Replace(nil, "1"), i.RemoveEventHandler(nil), added,
		} {
			if err == nil {
				t.Error("it was not refused")
			}
		}
		n.Remove("b")
		if found, err := i.GetIndexer().Index("name", found[0]); err != nil || len(found) != 1 {
			t.Errorf("found %v, %v", found, err)
		}
		n.Shutdown()
	})
}

// TestNoFunction checks that a nil function panics where it is passed, not with the first
// namespace, and that the panic names the function.
func TestNoFunction(t *testing.T) {
	for want, call := range map[string]func(){
		"the factory of a namespace is nil": func() { namespaces.New[inNamespace](nil) },
		"an informer of a factory is nil": func() {
			newNamespacedServer().namespaces().Informer(nil)
		},
	} {
		func() {
			defer func() {
				if said, ok := recover().(string); !ok || !strings.Contains(said, want) {
					t.Errorf("panic %q, want one with %q", said, want)
				}
			}()
			call()
		}()
	}
}
