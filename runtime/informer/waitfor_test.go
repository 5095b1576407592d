package informer_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/internal/indexer"
	"github.com/kubewright/kubewright/runtime/internal/store"
	"github.com/kubewright/kubewright/runtime/lister"
)

// TestWaitFor: whoever waits for a version is released by the change, bookmark
// or list that brings it, at that moment, and reads what it waited for.
func TestWaitFor(t *testing.T) {
	for _, test := range []struct {
		name   string
		server func(s *server)
	}{
		{"change", func(s *server) { s.put("b") }},
		{"deletion", func(s *server) { s.remove("a") }},
		{"a later change", func(s *server) { s.version = 10; s.put("b") }},
		{"bookmark", func(s *server) { s.version = 2; s.bookmark() }},
		{"list", func(s *server) { s.forget(func() { s.put("b") }) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer()
				s.put("a")
				i := s.ours(informer.Options{})
				var early, late sync.WaitGroup
				early.Go(func() { wait(t, i, "1") })
				synctest.Wait() // It waits for one that isn't started yet, too.
				stop := run(i)
				early.Wait()
				wait(t, i, "")
				wait(t, i, "1")
				late.Go(func() {
					wait(t, i, "2")
					if got := i.Core().Status().ResourceVersion; got != strconv.Itoa(s.version) {
						t.Errorf("the store is at %s", got)
					}
				})
				synctest.Wait()
				test.server(s)
				late.Wait()
				stop()
			})
		})
	}
}

// TestListerWaitsFor: what a lister reads is awaited through the lister, too.
func TestListerWaitsFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		s.put("first") // No server is at version 0.
		i := s.ours(informer.Options{})
		list := lister.NewNamespaced(lister.New[*configMap](i.GetIndexer(), configMaps), "ns1")
		stop := run(i)
		for range 10 {
			version := strconv.Itoa(s.put("a"))
			views := lister.NewReadOnly(i.GetIndexer(), configMaps, (*configMap).GetResourceVersion)
			for _, l := range []any{list, views, lister.NewGeneric(i.GetTypedIndexer(), configMaps)} {
				if err := lister.WaitForVersion(t.Context(), l, version); err != nil {
					t.Errorf("%T: %v", l, err)
				}
			}
			if got, err := list.Get("a"); err != nil || got.ResourceVersion != version {
				t.Errorf("read %v, %v after the write of version %s", got, err, version)
			}
		}
		stop()
		for _, other := range []cache.Indexer{s.theirs(informer.Options{}).GetIndexer(), indexer.New(store.New[cache.ObjectName](), indexer.ObjectNames(reflect.TypeFor[*configMap]()))} {
			if err := lister.WaitForVersion(t.Context(), lister.New[*configMap](other, configMaps), "1"); err == nil {
				t.Errorf("waited for %T", other)
			}
		}
	})
}

func wait(t *testing.T, i made, version string) {
	if err := informer.WaitForVersion(t.Context(), i, version); err != nil {
		t.Errorf("version %q: %v", version, err)
	}
}

func TestWaitForFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		i := s.ours(informer.Options{})
		if err := i.WaitForVersion(t.Context(), "a3f"); err == nil {
			t.Error("waited for an opaque version")
		}
		if err := informer.WaitForVersion(t.Context(), s.theirs(informer.Options{}), "1"); !errors.Is(err, informer.ErrUnsupportedInformer) {
			t.Errorf("client-go's informer: %v", err)
		}
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errors.New("patience"))
		defer cancel()
		if err := i.WaitForVersion(ctx, "1"); err == nil || err.Error() != "patience" {
			t.Errorf("error %v", err)
		}
		stop := run(i)
		waited := make(chan error)
		go func() { waited <- i.WaitForVersion(t.Context(), "1") }()
		synctest.Wait()
		s.raw(watch.Event{Type: watch.Modified, Object: &configMap{ObjectMeta: metav1.ObjectMeta{Name: "a", ResourceVersion: "a3f"}}})
		if err := <-waited; err == nil {
			t.Error("the store's version is opaque, and the wait succeeded")
		}
		go func() { waited <- i.WaitForVersion(t.Context(), "99") }()
		synctest.Wait()
		stop()
		if err := <-waited; err == nil {
			t.Error("the informer has stopped, and the wait succeeded")
		}
	})
}

// TestReadYourWrites: on the real clock, whoever waits for the version of its own
// write reads this write or a later one.
func TestReadYourWrites(t *testing.T) {
	s := newServer()
	s.put("first") // No server is at version 0.
	i := s.ours(informer.Options{})
	stop := run(i)
	var writers sync.WaitGroup
	for w := range 8 {
		writers.Go(func() {
			for range 200 {
				name := fmt.Sprint("object", w)
				version := s.put(name)
				wait(t, i, strconv.Itoa(version))
				if obj, ok, _ := i.GetIndexer().GetByKey("ns1/" + name); !ok || versionOf(obj.(*configMap)) != version {
					t.Errorf("read %v after the write of %s@%d", obj, name, version)
				}
			}
		})
	}
	writers.Wait()
	stop()
}

func BenchmarkWaitFor(b *testing.B) {
	f := newFeed(1)
	i := made{f.ours().(cache.TypedSharedIndexInformer[*configMap])}
	stop := run(i)
	<-i.HasSyncedChecker().Done()
	b.ReportAllocs()
	for b.Loop() {
		if err := i.WaitForVersion(b.Context(), "1"); err != nil {
			b.Fatal(err)
		}
	}
	stop()
}
