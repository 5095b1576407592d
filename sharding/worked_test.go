package sharding

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/runtimetest"
	"github.com/kubewright/kubewright/runtime/shard"
)

// pair are two members with informers. There is no balancer: the test writes requests into the table. Their
// DrainGrace is a minute. JoinDelay is 10 s for the second and next to nothing for the first, which has owned
// everything for a minute.
type pair struct {
	*cached
	first, second *replica

	mu sync.Mutex
	// answer is closed when requests are answered, with refusal. holds selects those that wait for that, nil
	// all.
	answer  chan struct{}
	refusal error
	holds   func(runtimetest.Request) bool
}

func withPair(t *testing.T, test func(*testing.T, *pair)) {
	withCaches(t, func(t *testing.T, c *cached) {
		configure := c.configure
		c.configure = func(config *Config) {
			configure(config)
			config.DrainGrace = time.Minute
			if len(c.replicas) == 0 {
				config.JoinDelay = 1
			}
			config.elect = func(ctx context.Context, _ func(context.Context)) { <-ctx.Done() }
		}
		p := &pair{cached: c, first: c.join(), second: c.join(), answer: make(chan struct{})}
		close(p.answer)
		bubble.Advance(5 * time.Second)
		c.ask(everything, p.first.Identity())
		bubble.Advance(time.Minute)
		c.maps.OnRequest(p.wait)
		test(t, p)
		p.unblock(nil)
	})
}

func (p *pair) wait(ctx context.Context, r runtimetest.Request) error {
	p.mu.Lock()
	answer, holds := p.answer, p.holds
	p.mu.Unlock()
	if holds != nil && !holds(r) {
		return nil
	}
	select {
	case <-answer:
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.refusal
	case <-ctx.Done():
		return ctx.Err()
	}
}

// block holds up requests until unblock: those that holds selects, or all if it is nil.
func (p *pair) block(holds func(runtimetest.Request) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answer, p.holds = make(chan struct{}), holds
}

func (p *pair) unblock(refusal error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.answer:
	default:
		p.refusal = refusal
		close(p.answer)
	}
}

// owns reports whether the table assigns a range to a member.
func (p *pair) owns(r *replica, span shard.Range) bool {
	t, _ := p.server.table("bakers")
	return rangesOf(t.ownedBy(r.Identity())).Covers(shard.Join(span))
}

// give requests a range for a member, and returns how long it takes until the member has it.
func (p *pair) give(span shard.Range, to *replica) time.Duration {
	p.t.Helper()
	p.ask(span, to.Identity())
	for begun := time.Now(); ; bubble.Advance(100 * time.Millisecond) {
		if took := time.Since(begun); p.owns(to, span) {
			return took
		} else if took > 5*time.Minute {
			p.t.Fatalf("%s isn't handed over", span)
		}
	}
}

// quarters are four ranges, of all hashes together, with equally many namespaces.
func (c *cached) quarters() (quarters [4]shard.Range) {
	var hashes []uint64
	for _, name := range c.names {
		hashes = append(hashes, shard.Hash(name))
	}
	slices.Sort(hashes)
	for i := range quarters {
		quarters[i].Last = lastHash
		if i > 0 {
			quarters[i].First = hashes[i*len(hashes)/4]
			quarters[i-1].Last = quarters[i].First - 1
		}
	}
	return quarters
}

// inTime checks how long something took, give or take a second.
func inTime(t *testing.T, took, want time.Duration, what string) {
	t.Helper()
	if took < want-time.Second || took > want+time.Second {
		t.Errorf("%s it took %v, not about %v", what, took, want)
	}
}

// TestWorksBeforeItGives: a member hands a range on only when the objects have been in its informers for
// JoinDelay, or else after DrainGrace + JoinDelay.
func TestWorksBeforeItGives(t *testing.T) {
	withPair(t, func(t *testing.T, p *pair) {
		part := p.quarters()[0]
		p.give(part, p.second)
		inTime(t, p.give(part, p.first), 10*time.Second, "for a range that has just come")
		p.give(part, p.second)
		bubble.Advance(11 * time.Second)
		inTime(t, p.give(part, p.first), 0, "for a range that has been there for long")
		p.block(nil)
		p.give(part, p.second)
		p.ask(part, p.first.Identity())
		bubble.Advance(20 * time.Second)
		if p.owns(p.first, part) {
			t.Error("the range was handed over before its objects were there")
		}
		p.unblock(nil)
		inTime(t, p.give(part, p.first), 10*time.Second, "from when the objects were there")
		p.block(nil)
		p.give(part, p.second)
		inTime(t, p.give(part, p.first), 70*time.Second, "without the objects")
	})
}

// TestFirstRangeIsWorkedOn: a member without ranges is given a free one, which is requested from it at once,
// before its informers have read anything.
func TestFirstRangeIsWorkedOn(t *testing.T) {
	for range 20 {
		withPair(t, func(t *testing.T, p *pair) {
			third := p.join()
			bubble.Advance(5 * time.Second)
			p.give(p.quarters()[0], third)
			third.leave()
			<-third.ended
			p.block(nil)
			var part shard.Range
			p.change(func(t table) table {
				part = t.rangeAt(0) // the third may have divided its range when it left
				return t.reassign(part, p.second.Identity(), 0).withRequest(part, p.first.Identity())
			})
			bubble.Advance(30 * time.Second)
			if !p.owns(p.second, part) {
				t.Error("the range was handed on without its objects")
			}
		})
	}
}

