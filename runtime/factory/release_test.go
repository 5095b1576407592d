package factory_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/kubewright/kubewright/runtime/factory"
	"github.com/kubewright/kubewright/runtime/gen/informer"
	"github.com/kubewright/kubewright/runtime/runtimetest"
)

func TestRelease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newGenerated(open())
		ctx, cancel := context.WithCancel(t.Context())
		defer f.informers.Shutdown()
		defer cancel()
		first := f.informers.InformerFor(&corev1.Secret{}, secrets)
		other := f.informers.InformerFor(&corev1.ConfigMap{}, configMaps)
		check := func(errs ...error) {
			t.Helper()
			if err := errors.Join(errs...); err != nil {
				t.Error(err)
			}
		}
		check(factory.Retain(f, first), factory.Retain(f, first))
		f.informers.StartWithContext(ctx)
		check(factory.WaitForSync(ctx, f))
		check(factory.Release(f, first))
		synctest.Wait()
		if first.IsStopped() || f.informers.InformerFor(&corev1.Secret{}, secrets) != first {
			t.Error("stopped although somebody holds it")
		}
		check(factory.Release(f, first))
		synctest.Wait()
		if !first.IsStopped() || other.IsStopped() {
			t.Errorf("stopped: %v, and the other: %v", first.IsStopped(), other.IsStopped())
		}
		if factory.Release(f, first) == nil || factory.Retain(f, first) == nil {
			t.Error("held what was released")
		}

		second := f.informers.InformerFor(&corev1.Secret{}, secrets)
		if second == first {
			t.Fatal("got the informer that has stopped")
		}
		f.informers.StartWithContext(ctx)
		check(factory.WaitForSync(ctx, f))
		if n := len(second.GetStore().List()); n != 1 {
			t.Errorf("started again, it has %d objects", n)
		}
		check(factory.Release(f, second)) // nothing holds it
		synctest.Wait()
		if !second.IsStopped() {
			t.Error("runs on although nobody holds it")
		}
	})
}

// uncomparable is an informer of a type for which == panics.
type uncomparable struct {
	cache.SharedIndexInformer
	_ func()
}

// TestRetainUnsupportedInformer checks that a factory may retain informers that are not ours. Typed makes a
// new typed informer over such an informer at each call, and Retain and Release accept each of them.
func TestRetainUnsupportedInformer(t *testing.T) {
	f := newGenerated(open())
	theirs := f.informers.InformerFor(&corev1.Secret{},
		func(*clientset, time.Duration) cache.SharedIndexInformer {
			return cache.NewSharedIndexInformer(&cache.ListWatch{}, &corev1.Secret{}, 0, cache.Indexers{})
		})
	strange := f.informers.InformerFor(&corev1.Pod{},
		func(*clientset, time.Duration) cache.SharedIndexInformer {
			return uncomparable{theirs, nil}
		})
	if err := factory.Retain(f, strange); err == nil {
		t.Error("held what can't be told from others")
	}
	if err := factory.Retain(f, informer.Typed[*corev1.Secret](theirs)); err != nil {
		t.Error(err)
	}
	for range 2 {
		if again := f.informers.InformerFor(&corev1.Secret{}, secrets); again != theirs {
			t.Fatal("released while it was held")
		}
		if err := factory.Retain(f, theirs); err != nil {
			t.Error(err)
		}
		if err := factory.Release(f, informer.Typed[*corev1.Secret](theirs)); err != nil {
			t.Error(err)
		}
	}
	if err := factory.Release(f, theirs); err != nil {
		t.Error(err)
	}
	if again := f.informers.InformerFor(&corev1.Secret{}, secrets); again == theirs {
		t.Error("not released")
	}
}

// TestReleaseBeforeStart checks that an informer that is released before the start never runs.
func TestReleaseBeforeStart(t *testing.T) {
	f := newGenerated(open())
	i := f.informers.InformerFor(&corev1.Secret{}, secrets)
	if err := factory.Release(f, i); err != nil {
		t.Error(err)
	}
	f.informers.StartWithContext(t.Context())
	f.informers.Shutdown()
}

// TestMadeAgain checks that an informer that replaces a released one lists the newest state: a handler that
// has seen the objects must not go back in time. See kubernetes#59848.
func TestMadeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := runtimetest.NewServer[corev1.ConfigMap, corev1.ConfigMapList]()
		server.NoWatchListClient()
		var versions []string
		server.OnRequest(func(_ context.Context, r runtimetest.Request) error {
			if r.Verb == "LIST" {
				versions = append(versions, r.Options.ResourceVersion)
			}
			return nil
		})
		f := newGenerated(open())
		defer f.informers.Shutdown()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		maps := func(*clientset, time.Duration) cache.SharedIndexInformer {
			return informer.NewShared[*corev1.ConfigMap](func() informer.ResourceClient[*corev1.ConfigMapList] {
				return server
			}, informer.Options{Client: server, Resource: corev1.SchemeGroupVersion.WithResource("configmaps")})
		}
		for range 2 {
			i := f.informers.InformerFor(&corev1.ConfigMap{}, maps)
			f.informers.StartWithContext(ctx)
			<-i.HasSyncedChecker().Done()
			if err := factory.Release(f, i); err != nil {
				t.Error(err)
			}
		}
		synctest.Wait()
		if want := []string{"0", ""}; !slices.Equal(versions, want) {
			t.Errorf("lists of the versions %q, want %q", versions, want)
		}
	})
}
