package informer_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/gen/client"
	gen "github.com/kubewright/kubewright/runtime/gen/informer"
	genlister "github.com/kubewright/kubewright/runtime/gen/lister"
	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/internal/indexer"
	"github.com/kubewright/kubewright/runtime/internal/store"
	"github.com/kubewright/kubewright/runtime/lister"
)

// TestWaitForVersion checks that a wait for a version ends with the change, bookmark or list of that version,
// and that the store then reflects it.
func TestWaitForVersion(t *testing.T) {
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
				i := s.ours(gen.Options{})
				var early, late sync.WaitGroup
				early.Go(func() { wait(t, i, "1") })
				synctest.Wait() // it also waits for an informer that isn't started yet
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

// TestListerWaitsForVersion checks that waits accept a lister, too.
func TestListerWaitsForVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		s.put("first") // servers never are at version 0
		i := s.ours(gen.Options{})
		list := genlister.NewNamespaced(genlister.New[*configMap](i.GetIndexer(), configMaps), "ns1")
		stop := run(i)
		for range 10 {
			version := strconv.Itoa(s.put("a"))
			views := genlister.NewReadOnly(i.GetIndexer(), configMaps, (*configMap).GetResourceVersion)
			generic := genlister.NewGeneric(i.GetTypedIndexer(), configMaps)
			if err := errors.Join(lister.WaitForVersion(t.Context(), list, version),
				lister.WaitForVersion(t.Context(), views, version),
				lister.WaitForVersion(t.Context(), generic, version)); err != nil {
				t.Error(err)
			}
			if got, err := list.Get("a"); err != nil || got.ResourceVersion != version {
				t.Errorf("read %v, %v after the write of version %s", got, err, version)
			}
		}
		stop()
		for _, other := range []cache.Indexer{
			s.theirs(gen.Options{}).GetIndexer(),
			indexer.New(store.New[cache.ObjectName](), indexer.ObjectNames(reflect.TypeFor[*configMap]())),
		} {
			if err := lister.WaitForVersion(
				t.Context(), genlister.New[*configMap](other, configMaps), "1",
			); err == nil {
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

func TestWaitForVersionFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		i := s.ours(gen.Options{})
		if err := i.WaitForVersion(t.Context(), "a3f"); err == nil {
			t.Error("waited for an opaque version")
		}
		if err := informer.WaitForVersion(
			t.Context(), s.theirs(gen.Options{}), "1",
		); !errors.Is(err, informer.ErrUnsupportedInformer) {
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
		s.raw(watch.Event{Type: watch.Modified,
			Object: &configMap{ObjectMeta: metav1.ObjectMeta{Name: "a", ResourceVersion: "a3f"}}})
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

// TestReadYourWrites checks, on the real clock, that a read after a wait for the version of a write shows
// this write or a later one.
func TestReadYourWrites(t *testing.T) {
	s := newServer()
	s.put("first") // servers never are at version 0
	i := s.ours(gen.Options{})
	stop := run(i)
	var writers sync.WaitGroup
	for w := range 8 {
		writers.Go(func() {
			for range 200 {
				name := fmt.Sprint("object", w)
				version := s.put(name)
				wait(t, i, strconv.Itoa(version))
				if obj, ok, _ := i.GetIndexer().GetByKey("ns1/" + name); !ok ||
					versionOf(obj.(*configMap)) != version {
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

// TestWaitForOwnWrites checks that after the wait, the lister shows all earlier writes, or later states. The
// wait takes no time if the lister shows them already, and otherwise as long as the events take to arrive.
func TestWaitForOwnWrites(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 0))
			l := newLagging()
			l.put("x") // by another client
			i := l.informer(gen.Options{})
			all := genlister.New[*configMap](i.GetIndexer(), configMaps)
			defer run(i)()
			// Names of one and of two letters are in different namespaces.
			written, pending, ours := map[string]int{}, map[string]time.Time{}, map[types.UID]bool{}
			for range 200 {
				name := []string{"a", "b", "cc", "dd"}[random.IntN(4)]
				namespace := fmt.Sprint("ns", len(name)%2)
				switch random.IntN(6) {
				case 0:
					l.write(name)
					written[name], pending[namespace] = l.version, time.Now()
					ours[l.objects[name].UID] = true
				case 1:
					// Objects that neither the cache nor the test knows may still appear and disappear.
					shown, _ := genlister.NewNamespaced(all, namespace).Get(name)
					if obj := l.objects[name]; obj != nil &&
						(ours[obj.UID] || shown != nil && shown.UID == obj.UID) {
						l.delete(name)
						written[name], pending[namespace] = l.version, time.Now()
					}
				case 2:
					l.put(name)
				case 3:
					l.remove(name)
				case 4:
					<-time.After(time.Duration(random.IntN(int(2 * delay))))
				default:
					from, of := all, ""
					if random.IntN(2) == 0 {
						from, of = genlister.NewNamespaced(all, namespace), namespace
					}
					begun := time.Now()
					if err := lister.WaitForOwnWrites(t.Context(), from); err != nil {
						t.Fatal(err)
					}
					var last time.Time
					for where, at := range pending {
						if (of == "" || where == of) && at.After(last) {
							last = at
						}
					}
					// The first list contained the earlier writes.
					if took, needed := time.Since(begun), last.Add(delay).Sub(begun); i.HasSynced() &&
						took > max(needed, 0) {
						t.Fatalf("seed %d: took %v, %v were needed", seed, took, needed)
					}
					for name, version := range written {
						where := fmt.Sprint("ns", len(name)%2)
						if of != "" && where != of {
							continue
						}
						shown, err := genlister.NewNamespaced(all, where).Get(name)
						now := l.objects[name]
						switch {
						case err == nil && versionOf(shown) < version:
							t.Fatalf("seed %d: %s is shown as it was at %s, we wrote at %d", seed, name,
								shown.ResourceVersion, version)
						case err != nil && now != nil && versionOf(now) == version:
							t.Fatalf("seed %d: %s, written at %d, isn't shown", seed, name, version)
						}
					}
				}
			}
		})
	}
}

// TestWaitForOwnDeletions checks that a wait for a deletion ends when the object is gone, replaced or was
// never in the cache, and not before the cache may have had it.
func TestWaitForOwnDeletions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLagging()
		i := l.informer(gen.Options{})
		waited := make(chan time.Duration, 1)
		fresh := func() {
			begun := time.Now()
			go func() {
				if err := informer.WaitForOwnWrites(t.Context(), i); err != nil {
					t.Error(err)
				}
				waited <- time.Since(begun)
			}()
		}
		l.put("a")
		l.objects["a"].UID = "first"
		l.delete("a")
		// No wait ends before the first list.
		fresh()
		synctest.Wait()
		stop := run(i)
		if took := <-waited; took != 0 {
			t.Errorf("took %v after the list", took)
		}
		l.write("b")
		l.objects["b"].UID = "second"
		l.delete("b") // the cache has not seen it yet, but will
		fresh()
		if took := <-waited; took != delay {
			t.Errorf("took %v for one that comes and goes", took)
		}
		if _, shown, _ := i.GetIndexer().GetByKey("ns1/b"); shown {
			t.Error("b is shown")
		}
		l.deletions = append(l.deletions,
			client.Deletion{Sequence: uint64(len(l.deletions) + 1), Namespace: "ns1", Name: "c",
				UID: types.UID("old")})
		l.put("c")
		fresh()
		if took := <-waited; took != 0 {
			t.Errorf("took %v for one that was replaced", took)
		}
		l.write("d")
		bubble.Advance(delay)
		l.delete("d")
		last := &l.deletions[len(l.deletions)-1]
		last.UID, last.ResourceVersion = "", strconv.Itoa(l.version)
		fresh()
		if took := <-waited; took != delay {
			t.Errorf("took %v for one of which only the version is known", took)
		}
		l.deletions = append(l.deletions, client.Deletion{Sequence: uint64(len(l.deletions) + 1),
			Namespace: "ns1", Name: "d", UID: "unknown", ResourceVersion: strconv.Itoa(l.version + 1)})
		fresh()
		if took := <-waited; took != 0 {
			t.Errorf("took %v for one that is gone, whose version isn't shown", took)
		}
		stop()
	})
}

// TestWaitForOwnWritesFails checks that a client that doesn't record its writes causes an error, and that the
// wait ends with its context and with the informer.
func TestWaitForOwnWritesFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		i := s.ours(gen.Options{})
		if err := informer.WaitForOwnWrites(t.Context(), i); !errors.Is(err, informer.ErrWritesNotTracked) {
			t.Errorf("a client without memory: %v", err)
		}
		if err := informer.WaitForOwnWrites(
			t.Context(), s.theirs(gen.Options{}),
		); !errors.Is(err, informer.ErrUnsupportedInformer) {
			t.Errorf("client-go's informer: %v", err)
		}
		for _, other := range []cache.Indexer{
			s.theirs(gen.Options{}).GetIndexer(),
			indexer.New(store.New[cache.ObjectName](), indexer.ObjectNames(reflect.TypeFor[*configMap]())),
		} {
			if err := lister.WaitForOwnWrites(
				t.Context(), genlister.New[*configMap](other, configMaps),
			); err == nil {
				t.Errorf("fresh from %T", other)
			}
		}
		l := newLagging()
		l.put("a")
		i = l.informer(gen.Options{})
		if err := lister.WaitForOwnWrites(
			t.Context(), genlister.NewGeneric(i.GetIndexer(), configMaps),
		); err != nil {
			t.Errorf("nothing was written, but %v", err)
		}
		l.write("b")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errors.New("patience"))
		defer cancel()
		if err := informer.WaitForOwnWrites(ctx, i); err == nil || err.Error() != "patience" {
			t.Errorf("not started: %v", err)
		}
		stop := run(i)
		<-i.HasSyncedChecker().Done()
		l.delete("a")
		waited := make(chan error)
		go func() { waited <- informer.WaitForOwnWrites(t.Context(), i) }()
		synctest.Wait()
		stop()
		if err := <-waited; !errors.Is(err, informer.ErrStopped) {
			t.Errorf("stopped: %v", err)
		}
	})
}

func BenchmarkWaitForOwnWrites(b *testing.B) {
	l := newLagging()
	l.write("a")
	i := l.informer(gen.Options{})
	stop := run(i)
	<-i.HasSyncedChecker().Done()
	all := genlister.New[*configMap](i.GetIndexer(), configMaps)
	b.ReportAllocs()
	for b.Loop() {
		if err := lister.WaitForOwnWrites(b.Context(), all); err != nil {
			b.Fatal(err)
		}
	}
	stop()
}
