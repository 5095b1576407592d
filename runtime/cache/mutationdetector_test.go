package cache_test

import (
	"sync"
	"testing"
	"testing/synctest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubewright/kubewright/runtime/cache"
)

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
