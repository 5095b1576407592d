package queue_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/queue"
)

func drainTo(q *queue.Queue[string]) (items []string) {
	for q.Len() > 0 {
		item, _ := q.Get()
		items = append(items, item)
		q.Done(item)
	}
	return items
}

func at(priority int) queue.AddOptions { return queue.AddOptions{Priority: &priority} }

func TestPriority(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queue.New(queue.Config[string]{Ageing: time.Second})
		q.AddWith("low", at(-100))
		q.Add("normal 1")
		q.Add("normal 2")
		q.AddWith("high", at(5))
		q.AddWith("normal 2", at(7)) // raised
		q.AddWith("high", at(1))     // no lower
		if got, want := drainTo(q), []string{
			"normal 2", "high", "normal 1", "low",
		}; !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
		// A delayed copy keeps its priority.
		p := 3
		q.AddWith("delayed", queue.AddOptions{Priority: &p, After: time.Millisecond})
		q.Add("at once")
		bubble.Advance(time.Millisecond)
		if got, want := drainTo(q), []string{"delayed", "at once"}; !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
		q.ShutDown()
	})
}

// TestPriorityCountsFromTheAdd checks that an item that is added while it is in process comes before items
// that are added later, though it becomes ready only with its Done.
func TestPriorityCountsFromTheAdd(t *testing.T) {
	for _, ageing := range []time.Duration{-1, time.Second} {
		synctest.Test(t, func(t *testing.T) {
			q := queue.New(queue.Config[string]{Ageing: ageing})
			q.Add("a")
			q.Get()
			q.Add("a")
			bubble.Pass(time.Millisecond)
			q.Add("b")
			q.Done("a")
			if got, want := drainTo(q), []string{"a", "b"}; !slices.Equal(got, want) {
				t.Errorf("ageing %v: %q, want %q", ageing, got, want)
			}
		})
	}
}

// TestLargePriorities checks that large priorities of the API, such as that of system-node-critical Pods,
// keep their order without ageing. Priorities beyond the limit are equal.
func TestLargePriorities(t *testing.T) {
	const highest = 2_000_001_000
	for _, c := range []struct {
		ageing time.Duration
		limit  int
	}{{-1, math.MaxInt32}, {time.Hour, 1_000_000}} {
		q := queue.New(queue.Config[int]{Ageing: c.ageing})
		for _, p := range []int{math.MinInt, -highest, 0, highest - 1, highest, math.MaxInt} {
			q.AddWith(p, at(p))
		}
		last := math.MaxInt
		for q.Len() > 0 {
			item, p, _ := q.GetWithPriority()
			if want := min(max(item, -c.limit), c.limit); p != want {
				t.Errorf("ageing %v: %d has the priority %d, want %d", c.ageing, item, p, want)
			}
			if p > last {
				t.Errorf("ageing %v: %d comes after %d", c.ageing, p, last)
			}
			last = p
		}
	}
}

// TestNothingStarves keeps a queue busy with items of priority 10: an item of priority 0 waits ten times
// the ageing, and for ever without ageing.
func TestNothingStarves(t *testing.T) {
	for _, ageing := range []time.Duration{time.Second, 100 * time.Millisecond, -1} {
		synctest.Test(t, func(t *testing.T) {
			q := queue.New(queue.Config[string]{Ageing: ageing})
			q.AddWith("low", at(0))
			start := time.Now()
			waited := time.Duration(-1)
			for i := 0; i < 3000 && waited < 0; i++ {
				q.AddWith(fmt.Sprint("high ", i), at(10))
				bubble.Pass(10 * time.Millisecond)
				item, _ := q.Get()
				if item == "low" {
					waited = time.Since(start)
				}
				q.Done(item)
			}
			// Items that were added 10*ageing after the low one come after it.
			want := 10*ageing + 10*time.Millisecond
			if ageing < 0 {
				want = -1
			}
			if waited != want {
				t.Errorf("with an ageing of %v it waited %v, want %v", ageing, waited, want)
			}
		})
	}
}

