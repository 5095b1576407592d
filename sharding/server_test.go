package sharding

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/klog/v2"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/runtimetest"
)

func TestMain(m *testing.M) {
	klog.SetLogger(logr.Discard()) // leader elections say much
	runtimetest.WithoutErrorBackoff()
	os.Exit(m.Run())
}

// server holds Leases as the API server does: every write has a version, and an update with another one is a
// conflict.
type server struct {
	mu      sync.Mutex
	version int
	leases  map[string]*coordinationv1.Lease
	// history are the events of all versions: that of version n is at n-1.
	history []event
	changed chan struct{}
	// down says that no request gets through.
	down bool
	// wrote is called for every table that was written.
	wrote func(table)
	// requests counts them by verb and what they are for, watches the open ones by their selectors.
	requests, watches map[string]int
	// told is up to which version writes were counted.
	told int
}

func newServer() *server {
	return &server{
		leases: map[string]*coordinationv1.Lease{}, changed: make(chan struct{}), requests: map[string]int{},
		watches: map[string]int{},
	}
}

// event is what a watch sends, and when it happened.
type event struct {
	watch.Event
	at time.Time
}

var leaseResource = coordinationv1.Resource("leases")

// put stores a Lease, or deletes it. Nobody may change it afterwards. It needs the lock.
func (s *server) put(kind watch.EventType, lease *coordinationv1.Lease) *coordinationv1.Lease {
	s.version++
	lease = lease.DeepCopy()
	lease.ResourceVersion = strconv.Itoa(s.version)
	switch kind {
	case watch.Added:
		lease.UID = types.UID(fmt.Sprint("uid-", s.version))
		s.leases[lease.Name] = lease
	case watch.Modified:
		s.leases[lease.Name] = lease
	case watch.Deleted:
		delete(s.leases, lease.Name)
	}
	s.history = append(s.history, event{watch.Event{Type: kind, Object: lease}, time.Now()})
	close(s.changed)
	s.changed = make(chan struct{})
	if v, err := versionOf(lease); err == nil && kind != watch.Deleted && s.wrote != nil {
		s.wrote(v.table)
	}
	return lease
}

// setDown begins or ends an outage. Watches end.
func (s *server) setDown(down bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = down
	close(s.changed)
	s.changed = make(chan struct{})
}

// remove deletes a Lease, as an operator may.
func (s *server) remove(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if lease, ok := s.leases[name]; ok {
		s.put(watch.Deleted, lease)
	}
}

// table returns the table, or none.
func (s *server) table(group string) (table, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	lease, ok := s.leases[group]
	if !ok {
		return table{}, false
	}
	v, err := versionOf(lease)
	return v.table, err == nil
}

// connection is a member's client: each request may be delayed, lost before it is carried out, or after. A
// frozen member neither sends nor hears anything, and its clock's alarms don't ring.
type connection struct {
	coordination.LeaseInterface // nil: other methods than those below aren't called

	server *server
	mu     sync.Mutex
	random *rand.Rand
	// trouble is the share of requests that are delayed or lost.
	trouble float64
	// thaw is closed when the member isn't frozen any more; nil if it isn't frozen.
	thaw chan struct{}
	// lag is by how much all that watches send comes late.
	lag time.Duration
	// slowing is since when what watches send comes later and later, if it does.
	slowing time.Time
	// stall is called before a request is carried out, unless it is nil.
	stall func(what string)
	// answers is by how much all answers come late.
	answers time.Duration
	// cut says that the process has crashed.
	cut bool
}

var errLost = errors.New("connection lost")

// fate is what happens to a request.
type fate struct {
	before, after         time.Duration
	lostBefore, lostAfter bool
}

func (c *connection) fate() fate {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := fate{before: time.Duration(1+c.random.IntN(20)) * time.Millisecond, after: c.answers}
	if c.random.Float64() < c.trouble {
		slow := []time.Duration{50 * time.Millisecond, time.Second, 6 * time.Second, 40 * time.Second}
		f.before += time.Duration(c.random.Int64N(int64(slow[c.random.IntN(len(slow))])))
		f.after = time.Duration(c.random.Int64N(int64(slow[c.random.IntN(len(slow))])))
		f.lostBefore, f.lostAfter = c.random.IntN(6) == 0, c.random.IntN(6) == 0
	}
	return f
}

