package cache_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clientgo "k8s.io/client-go/tools/cache"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/kubewright/kubewright/runtime/cache"
)

// Keys are those that client-go gives.
func TestKeysLikeClientGo(t *testing.T) {
	type result struct {
		value string
		bad   bool
	}
	call := func(value any, err error) result { return result{fmt.Sprint(value), err != nil} }
	for _, obj := range []any{
		pod("x", "a", "1"), pod("", "a", "1"), cache.ExplicitKey("k"), cache.DeletedFinalStateUnknown{Key: "x/b"},
		cache.DeletedFinalStateUnknown{Key: "a/b/c"}, "no object", nil,
	} {
		for name, pair := range map[string][2]result{
			"MetaNamespaceKeyFunc":                 {call(cache.MetaNamespaceKeyFunc(obj)), call(clientgo.MetaNamespaceKeyFunc(obj))},
			"DeletionHandlingMetaNamespaceKeyFunc": {call(cache.DeletionHandlingMetaNamespaceKeyFunc(obj)), call(clientgo.DeletionHandlingMetaNamespaceKeyFunc(obj))},
			"ObjectToName":                         {call(cache.ObjectToName(obj)), call(clientgo.ObjectToName(obj))},
			"DeletionHandlingObjectToName":         {call(cache.DeletionHandlingObjectToName(obj)), call(clientgo.DeletionHandlingObjectToName(obj))},
			"MetaNamespaceIndexFunc":               {call(cache.MetaNamespaceIndexFunc(obj)), call(clientgo.MetaNamespaceIndexFunc(obj))},
		} {
			if pair[0] != pair[1] {
				t.Errorf("%s(%v): %v, theirs %v", name, obj, pair[0], pair[1])
			}
		}
	}
	for _, key := range []string{"", "a", "a/b", "/", "a/", "/b", "a/b/c"} {
		ns, name, err := cache.SplitMetaNamespaceKey(key)
		ns2, name2, err2 := clientgo.SplitMetaNamespaceKey(key)
		if ns != ns2 || name != name2 || fmt.Sprint(err) != fmt.Sprint(err2) {
			t.Errorf("%q: %q %q %v, theirs %q %q %v", key, ns, name, err, ns2, name2, err2)
		}
		parsed, _ := cache.ParseObjectName(key)
		parsed2, _ := clientgo.ParseObjectName(key)
		if parsed != parsed2 {
			t.Errorf("%q: %v, theirs %v", key, parsed, parsed2)
		}
	}
	want := cache.NewObjectName("x", "a")
	if got := cache.MetaObjectToName(pod("x", "a", "1")); got != want {
		t.Error(got)
	}
	if got := cache.NamespacedNameAsObjectName(types.NamespacedName{Namespace: "x", Name: "a"}); got != want {
		t.Error(got)
	}
	for _, values := range [][]string{nil, {"one"}, {"one", "two"}} {
		index := func(any) ([]string, error) { return values, nil }
		a, errA := cache.IndexFuncToKeyFuncAdapter(index)(nil)
		b, errB := clientgo.IndexFuncToKeyFuncAdapter(index)(nil)
		if a != b || fmt.Sprint(errA) != fmt.Sprint(errB) {
			t.Errorf("%q, %v, theirs %q, %v", a, errA, b, errB)
		}
	}
	if _, err := cache.IndexFuncToKeyFuncAdapter(func(any) ([]string, error) { return nil, errBad })(nil); !errors.Is(err, errBad) {
		t.Error(err)
	}
	untyped := cache.TypedIndexersToIndexers(cache.TypedIndexers[*corev1.Pod]{"n": func(p *corev1.Pod) ([]string, error) { return []string{p.Name}, nil }})
	if got, _ := untyped["n"](pod("x", "a", "1")); !slices.Equal(got, []string{"a"}) {
		t.Error(got)
	}
}

// checker is done when it is closed.
type checker struct {
	name string
	c    chan struct{}
}

func (c checker) Name() string          { return c.name }
func (c checker) Done() <-chan struct{} { return c.c }

// WaitFor returns in the moment in which the last one is done.
func TestWaitFor(t *testing.T) {
	for _, what := range []string{"", "something"} {
		synctest.Test(t, func(t *testing.T) {
			a, b := checker{"a", make(chan struct{})}, checker{"b", make(chan struct{})}
			time.AfterFunc(time.Second, func() { close(a.c) })
			time.AfterFunc(2*time.Second, func() { close(b.c) })
			start := time.Now()
			if !cache.WaitFor(t.Context(), what, a, b) || time.Since(start) != 2*time.Second {
				t.Errorf("waited %v", time.Since(start))
			}
			if !cache.IsDone(a) || cache.IsDone(checker{c: make(chan struct{})}) {
				t.Error("IsDone")
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if cache.WaitFor(ctx, what, checker{"c", make(chan struct{})}, a) {
				t.Error("waited for what never comes")
			}
			if !cache.WaitFor(ctx, what, a, b) {
				t.Error("what is done was not awaited")
			}
		})
	}
	if !cache.WaitFor(t.Context(), "") {
		t.Error("nothing to wait for")
	}
}

func TestWaitForCacheSync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		never := func() bool { return false }
		stop := make(chan struct{})
		close(stop)
		start := time.Now()
		synced := func() bool { return time.Since(start) >= 250*time.Millisecond }
		if cache.WaitForCacheSync(stop, synced) || cache.WaitForNamedCacheSync("c", stop, never) {
			t.Error("true after stop")
		}
		if !cache.WaitForCacheSync(stop, func() bool { return true }) {
			t.Error("what has synced hasn't")
		}
		if !cache.WaitForNamedCacheSync("c", nil, synced) || time.Since(start) != 300*time.Millisecond {
			t.Errorf("waited %v", time.Since(start))
		}
		if !cache.WaitForNamedCacheSyncWithContext(t.Context(), synced) {
			t.Error("what has synced hasn't")
		}
	})
}

func TestRetryWithDeadlineLikeClientGo(t *testing.T) {
	eachSeed(t, func(t *testing.T, r *randomPods) {
		clock := clocktesting.NewFakeClock(time.Now())
		retryable := func(err error) bool { return errors.Is(err, errBad) }
		patience := time.Duration(r.IntN(3)) * time.Minute
		ours := cache.NewRetryWithDeadline(patience, time.Minute, retryable, clock)
		theirs := clientgo.NewRetryWithDeadline(patience, time.Minute, retryable, clock)
		for range 50 {
			switch r.IntN(3) {
			case 0:
				err := []error{nil, errBad, errors.New("other")}[r.IntN(3)]
				ours.After(err)
				theirs.After(err)
			case 1:
				clock.Step(time.Duration(r.IntN(80)) * time.Second)
			}
			same(t, "ShouldRetry", fmt.Sprint(ours.ShouldRetry()), fmt.Sprint(theirs.ShouldRetry()))
		}
	})
}

func TestMutationDetector(t *testing.T) {
	for _, on := range []string{"false", "true"} {
		t.Setenv("KUBE_CACHE_MUTATION_DETECTOR", on)
		synctest.Test(t, func(t *testing.T) {
			d := cache.NewCacheMutationDetector("test")
			obj := &metav1.Status{Message: "as added"}
			d.AddObject(obj)
			obj.Message = "changed"
			stop := make(chan struct{})
			var found any
			var running sync.WaitGroup
			running.Go(func() {
				defer func() { found = recover() }()
				d.Run(stop)
			})
			synctest.Wait()
			close(stop)
			running.Wait()
			if (found != nil) != (on == "true") {
				t.Errorf("on=%s: found %v", on, found)
			}
		})
	}
}
