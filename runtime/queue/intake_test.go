package queue

import (
	"reflect"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/kubewright/kubewright/internal/bubble"
)

// AlwaysIn makes q use its intake whenever anything is delayed.
func (q *Queue[T]) AlwaysIn() { q.intakeFrom = 1 }

// TestIntakeIsOnTime leaves items in the intake: they come when they are due, in
// order, though nobody calls the queue.
func TestIntakeIsOnTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(Config[string]{})
		q.AlwaysIn()
		q.AddAfter("last", time.Hour)
		for _, item := range []string{"b", "c", "b", "d"} {
			q.AddAfter(item, 2*time.Second)
		}
		q.AddAfter("a", time.Second)
		q.AddAfter("c", 3*time.Second)
		if len(q.intake) != 6 {
			t.Fatalf("%d are in the intake", len(q.intake))
		}
		start := time.Now()
		for _, want := range []string{"a", "b", "c", "d", "last"} {
			at := map[string]time.Duration{"a": time.Second, "last": time.Hour}[want]
			if at == 0 {
				at = 2 * time.Second
			}
			if got, _ := q.Get(); got != want || time.Since(start) != at {
				t.Errorf("%q after %v, want %q after %v", got, time.Since(start), want, at)
			}
		}
		q.AddAfter("a", time.Second)
		q.AddAfter("b", time.Second)
		if !q.Cancel("b") || q.Cancel("b") {
			t.Error("what is in the intake isn't cancelled once")
		}
		q.AddAfter("b", time.Second)
		q.ShutDown()
		bubble.Advance(time.Minute)
		if n := q.Len(); n != 0 {
			t.Errorf("%d come after the shutdown", n)
		}
	})
}

// TestIntakeIsUsed adds many items, new and known, in an order of its own, and
// compares the schedule with one that was made without an intake.
func TestIntakeIsUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 3 * intakeFrom
		var got [2][]int
		for i := range got {
			q := New(Config[int]{})
			if i == 1 {
				q.intakeFrom = n + 1
			}
			used := false
			for round := range 3 {
				for item := range n {
					item = item * 7919 % n
					q.AddAfter(item, time.Duration((item*31+round*17)%1000)*time.Millisecond+time.Hour)
					used = used || len(q.intake) > 0
				}
			}
			if used != (i == 0) {
				t.Errorf("queue %d: the intake is used: %v", i, used)
			}
			bubble.Advance(2 * time.Hour)
			for range n {
				item, _ := q.Get()
				got[i] = append(got[i], item)
			}
			q.ShutDown()
		}
		if !slices.Equal(got[0], got[1]) {
			t.Error("the order is another")
		}
	})
}

func TestIntakeLetsGo(t *testing.T) {
	q := New(Config[*[64]byte]{})
	q.AlwaysIn()
	keep := new([64]byte)
	q.AddAfter(keep, time.Hour)
	cancelled, ended := new([64]byte), new([64]byte)
	followed := []weak.Pointer[[64]byte]{weak.Make(cancelled), weak.Make(ended)}
	q.AddAfter(cancelled, time.Hour)
	q.Cancel(cancelled)
	q.AddAfter(ended, time.Hour)
	q.ShutDown()
	cancelled, ended = nil, nil
	runtime.GC()
	for i, p := range followed {
		if p.Value() != nil {
			t.Errorf("item %d is held", i)
		}
	}
	runtime.KeepAlive(q)
}

func TestAlwaysHashable(t *testing.T) {
	for of, want := range map[reflect.Type]bool{
		reflect.TypeFor[string]():                         true,
		reflect.TypeFor[*any]():                           true,
		reflect.TypeFor[[2]struct{ _, _ string }]():       true,
		reflect.TypeFor[any]():                            false,
		reflect.TypeFor[struct{ x [1]struct{ error } }](): false,
		reflect.TypeFor[struct {
			_ string
			i interface{ F() }
		}](): false,
	} {
		if got := alwaysHashable(of); got != want {
			t.Errorf("%v: %v", of, got)
		}
	}
	q := New(Config[any]{})
	if q.intakeFrom <= intakeFrom {
		t.Error("a queue of anything uses an intake")
	}
}