// request carries out do on the server, sooner or later or never, and returns its result if that is in time.
func request[T any](ctx context.Context, c *connection, what string, do func(*server) (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	c.awake()
	var zero T
	c.mu.Lock()
	cut := c.cut
	c.mu.Unlock()
	if cut {
		return zero, errLost
	}
	f := c.fate()
	c.mu.Lock()
	stall := c.stall
	c.mu.Unlock()
	answers := make(chan answer, 1)
	go func() {
		bubble.Pass(f.before)
		if stall != nil {
			stall(what)
		}
		var a answer
		c.server.mu.Lock()
		down := c.server.down
		if down || f.lostBefore {
			a.err = errLost
		} else {
			c.server.requests[what]++
			a.value, a.err = do(c.server)
		}
		c.server.mu.Unlock()
		if f.lostAfter && !down {
			a = answer{zero, errLost}
		}
		bubble.Pass(f.after)
		c.awake()
		answers <- a
	}()
	select {
	case a := <-answers:
		return a.value, a.err
	case <-ctx.Done():
		return zero, context.Cause(ctx)
	}
}

// awake waits while the member is frozen.
func (c *connection) awake() {
	for {
		c.mu.Lock()
		thaw := c.thaw
		c.mu.Unlock()
		if thaw == nil {
			return
		}
		<-thaw
	}
}

func (c *connection) freeze() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.thaw == nil {
		c.thaw = make(chan struct{})
	}
}

func (c *connection) unfreeze() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.thaw != nil {
		close(c.thaw)
		c.thaw = nil
	}
}

func (c *connection) isFrozen() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.thaw != nil
}

// requested returns the counts of requests since the last time.
func (s *server) requested() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	requests := s.requests
	s.requests = map[string]int{}
	return requests
}

// watched counts a watch that begins or ends.
func (s *server) watched(options metav1.ListOptions, change int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watches[options.FieldSelector+options.LabelSelector] += change
}

// written counts the writes of each Lease since the last time.
func (s *server) written() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	written := map[string]int{}
	for _, event := range s.history[s.told:] {
		written[event.Object.(*coordinationv1.Lease).Name]++
	}
	s.told = len(s.history)
	return written
}

// watching returns how many watches are open, by their selectors.
func (s *server) watching() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.watches)
}

func (c *connection) Get(ctx context.Context, name string, _ metav1.GetOptions) (*coordinationv1.Lease, error) {
	return request(ctx, c, "get", func(s *server) (*coordinationv1.Lease, error) {
		s.requests["get "+name]++
		lease, ok := s.leases[name]
		if !ok {
			return nil, apierrors.NewNotFound(leaseResource, name)
		}
		return lease.DeepCopy(), nil
	})
}

func (c *connection) Create(
	ctx context.Context, lease *coordinationv1.Lease, _ metav1.CreateOptions,
) (*coordinationv1.Lease, error) {
	lease = lease.DeepCopy() // the caller may go on with its own before the request arrives
	return request(ctx, c, "create", func(s *server) (*coordinationv1.Lease, error) {
		if _, exists := s.leases[lease.Name]; exists {
			return nil, apierrors.NewAlreadyExists(leaseResource, lease.Name)
		}
		return s.put(watch.Added, lease).DeepCopy(), nil
	})
}

func (c *connection) Update(
	ctx context.Context, lease *coordinationv1.Lease, _ metav1.UpdateOptions,
) (*coordinationv1.Lease, error) {
	what, lease := "update", lease.DeepCopy()
	if _, isTable := lease.Annotations[tableAnnotation]; isTable {
		what = "update the table"
	}
	return request(ctx, c, what, func(s *server) (*coordinationv1.Lease, error) {
		old, exists := s.leases[lease.Name]
		if !exists {
			return nil, apierrors.NewNotFound(leaseResource, lease.Name)
		}
		if old.ResourceVersion != lease.ResourceVersion || old.UID != lease.UID {
			return nil, apierrors.NewConflict(leaseResource, lease.Name, errors.New("another version"))
		}
		return s.put(watch.Modified, lease).DeepCopy(), nil
	})
}

