package ownwrites

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/kubewright/kubewright/runtime/informer"
	"github.com/kubewright/kubewright/runtime/internal/observe"
	"github.com/kubewright/kubewright/runtime/internal/unwrap"
)

// Tracker remembers what the reconciles of its queues write, see the package documentation. It is for the
// writes to one API server. The zero value is ready to use. The fields must not be changed, and a Tracker not
// be copied, after a method or NewQueue was called. All methods are safe for concurrent use.
type Tracker struct {
	// Bound is how long a key waits at most, from the moment when it would be ready. The default is 10 seconds.
	Bound time.Duration
	// SkipEchoes skips additions of keys that are only due to their own writes, see the package documentation.
	SkipEchoes bool
	// Logger is where the tracker logs what it doesn't wait for. The default is klog's.
	Logger *klog.Logger

	// wrapped is set once Transport was called, used once a run has begun.
	wrapped, used atomic.Bool

	// mu is taken after the lock of a queue. No queue is called with it.
	mu sync.Mutex
	// start is when now was first called.
	start time.Time
	// informers are those of each resource. Their order is that of Add.
	informers map[schema.GroupResource][]*watched
	// unresolved are those whose resource isn't known yet.
	unresolved []*watched
	// parked, absent and own are the records, removals and own versions whose time ends, in this order: the
	// bound is the same for all.
	parked list[record, *record]
	absent list[removal, *removal]
	own    list[ownVersion, *ownVersion]
	// counts are the numbers of own versions of each resource.
	counts map[schema.GroupResource]int
	// owned is the number of all own versions, for a look without the lock.
	owned atomic.Int32
	// moves is how often ranges have left the part of an informer.
	moves int
	// timer rings for the first of them, at the time alarm, which is 0 if it isn't set.
	timer *time.Timer
	alarm time.Duration
	// logged are the reasons that were logged.
	logged map[string]bool
}

func (t *Tracker) bound() time.Duration { return cmp.Or(t.Bound, 10*time.Second) }

func (t *Tracker) logger() klog.Logger {
	if t.Logger != nil {
		return *t.Logger
	}
	return klog.Background()
}

// set adds a value to a map, which it makes if it is nil.
func set[K comparable, V any](m *map[K]V, key K, value V) {
	if *m == nil {
		*m = map[K]V{}
	}
	(*m)[key] = value
}

// Add names informers that read from the tracker's API server: those of the kinds that reconcile both reads
// from a cache and writes. Keys wait until these informers show their writes. Writes of other kinds aren't
// waited for. Add returns an error if an informer isn't one of this module. Informers that were added before
// are ignored.
//
// The resource of an informer that was made of a lister-watcher is known when a client has sent its first
// request. If it is still unknown when the informer has listed, as with a fake, nothing is waited for, and
// that is logged once.
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
	if !ok || !observable {
		return informer.ErrUnsupportedInformer
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.resolve()
	known := t.unresolved
	resource := observed.Resource().GroupResource()
	if !resource.Empty() {
		known = slices.DeleteFunc(t.informers[resource], (*watched).isStopped)
		set(&t.informers, resource, known)
	}
	if slices.ContainsFunc(known, func(in *watched) bool { return in.cache == observed }) {
		return nil
	}
	w := &watched{tracker: t, cache: observed, name: status.Name, resource: resource,
		last: observed.Version(), removals: map[string]*removal{}}
	if resource.Empty() {
		w.unresolved.Store(true)
		t.unresolved = append(t.unresolved, w)
	} else {
		set(&t.informers, resource, append(known, w))
	}
	observed.Observe(w)
	return nil
}

// resolve moves the informers whose resource is known by now to those of that resource. The caller holds mu.
func (t *Tracker) resolve() {
	t.unresolved = slices.DeleteFunc(t.unresolved, func(in *watched) bool {
		resource := in.cache.Resource().GroupResource()
		if resource.Empty() {
			return in.isStopped()
		}
		in.unresolved.Store(false)
		in.resource = resource
		set(&t.informers, resource, append(t.informers[resource], in))
		return true
	})
}

