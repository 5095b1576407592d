package sharding

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/watch"
)

var (
	seeds     = flag.Int("sharding.seeds", 12, "random groups that TestModel runs")
	firstSeed = flag.Uint64("sharding.seed", 1, "the first of them")
)

const (
	leaseDuration = 15 * time.Second
	renewDeadline = 10 * time.Second
	retryPeriod   = 2 * time.Second
)

// skewed is a clock that runs at another speed than the others'.
type skewed struct {
	began time.Time
	rate  float64
}

func (c skewed) now() time.Time {
	return c.began.Add(time.Duration(float64(time.Since(c.began)) * c.rate))
}

func (c skewed) after(d time.Duration) <-chan time.Time {
	return time.After(time.Duration(float64(d) / c.rate))
}

// model is a group of members over a server, with workers that note who acts on what.
type model struct {
	t      *testing.T
	random *rand.Rand
	server *server
	// objects are the places of all objects, in order.
	objects []uint64

	mu      sync.Mutex
	members []*replica
	// acting is who works on a place, tokens the highest token with which anybody began to.
	acting map[uint64]map[*replica]context.Context
	tokens map[uint64]int64
	failed bool
}

// replica is a process with a member.
type replica struct {
	*Member
	connection *connection
	// stop ends it in order, crash at once.
	stop  context.CancelFunc
	crash func()
	ended chan struct{}

	mu      sync.Mutex
	leads   context.CancelFunc
	balance func(context.Context)
	frozen  bool
	dead    bool
}

func newModel(t *testing.T, seed uint64, objects int) *model {
	m := &model{
		t: t, random: rand.New(rand.NewPCG(seed, 0)), server: newServer(),
		acting: map[uint64]map[*replica]context.Context{}, tokens: map[uint64]int64{},
	}
	for n := range objects {
		// As namespaces are: many have no more than one object, some have many, and their names differ at the end.
		m.objects = append(m.objects, hashOf(fmt.Sprintf("team-%d", int(float64(n)*m.random.Float64()))))
	}
	slices.Sort(m.objects)
	return m
}

func (m *model) count(r Range) int {
	first := sort.Search(len(m.objects), func(i int) bool { return m.objects[i] >= r.First })
	after := sort.Search(len(m.objects), func(i int) bool { return m.objects[i] > r.Last })
	return after - first
}

// cut returns the first places of a range that have about so many objects.
func (m *model) cut(r Range, objects int) Range {
	first := sort.Search(len(m.objects), func(i int) bool { return m.objects[i] >= r.First })
	last := m.objects[min(first+objects, len(m.objects)-1)]
	if last >= r.Last {
		last = r.Last - 1
	}
	if last < r.First {
		last = r.First
	}
	return Range{r.First, last}
}

// join starts a replica.
func (m *model) join(trouble float64) *replica {
	r := &replica{ended: make(chan struct{}), connection: &connection{
		server: m.server, random: rand.New(rand.NewPCG(m.random.Uint64(), 0)), trouble: trouble,
	}}
	member, err := NewMember(Config{
		Leases: r.connection, Group: "bakers", Identity: fmt.Sprint("m", len(m.members)), Kinds: []string{"bakeries"},
		LeaseDuration: leaseDuration, RenewDeadline: renewDeadline, RetryPeriod: retryPeriod,
		Load: m.count, Cut: m.cut,
		clock: skewed{time.Now(), .85 + .35*m.random.Float64()},
		elect: r.elect,
	})
	if err != nil {
		m.t.Fatal(err)
	}
	r.Member = member
	ctx, stop := context.WithCancel(context.Background())
	working, crash := context.WithCancel(context.Background())
	r.stop, r.crash = stop, func() {
		r.mu.Lock()
		r.dead = true
		r.mu.Unlock()
		r.connection.freeze() // nothing of it is heard any more
		crash()
	}
	var workers sync.WaitGroup
	for range 3 {
		random := rand.New(rand.NewPCG(m.random.Uint64(), 0))
		workers.Go(func() { m.work(working, r, random) })
	}
	go func() {
		defer close(r.ended)
		if err := r.Run(ctx); err != nil && !r.isDead() {
			m.t.Log(err)
		}
		crash()
		workers.Wait()
	}()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.members = append(m.members, r)
	return r
}

func (r *replica) isDead() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.dead
}

// elect stands in for leader election: the model says who leads, also several at once.
func (r *replica) elect(ctx context.Context, balance func(context.Context)) {
	r.mu.Lock()
	r.balance = balance
	r.mu.Unlock()
	<-ctx.Done()
	r.lead(context.Background(), false)
}