func (c *connection) Delete(ctx context.Context, name string, options metav1.DeleteOptions) error {
	_, err := request(ctx, c, "delete", func(s *server) (*coordinationv1.Lease, error) {
		lease, exists := s.leases[name]
		if !exists {
			return nil, apierrors.NewNotFound(leaseResource, name)
		}
		if p := options.Preconditions; p != nil && *p.ResourceVersion != lease.ResourceVersion {
			return nil, apierrors.NewConflict(leaseResource, name, errors.New("another version"))
		}
		return s.put(watch.Deleted, lease), nil
	})
	return err
}

func (c *connection) List(ctx context.Context, options metav1.ListOptions) (*coordinationv1.LeaseList, error) {
	return request(ctx, c, "list", func(s *server) (*coordinationv1.LeaseList, error) {
		if options.ResourceVersion != "" {
			return nil, errors.New("the list may be an old one")
		}
		list := &coordinationv1.LeaseList{}
		list.ResourceVersion = strconv.Itoa(s.version)
		for _, lease := range s.leases {
			if selected(lease, options) {
				list.Items = append(list.Items, *lease.DeepCopy())
			}
		}
		return list, nil
	})
}

// selected knows the two selectors that the package uses.
func selected(lease *coordinationv1.Lease, options metav1.ListOptions) bool {
	if name, found := strings.CutPrefix(options.FieldSelector, "metadata.name="); found {
		return lease.Name == name
	}
	group, found := strings.CutPrefix(options.LabelSelector, groupLabel+"=")
	return found && lease.Labels[groupLabel] == group
}

// Watch sends what was written since a version. Now and then a watch ends, or falls silent for a while.
func (c *connection) Watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	since, err := strconv.Atoi(options.ResourceVersion)
	if err != nil {
		return nil, err
	}
	_, err = request(ctx, c, "watch", func(*server) (struct{}, error) { return struct{}{}, nil })
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	s := stream{make(chan watch.Event), cancel}
	c.server.watched(options, 1)
	go func() {
		defer close(s.events)
		defer c.server.watched(options, -1)
		c.send(ctx, s.events, since, options)
	}()
	return s, nil
}

type stream struct {
	events chan watch.Event
	stop   func()
}

func (s stream) Stop()                          { s.stop() }
func (s stream) ResultChan() <-chan watch.Event { return s.events }

func (c *connection) send(ctx context.Context, events chan<- watch.Event, since int, options metav1.ListOptions) {
	for {
		c.server.mu.Lock()
		pending, changed, down := c.server.history[since:], c.server.changed, c.server.down
		c.server.mu.Unlock()
		for _, event := range pending {
			since++
			if !selected(event.Object.(*coordinationv1.Lease), options) {
				continue
			}
			c.mu.Lock()
			trouble := c.random.Float64() < c.trouble/4
			silent := time.Duration(c.random.Int64N(int64(12 * time.Second)))
			ends := c.random.IntN(2) == 0
			lag := c.lag - time.Since(event.at)
			if !c.slowing.IsZero() && event.at.After(c.slowing) {
				lag += event.at.Sub(c.slowing) * 9 / 10
			}
			c.mu.Unlock()
			if trouble && ends || down {
				return
			}
			if trouble {
				bubble.Pass(silent)
			}
			if lag > 0 {
				bubble.Pass(lag)
			}
			c.awake()
			select {
			case events <- event.Event:
			case <-ctx.Done():
				return
			}
		}
		if down {
			return
		}
		if len(pending) > 0 {
			continue
		}
		select {
		case <-changed:
			bubble.Pass(time.Millisecond)
		case <-ctx.Done():
			return
		}
	}
}

func leaseOf(version string) *coordinationv1.Lease {
	return &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{ResourceVersion: version}}
}
