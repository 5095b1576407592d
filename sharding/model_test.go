package sharding

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/internal/guarantee"
	"github.com/kubewright/kubewright/runtime/shard"
)

var (
	seeds = flag.Int("sharding.seeds", 4,
		"random groups that TestModel runs; every thirtieth has 200 members")
	firstSeed = flag.Int("sharding.seed", 0, "the first of them")
	steps     = flag.Int("sharding.steps", 60, "what happens to each of them")
)

const (
	leaseDuration = 15 * time.Second
	renewDeadline = 10 * time.Second
	retryPeriod   = 2 * time.Second
	// bound is how long a range may have no owner after a crash, balancerBound after one of the balancer, see
	// docs/sharding-protocol.md.
	bound         = leaseDuration + 2*retryPeriod
	balancerBound = 2*leaseDuration + 4*retryPeriod
)

// model is a group of members over a server, with workers that record which member acts on what.
type model struct {
	t      *testing.T
	random *rand.Rand
	server *server
	// names are the namespaces that have objects, objects the hashes of all objects, sorted.
	names   []string
	objects []uint64
	// trouble is the share of requests that go wrong. calm means that clocks run alike, and that nothing happens
	// but that members come and go.
	trouble float64
	calm    bool
	// configure changes the configuration of members that join, unless it is nil.
	configure func(*Config)
	// log is what members that join log to, nil for nothing.
	log *lockedBuffer

	mu       sync.Mutex
	replicas []*replica
	// tokens are the highest with which any member acted on an object.
	tokens map[uint64]int64
	// moved counts objects that changed owner in the table.
	moved int
	last  table
	// unowned is since when nobody has acted on an object. That may last for allowance, counted at the earliest
	// from crashed, when a member last went. started is set once every object had an owner.
	unowned   map[uint64]time.Time
	crashed   time.Time
	allowance time.Duration
	started   bool
	failed    bool
}

// replica is a process with a member.
type replica struct {
	*Member
	number     int
	model      *model
	connection *connection
	stop       context.CancelFunc
	// ended is closed at the end. err is that of Run, hangs means that one is expected.
	ended chan struct{}
	err   error
	hangs bool

	mu sync.Mutex
	// gone is set when it has crashed or leaves.
	gone, crashed bool
	balance       func(context.Context)
	leads         context.CancelFunc
	leading       sync.WaitGroup
	work          map[*work]struct{}
}

// work is a piece of work that a worker does.
type work struct {
	hash uint64
	ctx  context.Context
}

func newModel(t *testing.T, seed int) *model {
	m := &model{
		t: t, random: rand.New(rand.NewPCG(uint64(seed), 0)), server: newServer(),
		tokens: map[uint64]int64{}, unowned: map[uint64]time.Time{},
	}
	m.server.onWrite(m.wrote)
	for n := range 60 {
		// Most namespaces have few objects and some have many, and their names differ at the end.
		name := fmt.Sprintf("team-%02d", n)
		m.names = append(m.names, name)
		m.objects = append(m.objects, slices.Repeat([]uint64{shard.Hash(name)}, 1+int(4*m.random.ExpFloat64()))...)
	}
	slices.Sort(m.objects)
	return m
}

func (m *model) hashes(r shard.Range) ([]uint64, bool) {
	first, _ := slices.BinarySearch(m.objects, r.First)
	after := len(m.objects)
	if r.Last != lastHash {
		after, _ = slices.BinarySearch(m.objects, r.Last+1)
	}
	return slices.Clone(m.objects[first:after]), true
}

// skewed is a replica's clock, at its own speed. Its alarms don't ring while the replica is frozen.
type skewed struct {
	connection *connection
	began      time.Time
	rate       float64
}

func (c skewed) now() time.Time {
	return c.began.Add(time.Duration(float64(time.Since(c.began)) * c.rate))
}

func (c skewed) after(d time.Duration) <-chan time.Time {
	rings := make(chan time.Time, 1)
	time.AfterFunc(time.Duration(float64(d)/c.rate)+1, func() { // never too early
		c.connection.awake()
		rings <- c.now()
	})
	return rings
}

