package definitions

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"

	"github.com/kubewright/kubewright/runtime/internal/served"
)

// run is what a [Set] does from the first observer to the last.
type run struct {
	set *Set
	// cancel ends the goroutines, which group counts.
	cancel context.CancelFunc
	group  sync.WaitGroup
	// wake makes loop look for what is due.
	wake chan struct{}
	// slots bounds the requests at a time.
	slots chan struct{}
	// observers counts the observers. The set's mu guards it.
	observers int

	mu sync.Mutex
	// lines are written by unlock, because a logger may ask for the state of an informer.
	lines []func()
	kinds map[schema.GroupVersionResource]*kind
	// asking has the groups and versions for which GET is on its way.
	asking      map[schema.GroupVersion]bool
	discovering bool
	// watching is what the watch shows of definitions that aren't in defined, which has their versions.
	watching served.Definition
	defined  map[string]string
	// etag is that of the last discovery, and found what it says of the kinds. It is empty once there are
	// other kinds: added counts them.
	etag  string
	found map[*kind]finding
	added int
}

// kind is an observed kind. The mu of the run guards it.
type kind struct {
	resource  schema.GroupVersionResource
	logger    klog.Logger
	observers int
	machine   *served.Kind
	// changed is closed when the state changes.
	changed chan struct{}
	// wasAbsent is set once the absence was logged, until the return is.
	wasAbsent    bool
	versions     []string
	err          error
	failingSince time.Time
	failures     int
}

// maxRequests is how many requests are sent at a time.
const maxRequests = 32

func start(ctx context.Context, set *Set) *run {
	r := &run{
		set: set, wake: make(chan struct{}, 1), slots: make(chan struct{}, maxRequests),
		kinds:  map[schema.GroupVersionResource]*kind{},
		asking: map[schema.GroupVersion]bool{},
	}
	ctx, r.cancel = context.WithCancel(ctx)
	r.group.Go(func() { r.loop(ctx) })
	r.group.Go(func() { r.watch(ctx) })
	return r
}

// unlock unlocks mu, and writes the lines of logs that the caller has left.
func (r *run) unlock() {
	lines := r.lines
	r.lines = nil
	r.mu.Unlock()
	for _, write := range lines {
		write()
	}
}

func (r *run) end() {
	r.cancel()
	r.group.Wait()
}

// add adds an observer of a kind.
func (r *run) add(logger klog.Logger, resource schema.GroupVersionResource) *kind {
	r.mu.Lock()
	defer r.mu.Unlock()
	k := r.kinds[resource]
	if k == nil {
		k = &kind{resource: resource, logger: logger, changed: make(chan struct{}),
			machine: served.NewKind(time.Now(), r.definitionOf(resource))}
		r.kinds[resource] = k
		r.etag = ""
		r.added++
		r.awake()
	}
	k.observers++
	return k
}

func (r *run) remove(k *kind) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if k.observers--; k.observers == 0 {
		delete(r.kinds, k.resource)
		delete(r.found, k)
	}
}

func (r *run) awake() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

func (r *run) status(k *kind) (served.Status, <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := served.Status{Versions: k.versions, Err: k.err, FailingSince: k.failingSince, Failures: k.failures}
	s.State, s.Since, s.Served = k.machine.State()
	return s, k.changed
}

// tell tells a kind what was seen.
func (r *run) tell(k *kind, what func(*served.Kind, time.Time)) {
	r.mu.Lock()
	defer r.unlock()
	r.tellLocked(k, what)
	r.awake()
}

// tellLocked is tell for a caller that holds mu, and calls unlock. It announces what has changed, and leaves
// lines for logs.
func (r *run) tellLocked(k *kind, what func(*served.Kind, time.Time)) {
	before, _, servedBefore := k.machine.State()
	what(k.machine, time.Now())
	state, _, isServed := k.machine.State()
	if state == before && isServed == servedBefore {
		return
	}
	close(k.changed)
	k.changed = make(chan struct{})
	switch {
	case state == served.Absent:
		k.err, k.failingSince, k.failures = nil, time.Time{}, 0
		k.wasAbsent = true
		versions := k.versions
		r.lines = append(r.lines, func() {
			k.logger.Info("The server doesn't serve a resource: its informers are empty until it does",
				"resource", k.resource, "servedVersions", versions)
		})
	case isServed:
		k.versions, k.err, k.failingSince, k.failures = nil, nil, time.Time{}, 0
		if k.wasAbsent {
			k.wasAbsent = false
			r.lines = append(r.lines, func() {
				k.logger.Info("The server serves a resource that was absent", "resource", k.resource)
			})
		}
	}
}

// failed records why it isn't known whether a kind is served. The caller holds mu.
func (k *kind) failed(err error) {
	if state, _, _ := k.machine.State(); state == served.Absent {
		return
	}
	if k.failures++; k.failures == 1 {
		k.failingSince = time.Now()
	}
	k.err = err
}

// loop sends what is due, until ctx is done.
func (r *run) loop(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-r.wake:
		}
		if next := r.sendDue(ctx); next.IsZero() {
			timer.Stop()
		} else {
			timer.Reset(time.Until(next))
		}
	}
}

// sendDue starts the requests that are due, and returns when the next one is, or zero.
func (r *run) sendDue(ctx context.Context) (next time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	ask, discover := map[schema.GroupVersion]bool{}, false
	isDue := func(at time.Time, busy bool) bool {
		switch {
		case at.IsZero() || busy: // The end of the request wakes the loop.
			return false
		case !at.After(now):
			return true
		case next.IsZero() || at.Before(next):
			next = at
		}
		return false
	}
	for _, k := range r.kinds {
		get, discovery := k.machine.Next()
		version := k.resource.GroupVersion()
		if isDue(get, r.asking[version]) {
			ask[version] = true
			k.machine.Sent()
		}
		discover = isDue(discovery, r.discovering) || discover
	}
	for version := range ask {
		r.asking[version] = true
		r.group.Go(func() { r.ask(ctx, version) })
	}
	if discover {
		r.discovering = true
		r.group.Go(func() { r.discover(ctx) })
	}
	return next
}