// resolveListed is called when an informer whose resource isn't known has listed.
func (t *Tracker) resolveListed(in *watched) {
	t.mu.Lock()
	t.resolve()
	unknown := in.unresolved.Swap(false)
	if unknown {
		t.unresolved = slices.DeleteFunc(t.unresolved, func(other *watched) bool { return other == in })
	}
	t.mu.Unlock()
	if unknown {
		t.logIgnored(in.name, "nobody knows which resource it lists")
	}
}

// watches reports whether there are informers of a resource, and whether one of them selects by labels.
func (t *Tracker) watches(resource schema.GroupResource) (any, byLabels bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.resolve()
	informers := t.informers[resource]
	return len(informers) > 0, slices.ContainsFunc(informers, func(in *watched) bool {
		return in.cache.Scope().Labels != ""
	})
}

// now returns the time since it was first called. The caller holds mu.
func (t *Tracker) now() time.Duration {
	if t.start.IsZero() {
		t.start = time.Now()
	}
	return time.Since(t.start)
}

// logOnce logs a message, the first time that it is called for a reason.
func (t *Tracker) logOnce(reason, message string, values ...any) {
	t.mu.Lock()
	known := t.logged[reason]
	set(&t.logged, reason, true)
	t.mu.Unlock()
	if !known {
		t.logger().Info(message, values...)
	}
}

// use is called when a run begins. The first call logs what the program has forgotten.
func (t *Tracker) use() {
	if t.used.Load() || t.used.Swap(true) {
		return
	}
	if !t.wrapped.Load() {
		t.logger().Info("Own writes are not waited for: no client has the tracker's transport. Call " +
			"config.Wrap(tracker.Transport) before clients are made")
	}
	t.mu.Lock()
	none := len(t.informers)+len(t.unresolved) == 0
	t.mu.Unlock()
	if none {
		t.logger().Info("Own writes are not waited for: the tracker has no informers. Call its method Add")
	}
}

// note makes a key wait for a write, in all caches that have yet to show it.
func (t *Tracker) note(r run, w *write) {
	var ready released
	var ignored []string
	seen := true // Whether the next run of the key sees the write in each cache that may tell of it.
	t.mu.Lock()
	for _, in := range t.informers[w.GroupResource] {
		if reason := in.note(r, w, &ready); reason != "" {
			ignored = append(ignored, in.name, reason)
			seen = seen && in.isStopped()
		}
	}
	if seen {
		t.noteOwn(r, w)
	}
	t.mu.Unlock()
	ready.release(t)
	for ; len(ignored) > 0; ignored = ignored[2:] {
		t.logIgnored(ignored[0], ignored[1])
	}
}

// logIgnored logs, once, why writes aren't waited for in an informer.
func (t *Tracker) logIgnored(informer, reason string) {
	t.logOnce(informer+reason, "Own writes are not waited for", "informer", informer, "reason", reason)
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
	t.alarm = first + t.bound()
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
	for r := t.parked.first; r != nil && r.since+t.bound() <= now; r = t.parked.first {
		if len(ready.keys) == 0 {
			ready.informer, ready.missing = r.reason()
		}
		t.handOut(r, &ready)
	}
	for d := t.absent.first; d != nil && d.since+t.bound() <= now; d = t.absent.first {
		t.absent.remove(d)
		if d.of.waitIn(d.in) != nil || d.version != "" && !shows(d.in.cache.Version(), d.version) {
			d.since = now // The cache may be about to show the object.
			t.absent.push(d)
			continue
		}
		d.drop()
		d.of.forgetIfEmpty()
	}
	for v := t.own.first; v != nil && v.since+t.bound() <= now; v = t.own.first {
		v.drop()
	}
	t.alarm = 0
	t.arm()
	t.mu.Unlock()
	ready.release(t)
}
