package sharding

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"
	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"
)

// Config describes a member of a group.
type Config struct {
	// Leases is the client of the namespace in which the group's Leases are.
	Leases coordination.LeaseInterface
	// Group names the group, and the Lease with its table.
	Group string
	// Identity is the member's own, for example the name of its Pod. A random part is added: a process that starts
	// again is another member.
	Identity string
	// Field is what is hashed. ByNamespace is the default.
	Field Field
	// Kinds are the resources that are sharded, such as "bakeries.shop.example.com", in any order. All members must
	// have the same.
	Kinds []string

	// LeaseDuration is how long a member's Lease must not have changed before its ranges are given to others: 15 s by
	// default. RenewDeadline is how long after its last renewal a member acts on them: 10 s. LeaseDuration /
	// RenewDeadline, at least 1.25, is by how much clocks may differ in speed. RetryPeriod is the time between
	// renewals: 2 s.
	LeaseDuration, RenewDeadline, RetryPeriod time.Duration
	// Joins is how long the balancer waits for further members before it moves ranges to a new one: 10 s by default.
	Joins time.Duration
	// MinMembers is how many members there must be before ranges are given, for at most MinMembersWait (a minute by
	// default) after the balancer began.
	MinMembers     int
	MinMembersWait time.Duration
	// MaxLoad is how many objects a member may have. What doesn't fit has no owner. 0 stands for no bound.
	MaxLoad int

	// Load counts the objects of a range that the member has. nil stands for ranges without objects.
	Load func(Range) int
	// Cut returns the part of a range that has about so many objects, and at least one place less than the range. nil
	// stands for the first half of the places.
	Cut func(r Range, objects int) Range
	// Changed is called after the ranges that the member owns changed, one call at a time, with all of them. It must
	// return soon.
	Changed func([]Owned)
	// DrainGrace is how long work on a range that is given away may go on before its context ends: 20 s by default.
	DrainGrace time.Duration

	clock clock
	// elect calls the function with a context that ends when the member isn't elected any more, and again when it is.
	elect func(context.Context, func(context.Context))
}

// clock is the time as a member sees it, so that tests can let clocks run at different speeds.
type clock interface {
	now() time.Time
	after(time.Duration) <-chan time.Time
}

type realClock struct{}

func (realClock) now() time.Time                         { return time.Now() }
func (realClock) after(d time.Duration) <-chan time.Time { return time.After(d) }

// ErrNotOwned is the error of work on a place that the member doesn't own, or may not act on now.
var ErrNotOwned = errors.New("not owned by this member")

// Member is one replica's part in a group. Its methods are safe for concurrent use.
type Member struct {
	config Config
	leases leases

	mu sync.Mutex
	// until is when the member's Lease ends, by its own clock.
	until time.Time
	// hold counts the times that the Lease began to hold, after none or a lapse.
	hold int
	// confirmed says that the table was written or read in this hold so that an earlier decision of a balancer, to take
	// the member's ranges, can't be carried out any more.
	confirmed bool
	// current is the last table that was read or written, and known says whether there is one.
	current table
	known   bool
	// reported is the generation that the member's Lease says it has seen.
	reported int64
	// refused says why the member doesn't take part, if it doesn't.
	refused error
	// draining are ranges that are about to be given away: no work begins there.
	draining []Range
	runs     map[*run]struct{}
	// owned are the ranges that Changed was told last.
	owned []Owned
	// changed is closed, and replaced, when anything above changes.
	changed chan struct{}
}

// run is a piece of work.
type run struct {
	hash   uint64
	cancel context.CancelCauseFunc
}

