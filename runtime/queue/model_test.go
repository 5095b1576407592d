package queue_test

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/util/workqueue"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/internal/guarantee"
	"github.com/kubewright/kubewright/runtime/queue"
)

// model is a queue written without regard to speed. Its time is that of a synctest bubble.
type model struct {
	config    queue.Config[int]
	ready     []copyOf
	parked    []copyOf
	inProcess map[int]bool
	again     map[int]copyOf
	delayed   map[int]delayedCopy
	turns     []string
	order     int
}

type copyOf struct {
	item, priority int
	since          time.Time
	order          int
}

type delayedCopy struct {
	due      time.Time
	priority int
	order    int
}

func newModel(config queue.Config[int]) *model {
	return &model{
		config: config, inProcess: map[int]bool{}, again: map[int]copyOf{}, delayed: map[int]delayedCopy{},
	}
}

func (m *model) prioritised() bool { return m.config.Priority != nil || m.config.Ageing != 0 }

func (m *model) flow(item int) string {
	if m.config.Flow == nil {
		return ""
	}
	return m.config.Flow(item)
}

func (m *model) next() int { m.order++; return m.order }

func (m *model) push(c copyOf) {
	if m.config.Gate != nil && m.config.Gate(c.item) {
		m.parked = append(m.parked, c)
		return
	}
	m.makeReady(c)
}

// release makes a parked item ready, and reports whether there was one.
func (m *model) release(item int) bool {
	i := indexOf(m.parked, item)
	if i < 0 {
		return false
	}
	c := m.parked[i]
	m.parked = slices.Delete(m.parked, i, i+1)
	if !m.prioritised() {
		c.order = m.next() // first in, first out counts from Release
	}
	m.makeReady(c)
	return true
}

func (m *model) makeReady(c copyOf) {
	flow := m.flow(c.item)
	if !slices.Contains(m.turns, flow) {
		m.turns = append(m.turns, flow)
	}
	m.ready = append(m.ready, c)
}

func (m *model) add(item, priority int) {
	if d, ok := m.delayed[item]; ok && m.config.MergeDelayed {
		priority = max(priority, d.priority)
		delete(m.delayed, item)
	}
	m.deliver(item, priority)
}

func (m *model) deliver(item, priority int) {
	if !m.prioritised() {
		priority = 0
	}
	raise := func(c copyOf) copyOf {
		if priority > c.priority {
			c.priority, c.order = priority, m.next()
		}
		return c
	}
	i, p := m.readyAt(item), indexOf(m.parked, item)
	waits, again := m.again[item]
	switch {
	case i >= 0:
		m.ready[i] = raise(m.ready[i])
	case p >= 0:
		m.parked[p] = raise(m.parked[p])
	case again:
		m.again[item] = raise(waits)
	case m.inProcess[item]:
		m.again[item] = copyOf{item, priority, time.Now(), m.next()}
	default:
		m.push(copyOf{item, priority, time.Now(), m.next()})
	}
}

// readyAt returns the item's place in ready, or -1.
func (m *model) readyAt(item int) int { return indexOf(m.ready, item) }

func indexOf(copies []copyOf, item int) int {
	return slices.IndexFunc(copies, func(c copyOf) bool { return c.item == item })
}

func (m *model) addAfter(item int, delay time.Duration, priority int) {
	_, again := m.again[item]
	if delay <= 0 || m.config.MergeDelayed && (again || m.readyAt(item) >= 0 || indexOf(m.parked, item) >= 0) {
		m.add(item, priority)
		return
	}
	due := time.Now().Add(delay)
	d, ok := m.delayed[item]
	if !ok {
		m.delayed[item] = delayedCopy{due, priority, m.next()}
		return
	}
	d.priority = max(priority, d.priority)
	if due.Before(d.due) {
		d.due, d.order = due, m.next()
	}
	m.delayed[item] = d
}

