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

// modelList is a list of the model: the bytes that it holds, and whether it waits.
type modelList struct {
	slot   *Slot
	ctx    context.Context
	cancel context.CancelFunc
	bytes  int64
	// waiting receives the result of a wait that hasn't returned.
	waiting chan error
	paused  bool
	// says is true from wait(true) to wait(false) of its context, see WithWaits.
	says atomic.Bool
}

// slotModel has the lists of a random test of a limiter, and the model of their state.
type slotModel struct {
	*testing.T
	limiter *Limiter
	live    []*modelList
	// order has the lists that hold bytes, the senior first.
	order []*modelList
}

const (
	modelBudget = 1000
	largestItem = 300
	modelSlots  = 8
)

func (m *slotModel) held() (total int64) {
	for _, l := range m.live {
		total += l.bytes
	}
	return total
}

// mayGoOn is the rule that the test checks.
func (m *slotModel) mayGoOn(l *modelList) bool { return m.held() <= modelBudget || m.order[0] == l }

func (m *slotModel) startList() {
	l := &modelList{}
	l.ctx, l.cancel = context.WithCancel(m.Context())
	l.ctx = sources.WithWaits(l.ctx, func(begins bool) {
		if l.says.Swap(begins) == begins {
			m.Errorf("called twice: a wait begins %t", begins)
		}
	})
	var err error
	if l.slot, err = m.limiter.Enter(l.ctx); err != nil {
		m.Fatal(err)
	}
	m.live = append(m.live, l)
}

// item makes a list begin an item.
func (m *slotModel) item(l *modelList) {
	l.waiting = make(chan error, 1)
	go func() { l.waiting <- l.slot.Wait(l.ctx) }()
	m.checkWaits(l)
}

// checkWaits checks that after the last step exactly the waits of those lists have returned that may
// continue. These lists then decode their items.
func (m *slotModel) checkWaits(all ...*modelList) {
	synctest.Wait()
	var goOn []*modelList
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
		l.slot.Charge(size)
	}
}

// endList records that a list has released its bytes.
func (m *slotModel) endList(l *modelList) {
	is := func(other *modelList) bool { return other == l }
	m.live, m.order = slices.DeleteFunc(m.live, is), slices.DeleteFunc(m.order, is)
	l.slot.End()
	l.slot.Charge(largestItem) // too late to count
	l.cancel()
	m.checkWaits(m.live...)
}

func (m *slotModel) canceled(l *modelList) {
	l.cancel()
	synctest.Wait()
	if l.waiting != nil {
		if err := <-l.waiting; err != context.Canceled {
			m.Fatalf("a wait whose context is done: %v", err)
		}
	}
	// A list that is between pages ends without a wait to cancel.
	if l.paused {
		if l.slot.Resume() {
			m.Fatal("a list goes on after its context")
		}
		l.bytes = 0
		m.endList(l)
		return
	}
	m.endList(l)
}

func (m *slotModel) check() {
	total, idle := m.held(), len(m.live) == 0
	if got := m.limiter.Held(); got != total {
		m.Fatalf("%d held, expected %d", got, total)
	}
	if len(m.limiter.slots) != len(m.live) {
		m.Fatalf("%d slots taken by %d lists", len(m.limiter.slots), len(m.live))
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
			limiter := New(modelSlots)
			limiter.SetBudget(modelBudget)
			m := &slotModel{T: t, limiter: &limiter}
			for range 300 {
				if len(m.live) == 0 || len(m.live) < modelSlots && rand.IntN(4) == 0 {
					m.startList()
				}
				l := m.live[rand.IntN(len(m.live))]
				switch n := rand.IntN(20); {
				case n == 0:
					m.canceled(l)
				case n == 1, l.waiting == nil && n == 2:
					// The list was stopped while it waited, failed, or is complete.
					waiting := l.waiting
					m.endList(l)
					if waiting != nil {
						if err := <-waiting; err != nil {
							t.Fatalf("a wait that was stopped: %v", err)
						}
					}
				case l.waiting != nil:
				case l.paused:
					if l.paused = false; !l.slot.Resume() {
						t.Fatal("a list can't go on")
					}
				case n < 5:
					l.paused = l.slot.Pause(l.ctx)
				default:
					m.item(l)
				}
				m.check()
			}
			// Lists that don't wait end, until none is left.
			for len(m.live) > 0 {
				m.endList(m.live[slices.IndexFunc(m.live, func(l *modelList) bool { return l.waiting == nil })])
				m.check()
			}
			if b := m.limiter.budget; b.held != 0 || len(b.holders) != 0 {
				t.Errorf("%d bytes held by %d", b.held, len(b.holders))
			}
		})
	}
}
