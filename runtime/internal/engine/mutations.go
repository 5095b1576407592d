package engine

import (
	"context"
	"fmt"
	"os"
	"reflect"
	"strconv"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"

	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/internal/indexer"
)

// mutationDetector finds code that modifies the shared objects of an informer. It copies
// objects that the informer hands out and compares them with the copies. add,
// compareLast and status of a nil detector do nothing.
//
// KUBE_CACHE_MUTATION_DETECTOR=true makes it copy every object, which doubles their
// memory, and panic when it finds a difference, as with client-go. With
// informer.Options.MutationSample it copies some objects and reports differences, the last ones
// when the informer has stopped.
type mutationDetector struct {
	name string
	// ctx has the informer's logger.
	ctx context.Context
	// every is n if one in n objects is copied, period how often objects are compared.
	// Without report, a difference is a panic.
	every  int
	period time.Duration
	report func(original, modified runtime.Object)

	mu      sync.Mutex
	new     []watchedObject
	skipped int
	// found counts the objects that were modified. The first was found at first, the last is last.
	found int
	first time.Time
	last  string

	// The fields below belong to the goroutine that compares.
	current, previous []watchedObject
	rotated           time.Time
}

// watchedObject is an object with its copy.
type watchedObject struct{ object, copy runtime.Object }

const (
	// comparePeriod is how often objects are compared, retainPeriod for how long at
	// least after they were handed out. Both are client-go's.
	comparePeriod = time.Second
	retainPeriod  = 2 * time.Minute
	// samplePeriod is comparePeriod for samples.
	samplePeriod = 10 * time.Second
)

func newMutationDetector(
	ctx context.Context, name string, options informer.Options,
) *mutationDetector {
	if on, _ := strconv.ParseBool(os.Getenv("KUBE_CACHE_MUTATION_DETECTOR")); on {
		klog.FromContext(ctx).Info("Warning: the mutation detector is on: "+
			"a second copy of each object is kept for two to four minutes", "type", name)
		return &mutationDetector{name: name, ctx: ctx, every: 1, period: comparePeriod}
	}
	if options.MutationSample <= 0 {
		return nil
	}
	d := &mutationDetector{name: name, ctx: ctx, every: options.MutationSample, period: samplePeriod,
		report: options.OnMutation}
	if d.report == nil {
		d.report = func(original, modified runtime.Object) {
			utilruntime.HandleErrorWithContext(d.ctx, nil,
				"A cached object was modified by someone it is shared with", "type", name,
				"object", nameOf(original), "fields", differences(original, modified))
		}
	}
	return d
}

// nameOf returns the namespace/name of an object, or "" if it has no metadata.
func nameOf(obj runtime.Object) string {
	name, err := indexer.ObjectName(obj)
	if err != nil {
		return ""
	}
	return name.String()
}

// add begins to watch an object, if it is sampled and can be copied.
func (d *mutationDetector) add(obj any) {
	if d == nil || !d.samples() {
		return
	}
	if object, ok := obj.(runtime.Object); ok {
		o := watchedObject{object: object, copy: object.DeepCopyObject()}
		d.mu.Lock()
		defer d.mu.Unlock()
		d.new = append(d.new, o)
	}
}

// samples reports whether to watch the next object.
func (d *mutationDetector) samples() bool {
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

// run compares once in each period until done is closed. A panic is not caught: with
// KUBE_CACHE_MUTATION_DETECTOR the detector is meant to end the process.
func (d *mutationDetector) run(done <-chan struct{}) {
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

// compareLast compares sampled objects once more, after run and all handlers have ended,
// for informers that run for less than a period, as in tests. Like client-go's, a
// detector of all objects doesn't compare at the end.
func (d *mutationDetector) compareLast() {
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
	for _, generation := range [][]watchedObject{d.current, d.previous} {
		for i, o := range generation {
			switch {
			case reflect.DeepEqual(o.object, o.copy):
			case d.report != nil:
				d.note(nameOf(o.copy))
				d.report(o.copy, o.object)
				generation[i] = watchedObject{} // It is reported once.
			default:
				altered = true
				fmt.Printf("CACHE %s[%d] ALTERED! %s: %v\n", d.name, i, nameOf(o.copy),
					differences(o.copy, o.object))
			}
		}
	}
	if altered {
		panic(fmt.Sprintf("cache %s modified", d.name))
	}
}

// note notes that an object was modified.
func (d *mutationDetector) note(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.found++; d.found == 1 {
		d.first = time.Now()
	}
	d.last = name
}

// status sets what was found.
func (d *mutationDetector) status(s *informer.Status) {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	s.FindsMutations, s.Mutations, s.MutatedSince, s.MutatedObject = true, d.found, d.first, d.last
}
