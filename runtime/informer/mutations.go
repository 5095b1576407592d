package informer

import (
	"context"
	"fmt"
	"os"
	"reflect"
	"strconv"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/diff"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"

	"github.com/kubewright/kubewright/runtime/internal/indexer"
)

// mutationDetector keeps a copy of every object that an informer handed out and
// panics once one of them differs from its copy: somebody changed an object
// that is shared. It is for tests and costs the memory of all objects twice;
// KUBE_CACHE_MUTATION_DETECTOR=true turns it on, as with client-go. A nil
// detector does nothing.
//
// With a sample it keeps a copy of some objects, and reports what it finds, at the
// latest when the informer has stopped.
type mutationDetector struct {
	name string
	// every is how many objects come on one that is watched, period how often
	// they are compared. A nil report panics.
	every  int
	period time.Duration
	report func(original, modified runtime.Object)

	mu      sync.Mutex
	new     []observed
	skipped int

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
	// samplePeriod is comparePeriod for samples.
	samplePeriod = 10 * time.Second
)

func newMutationDetector(name string, tuning Tuning) *mutationDetector {
	if on, _ := strconv.ParseBool(os.Getenv("KUBE_CACHE_MUTATION_DETECTOR")); on {
		klog.Background().Info("Warning: the mutation detector is on, every cached object is kept twice", "type", name)
		return &mutationDetector{name: name, every: 1, period: comparePeriod}
	}
	if tuning.MutationSample <= 0 {
		return nil
	}
	d := &mutationDetector{name: name, every: tuning.MutationSample, period: samplePeriod, report: tuning.OnMutation}
	if d.report == nil {
		d.report = func(original, modified runtime.Object) {
			utilruntime.HandleErrorWithContext(context.Background(), nil, "A cached object was modified by someone it is shared with",
				"type", name, "object", nameOf(original), "difference", diff.Diff(original, modified))
		}
	}
	return d
}

// nameOf is the namespace and name of an object, "" if it has no metadata.
func nameOf(obj runtime.Object) string {
	name, err := indexer.ObjectName(obj)
	if err != nil {
		return ""
	}
	return name.String()
}

// add begins to watch an object, if it is one that can be copied.
func (d *mutationDetector) add(obj any) {
	if d == nil {
		return
	}
	if !d.chooses() {
		return
	}
	if object, ok := obj.(runtime.Object); ok {
		o := observed{object: object, copy: object.DeepCopyObject()}
		d.mu.Lock()
		defer d.mu.Unlock()
		d.new = append(d.new, o)
	}
}

// chooses says whether the next object is one to be watched.
func (d *mutationDetector) chooses() bool {
	if d.every == 1 {
		return true
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.skipped++; d.skipped < d.every {
		return false
	}
	d.skipped = 0
	return true
}

// run compares in each period until done is closed. Its panic is not caught:
// whoever turned the detector on wants the process to end.
func (d *mutationDetector) run(done <-chan struct{}) {
	if d == nil {
		return
	}
	d.rotated = time.Now()
	ticks := time.NewTicker(d.period)
	defer ticks.Stop()
	for {
		select {
		case <-done:
			return
		case <-ticks.C:
		}
		if time.Since(d.rotated) > retainPeriod {
			d.previous, d.current, d.rotated = d.current, nil, time.Now()
		}
		d.compare()
	}
}

// last compares samples once more, after run and all handlers have ended: what
// lives shorter than a period, as tests do, is told, too. Without a sample there is
// no such comparison, as with client-go.
func (d *mutationDetector) last() {
	if d != nil && d.report != nil {
		d.compare()
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
			switch {
			case reflect.DeepEqual(o.object, o.copy):
			case d.report != nil:
				d.report(o.copy, o.object)
				generation[i] = observed{} // Once is enough.
			default:
				altered = true
				fmt.Printf("CACHE %s[%d] ALTERED!\n%v\n", d.name, i, diff.ObjectGoPrintSideBySide(o.object, o.copy))
			}
		}
	}
	if altered {
		panic(fmt.Sprintf("cache %s modified", d.name))
	}
}