func (r *replica) lead(ctx context.Context, yes bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case yes && r.leads == nil && r.balance != nil && !r.dead:
		ctx, r.leads = context.WithCancel(ctx)
		go r.balance(ctx)
	case !yes && r.leads != nil:
		r.leads()
		r.leads = nil
	}
}

// work acts on objects at random, and checks that nobody else does.
func (m *model) work(ctx context.Context, r *replica, random *rand.Rand) {
	for ctx.Err() == nil {
		place := m.objects[random.IntN(len(m.objects))]
		err := r.do(ctx, place, func(running context.Context, owned Owned) error {
			m.begin(r, place, running, owned)
			defer m.end(r, place)
			takes := time.Duration(random.Int64N(int64(time.Second)))
			if random.IntN(50) == 0 {
				takes *= 30
			}
			select {
			case <-time.After(takes):
			case <-running.Done():
				time.Sleep(time.Duration(random.Int64N(int64(3 * time.Second)))) // some are slow to hear of it
			}
			return nil
		})
		pause := time.Duration(1 + random.Int64N(int64(200*time.Millisecond)))
		if errors.Is(err, ErrNotOwned) {
			pause /= 4
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
	}
}

func (m *model) begin(r *replica, place uint64, running context.Context, owned Owned) {
	r.connection.awake()
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, still := r.mayAct(place); !still {
		return // frozen since
	}
	for other, ctx := range m.acting[place] {
		if other != r && ctx.Err() == nil && other.acting(place) {
			m.fail("%s and %s act on place %x", r.Identity(), other.Identity(), place)
		}
	}
	if owned.Token < m.tokens[place] {
		m.fail("%s acts on place %x with token %d after %d", r.Identity(), place, owned.Token, m.tokens[place])
	}
	m.tokens[place] = owned.Token
	if m.acting[place] == nil {
		m.acting[place] = map[*replica]context.Context{}
	}
	m.acting[place][r] = running
}

func (m *model) end(r *replica, place uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.acting[place], r)
}

// fail reports a broken law once. It needs the lock.
func (m *model) fail(format string, args ...any) {
	if !m.failed {
		m.failed = true
		m.t.Errorf(format, args...)
		m.t.Logf("table: %+v", m.table())
	}
}

func (m *Member) mayAct(place uint64) (Owned, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.owns(place)
}

// acting reports whether a replica that isn't dead or frozen may act on a place.
func (r *replica) acting(place uint64) bool {
	r.mu.Lock()
	still := r.dead || r.frozen
	r.mu.Unlock()
	if still {
		return false
	}
	_, ok := r.mayAct(place)
	return ok
}

// watchOwners checks again and again that no place has two owners.
func (m *model) watchOwners(ctx context.Context) {
	for ctx.Err() == nil {
		m.mu.Lock()
		members := slices.Clone(m.members)
		m.mu.Unlock()
		for n := 0; n < len(m.objects); n += 1 + len(m.objects)/50 {
			var owner *replica
			for _, r := range members {
				if !r.acting(m.objects[n]) {
					continue
				}
				if owner != nil {
					m.mu.Lock()
					m.fail("%s and %s own place %x", owner.Identity(), r.Identity(), m.objects[n])
					m.mu.Unlock()
				}
				owner = r
			}
		}
		time.Sleep(25 * time.Millisecond)
	}
}

func (m *model) table() table {
	m.server.mu.Lock()
	defer m.server.mu.Unlock()
	lease, ok := m.server.leases["bakers"]
	if !ok {
		return table{}
	}
	t, err := tableOf(lease)
	if err != nil {
		m.t.Error(err)
	}
	return t
}

// living returns the replicas that run.
func (m *model) living() (living []*replica) {
	for _, r := range m.members {
		if !r.isDead() {
			living = append(living, r)
		}
	}
	return living
}