// TestFairShares counts how many items of each flow are handed out while all flows have some ready. The
// flows differ in the size of their backlogs, the rate of new items, and their priorities.
func TestFairShares(t *testing.T) {
	for seed := range uint64(8) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 8))
			config := queue.Config[string]{Flow: func(item string) string { return item[:1] }}
			if seed%2 == 1 {
				config.Ageing = time.Millisecond
			}
			q := queue.New(config)
			const share = 100
			flows := 2 + r.IntN(20)
			var every []int
			for p := range flows {
				backlog := share
				if r.IntN(2) == 0 {
					backlog += r.IntN(10_000)
				}
				for i := range backlog {
					q.AddWith(fmt.Sprintf("%c %d", 'a'+p, i), at(r.IntN(1000)))
				}
				every = append(every, 1+r.IntN(flows))
			}
			got := map[string]int{}
			for i := range share * flows {
				for p, every := range every {
					if i%every == 0 {
						q.Add(fmt.Sprintf("%c new %d", 'a'+p, i))
					}
				}
				bubble.Pass(time.Millisecond)
				item, _ := q.Get()
				got[item[:1]]++
				q.Done(item)
			}
			for p := range flows {
				if n := got[string(rune('a'+p))]; n < share*95/100 || n > share*105/100 {
					t.Errorf("seed %d: %c got %d, want %d within 5%%", seed, 'a'+p, n, share)
				}
			}
			q.ShutDown()
		})
	}
}

// TestAFlowThatChanges returns another flow for an item each time that it is pushed,
// and adds it again with a higher priority.
func TestAFlowThatChanges(t *testing.T) {
	for _, ageing := range []time.Duration{0, time.Second} {
		asked := 0
		q := queue.New(queue.Config[string]{Ageing: ageing, Flow: func(string) string {
			asked++
			return fmt.Sprint(asked % 3)
		}})
		for i := range 20 {
			q.AddWith(fmt.Sprint(i%7), at(i))
		}
		if got := drainTo(q); len(got) != 7 || asked != 7 {
			t.Errorf("%q after %d questions, want each of 7 once", got, asked)
		}
	}
}

func TestBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queue.New(queue.Config[string]{})
		time.AfterFunc(time.Second, func() {
			for _, item := range []string{"a", "b", "c"} {
				q.Add(item)
			}
		})
		got, err := q.GetBatch(t.Context(), 10)
		if !slices.IsSorted(got) || len(got) == 0 || err != nil {
			t.Errorf("%q, %v", got, err)
		}
		for _, item := range got {
			q.Done(item)
		}
		for _, item := range []string{"d", "e", "f"} {
			q.Add(item)
		}
		synctest.Wait()
		rest := q.Len()
		for _, n := range []int{2, -1} {
			got, err := q.GetBatch(t.Context(), n)
			if len(got) != max(n, 1) || err != nil {
				t.Errorf("GetBatch(%d) is %q, %v", n, got, err)
			}
			rest -= len(got)
		}
		for ; rest > 0; rest-- {
			q.Get()
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if got, err := q.GetBatch(ctx, 10); err != context.DeadlineExceeded {
			t.Errorf("%q, %v", got, err)
		}
		q.ShutDown()
		if got, err := q.GetBatch(t.Context(), 10); err != queue.ErrShutDown {
			t.Errorf("%q, %v", got, err)
		}
	})
}

// lifo is an order that is last in, first out. An item that is touched comes next.
type lifo struct{ items []string }

func (l *lifo) Len() int         { return len(l.items) }
func (l *lifo) Push(item string) { l.items = append(l.items, item) }
func (l *lifo) Touch(item string) {
	i := slices.Index(l.items, item)
	l.items = append(slices.Delete(l.items, i, i+1), item)
}
func (l *lifo) Pop() string {
	item := l.items[len(l.items)-1]
	l.items = l.items[:len(l.items)-1]
	return item
}

