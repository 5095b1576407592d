package ownwrites

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"

	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/internal/observe"
	"github.com/kubewright/kubewright/runtime/internal/unwrap"
)

// Options are those of a Tracker. The zero value is valid.
type Options struct {
	// Bound is how long a key waits at most, from the moment when it would be ready. The default is 10 seconds.
	Bound time.Duration
	// SkipEchoes skips additions of keys that are only due to their own writes, see the package documentation.
	SkipEchoes bool
	// Logger is where the tracker logs what it doesn't wait for. The default is klog's.
	Logger *klog.Logger
	// Metrics receives measurements, see also [queue.Metrics.Parked]. Nil turns them off.
	Metrics *Metrics
}

// Metrics are the measurements of a Tracker. All fields must be set. They are called without locks.
type Metrics struct {
	// Waits observes how long a key was parked, in seconds. Keys that weren't parked don't count.
	Waits workqueue.HistogramMetric
	// Bound counts the keys that were handed out because the bound was reached.
	Bound workqueue.CounterMetric
	// Unknown counts the calls of reconcile of which an answer to a write was lost. Their keys are handed out
	// again without a wait for that write.
	Unknown workqueue.CounterMetric
}

// Tracker remembers what the reconciles of its queues write, see the package documentation. New makes it. All
// methods are safe for concurrent use.
type Tracker struct {
	bound   time.Duration
	skips   bool
	logger  klog.Logger
	metrics *Metrics
	start   time.Time

	// mu is taken after the lock of a queue. No queue is called with it.
	mu sync.Mutex
	// informers are those of each resource. Their order is that of Add.
	informers map[schema.GroupResource][]*watched
	// parked, absent and own are the records, removals and own versions whose time ends, in this order: the
	// bound is the same for all.
	parked list[record, *record]
	absent list[removal, *removal]
	own    list[ownVersion, *ownVersion]
	// versions are those of each object. Their number is in counts, by resource.
	versions map[types.UID]*ownVersion
	counts   map[schema.GroupResource]*atomic.Int32
	// timer rings for the first of them, at the time alarm, which is 0 if it isn't set.
	timer *time.Timer
	alarm time.Duration
	// logged are the reasons that were logged.
	logged map[string]bool
}

// New returns a tracker for the writes to one API server.
func New(o Options) *Tracker {
	return &Tracker{
		bound:     cmp.Or(o.Bound, 10*time.Second),
		skips:     o.SkipEchoes,
		logger:    ptr.Deref(o.Logger, klog.Background()),
		metrics:   o.Metrics,
		start:     time.Now(),
		informers: map[schema.GroupResource][]*watched{},
		versions:  map[types.UID]*ownVersion{},
		counts:    map[schema.GroupResource]*atomic.Int32{},
		logged:    map[string]bool{},
	}
}

var errNoResource = errors.New("nobody knows which resource it lists")

// Add names informers that read from the tracker's API server. Keys wait until these informers show their
// writes. It returns an error if an informer isn't one of this module, or if its resource is unknown, see
// [informer.Status]. Informers that were added before are ignored.
func (t *Tracker) Add(informers ...cache.SharedIndexInformer) error {
	for _, i := range informers {
		if err := t.add(i); err != nil {
			status, _ := informer.StatusOf(i)
			return fmt.Errorf("track own writes in the %s: %w", status.Name, err)
		}
	}
	return nil
}

func (t *Tracker) add(i cache.SharedIndexInformer) error {
	status, ok := informer.StatusOf(i)
	observed, observable := unwrap.As[observe.Cache](i)
	switch {
	case !ok || !observable:
		return informer.ErrUnsupportedInformer
	case status.Resource.Empty():
		return errNoResource
	}
	resource := status.Resource.GroupResource()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.informers[resource] = slices.DeleteFunc(t.informers[resource], func(known *watched) bool {
		stopped, ok := known.cache.(interface{ IsStopped() bool })
		return ok && stopped.IsStopped()
	})
	for _, known := range t.informers[resource] {
		if known.cache == observed {
			return nil
		}
	}
	if t.counts[resource] == nil {
		t.counts[resource] = new(atomic.Int32)
	}
	w := &watched{tracker: t, cache: observed, name: status.Name, resource: resource,
		last: observed.Version(), own: t.counts[resource], removals: map[string]*removal{}}
	t.informers[resource] = append(t.informers[resource], w)
	observed.Observe(w)
	return nil
}

