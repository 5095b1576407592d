package cache_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	clientgo "k8s.io/client-go/tools/cache"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/kubewright/kubewright/runtime/cache"
)

// A reflector without a name is named after the line that makes it, whichever constructor that calls.
func TestReflectorIsNamedAfterItsCaller(t *testing.T) {
	lw, store := newServer().ListerWatcher(), cache.NewStore(keyFunc)
	for name, make := range map[string]func() (*cache.Reflector, int){
		"NewReflector": func() (*cache.Reflector, int) {
			return cache.NewReflector(lw, &corev1.Pod{}, store, 0), line()
		},
		"NewReflectorWithOptions": func() (*cache.Reflector, int) {
			return cache.NewReflectorWithOptions(lw, &corev1.Pod{}, store, cache.ReflectorOptions{}), line()
		},
		"NewNamespaceKeyedIndexerAndReflector": func() (*cache.Reflector, int) {
			_, r := cache.NewNamespaceKeyedIndexerAndReflector(lw, &corev1.Pod{}, 0)
			return r, line() - 1
		},
	} {
		r, line := make()
		if got, want := filepath.Base(r.Name()), fmt.Sprintf("reflector_test.go:%d", line); got != want {
			t.Errorf("%s: named %s, want %s", name, got, want)
		}
	}
	if r := cache.NewNamedReflector("name", lw, nil, store, 0); r.Name() != "name" || r.TypeDescription() != "<unspecified>" {
		t.Errorf("%s %s", r.Name(), r.TypeDescription())
	}
}

// line is the line that calls it.
func line() int {
	_, _, line, _ := runtime.Caller(1)
	return line
}

// client-go's reflector fills an indexer of ours.
func TestReflectorFillsIndexer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		s.Create(pod("x", "a", ""))
		indexer, r := cache.NewNamespaceKeyedIndexerAndReflector(s.ListerWatcher(), &corev1.Pod{}, 0)
		stop := running(t, r.RunWithContext)
		s.Create(pod("x", "b", ""))
		s.Delete("x", "a")
		settle()
		found, err := indexer.ByIndex(cache.NamespaceIndex, "x")
		if err != nil || len(found) != 1 || indexer.LastStoreSyncResourceVersion() != r.LastSyncResourceVersion() {
			t.Errorf("%v, %v, at %s of %s", found, err, indexer.LastStoreSyncResourceVersion(), r.LastSyncResourceVersion())
		}
		stop()
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