// due delivers the items that are due now.
func (m *model) due() {
	items := slices.SortedFunc(maps.Keys(m.delayed), func(a, b int) int {
		return cmp.Or(m.delayed[a].due.Compare(m.delayed[b].due),
			cmp.Compare(m.delayed[a].order, m.delayed[b].order))
	})
	for _, item := range items {
		if d := m.delayed[item]; !d.due.After(time.Now()) {
			delete(m.delayed, item)
			m.deliver(item, d.priority)
		}
	}
}

// soonest is when the next delayed item is due.
func (m *model) soonest() (soonest time.Time) {
	for _, d := range m.delayed {
		if soonest.IsZero() || d.due.Before(soonest) {
			soonest = d.due
		}
	}
	return soonest
}

func (m *model) rank(c copyOf) time.Duration {
	if m.config.Ageing < 0 {
		return -time.Duration(c.priority)
	}
	return time.Duration(c.since.UnixNano()) - time.Duration(c.priority)*cmp.Or(m.config.Ageing, time.Second)
}

func (m *model) get() (item, priority int) {
	turn := m.turns[0]
	m.turns = m.turns[1:]
	best := -1
	for i, c := range m.ready {
		if m.flow(c.item) != turn {
			continue
		}
		if best < 0 {
			best = i
			continue
		}
		b := m.ready[best]
		rank := 0
		if m.prioritised() {
			rank = cmp.Compare(m.rank(c), m.rank(b))
		}
		if cmp.Or(rank, cmp.Compare(c.order, b.order)) < 0 {
			best = i
		}
	}
	item, priority = m.ready[best].item, m.ready[best].priority
	m.ready = slices.Delete(m.ready, best, best+1)
	if slices.ContainsFunc(m.ready, func(c copyOf) bool { return m.flow(c.item) == turn }) {
		m.turns = append(m.turns, turn)
	}
	m.inProcess[item] = true
	return item, priority
}

func (m *model) done(item int) {
	if !m.inProcess[item] {
		return
	}
	delete(m.inProcess, item)
	if c, ok := m.again[item]; ok {
		delete(m.again, item)
		if !m.prioritised() {
			c.order = m.next() // first in, first out counts from Done
		}
		m.push(c)
	}
}

func TestQueueIsItsModel(t *testing.T) {
	priority := func(item int) int { return item % 3 }
	flow := func(item int) string { return fmt.Sprint(item % 4) }
	for name, config := range map[string]queue.Config[int]{
		"plain":                 {},
		"merge":                 {MergeDelayed: true},
		"priority":              {Priority: priority},
		"strict":                {Priority: priority, Ageing: -1},
		"strict, merge":         {Priority: priority, Ageing: -1, MergeDelayed: true},
		"ageing":                {Ageing: 7 * time.Millisecond},
		"fair":                  {Flow: flow},
		"fair, priority, merge": {Flow: flow, Priority: priority, MergeDelayed: true},
		"hook":                  {Order: workqueue.DefaultQueue[int]()},
		"measured, fair, strict": {Flow: flow, Priority: priority, Ageing: -1,
			Metrics: newGauges().metrics()},
		"gate":                {Gate: noGate},
		"gate, hook":          {Gate: noGate, Order: workqueue.DefaultQueue[int]()},
		"gate, ageing, merge": {Gate: noGate, Ageing: 7 * time.Millisecond, MergeDelayed: true},
		"gate, fair, strict, measured": {Gate: noGate, Flow: flow, Priority: priority, Ageing: -1,
			Metrics: newGauges().metrics()},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(15) {
				synctest.Test(t, func(t *testing.T) { runAgainstModel(t, config, seed) })
			}
		})
	}
}

// noGate stands for a gate that runAgainstModel makes.
func noGate(int) bool { return false }

// miscounted returns what is broken if a queue has got items, not want.
func miscounted(got, want int) guarantee.Guarantee {
	if got > want {
		return guarantee.NoneTwiceAtOnce
	}
	return guarantee.NoneLost
}