// TestWithdrawnIsKept: a range is requested, and the request is withdrawn while the member still waits for
// JoinDelay. Work in the range goes on.
func TestWithdrawnIsKept(t *testing.T) {
	withPair(t, func(t *testing.T, p *pair) {
		part := p.quarters()[0]
		p.give(part, p.second)
		bubble.Advance(3 * time.Second)
		var names []string
		for _, name := range p.names {
			if p.second.Accepts(name) {
				names = append(names, name)
			}
		}
		release, ended := make(chan struct{}), make(chan error, 1)
		go func() {
			ended <- p.second.Do(t.Context(), names[0], func(ctx context.Context, _ Owned) error {
				select {
				case <-ctx.Done():
					return context.Cause(ctx)
				case <-release:
					return nil
				}
			})
		}()
		bubble.Advance(100 * time.Millisecond)
		p.ask(part, p.first.Identity())
		bubble.Advance(time.Second)
		p.ask(part, p.second.Identity())
		bubble.Advance(3 * time.Second)
		if !p.second.works(names[1]) {
			t.Error("nothing is requested, but no work begins")
		}
		bubble.Advance(2 * time.Minute)
		close(release)
		if err := <-ended; err != nil {
			t.Errorf("nothing was requested, but work ended: %v", err)
		}
	})
}

// TestRangesAreWorkedOnApart: a range whose objects don't come, or one that is handed over, doesn't delay the
// hand-over of another.
func TestRangesAreWorkedOnApart(t *testing.T) {
	withPair(t, func(t *testing.T, p *pair) {
		parts := p.quarters()
		p.give(parts[1], p.second)
		bubble.Advance(30 * time.Second)
		p.block(func(r runtimetest.Request) bool {
			_, ranges, err := shard.ParseSelector(r.Options.ShardSelector)
			return err != nil || isList(r) && ranges.Contains(parts[3].First)
		})
		p.give(parts[3], p.second)
		p.give(parts[0], p.second)
		bubble.Advance(5 * time.Second)
		inTime(t, p.give(parts[1], p.first), 0, "for a range that was there for long")
		bubble.Advance(6 * time.Second)
		inTime(t, p.give(parts[0], p.first), 0, "for a range that was there for 11 s")
	})
}

// TestLostIsWorkedOnAnew: if a member loses a range and gets it again, JoinDelay begins anew.
func TestLostIsWorkedOnAnew(t *testing.T) {
	withPair(t, func(t *testing.T, p *pair) {
		part := p.quarters()[0]
		p.block(nil)
		p.give(part, p.second)
		p.ask(part, p.first.Identity())
		bubble.Advance(65 * time.Second)
		p.unblock(nil)
		inTime(t, p.give(part, p.first), 5*time.Second, "after DrainGrace and JoinDelay")
		p.give(part, p.second)
		bubble.Advance(6 * time.Second)
		inTime(t, p.give(part, p.first), 4*time.Second, "for a range that came again 6 s ago")
	})
}

// TestWorkedOnWhileItActs: time in which the member may not act doesn't count for JoinDelay.
func TestWorkedOnWhileItActs(t *testing.T) {
	withPair(t, func(t *testing.T, p *pair) {
		part := p.quarters()[0]
		p.give(part, p.second)
		p.server.setDown(true)
		bubble.Advance(time.Minute)
		if len(p.second.Status().Owned) > 0 {
			t.Fatal("it acts without its Lease")
		}
		p.server.setDown(false)
		for len(p.second.Status().Owned) == 0 {
			bubble.Advance(10 * time.Millisecond)
		}
		inTime(t, p.give(part, p.first), 10*time.Second, "for a range that it couldn't work on")
	})
}

// TestRefusedIsGiven: a member hands a requested range over at once if the server has refused the selector of
// its informer.
func TestRefusedIsGiven(t *testing.T) {
	withPair(t, func(t *testing.T, p *pair) {
		part := p.quarters()[0]
		p.block(nil)
		p.give(part, p.second)
		p.ask(part, p.first.Identity())
		bubble.Advance(5 * time.Second)
		refusal := apierrors.NewInternalError(errors.New("refused"))
		refusal.ErrStatus.Message = "invalid shard selector: it is too new"
		p.unblock(refusal)
		bubble.Advance(time.Second)
		if !p.owns(p.first, part) {
			t.Error("the range isn't handed over")
		}
	})
}

// change changes the table.
func (m *model) change(to func(table) table) {
	m.t.Helper()
	lease, err := m.server.Get("bakers")
	if err == nil {
		var v *version
		if v, err = versionOf(lease); err == nil {
			lease.Annotations[tableAnnotation], err = to(v.table).text()
		}
	}
	if err == nil {
		_, err = m.server.Update(lease)
	}
	if err != nil {
		m.t.Fatal(fmt.Errorf("the table: %w", err))
	}
}

// works reports whether work on a namespace may begin at once.
func (m *Member) works(namespace string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.isAssigned(shard.Hash(namespace)) && m.allows(shard.Hash(namespace))
}
