package informer

import (
	"fmt"
	"os"
	"reflect"
	"strconv"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/diff"
	"k8s.io/klog/v2"
)

// mutationDetector keeps a copy of every object that an informer handed out and
// panics once one of them differs from its copy: somebody changed an object
// that is shared. It is for tests and costs the memory of all objects twice;
// KUBE_CACHE_MUTATION_DETECTOR=true turns it on, as with client-go. A nil
// detector does nothing.
type mutationDetector struct {
	name string

	mu  sync.Mutex
	new []observed

	// Of the goroutine that compares.
	current, previous []observed
	rotated           time.Time
}

// observed is an object with its copy.
type observed struct{ object, copy runtime.Object }

const (
	// comparePeriod is how often objects are compared, retainPeriod how long
	// at least one is compared after it was handed out; both as in client-go.
	comparePeriod = time.Second
	retainPeriod  = 2 * time.Minute
)

func newMutationDetector(name string) *mutationDetector {
	if on, _ := strconv.ParseBool(os.Getenv("KUBE_CACHE_MUTATION_DETECTOR")); !on {
		return nil
	}
	klog.Background().Info("Warning: the mutation detector is on, every cached object is kept twice", "type", name)
	return &mutationDetector{name: name}
}

// add begins to watch an object, if it is one that can be copied.
func (d *mutationDetector) add(obj any) {
	if d == nil {
		return
	}
	if object, ok := obj.(runtime.Object); ok {
		o := observed{object: object, copy: object.DeepCopyObject()}
		d.mu.Lock()
		defer d.mu.Unlock()
		d.new = append(d.new, o)
	}
}

// run compares until done is closed. Its panic is not caught: whoever turned
// the detector on wants the process to end.
func (d *mutationDetector) run(done <-chan struct{}) {
	if d == nil {
		return
	}
	d.rotated = time.Now()
	ticks := time.NewTicker(comparePeriod)
	defer ticks.Stop()
	for {
		if time.Since(d.rotated) > retainPeriod {
			d.previous, d.current, d.rotated = d.current, nil, time.Now()
		}
		d.compare()
		select {
		case <-done:
			return
		case <-ticks.C:
		}
	}
}

func (d *mutationDetector) compare() {
	d.mu.Lock()
	d.current = append(d.current, d.new...)
	d.new = nil
	d.mu.Unlock()

	altered := false
	for _, generation := range [][]observed{d.current, d.previous} {
		for i, o := range generation {
			if !reflect.DeepEqual(o.object, o.copy) {
				altered = true
				fmt.Printf("CACHE %s[%d] ALTERED!\n%v\n", d.name, i, diff.ObjectGoPrintSideBySide(o.object, o.copy))
			}
		}
	}
	if altered {
		panic(fmt.Sprintf("cache %s modified", d.name))
	}
}