// NewMember returns a member that takes part once Run is called.
func NewMember(config Config) (*Member, error) {
	setDefault(&config.Field, ByNamespace)
	setDefault(&config.LeaseDuration, 15*time.Second)
	setDefault(&config.RenewDeadline, 10*time.Second)
	setDefault(&config.RetryPeriod, 2*time.Second)
	setDefault(&config.Joins, 10*time.Second)
	setDefault(&config.MinMembersWait, time.Minute)
	setDefault(&config.DrainGrace, 20*time.Second)
	if config.clock == nil {
		config.clock = realClock{}
	}
	if config.elect == nil {
		config.elect = config.byLeaderElection
	}
	config.Kinds = slices.Sorted(slices.Values(config.Kinds))
	switch {
	case config.Leases == nil:
		return nil, errors.New("sharding: Config.Leases is nil; set it to the client of a namespace's leases")
	case config.Group == "" || config.Identity == "":
		return nil, errors.New("sharding: Config.Group or Config.Identity is empty")
	case len(config.Kinds) == 0:
		return nil, errors.New("sharding: Config.Kinds is empty; name the resources that are sharded")
	case config.Field != ByNamespace && config.Field != ByUID:
		return nil, fmt.Errorf("sharding: Config.Field %q is neither ByNamespace nor ByUID", config.Field)
	case config.LeaseDuration*4 < config.RenewDeadline*5:
		return nil, fmt.Errorf("sharding: LeaseDuration %s isn't at least 1.25 times RenewDeadline %s",
			config.LeaseDuration, config.RenewDeadline)
	case config.RenewDeadline < 2*config.RetryPeriod:
		return nil, fmt.Errorf("sharding: RenewDeadline %s leaves no time to renew twice, every %s",
			config.RenewDeadline, config.RetryPeriod)
	}
	config.Identity += "-" + rand.String(5)
	return &Member{
		config: config, leases: leases{config.Leases, config.Group, config.RenewDeadline},
		runs: map[*run]struct{}{}, changed: make(chan struct{}),
	}, nil
}

func setDefault[T comparable](value *T, fallback T) {
	var zero T
	if *value == zero {
		*value = fallback
	}
}

// Identity returns the member's identity, as it stands in the table: the one of its configuration and a random part.
func (m *Member) Identity() string { return m.config.Identity }

// Do calls f if the member owns the place of obj and may act on it, and returns ErrNotOwned if not. The context of f
// ends when the member must stop acting on it. Until f returns, the member doesn't give the place to another one.
func (m *Member) Do(ctx context.Context, obj metav1.Object, f func(context.Context, Owned) error) error {
	return m.do(ctx, m.config.Field.hash(obj), f)
}

func (m *Member) do(ctx context.Context, hash uint64, f func(context.Context, Owned) error) error {
	m.mu.Lock()
	owned, ok := m.owns(hash)
	if !ok || m.isDraining(hash) {
		m.mu.Unlock()
		return ErrNotOwned
	}
	ctx, cancel := context.WithCancelCause(ctx)
	r := &run{hash, cancel}
	m.runs[r] = struct{}{}
	m.mu.Unlock()
	defer func() {
		cancel(nil)
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.runs, r)
		m.signal()
	}()
	return f(ctx, owned)
}

// Owns returns the range of the place of obj and its token, and whether the member may act on it now. Ask again before
// every write.
func (m *Member) Owns(obj metav1.Object) (Owned, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.owns(m.config.Field.hash(obj))
}

// owns needs the lock.
func (m *Member) owns(hash uint64) (Owned, bool) {
	if !m.acts() {
		return Owned{}, false
	}
	i := m.current.at(hash)
	e := m.current.Ranges[i]
	return Owned{m.current.span(i), e.Token}, e.Owner == m.config.Identity
}

// acts reports whether the member may act on the ranges that the table gives it. Its Lease must say that it has seen
// tables of this creation: whoever creates one anew then waits for it. It needs the lock.
func (m *Member) acts() bool {
	return m.known && m.confirmed && m.reported >= m.current.Since && m.config.clock.now().Before(m.until)
}

func (m *Member) isDraining(hash uint64) bool {
	return slices.ContainsFunc(m.draining, func(r Range) bool { return r.Contains(hash) })
}

// signal wakes those who wait for a change. It needs the lock.
func (m *Member) signal() {
	close(m.changed)
	m.changed = make(chan struct{})
}

