package queue_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/kubewright/kubewright/internal/bubble"
	"github.com/kubewright/kubewright/runtime/queue"
)

// lineOf returns a line as text.
func lineOf(q interface {
	Line(string) (string, []queue.Step)
}, key string) string {
	pending, steps := q.Line(key)
	text := pending
	for _, s := range steps {
		text += fmt.Sprintf("\n%v: %s", s.Ago, s.What)
	}
	return text
}

// TestLine follows an item through everything that can happen to it.
func TestLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		held := map[string]bool{}
		q := queue.New(queue.Config[string]{
			Priority: func(string) int { return 7 },
			Gate:     func(item string) bool { return held[item] },
			Why:      func(item string) string { return "the oven is hot" },
			Skip:     func(_ string, old, changed any) bool { return old == changed },
			Limiter:  workqueue.NewTypedItemExponentialFailureRateLimiter[string](time.Second, time.Minute),
		})
		defer q.ShutDown()
		q.Add("a")
		if got := lineOf(q, "a"); got != "ready, with 0 before it, and no worker takes any" {
			t.Errorf("without Keep: %s", got)
		}
		q.Keep()
		if got := lineOf(q, "b"); got != "not added" {
			t.Errorf("of nothing: %s", got)
		}
		held["b"] = true
		q.Skips("b", 1, 1)
		q.Add("b")
		want := "parked until the oven is hot\n0s: an echo of its own write was dropped\n" +
			"0s: added, with priority 7\n0s: parked"
		if got := lineOf(q, "b"); got != want {
			t.Errorf("parked: %s", got)
		}
		bubble.Advance(time.Second)
		q.Release("b")
		q.Get()
		item, _ := q.Get()
		bubble.Advance(2 * time.Second)
		q.Add("b")
		if got, want := lineOf(q, item), "in process, and added again\n"; !strings.HasPrefix(got, want) {
			t.Errorf("in process: %s", got)
		}
		q.Done("b")
		if got := lineOf(q, "b"); !strings.HasPrefix(got, "parked until the oven is hot\n3s: ") ||
			!strings.HasSuffix(got, "2s: released\n2s: started\n0s: added, with priority 7\n"+
				"0s: ended after 2s\n0s: parked") {
			t.Errorf("ended: %s", got)
		}
		held["b"] = false
		q.ReleaseLate("b", "pods")
		q.Get()
		q.AddRateLimited("b")
		q.NoteError("b", errors.New("no flour"))
		q.Done("b")
		if got := lineOf(q, "b"); !strings.HasPrefix(got, "delayed for 1s\n") ||
			!strings.HasSuffix(got, "0s: started\n0s: failed or to be tried again, 1 in a row\n"+
				"0s: added, to be ready in 1s, with priority 7\n0s: the error was: no flour\n0s: ended after 0s") {
			t.Errorf("failed: %s", got)
		}
		bubble.Advance(time.Second)
		synctest.Wait()
		if got := lineOf(q, "b"); !strings.HasPrefix(got, "ready, with 0 before it, and 1 in process\n") ||
			!strings.HasSuffix(got, "0s: its delay is over") {
			t.Errorf("due: %s", got)
		}
	})
}

// TestLineOfTroubled checks that the line of an item that fails, or is slow, is kept before anybody asks.
func TestLineOfTroubled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queue.New(queue.Config[cache.ObjectName]{})
		q.Keep()
		failing := cache.NewObjectName("ns", "failing")
		q.AddRateLimited(failing)
		q.AddRateLimited(failing)
		if got := lineOf(q, "ns/failing"); !strings.Contains(got, "failed or to be tried again, 2 in a row") ||
			!strings.Contains(got, "failed or to be tried again, 1 in a row") {
			t.Error(got)
		}
		q.ShutDown()

		measured := queue.New(queue.Config[string]{Metrics: newGauges().metrics()})
		defer measured.ShutDown()
		measured.Keep()
		for item, takes := range map[string]time.Duration{"quick": 9 * time.Second, "slow": 10 * time.Second} {
			measured.Add(item)
			measured.Get()
			bubble.Advance(takes)
			measured.Done(item)
			if measured.Kept(item) != (item == "slow") {
				t.Errorf("the item that was %s is kept: %v", item, measured.Kept(item))
			}
		}
		if got := lineOf(measured, "slow"); !strings.Contains(got, "ended after 10s") {
			t.Error(got)
		}
	})
}

// TestLastError checks that the last error of an item that fails again and again is in the status, if steps
// are kept.
func TestLastError(t *testing.T) {
	for _, keeps := range []bool{false, true} {
		q := queue.New(queue.Config[string]{})
		want := ""
		if keeps {
			q.Keep()
			want = "error 12"
		}
		for n := range 13 {
			q.AddRateLimited("bad")
			q.NoteError("bad", fmt.Errorf("error %d", n))
			q.Note("bad", "another step")
		}
		for range 20 {
			q.Note("bad", "one of many steps")
		}
		if s := q.Status(); s.FailingItem != "bad" || s.FailingError != want {
			t.Errorf("keeps %t: %+v, want the error %q", keeps, s, want)
		}
		q.Forget("bad")
		for range 13 {
			q.AddRateLimited("bad")
		}
		if s := q.Status(); s.FailingItem != "bad" || s.FailingError != "" {
			t.Errorf("keeps %t: after a success: %+v", keeps, s)
		}
		q.ShutDown()
	}
}