func (t *Tracker) hasInformers(resource schema.GroupResource) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.informers[resource]) > 0
}

// now returns the time since the tracker was made.
func (t *Tracker) now() time.Duration { return time.Since(t.start) }

// logOnce logs a message, the first time that it is called for a reason.
func (t *Tracker) logOnce(reason, message string, values ...any) {
	t.mu.Lock()
	known := t.logged[reason]
	t.logged[reason] = true
	t.mu.Unlock()
	if !known {
		t.logger.Info(message, values...)
	}
}

// lost counts a call of reconcile that lost an answer.
func (t *Tracker) lost(r run) {
	if r.loses() && t.metrics != nil {
		t.metrics.Unknown.Inc()
	}
}

// note makes a key wait for a write, in all caches that have yet to show it.
func (t *Tracker) note(r run, w *write) {
	var ready released
	var ignored []string
	t.mu.Lock()
	for _, in := range t.informers[w.GroupResource] {
		if reason := in.note(r, w, &ready); reason != "" {
			ignored = append(ignored, in.name, reason)
		}
	}
	t.noteOwn(r, w)
	t.mu.Unlock()
	ready.release(t)
	for ; len(ignored) > 0; ignored = ignored[2:] {
		t.logOnce(ignored[0]+ignored[1], "Own writes are not waited for",
			"informer", ignored[0], "reason", ignored[1])
	}
}

// holds reports whether a record holds back its key, which is about to be ready.
func (t *Tracker) holds(r *record) bool {
	r.look()
	if r.open == 0 {
		return false
	}
	if !r.parked {
		r.parked, r.since = true, t.now()
		t.parked.push(r)
		t.arm()
	}
	return true
}

// arm sets the timer for what ends first. The caller holds mu.
func (t *Tracker) arm() {
	if t.alarm != 0 {
		return
	}
	first := time.Duration(math.MaxInt64)
	if r := t.parked.first; r != nil {
		first = r.since
	}
	if d := t.absent.first; d != nil {
		first = min(first, d.since)
	}
	if v := t.own.first; v != nil {
		first = min(first, v.since)
	}
	if first == math.MaxInt64 {
		return
	}
	t.alarm = first + t.bound
	// The timer isn't stopped when the first ends early: it rings, and is set for the next one.
	if wait := t.alarm - t.now(); t.timer == nil {
		t.timer = time.AfterFunc(wait, t.ring)
	} else {
		t.timer.Reset(wait)
	}
}

// ring ends what has lasted for the bound.
func (t *Tracker) ring() {
	var ready released
	t.mu.Lock()
	now := t.now()
	for r := t.parked.first; r != nil && r.since+t.bound <= now; r = t.parked.first {
		if len(ready.keys) == 0 {
			ready.informer, ready.missing = r.reason()
		}
		t.handOut(r, &ready)
	}
	for d := t.absent.first; d != nil && d.since+t.bound <= now; d = t.absent.first {
		t.absent.remove(d)
		if d.of.waitIn(d.in) != nil || d.version != "" && !shows(d.in.cache.Version(), d.version) {
			d.since = now // The cache may be about to show the object.
			t.absent.push(d)
			continue
		}
		d.drop()
		d.of.forgetIfEmpty()
	}
	for v := t.own.first; v != nil && v.since+t.bound <= now; v = t.own.first {
		v.drop()
	}
	t.alarm = 0
	t.arm()
	t.mu.Unlock()
	ready.release(t)
}