func runAgainstModel(t *testing.T, config queue.Config[int], seed uint64) {
	r := rand.New(rand.NewPCG(seed, 5))
	if config.Order != nil {
		config.Order = workqueue.DefaultQueue[int]()
	}
	items := 1 + r.IntN(40)
	held := map[int]bool{}
	if config.Gate != nil {
		config.Gate = func(item int) bool { return held[item] }
	}
	q, m := queue.New(config), newModel(config)
	priority := func(item int) int {
		if config.Priority != nil {
			return config.Priority(item)
		}
		return 0
	}
	for op := range 2000 {
		item := r.IntN(items)
		switch r.IntN(11) {
		case 0, 1:
			q.Add(item)
			m.add(item, priority(item))
		case 2:
			p := r.IntN(20) - 10
			q.AddWith(item, queue.AddOptions{Priority: &p})
			m.add(item, p)
		case 3:
			delay := time.Duration(r.IntN(20)-2) * time.Millisecond
			q.AddAfter(item, delay)
			m.addAfter(item, delay, priority(item))
		case 4:
			_, want := m.delayed[item]
			delete(m.delayed, item)
			if got := q.Cancel(item); got != want {
				t.Fatalf("%s: seed %d, op %d: Cancel(%d) is %v", guarantee.NotBeforeItsTime, seed, op, item, got)
			}
		case 5:
			// Stop at each due time, so that items become ready at the same times in both.
			until := time.Now().Add(time.Duration(r.IntN(8)) * time.Millisecond)
			for next := m.soonest(); !next.IsZero() && !next.After(until); next = m.soonest() {
				bubble.Advance(time.Until(next))
				m.due()
			}
			bubble.Pass(time.Until(until))
		case 6, 7:
			if len(m.ready) == 0 {
				break
			}
			got, prio, shutdown := q.GetWithPriority()
			if want, wantPrio := m.get(); got != want || prio != wantPrio || shutdown {
				t.Fatalf("%s: seed %d, op %d: Get is %d of %d, %v, want %d of %d",
					guarantee.OrderOfPriorities, seed, op, got, prio, shutdown, want, wantPrio)
			}
		case 8:
			q.Done(item)
			m.done(item)
		case 9:
			held[item] = r.IntN(3) == 0
		case 10:
			want := m.release(item)
			if got := q.Release(item); got != want {
				t.Fatalf("%s: seed %d, op %d: Release(%d) is %v", guarantee.NoneLost, seed, op, item, got)
			}
		}
		if q.Len() != len(m.ready) {
			t.Fatalf("%s: seed %d, op %d: Len is %d, want %d", miscounted(q.Len(), len(m.ready)), seed, op,
				q.Len(), len(m.ready))
		}
		if got, want := q.Pending(), len(m.ready)+len(m.again)+len(m.parked); got != want {
			t.Fatalf("%s: seed %d, op %d: %d are pending, want %d", miscounted(got, want), seed, op, got, want)
		}
	}
	q.ShutDown()
	m.config.Gate = nil
	for len(m.parked) > 0 {
		m.release(m.parked[0].item)
	}
	if q.Len() != len(m.ready) {
		t.Fatalf("%s: seed %d: Len is %d after the shutdown, want %d",
			miscounted(q.Len(), len(m.ready)), seed, q.Len(), len(m.ready))
	}
	// An item in process that was added again is handed out after the shutdown.
	for item := range items {
		q.Done(item)
		m.done(item)
	}
	for len(m.ready) > 0 {
		got, _ := q.Get()
		if want, _ := m.get(); got != want {
			t.Fatalf("%s: seed %d: the last items differ", guarantee.NewestAfterDone, seed)
		}
		q.Done(got)
	}
	if got, shutdown := q.Get(); !shutdown {
		t.Fatalf("%s: seed %d: %d is left", guarantee.NoneTwiceAtOnce, seed, got)
	}
}
