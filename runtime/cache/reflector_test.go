package cache_test

import (
	"fmt"
	"path/filepath"
	"runtime"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubewright/kubewright/runtime/cache"
)

// TestReflectorIsNamedAfterItsCaller checks that a reflector without a name is named after the line that
// calls a constructor, whichever constructor that is.
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
	if r := cache.NewNamedReflector("name", lw, nil, store, 0); r.Name() != "name" ||
		r.TypeDescription() != "<unspecified>" {
		t.Errorf("%s %s", r.Name(), r.TypeDescription())
	}
}

// line returns the number of the line that calls it.
func line() int {
	_, _, line, _ := runtime.Caller(1)
	return line
}

// TestReflectorFillsIndexer checks that client-go's reflector fills an indexer of ours.
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
		if err != nil || len(found) != 1 ||
			indexer.LastStoreSyncResourceVersion() != r.LastSyncResourceVersion() {
			t.Errorf("%v, %v, at %s of %s", found, err, indexer.LastStoreSyncResourceVersion(),
				r.LastSyncResourceVersion())
		}
		stop()
	})
}
