package engine

import (
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/informer"
)

// TestMutationDetector checks that a change is found within a second, also after the generations have
// rotated, and until the object is forgotten.
func TestMutationDetector(t *testing.T) {
	if newMutationDetector(t.Context(), "x", informer.Options{}) != nil {
		t.Fatal("the detector is on by default")
	}
	t.Setenv("KUBE_CACHE_MUTATION_DETECTOR", "true")
	for _, test := range []struct {
		age   time.Duration
		found bool
	}{
		{0, true},
		{retainPeriod + 10*time.Second, true},
		{2*retainPeriod + 10*time.Second, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			d := newMutationDetector(t.Context(), "things", informer.Options{})
			obj := &metav1.PartialObjectMetadata{}
			d.add(obj)
			d.add("what can't be copied")
			done := make(chan struct{})
			result := make(chan any, 1)
			go func() {
				defer func() { result <- recover() }()
				d.run(done)
			}()
			bubble.Advance(test.age)
			// The lock hides this race, which is intended, from the race detector.
			d.mu.Lock()
			obj.Name = "changed"
			d.mu.Unlock()
			bubble.Advance(comparePeriod)
			close(done)
			if got := <-result; (got == "cache things modified") != test.found || !test.found && got != nil {
				t.Errorf("a change after %v: %v", test.age, got)
			}
		})
	}
}
