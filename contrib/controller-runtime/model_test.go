package kwctrl_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/internal/guarantee"
)

// model is a priority queue written without regard to speed. Its time is that of a synctest bubble.
type model struct {
	limiter    *failures
	keepsPlace bool
	// waiting are the items that were added and not handed out yet.
	waiting   map[int]*waiting
	inProcess map[int]bool
	order     int

	adds, retries float64
	// seen are the priorities that ready items have had.
	seen map[int]bool
}

// waiting is an item that is ready, or delayed if due isn't zero.
type waiting struct {
	priority, order int
	due             time.Time
}

func (m *model) next() int { m.order++; return m.order }

func (m *model) add(item int, o priorityqueue.AddOpts) {
	delay, priority := o.After, 0
	if o.Priority != nil {
		priority = *o.Priority
	}
	if o.RateLimited {
		if limited := m.limiter.When(item); delay == 0 || limited < delay {
			delay = limited
		}
	}
	var due time.Time
	if delay > 0 {
		due = time.Now().Add(delay)
		m.retries++
	}
	w := m.waiting[item]
	switch {
	case w == nil:
		w = &waiting{priority, m.next(), due}
		m.waiting[item] = w
		if delay <= 0 {
			m.ready(w)
		}
		return
	case priority > w.priority:
		w.priority, w.order = priority, m.next()
	}
	switch {
	case w.due.IsZero():
		m.seen[w.priority] = true
	case delay <= 0:
		if !m.keepsPlace {
			w.order = m.next()
		}
		m.ready(w)
	case due.Before(w.due):
		w.due = due
	}
}

func (m *model) ready(w *waiting) {
	w.due = time.Time{}
	m.adds++
	m.seen[w.priority] = true
}

// passed makes the items that are due ready.
func (m *model) passed() {
	items := slices.SortedFunc(maps.Keys(m.waiting), func(a, b int) int {
		return m.waiting[a].due.Compare(m.waiting[b].due)
	})
	for _, item := range items {
		if w := m.waiting[item]; !w.due.IsZero() && !w.due.After(time.Now()) {
			w.order = m.next()
			m.ready(w)
		}
	}
}

// get hands out an item, if there is one.
func (m *model) get() (item, priority int, ok bool) {
	var best *waiting
	for i, w := range m.waiting {
		if !w.due.IsZero() || m.inProcess[i] {
			continue
		}
		if best == nil || w.priority > best.priority || w.priority == best.priority && w.order < best.order {
			item, best = i, w
		}
	}
	if best == nil {
		return 0, 0, false
	}
	delete(m.waiting, item)
	m.inProcess[item] = true
	return item, best.priority, true
}

// depth is the metric of that name, len the sum of its values.
func (m *model) depth() (d depth, len int) {
	d = depth{}
	for p := range m.seen {
		d[strconv.Itoa(p)] = 0
	}
	for _, w := range m.waiting {
		if w.due.IsZero() {
			d[strconv.Itoa(w.priority)]++
			len++
		}
	}
	return d, len
}

// failures is a limiter whose delays are all different: whole milliseconds for an item's failures, and a
// nanosecond for each call so far.
type failures struct {
	of    map[int]int
	calls int
}

func newFailures() *failures { return &failures{of: map[int]int{}} }

func (f *failures) When(item int) time.Duration {
	f.of[item]++
	f.calls++
	return time.Duration(f.of[item])*time.Millisecond + time.Duration(f.calls)
}

func (f *failures) NumRequeues(item int) int { return f.of[item] }
func (f *failures) Forget(item int)          { delete(f.of, item) }

// TestQueueIsItsModel does random operations with a queue and its model. No two delays end at the same
// time, because the two implementations order those differently.
func TestQueueIsItsModel(t *testing.T) {
	for _, s := range sides[int]() {
		for seed := range uint64(20) {
			t.Run(fmt.Sprintf("%s/%d", s.name, seed), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { runAgainstModel(t, s, seed) })
			})
		}
	}
}

func runAgainstModel(t *testing.T, s side[int], seed uint64) {
	r := rand.New(rand.NewPCG(seed, 17))
	q := s.make(t.Name(), newFailures())
	defer q.ShutDown()
	m := &model{
		limiter: newFailures(), keepsPlace: s.keepsPlace,
		waiting: map[int]*waiting{}, inProcess: map[int]bool{}, seen: map[int]bool{},
	}
	items, priorities := 1+r.IntN(30), 1+r.IntN(8)
	for op := range 1500 {
		item := r.IntN(items)
		switch r.IntN(8) {
		case 0, 1, 2:
			var o priorityqueue.AddOpts
			if r.IntN(2) == 0 {
				p := r.IntN(2*priorities) - priorities
				o.Priority = &p
			}
			o.RateLimited = r.IntN(4) == 0
			if r.IntN(3) == 0 { // half a millisecond apart from the limiter's
				o.After = time.Duration(r.IntN(20)-2)*time.Millisecond + time.Millisecond/2 + time.Duration(op)
			}
			q.AddWithOpts(o, item)
			m.add(item, o)
		case 3:
			if r.IntN(2) == 0 {
				q.Add(item)
				m.add(item, priorityqueue.AddOpts{})
			} else {
				q.AddRateLimited(item)
				m.add(item, priorityqueue.AddOpts{RateLimited: true})
			}
		case 4:
			bubble.Advance(time.Duration(r.IntN(6)) * time.Millisecond)
			m.passed()
		case 5, 6:
			want, priority, ok := m.get()
			if !ok {
				break
			}
			got, gotPriority, shutdown := q.GetWithPriority()
			if got != want || gotPriority != priority || shutdown {
				t.Fatalf("%s: op %d: got %d of %d, %v, want %d of %d", guarantee.OrderOfPriorities, op, got,
					gotPriority, shutdown, want, priority)
			}
		case 7:
			q.Done(item)
			delete(m.inProcess, item)
			if r.IntN(4) == 0 {
				q.Forget(item)
				m.limiter.Forget(item)
			}
		}
		synctest.Wait()
		if _, len := m.depth(); q.Len() != len {
			about := guarantee.NoneLost
			if q.Len() > len {
				about = guarantee.NoneTwiceAtOnce
			}
			t.Fatalf("%s: op %d: Len is %d, want %d", about, op, q.Len(), len)
		}
		if got, want := q.NumRequeues(item), m.limiter.NumRequeues(item); got != want {
			t.Fatalf("%s: op %d: NumRequeues is %d, want %d", guarantee.RetriedInTheEnd, op, got, want)
		}
	}
	got := measure(t, t.Name())
	if want, _ := m.depth(); !maps.Equal(got.depth, want) || got.adds != m.adds || got.retries != m.retries {
		t.Errorf("%s: metrics are %+v, want %v adds, %v retries, depth %v", guarantee.NoneLost, got, m.adds,
			m.retries, want)
	}
}