// join starts a replica.
func (m *model) join() *replica {
	c := &connection{server: m.server, random: rand.New(rand.NewPCG(m.random.Uint64(), 0)), trouble: m.trouble}
	if m.trouble > 0 && m.random.IntN(3) == 0 {
		c.lag = time.Duration(m.random.Int64N(int64(leaseDuration)))
	}
	rate := .85 + .35*m.random.Float64()
	if m.calm {
		rate = 1
	}
	r := &replica{model: m, ended: make(chan struct{}), connection: c, work: map[*work]struct{}{}}
	config := Config{
		Leases: m.server.Client(c), Group: "bakers", Identity: fmt.Sprint("m", len(m.replicas)),
		Kinds:         []string{"bakeries"},
		LeaseDuration: leaseDuration, RenewDeadline: renewDeadline, RetryPeriod: retryPeriod,
		Hashes:  m.hashes,
		Changed: func([]Owned) { go m.check(r) },
		clock:   skewed{c, time.Now(), rate},
		elect:   r.elect,
	}
	if m.configure != nil {
		m.configure(&config)
	}
	member, err := NewMember(config)
	if err != nil {
		m.t.Fatal(err)
	}
	r.Member = member
	ctx, stop := context.WithCancel(m.log.context())
	r.stop = stop
	working, rest := context.WithCancel(context.Background())
	var workers sync.WaitGroup
	random := rand.New(rand.NewPCG(m.random.Uint64(), 0))
	workers.Go(func() { r.workOn(working, random) })
	go func() {
		defer close(r.ended)
		r.err = r.Run(ctx)
		if r.err != nil && !r.isCrashed() && m.calm && !r.hangs {
			m.t.Error(r.err)
		}
		rest()
		workers.Wait()
	}()
	m.mu.Lock()
	defer m.mu.Unlock()
	r.number = len(m.replicas)
	m.replicas = append(m.replicas, r)
	return r
}

// leave makes a replica leave the group.
func (r *replica) leave() {
	r.mu.Lock()
	r.gone = true
	r.mu.Unlock()
	r.stop()
}

// crash ends a replica at once: it sends nothing any more.
func (r *replica) crash() {
	r.mu.Lock()
	r.gone, r.crashed = true, true
	r.mu.Unlock()
	r.connection.mu.Lock()
	r.connection.cut = true
	r.connection.mu.Unlock()
	r.connection.unfreeze()
	r.lead(false)
	r.stop()
}

func (r *replica) isCrashed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.crashed
}

func (r *replica) isGone() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.gone
}

// elect replaces leader election: the model decides which replicas lead, maybe several at once.
func (r *replica) elect(ctx context.Context, balance func(context.Context)) {
	r.mu.Lock()
	r.balance = balance
	r.mu.Unlock()
	<-ctx.Done()
	r.mu.Lock()
	r.balance = nil
	r.mu.Unlock()
	r.lead(false)
	r.leading.Wait()
}

func (r *replica) lead(yes bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case yes && r.leads == nil && r.balance != nil && !r.crashed:
		ctx, stop := context.WithCancel(context.Background())
		r.leads = stop
		balance := r.balance
		r.leading.Go(func() { balance(ctx) })
	case !yes && r.leads != nil:
		r.leads()
		r.leads = nil
	}
}

func (r *replica) isLeading() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.leads != nil
}

// workOn acts on objects at random.
func (r *replica) workOn(ctx context.Context, random *rand.Rand) {
	for ctx.Err() == nil {
		name := r.model.names[random.IntN(len(r.model.names))]
		took := time.Duration(100+random.IntN(900)) * time.Millisecond
		r.Do(ctx, name, func(ctx context.Context, owned Owned) error {
			took = time.Duration(random.Int64N(int64(3 * time.Second)))
			if random.IntN(20) == 0 {
				took *= 20
			}
			w := &work{shard.Hash(name), ctx}
			r.mu.Lock()
			r.work[w] = struct{}{}
			r.mu.Unlock()
			select {
			case <-time.After(took):
			case <-ctx.Done():
				bubble.Pass(time.Duration(random.Int64N(int64(3 * time.Second)))) // some work is slow to stop
			}
			r.mu.Lock()
			delete(r.work, w)
			r.mu.Unlock()
			return nil
		})
		select {
		case <-time.After(took):
		case <-ctx.Done():
		}
	}
}

// active returns the ranges that a member acts on: those that it owns and doesn't drain. The caller holds mu.
func (m *Member) active() (active []Owned) {
	if !m.acts() {
		return nil
	}
	for _, o := range m.current.ownedBy(m.config.Identity) {
		parts := []shard.Range{o.Range}
		for _, d := range m.draining {
			var left []shard.Range
			for _, p := range parts {
				if !overlap(p, d) {
					left = append(left, p)
					continue
				}
				if p.First < d.First {
					left = append(left, shard.Range{First: p.First, Last: d.First - 1})
				}
				if p.Last > d.Last {
					left = append(left, shard.Range{First: d.Last + 1, Last: p.Last})
				}
			}
			parts = left
		}
		for _, p := range parts {
			active = append(active, Owned{p, o.Token})
		}
	}
	return active
}