// renewed notes that a renewal was answered which was sent at a time by the member's clock, and said that the member has
// seen a generation.
func (m *Member) renewed(sent time.Time, seen int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now, until := m.config.clock.now(), sent.Add(m.config.RenewDeadline)
	if !now.Before(until) {
		return // the answer is too old
	}
	if !now.Before(m.until) {
		// It didn't hold until just now, so ranges may have been given to others.
		m.hold++
		m.confirmed = false
	}
	m.until, m.reported = until, max(m.reported, seen)
	m.settle()
}

// take notes a table that was read or written. A table that is older than the current one is ignored.
func (m *Member) take(t table) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.takeLocked(t)
}

func (m *Member) takeLocked(t table) {
	if m.known && t.Generation <= m.current.Generation {
		return
	}
	m.current, m.known, m.refused = t, true, nil
	if !sameKinds(t.Field, m.config.Field, t.Kinds, m.config.Kinds) {
		m.known = false
		m.refused = fmt.Errorf("the group shards %v by %s, this member %v by %s: it doesn't take part",
			t.Kinds, t.Field, m.config.Kinds, m.config.Field)
	}
	m.settle()
}

// lost notes that there is no table any more.
func (m *Member) lost() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.known = false
	m.settle()
}

// lapse ends the work that the member may no longer do. It is called when the Lease may have ended.
func (m *Member) lapse() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.settle()
}

// settle makes work and the callback follow a change of what is owned. It needs the lock.
func (m *Member) settle() {
	for r := range m.runs {
		if _, ok := m.owns(r.hash); !ok {
			r.cancel(ErrNotOwned)
		}
	}
	var owned []Owned
	if m.acts() {
		owned = m.current.of(m.config.Identity)
	}
	if !slices.Equal(owned, m.owned) {
		m.owned = owned
		if m.config.Changed != nil {
			m.config.Changed(slices.Clone(owned))
		}
	}
	m.signal()
}

// confirm makes sure that no balancer can take ranges any more by a decision that it made before the member's Lease
// began to hold: such a decision comes with the version of a table that was read before. So a table that names the member
// is written anew.
func (m *Member) confirm(ctx context.Context) error {
	m.mu.Lock()
	hold, confirmed := m.hold, m.confirmed || !m.config.clock.now().Before(m.until)
	m.mu.Unlock()
	if confirmed {
		return nil
	}
	t, lease, err := m.leases.read(ctx)
	if apierrors.IsNotFound(err) {
		return m.create(ctx)
	}
	if err != nil {
		return err
	}
	if anew, named := t.renewed(m.config.Identity); named > 0 {
		if _, err := m.leases.write(ctx, lease, anew); err != nil {
			return err
		}
		t = anew
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.hold == hold {
		m.confirmed = true
	}
	m.takeLocked(t)
	m.settle()
	return nil
}

// create creates the table, of one free range, above all generations that any member has seen.
func (m *Member) create(ctx context.Context) error {
	highest, err := m.leases.highest(ctx)
	if err != nil {
		return err
	}
	m.mu.Lock()
	highest = max(highest, m.current.Generation)
	m.mu.Unlock()
	generation := int64(1)
	if highest > 0 {
		// Tables may have been written since the members last said what they have seen, though not so often.
		generation = highest + 1_000_000
	}
	return m.leases.create(ctx, newTable(generation, m.config.Field, m.config.Kinds))
}

// renew renews the Lease once.
func (m *Member) renew(ctx context.Context, last *coordinationv1.Lease) (*coordinationv1.Lease, error) {
	m.mu.Lock()
	r := report{
		Protocol: protocol, Field: m.config.Field, Kinds: m.config.Kinds, Seen: m.current.Generation,
		Objects: map[place]int{},
	}
	owned := slices.Clone(m.owned)
	m.mu.Unlock()
	for _, o := range owned {
		r.Objects[place(o.First)] = m.load(o.Range)
	}
	sent := m.config.clock.now()
	lease, err := m.leases.renew(ctx, last, m.config.Identity, m.config.LeaseDuration, sent, r)
	if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
		// Somebody else wrote it, or the answer to an earlier renewal was lost.
		return m.leases.ofMember(ctx, m.config.Identity)
	}
	if err != nil {
		return last, err
	}
	m.renewed(sent, r.Seen)
	return lease, nil
}
