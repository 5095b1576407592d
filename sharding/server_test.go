package sharding

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/runtimetest"
	"github.com/kubewright/kubewright/sharding/internal/leaseserver"
)

func TestMain(m *testing.M) {
	klog.SetLogger(logr.Discard()) // leader elections log much
	runtimetest.WithoutErrorBackoff()
	os.Exit(m.Run())
}

// server holds the Leases of the group bakers.
type server struct {
	*leaseserver.Server

	mu sync.Mutex
	// down means that no request gets through.
	down bool
	// wrote is called for every table that was written.
	wrote func(table)
	// requests counts requests by verb and name, writes those that made or changed a Lease by its name.
	requests, writes map[string]int
}

func newServer() *server {
	s := &server{requests: map[string]int{}, writes: map[string]int{}, wrote: func(table) {}}
	s.Server = leaseserver.New(func(lease *coordinationv1.Lease) {
		s.mu.Lock()
		s.writes[lease.Name]++
		wrote := s.wrote
		s.mu.Unlock()
		if v, err := versionOf(lease); err == nil {
			wrote(v.table)
		}
	})
	return s
}

// onWrite sets the function that is called for every table that is written from now on.
func (s *server) onWrite(wrote func(table)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wrote = wrote
}

// setDown begins or ends an outage. Watches end.
func (s *server) setDown(down bool) {
	s.mu.Lock()
	s.down = down
	s.mu.Unlock()
	s.Wake()
}

func (s *server) isDown() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.down
}

// remove deletes a Lease, as an operator may.
func (s *server) remove(name string) {
	_ = s.Delete(name, metav1.DeleteOptions{}) // it may not be there
}

// renewal returns when a member has last renewed its Lease, by its own clock.
func (s *server) renewal(r *replica) time.Time {
	lease, err := s.Get("bakers-" + r.Identity())
	if err != nil {
		r.model.t.Fatal(err)
	}
	return lease.Spec.RenewTime.Time
}

// table returns the table, and whether there is one.
func (s *server) table(group string) (table, bool) {
	lease, err := s.Get(group)
	if err != nil {
		return table{}, false
	}
	v, err := versionOf(lease)
	if err != nil {
		return table{}, false
	}
	return v.table, true
}

// requested returns the counts of requests since the last time.
func (s *server) requested() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	requests := s.requests
	s.requests = map[string]int{}
	return requests
}

// written returns the counts of writes of each Lease since the last time.
func (s *server) written() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	writes := s.writes
	s.writes = map[string]int{}
	return writes
}

// connection links a member to the server. Each request may be delayed, or lost before or after it is carried
// out. A frozen member neither sends nor receives anything, and its clock's alarms don't ring.
type connection struct {
	server *server
	mu     sync.Mutex
	random *rand.Rand
	// trouble is the share of requests that are delayed or lost.
	trouble float64
	// thaw is closed when the member isn't frozen any more; nil if it isn't frozen.
	thaw chan struct{}
	// lag is how late the events of watches come.
	lag time.Duration
	// slowing is since when the events of watches come later and later, zero if they don't.
	slowing time.Time
	// stall is called before a request is carried out, unless it is nil.
	stall func(what string)
	// answers is how late answers come: to all requests, or to those that answersTo names.
	answers   time.Duration
	answersTo string
	// cut is set when the process has crashed.
	cut bool
}

var errLost = errors.New("connection lost")

// fate is what happens to a request.
type fate struct {
	before, after         time.Duration
	lostBefore, lostAfter bool
}

func (c *connection) fate(what string) fate {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := fate{before: time.Duration(1+c.random.IntN(20)) * time.Millisecond}
	if c.answersTo == "" || c.answersTo == what {
		f.after = c.answers
	}
	if c.random.Float64() < c.trouble {
		slow := []time.Duration{50 * time.Millisecond, time.Second, 6 * time.Second, 40 * time.Second}
		f.before += time.Duration(c.random.Int64N(int64(slow[c.random.IntN(len(slow))])))
		f.after = time.Duration(c.random.Int64N(int64(slow[c.random.IntN(len(slow))])))
		f.lostBefore, f.lostAfter = c.random.IntN(6) == 0, c.random.IntN(6) == 0
	}
	return f
}

// Carry carries out a request, and returns its answer if that comes before ctx ends.
func (c *connection) Carry(
	ctx context.Context, verb, name string, do func() (any, error),
) (any, error) {
	type answer struct {
		value any
		err   error
	}
	what := verb
	if verb == "update" && name == "bakers" {
		what = "update the table"
	}
	c.awake()
	c.mu.Lock()
	cut, stall := c.cut, c.stall
	c.mu.Unlock()
	if cut {
		return nil, errLost
	}
	f := c.fate(what)
	answers := make(chan answer, 1)
	go func() {
		bubble.Pass(f.before)
		if stall != nil {
			stall(what)
		}
		a := answer{nil, errLost}
		if c.server.admits(f, what, verb+" "+name) {
			a.value, a.err = do()
			if f.lostAfter {
				a = answer{nil, errLost}
			}
		}
		bubble.Pass(f.after)
		c.awake()
		answers <- a
	}()
	select {
	case a := <-answers:
		return a.value, a.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// admits reports whether a request gets through, and counts it under several names.
func (s *server) admits(f fate, as ...string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down || f.lostBefore {
		return false
	}
	for _, what := range as {
		s.requests[what]++
	}
	return true
}

// Deliver delays an event of a watch. Sometimes the watch ends, or falls silent for a while.
func (c *connection) Deliver(_ context.Context, at time.Time) bool {
	c.mu.Lock()
	trouble := c.random.Float64() < c.trouble/4
	silent := time.Duration(c.random.Int64N(int64(12 * time.Second)))
	ends := c.random.IntN(2) == 0
	lag := max(c.lag, time.Millisecond) - time.Since(at)
	if !c.slowing.IsZero() && at.After(c.slowing) {
		lag += at.Sub(c.slowing) * 9 / 10
	}
	c.mu.Unlock()
	if trouble && ends {
		return false
	}
	if trouble {
		bubble.Pass(silent)
	}
	if lag > 0 {
		bubble.Pass(lag)
	}
	c.awake()
	return true
}

// Up reports whether watches go on. A frozen member doesn't notice when they end.
func (c *connection) Up() bool { return !c.server.isDown() }

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

func leaseOf(version string) *coordinationv1.Lease {
	return &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{ResourceVersion: version}}
}
