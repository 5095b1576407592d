package cluster_test

import (
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/test/lab/cluster"
	"github.com/kubewright/kubewright/test/lab/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestServed checks that, over HTTP, in JSON and protobuf, in one namespace and in all, a list shows the
// state that the cluster remembers of its version, and that a watch leads from there to the present state.
func TestServed(t *testing.T) {
	for _, media := range []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf} {
		for _, namespace := range []string{"", "n1"} {
			for seed := range uint64(5) {
				t.Run(fmt.Sprintf("%s in %q, seed %d", media, namespace, seed), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { served(t, media, namespace, seed) })
				})
			}
		}
	}
}

func served(t *testing.T, media, namespace string, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 1))
	c := cluster.New()
	for range 40 {
		change(c, r)
	}
	for _, k := range c.Kinds() {
		lw := client(t, c, k, media, namespace)
		list, err := lw.ListWithContext(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		m, _ := meta.ListAccessor(list)
		items, _ := meta.ExtractList(list)
		got := map[cache.ObjectName]string{}
		for _, item := range items {
			put(got, item)
		}
		state, ok := k.At(m.GetResourceVersion())
		if want := within(state, namespace); !ok || !maps.Equal(got, want) {
			t.Errorf("%s at %s: %v, want %v", k.Resource, m.GetResourceVersion(), got, want)
		}
		w, err := lw.WatchWithContext(t.Context(), metav1.ListOptions{ResourceVersion: m.GetResourceVersion()})
		if err != nil {
			t.Fatal(err)
		}
		for range 40 {
			change(c, r)
		}
		for event := range arrived(w) {
			if event.Type == watch.Deleted {
				delete(got, cache.MetaObjectToName(event.Object.(cluster.Object)))
			} else {
				put(got, event.Object)
			}
		}
		w.Stop()
		for range w.ResultChan() { // client-go's watcher waits for its reader
		}
		now, _ := k.Now()
		if want := within(now, namespace); !maps.Equal(got, want) {
			t.Errorf("%s: the watch led to %v, want %v", k.Resource, got, want)
		}
	}
	synctest.Wait()
	if n := c.Watches(); n != 0 {
		t.Errorf("%d watches are open", n)
	}
}

// arrived yields the events of a watch until all goroutines wait and no event comes.
func arrived(w watch.Interface) iter.Seq[watch.Event] {
	return func(yield func(watch.Event) bool) {
		for {
			synctest.Wait()
			select {
			case event, open := <-w.ResultChan():
				if !open || !yield(event) {
					return
				}
			default:
				return
			}
		}
	}
}

// change makes a random write. Some objects have a finalizer, so that their deletion takes two steps.
func change(c *cluster.Cluster, r *rand.Rand) {
	k := c.Kinds()[r.IntN(3)]
	name := cache.NewObjectName(fmt.Sprint("n", r.IntN(2)), fmt.Sprint("o", r.IntN(4)))
	state, before := k.Now()
	obj := state[name]
	switch r.IntN(4) {
	case 0:
		c.Remove(k, name)
	case 1:
		c.Finish(k, name)
	default:
		finalizer := r.IntN(2) == 0
		version := c.Put(k, name, func(o cluster.Object) {
			if finalizer && o.GetDeletionTimestamp() == nil {
				o.SetFinalizers([]string{"lab/finalizer"})
			}
		})
		if version <= before {
			panic("a write made no later version")
		}
	}
	after, _ := k.Now()
	if obj != nil && len(obj.GetFinalizers()) > 0 && obj.GetDeletionTimestamp() == nil && after[name] == nil {
		panic("an object ended though it had a finalizer")
	}
}

func client(t *testing.T, c *cluster.Cluster, k *cluster.Kind, media, namespace string) *cache.ListWatch {
	version := k.GroupVersion()
	config := &rest.Config{Host: "http://cluster", Transport: fault.Handler(c), APIPath: "/apis", QPS: -1}
	if version.Group == "" {
		config.APIPath = "/api"
	}
	config.ContentType, config.AcceptContentTypes = media, media
	config.GroupVersion, config.NegotiatedSerializer = &version, scheme.Codecs.WithoutConversion()
	client, err := rest.RESTClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	return cache.NewFilteredListWatchFromClient(client, k.Resource, namespace, func(*metav1.ListOptions) {})
}

func put(objects map[cache.ObjectName]string, obj runtime.Object) {
	o := obj.(cluster.Object)
	objects[cache.MetaObjectToName(o)] = o.GetResourceVersion()
}

// within returns the versions of the objects of a namespace, or of all objects if the namespace is empty.
func within(state cluster.State, namespace string) map[cache.ObjectName]string {
	versions := map[cache.ObjectName]string{}
	for name, obj := range state {
		if namespace == "" || name.Namespace == namespace {
			versions[name] = obj.GetResourceVersion()
		}
	}
	return versions
}
