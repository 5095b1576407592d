package sharding

import (
	"context"
	"errors"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"
)

// server holds Leases as the API server does: every write has a version, and an update with another one is a conflict.
type server struct {
	mu      sync.Mutex
	version int64
	leases  map[string]*coordinationv1.Lease
	history []watch.Event
	changed chan struct{}
	// down says that no request gets through.
	down bool
}

func newServer() *server {
	return &server{leases: map[string]*coordinationv1.Lease{}, changed: make(chan struct{})}
}

var leaseResource = coordinationv1.Resource("leases")

// put stores a Lease. It needs the lock.
func (s *server) put(kind watch.EventType, lease *coordinationv1.Lease) *coordinationv1.Lease {
	s.version++
	lease = lease.DeepCopy()
	lease.ResourceVersion = strconv.FormatInt(s.version, 10)
	if kind == watch.Deleted {
		delete(s.leases, lease.Name)
	} else {
		s.leases[lease.Name] = lease
	}
	s.history = append(s.history, watch.Event{Type: kind, Object: lease})
	close(s.changed)
	s.changed = make(chan struct{})
	return lease.DeepCopy()
}

// connection is a member's client: each request may be delayed, lost before it is carried out, or after, and a frozen
// member neither sends nor hears anything.
type connection struct {
	coordination.LeaseInterface // nil: methods that aren't below aren't called

	server *server
	mu     sync.Mutex
	random *rand.Rand
	// trouble is the share of requests that are delayed or lost.
	trouble float64
	// thaw is closed when the member isn't frozen any more; nil if it isn't frozen.
	thaw chan struct{}
}

var errLost = errors.New("connection lost")

// request carries out do on the server, sooner or later or never, and returns its result if that is in time.
func request[T any](ctx context.Context, c *connection, do func(*server) (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	c.mu.Lock()
	var before, after time.Duration
	var lostBefore, lostAfter bool
	if c.random.Float64() < c.trouble {
		slow := []time.Duration{50 * time.Millisecond, time.Second, 6 * time.Second, 40 * time.Second}
		before = time.Duration(c.random.Int64N(int64(slow[c.random.IntN(len(slow))])))
		after = time.Duration(c.random.Int64N(int64(slow[c.random.IntN(len(slow))])))
		lostBefore, lostAfter = c.random.IntN(6) == 0, c.random.IntN(6) == 0
	}
	latency := time.Duration(1+c.random.IntN(20)) * time.Millisecond
	c.mu.Unlock()
	answers := make(chan answer, 1)
	go func() {
		c.awake()
		time.Sleep(before + latency)
		var zero T
		c.server.mu.Lock()
		down := c.server.down
		var a answer
		if down || lostBefore {
			a = answer{zero, errLost}
		} else {
			a.value, a.err = do(c.server)
		}
		c.server.mu.Unlock()
		if lostAfter && !down {
			a = answer{zero, errLost}
		}
		time.Sleep(after)
		c.awake()
		answers <- a
	}()
	select {
	case a := <-answers:
		return a.value, a.err
	case <-ctx.Done():
		var zero T
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
	c.thaw = make(chan struct{})
}

func (c *connection) resume() {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.thaw)
	c.thaw = nil
}

func (c *connection) Get(ctx context.Context, name string, _ metav1.GetOptions) (*coordinationv1.Lease, error) {
	return request(ctx, c, func(s *server) (*coordinationv1.Lease, error) {
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
	lease = lease.DeepCopy()
	return request(ctx, c, func(s *server) (*coordinationv1.Lease, error) {
		if _, exists := s.leases[lease.Name]; exists {
			return nil, apierrors.NewAlreadyExists(leaseResource, lease.Name)
		}
		return s.put(watch.Added, lease), nil
	})
}

func (c *connection) Update(
	ctx context.Context, lease *coordinationv1.Lease, _ metav1.UpdateOptions,
) (*coordinationv1.Lease, error) {
	lease = lease.DeepCopy()
	return request(ctx, c, func(s *server) (*coordinationv1.Lease, error) {
		old, exists := s.leases[lease.Name]
		if !exists {
			return nil, apierrors.NewNotFound(leaseResource, lease.Name)
		}
		if old.ResourceVersion != lease.ResourceVersion {
			return nil, apierrors.NewConflict(leaseResource, lease.Name, errors.New("another version"))
		}
		return s.put(watch.Modified, lease), nil
	})
}

func (c *connection) Delete(ctx context.Context, name string, _ metav1.DeleteOptions) error {
	_, err := request(ctx, c, func(s *server) (*coordinationv1.Lease, error) {
		lease, exists := s.leases[name]
		if !exists {
			return nil, apierrors.NewNotFound(leaseResource, name)
		}
		return s.put(watch.Deleted, lease), nil
	})
	return err
}

func (c *connection) List(ctx context.Context, options metav1.ListOptions) (*coordinationv1.LeaseList, error) {
	return request(ctx, c, func(s *server) (*coordinationv1.LeaseList, error) {
		list := &coordinationv1.LeaseList{}
		list.ResourceVersion = strconv.FormatInt(s.version, 10)
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
	if group, found := strings.CutPrefix(options.LabelSelector, groupLabel+"="); found && lease.Labels[groupLabel] != group {
		return false
	}
	name, found := strings.CutPrefix(options.FieldSelector, "metadata.name=")
	return !found || lease.Name == name
}

// Watch sends what was written since a version. Now and then a watch ends, or falls silent for a while.
func (c *connection) Watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	since, err := strconv.ParseInt(options.ResourceVersion, 10, 64)
	if err != nil {
		return nil, err
	}
	_, err = request(ctx, c, func(*server) (struct{}, error) { return struct{}{}, nil })
	if err != nil {
		return nil, err
	}
	events := watch.NewProxyWatcher(make(chan watch.Event))
	result := make(chan watch.Event)
	go func() {
		defer close(result)
		c.send(ctx, events, result, since, options)
	}()
	return stream{events, result}, nil
}

// stream is a watch whose end the server sees.
type stream struct {
	watch.Interface
	result chan watch.Event
}

func (s stream) ResultChan() <-chan watch.Event { return s.result }

func (c *connection) send(
	ctx context.Context, stop *watch.ProxyWatcher, result chan<- watch.Event, since int64, options metav1.ListOptions,
) {
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
			c.mu.Unlock()
			if trouble && ends || down {
				return
			}
			if trouble {
				time.Sleep(silent)
			}
			time.Sleep(time.Millisecond)
			c.awake()
			select {
			case result <- watch.Event{Type: event.Type, Object: event.Object.DeepCopyObject()}:
			case <-stop.StopChan():
				return
			case <-ctx.Done():
				return
			}
		}
		if len(pending) > 0 {
			continue
		}
		select {
		case <-changed:
		case <-stop.StopChan():
			return
		case <-ctx.Done():
			return
		}
	}
}