// check checks that nobody else acts on what a replica owns now, and that tokens don't fall.
func (m *model) check(r *replica) {
	m.mu.Lock()
	replicas := slices.Clone(m.replicas)
	m.mu.Unlock()
	if r.isCrashed() {
		return
	}
	for _, other := range replicas {
		if other == r || other.isCrashed() {
			continue
		}
		first, second := r, other
		if first.number > second.number {
			first, second = second, first
		}
		first.Member.mu.Lock()
		second.Member.mu.Lock()
		mine, theirs := r.active(), other.active()
		second.Member.mu.Unlock()
		first.Member.mu.Unlock()
		for _, o := range mine {
			for _, p := range theirs {
				if overlap(o.Range, p.Range) {
					m.fail(guarantee.OneOwner, "%s and %s act on %s and %s", r.Identity(), other.Identity(), o, p)
				}
			}
			if other.connection.isFrozen() {
				continue // its work can't have stopped yet, but does nothing
			}
			other.mu.Lock()
			for w := range other.work {
				if o.Contains(w.hash) && w.ctx.Err() == nil {
					m.fail(guarantee.OneOwner, "%s owns %s while %s works on %x", r.Identity(), o, other.Identity(), w.hash)
				}
			}
			other.mu.Unlock()
		}
	}
	r.Member.mu.Lock()
	defer r.Member.mu.Unlock()
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, o := range r.active() {
		hashes, _ := m.hashes(o.Range)
		for place := range eachPlace(hashes) {
			if o.Token < m.tokens[place[0]] {
				m.failLocked(guarantee.OneOwner, "%s has token %d for %x after %d", r.Identity(), o.Token, place[0],
					m.tokens[place[0]])
			}
			m.tokens[place[0]] = o.Token
		}
	}
}

func (m *model) fail(g guarantee.Guarantee, format string, args ...any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.failLocked(g, format, args...)
}

// failLocked reports the first broken law.
func (m *model) failLocked(g guarantee.Guarantee, format string, args ...any) {
	if !m.failed {
		m.failed = true
		m.t.Errorf("%s: "+format, append([]any{g}, args...)...)
	}
}

// wrote counts the objects that a new table moves.
func (m *model) wrote(t table) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.last.Ranges != nil {
		for place := range eachPlace(m.objects) {
			was, is := m.last.Ranges[m.last.indexOf(place[0])], t.Ranges[t.indexOf(place[0])]
			if is.Owner != "" && is.Owner != was.Owner {
				m.moved += len(place)
			}
		}
	}
	m.last = t
}

// watch checks every second whether every object has a member that acts on it. In a calm group each must have
// one again in time after a member has gone.
func (m *model) watch(ctx context.Context) {
	for ctx.Err() == nil {
		m.mu.Lock()
		replicas := slices.Clone(m.replicas)
		m.mu.Unlock()
		var owned []shard.Range
		for _, r := range replicas {
			if r.isCrashed() {
				continue
			}
			r.Member.mu.Lock()
			for _, o := range r.owned {
				owned = append(owned, o.Range)
			}
			r.Member.mu.Unlock()
		}
		m.cover(owned)
		bubble.Pass(time.Second)
	}
}

func (m *model) cover(owned []shard.Range) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	covered := true
	for place := range eachPlace(m.objects) {
		if slices.ContainsFunc(owned, func(r shard.Range) bool { return r.Contains(place[0]) }) {
			delete(m.unowned, place[0])
			continue
		}
		covered = false
		since, known := m.unowned[place[0]]
		if !known {
			m.unowned[place[0]] = now
			continue
		}
		if m.crashed.After(since) {
			since = m.crashed
		}
		// Two seconds more, because watch checks once a second, and requests take some time.
		if waited := now.Sub(since); m.calm && m.started && waited > m.allowance+2*time.Second {
			m.failLocked(guarantee.NoneUnowned, "nobody has acted on %x for %s, longer than %s", place[0],
				waited, m.allowance)
		}
	}
	m.started = m.started || covered
}

// elections elects a balancer whenever there has been none for a LeaseDuration, as leader election does after
// a crash.
func (m *model) elections(ctx context.Context, random *rand.Rand) {
	silent := time.Duration(0)
	for ctx.Err() == nil {
		m.mu.Lock()
		replicas := slices.Clone(m.replicas)
		m.mu.Unlock()
		var able []*replica
		leads := false
		for _, r := range replicas {
			if r.isGone() || r.connection.isFrozen() {
				continue
			}
			able = append(able, r)
			leads = leads || r.isLeading()
		}
		silent += retryPeriod
		if leads {
			silent = 0
		}
		if silent >= leaseDuration && len(able) > 0 {
			able[random.IntN(len(able))].lead(true)
		}
		bubble.Pass(retryPeriod)
	}
}

// TestModel runs random groups. Members join, leave, crash, freeze and thaw, and their clocks run at
// different speeds. Requests are delayed, lost or carried out late, the server is down, the table or a Lease
// is deleted, and there are none, one or several balancers. No object ever has two owners, tokens never fall,
// and when all is quiet every object has an owner, and no member has too many. In some groups members only
// come and go: there every object has an owner again within the bound.
//
// A hundred thousand steps (a few minutes): go test ./sharding -run '^TestModel$' -sharding.seeds 310
// -sharding.steps 330
func TestModel(t *testing.T) {
	for n := range *seeds {
		seed := *firstSeed + n
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { newModel(t, seed).run(seed, *steps) })
		})
	}
}