func TestAnOrderOfTheCaller(t *testing.T) {
	order := new(lifo)
	q := queue.New(queue.Config[string]{Order: order})
	for _, item := range []string{"a", "b", "c", "a"} {
		q.Add(item)
	}
	order.items = append([]string{"its own"}, order.items...)
	if got, want := drainTo(q), []string{"a", "c", "b", "its own"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	q.ShutDownWithDrain()

	defer func() {
		if recover() == nil {
			t.Error("an Order goes with a Priority")
		}
	}()
	queue.New(queue.Config[string]{Order: order, Priority: func(string) int { return 0 }})
}

// TestAPanicOfAHookLeavesTheQueueUnlocked checks that the queue still works, as in client-go.
func TestAPanicOfAHookLeavesTheQueueUnlocked(t *testing.T) {
	q := queue.New(queue.Config[string]{Flow: func(item string) string { return item[:1] }})
	func() {
		defer func() { _ = recover() }()
		q.Add("")
	}()
	q.Add("a")
	if item, _ := q.Get(); item != "a" {
		t.Errorf("Get is %q", item)
	}
}

// TestAPanicOfAHookLosesOneAdd checks that the item can be added again, and that Drain ends.
func TestAPanicOfAHookLosesOneAdd(t *testing.T) {
	panics := false
	q := queue.New(queue.Config[string]{Flow: func(string) string {
		if panics {
			panic("no flow")
		}
		return ""
	}})
	survive := func(do func()) {
		defer func() { _ = recover() }()
		panics = true
		defer func() { panics = false }()
		do()
	}
	survive(func() { q.Add("a") })
	q.Add("a")
	if n := q.Len(); n != 1 {
		t.Fatalf("%d are ready", n)
	}
	item, _ := q.Get()
	q.Add("a")
	survive(func() { q.Done(item) })
	if err := q.Drain(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestMergingKeepsThePriority checks that an Add keeps the priority of the delayed copy that it replaces.
func TestMergingKeepsThePriority(t *testing.T) {
	high := 50
	q := queue.New(queue.Config[string]{MergeDelayed: true, Priority: func(string) int { return 0 }})
	q.AddWith("a", queue.AddOptions{Priority: &high, After: time.Minute})
	q.Add("b")
	q.Add("a")
	if item, _ := q.Get(); item != "a" {
		t.Errorf("%q goes first", item)
	}
}

// TestPlace checks that the line of each ready item tells how many come before it, in each order.
func TestPlace(t *testing.T) {
	priorityOf := func(item string) int { return len(item) % 3 }
	flowOf := func(item string) string { return item[:1] }
	for name, c := range map[string]queue.Config[string]{
		"first in":      {},
		"priorities":    {Priority: priorityOf},
		"flows":         {Flow: flowOf},
		"both":          {Priority: priorityOf, Flow: flowOf, Ageing: -1},
		"of the caller": {Order: &lifo{}},
	} {
		q := queue.New(c)
		random := rand.New(rand.NewPCG(2, 7))
		for range 300 {
			item := fmt.Sprint(random.IntN(1 << random.IntN(10)))
			if q.AddWith(item, at(random.IntN(4))); random.IntN(5) == 0 {
				item, _ = q.Get()
				q.Done(item)
			}
		}
		items := map[string]string{}
		for n := range 512 {
			if pending, _ := q.Line(fmt.Sprint(n)); pending != "not added" {
				items[fmt.Sprint(n)] = pending
			}
		}
		ordered := drainTo(q)
		for n, item := range ordered {
			want := fmt.Sprintf("ready, with %d before it, and no worker takes any", n)
			if c.Order != nil {
				want = fmt.Sprintf("one of %d that are ready, and no worker takes any", len(ordered))
			}
			if items[item] != want {
				t.Errorf("%s: %s is %s, want %s", name, item, items[item], want)
			}
		}
		if len(ordered) < 50 {
			t.Errorf("%s: only %d items were ready", name, len(ordered))
		}
	}
}