// step does one random thing to the group.
func (m *model) step(trouble float64) {
	living := m.living()
	pick := func() *replica { return living[m.random.IntN(len(living))] }
	switch n := m.random.IntN(20); {
	case n < 5 && len(living) < 10 || len(living) == 0:
		m.join(trouble)
	case n < 7:
		pick().crash()
	case n < 9:
		r := pick()
		r.mu.Lock()
		r.dead = true // it leaves in order: its balancer stops, its work ends
		r.mu.Unlock()
		r.stop()
	case n < 12:
		r := pick()
		r.mu.Lock()
		frozen := r.frozen
		r.frozen = true
		r.mu.Unlock()
		if frozen {
			return
		}
		r.connection.freeze()
		long := time.Duration(m.random.Int64N(int64(40 * time.Second)))
		go func() {
			time.Sleep(long)
			r.mu.Lock()
			r.frozen = false
			dead := r.dead
			r.mu.Unlock()
			if !dead {
				r.connection.resume()
			}
		}()
	case n < 13:
		m.setDown(true)
		long := time.Duration(m.random.Int64N(int64(60 * time.Second)))
		go func() { time.Sleep(long); m.setDown(false) }()
	case n < 14:
		m.deleteLease("bakers")
	case n < 15:
		m.deleteLease("bakers-" + pick().Identity())
	default:
		pick().lead(context.Background(), m.random.IntN(2) == 0)
	}
}

func (m *model) setDown(down bool) {
	m.server.mu.Lock()
	defer m.server.mu.Unlock()
	m.server.down = down
	close(m.server.changed) // watches end
	m.server.changed = make(chan struct{})
}

func (m *model) deleteLease(name string) {
	m.server.mu.Lock()
	defer m.server.mu.Unlock()
	if lease, ok := m.server.leases[name]; ok {
		m.server.put(watch.Deleted, lease)
	}
}

// settle ends all trouble, and checks that every place has an owner after the bound, and nobody too many objects.
func (m *model) settle() {
	m.setDown(false)
	for _, r := range m.members {
		r.mu.Lock()
		frozen, dead := r.frozen, r.dead
		r.mu.Unlock()
		if dead {
			continue
		}
		for frozen { // its thaw is under way
			time.Sleep(time.Second)
			r.mu.Lock()
			frozen = r.frozen
			r.mu.Unlock()
		}
		r.connection.mu.Lock()
		r.connection.trouble = 0
		r.connection.mu.Unlock()
		r.lead(context.Background(), false)
	}
	if len(m.living()) == 0 {
		m.join(0)
	}
	time.Sleep(time.Minute) // what was delayed comes in
	m.living()[0].lead(context.Background(), true)
	time.Sleep(3 * time.Minute)

	living := map[string]int{}
	for _, r := range m.living() {
		living[r.Identity()] = 0
	}
	t := m.table()
	for i, e := range t.Ranges {
		if _, ok := living[e.Owner]; !ok {
			m.t.Errorf("%s belongs to %q, which isn't among the living", t.span(i), e.Owner)
			continue
		}
		living[e.Owner] += m.count(t.span(i))
	}
	mean := len(m.objects) / len(living)
	for owner, n := range living {
		if n > mean*5/4+m.largest() {
			m.t.Errorf("%s has %d objects, the mean is %d", owner, n, mean)
		}
	}
	if len(t.Ranges) > maxRanges*len(living) {
		m.t.Errorf("%d ranges for %d members", len(t.Ranges), len(living))
	}
}

// largest returns how many objects share the place that most do: these can't be parted.
func (m *model) largest() (largest int) {
	counts := map[uint64]int{}
	for _, o := range m.objects {
		counts[o]++
		largest = max(largest, counts[o])
	}
	return largest
}

// end stops everything that still runs.
func (m *model) end2() {
	for _, r := range m.members {
		r.stop()
		if r.isDead() {
			r.connection.mu.Lock()
			frozen := r.connection.thaw != nil
			r.connection.mu.Unlock()
			if frozen {
				r.connection.resume()
			}
		}
	}
	for _, r := range m.members {
		<-r.ended
	}
}

// TestModel runs random groups: members join, leave, crash, freeze and thaw, their clocks run at different speeds, requests
// are delayed, lost, carried out late, the server is down, the table or a Lease is deleted, none, one or several balance. No
// place ever has two owners, tokens never fall, and when all is quiet every place has an owner, and nobody too many objects.
func TestModel(t *testing.T) {
	for n := range *seeds {
		seed := *firstSeed + uint64(n)
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m := newModel(t, seed, 400)
				ctx, cancel := context.WithCancel(t.Context())
				trouble := []float64{0, .02, .1, .3}[m.random.IntN(4)]
				m.join(trouble)
				go m.watchOwners(ctx)
				for range 60 {
					m.step(trouble)
					time.Sleep(time.Duration(m.random.Int64N(int64(8 * time.Second))))
				}
				m.settle()
				cancel()
				m.end2()
			})
		})
	}
}

var _ = coordinationv1.Lease{}
