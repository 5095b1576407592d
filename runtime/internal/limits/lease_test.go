package limits

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/kubewright/kubewright/runtime/internal/sources"
)

// leased is a list of the model: the bytes that it holds, and whether it waits.
type leased struct {
	lease  *Lease
	ctx    context.Context
	cancel context.CancelFunc
	bytes  int64
	// waiting receives the result of a wait that hasn't returned.
	waiting chan error
	paused  bool
	// says is true from wait(true) to wait(false) of its context, see WithWaits.
	says atomic.Bool
}

// leases are the lists of a random test of a limiter, and the model of their state.
type leases struct {
	*testing.T
	limiter *Limiter
	live    []*leased
	// order has the lists that hold bytes, the senior first.
	order []*leased
}

const (
	modelBudget = 1000
	largestItem = 300
	modelPlaces = 8
)

func (m *leases) held() (total int64) {
	for _, l := range m.live {
		total += l.bytes
	}
	return total
}

// mayGoOn is the rule that the test checks.
func (m *leases) mayGoOn(l *leased) bool { return m.held() <= modelBudget || m.order[0] == l }

func (m *leases) begin() {
	l := &leased{}
	l.ctx, l.cancel = context.WithCancel(m.Context())
	l.ctx = sources.WithWaits(l.ctx, func(begins bool) {
		if l.says.Swap(begins) == begins {
			m.Errorf("called twice: a wait begins %t", begins)
		}
	})
	var err error
	if l.lease, err = m.limiter.Enter(l.ctx); err != nil {
		m.Fatal(err)
	}
	m.live = append(m.live, l)
}

// item makes a list begin an item.
func (m *leases) item(l *leased) {
	l.waiting = make(chan error, 1)
	go func() { l.waiting <- l.lease.Wait(l.ctx) }()
	m.settle(l)
}

// settle checks that after the last step exactly the waits of those lists have returned that may continue.
// These lists then decode their items.
func (m *leases) settle(all ...*leased) {
	synctest.Wait()
	var goOn []*leased
	for _, l := range all {
		if l.waiting == nil {
			continue
		}
		select {
		case err := <-l.waiting:
			if err != nil || !m.mayGoOn(l) || l.says.Load() {
				m.Fatalf("went on with %d held, %v", m.held(), err)
			}
			l.waiting = nil
			goOn = append(goOn, l)
		default:
			if m.mayGoOn(l) || !l.says.Load() {
				m.Fatalf("waits with %d held", m.held())
			}
		}
	}
	for _, l := range goOn {
		size := 1 + rand.IntN(largestItem)
		if l.bytes == 0 {
			m.order = append(m.order, l)
		}
		l.bytes += int64(size)
		l.lease.Charge(size)
	}
}

// gone records that a list has released its bytes.
func (m *leases) gone(l *leased) {
	is := func(other *leased) bool { return other == l }
	m.live, m.order = slices.DeleteFunc(m.live, is), slices.DeleteFunc(m.order, is)
	l.lease.End()
	l.lease.Charge(largestItem) // too late to count
	l.cancel()
	m.settle(m.live...)
}

func (m *leases) canceled(l *leased) {
	l.cancel()
	synctest.Wait()
	if l.waiting != nil {
		if err := <-l.waiting; err != context.Canceled {
			m.Fatalf("a wait whose context is done: %v", err)
		}
	}
	// A list that is between pages ends without a wait to cancel.
	if l.paused {
		if l.lease.Resume() {
			m.Fatal("a list goes on after its context")
		}
		l.bytes = 0
		m.gone(l)
		return
	}
	m.gone(l)
}

func (m *leases) check() {
	total, idle := m.held(), len(m.live) == 0
	if got := m.limiter.Held(); got != total {
		m.Fatalf("%d held, expected %d", got, total)
	}
	if len(m.limiter.places) != len(m.live) {
		m.Fatalf("%d places taken by %d lists", len(m.limiter.places), len(m.live))
	}
	for _, l := range m.live {
		idle = idle || l.waiting == nil
	}
	if !idle {
		m.Fatal("every list waits")
	}
	if len(m.order) > 0 && total-m.order[0].bytes > modelBudget+int64(len(m.order)-1)*largestItem {
		m.Fatalf("%d held, %d of them by the senior", total, m.order[0].bytes)
	}
}

// TestBudgetModel begins, continues, pauses between pages, ends, fails and cancels lists of items of random
// sizes, in random order. Each waits exactly when the rule requires it, at least one can always continue, and
// in the end nothing is held.
func TestBudgetModel(t *testing.T) {
	for range 50 {
		synctest.Test(t, func(t *testing.T) {
			limiter := New(modelPlaces)
			limiter.SetBudget(modelBudget)
			m := &leases{T: t, limiter: &limiter}
			for range 300 {
				if len(m.live) == 0 || len(m.live) < modelPlaces && rand.IntN(4) == 0 {
					m.begin()
				}
				l := m.live[rand.IntN(len(m.live))]
				switch n := rand.IntN(20); {
				case n == 0:
					m.canceled(l)
				case n == 1, l.waiting == nil && n == 2:
					// The list was stopped while it waited, failed, or is complete.
					waiting := l.waiting
					m.gone(l)
					if waiting != nil {
						if err := <-waiting; err != nil {
							t.Fatalf("a wait that was stopped: %v", err)
						}
					}
				case l.waiting != nil:
				case l.paused:
					if l.paused = false; !l.lease.Resume() {
						t.Fatal("a list can't go on")
					}
				case n < 5:
					l.paused = l.lease.Pause(l.ctx)
				default:
					m.item(l)
				}
				m.check()
			}
			// Lists that don't wait end, until none is left.
			for len(m.live) > 0 {
				m.gone(m.live[slices.IndexFunc(m.live, func(l *leased) bool { return l.waiting == nil })])
				m.check()
			}
			if b := m.limiter.budget; b.held != 0 || len(b.holders) != 0 {
				t.Errorf("%d bytes held by %d", b.held, len(b.holders))
			}
		})
	}
}