// TestFirstError checks that the error of the first failure is kept, whether it is noted before the item is
// added again or after, or the item is given up.
func TestFirstError(t *testing.T) {
	note := func(q *queue.Queue[string]) { q.NoteError("bad", errors.New("no flour")) }
	for name, end := range map[string]func(q *queue.Queue[string]){
		"before": func(q *queue.Queue[string]) { note(q); q.AddRateLimited("bad") },
		"after":  func(q *queue.Queue[string]) { q.AddRateLimited("bad"); note(q) },
		"forgot": func(q *queue.Queue[string]) { q.Forget("bad"); note(q) },
	} {
		q := queue.New(queue.Config[string]{})
		q.Keep()
		q.Add("bad")
		q.Get()
		end(q)
		q.Done("bad")
		if got := lineOf(q, "bad"); !strings.Contains(got, "the error was: no flour") {
			t.Errorf("%s: %s", name, got)
		}
		q.ShutDown()
	}
}

// clusterKey is the key of a controller of several clusters, byPointer one that no text can name.
type (
	clusterKey struct {
		types.NamespacedName
		Cluster string
	}
	byPointer struct {
		*types.NamespacedName
		Cluster string
	}
)

// TestKeysOfLines asks for items of several types by their texts.
func TestKeysOfLines(t *testing.T) {
	name := types.NamespacedName{Namespace: "ns", Name: "a"}
	asks(t, name, "ns/a", true)
	asks(t, cache.NewObjectName("", "a"), "a", true)
	asks(t, clusterKey{name, "oslo"}, "ns/a", true) // that is its text
	asks(t, byPointer{&name, "oslo"}, "ns/a", true)
	asks(t, byPointer{&name, "oslo"}, "a", false)
	asks(t, 7, "7", true)
}

func asks[T comparable](t *testing.T, item T, key string, found bool) {
	t.Helper()
	q := queue.New(queue.Config[T]{})
	defer q.ShutDown()
	q.Keep()
	q.Add(item)
	if pending, _ := q.Line(key); (pending != "not added") != found {
		t.Errorf("%T %v by the key %q: %s", item, item, key, pending)
	}
}

// TestLinesAreBounded asks for many items, with long texts, and lets many more fail.
func TestLinesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queue.New(queue.Config[int]{})
		defer q.ShutDown()
		q.Keep()
		for n := range 1500 {
			q.AddRateLimited(n) // Its text is no NAMESPACE/NAME: it is looked for.
			for range 20 {
				q.Note(n, strings.Repeat("x", 1000))
			}
			q.NoteError(n, errors.New(strings.Repeat("x", 1000)))
		}
		kept := 0
		for n := range 1500 {
			if q.Kept(n) {
				kept++
			}
		}
		if kept != 128 || !q.Kept(1499) || q.Kept(0) {
			t.Errorf("%d lines are kept; the oldest is: %v, the newest: %v", kept, q.Kept(0), q.Kept(1499))
		}
		for n := range 1500 {
			_, steps := q.Line(fmt.Sprint(n))
			text := 0
			for _, s := range steps {
				text += len(s.What)
			}
			if len(steps) > 17 || text > 1200-300 { // less the last error

				t.Fatalf("%d: %d steps of %d bytes", n, len(steps), text)
			}
		}
		kept = 0
		for n := range 1500 {
			if q.Kept(n) {
				kept++
			}
		}
		if kept != 256 {
			t.Errorf("after all were asked for, %d lines are kept", kept)
		}
		// Those that nobody has asked for in ten minutes give way.
		bubble.Advance(11 * time.Minute)
		for n := range 128 {
			q.AddRateLimited(10_000 + n)
		}
		for n := range 128 {
			if !q.Kept(10_000 + n) {
				t.Fatalf("the item %d that fails isn't kept", n)
			}
		}
	})
}

// TestLineTellsFirstError checks that the line of an item tells when it began to fail, and the first error,
// when newer steps have taken the place of that one, until it succeeds.
func TestLineTellsFirstError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queue.New(queue.Config[string]{})
		defer q.ShutDown()
		q.Keep()
		first := func() (at time.Duration, what string) {
			_, steps := q.Line("a")
			if len(steps) == 0 {
				return 0, ""
			}
			return steps[0].Ago, steps[0].What
		}
		fail := func(text string) {
			q.AddRateLimited("a")
			if text != "" {
				q.NoteError("a", errors.New(text))
			}
			bubble.Advance(time.Minute)
			q.Get()
			q.Done("a")
		}
		for n := range 8 {
			fail(fmt.Sprint("no flour ", n))
		}
		if at, what := first(); at != 8*time.Minute || what != "failing since then, at first with: no flour 0" {
			t.Errorf("after failures: %q, %s ago", what, at)
		}
		q.Forget("a")
		for range 16 {
			fail("")
		}
		if at, what := first(); at < 16*time.Minute || what != "failing, or to be tried again, since then" {
			t.Errorf("after failures that nobody explains: %q, %s ago", what, at)
		}
		q.Forget("a")
		if _, what := first(); strings.HasPrefix(what, "failing") {
			t.Errorf("after a success: %q", what)
		}
		q.Add("a")
		q.Get()
		q.NoteError("a", errors.New("given up")) // after Forget, as Run does with a terminal error
		q.Done("a")
		bubble.Advance(time.Hour)
		q.Add("a")
		q.Get()
		for range 16 {
			q.AddRateLimited("a")
			q.NoteError("a", errors.New("no water"))
			bubble.Advance(time.Second)
		}
		if _, what := first(); what != "failing since then, at first with: no water" {
			t.Errorf("after another series: %q", what)
		}
		q.Done("a")
	})
}
