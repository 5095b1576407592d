package results

import (
	"fmt"
	"slices"
	"time"

	"github.com/kubewright/kubewright/internal/guarantee"
)

// Soak is the result of an informer under load. One of its handlers is blocked, the others keep up.
type Soak struct {
	// Server is "in memory" or "embedded".
	Server string
	// Objects is the greatest number of objects at any time. Handlers is the number of handlers, including the
	// blocked one.
	Objects, Handlers int
	// Writers is how many goroutines wrote at the same time.
	Writers int
	// Changes is how many changes the server made within Took. Calls is how many calls a handler that keeps up
	// got.
	Changes, Calls int
	Took           time.Duration
	// Before was taken before the informer existed, Synced when all handlers had the initial list and none was
	// blocked, After after the stop. Samples were taken under load.
	Before, Synced, After Sample
	Samples               []Sample
	// Lag50 and Lag99 are those of all handlers that keep up, Slowest99 that of the slowest of them.
	Lag50, Lag99, Slowest99 time.Duration
	// Lists is how many lists the informer read during the load, not counting the first.
	Lists int
	// Machine describes the machine.
	Machine string
}

// Sample is the state at one time.
type Sample struct {
	// At is the time since the load began.
	At time.Duration
	// Heap is what is in use, including garbage, Live what a garbage collection leaves of it, in bytes.
	Heap, Live uint64
	// Descriptors is the number of open files, 0 where the system doesn't report it.
	Goroutines, Descriptors int
	// Backlog is how many notifications wait for the blocked handler. Others is the longest backlog of another
	// handler.
	Backlog, Others int
	// Lag50 and Lag99 are the median and the 99th percentile of the lag since the last sample.
	Lag50, Lag99 time.Duration
	// Load is how many threads of the machine want a core, 0 where the system doesn't report it.
	Load float64
}

// The bounds.
const (
	// LagBound bounds Slowest99.
	LagBound = time.Second
	// entryBytes is the size of an entry of a backlog, without the objects that it holds.
	entryBytes = 512
	// heapSlack and countSlack allow for what comes and goes: buffers, a new connection, a request's goroutines.
	heapSlack  = 16 << 20
	countSlack = 8
	// growth is the fraction by which the last quarter may exceed the second.
	growth = 0.05
)

// BacklogBound is what docs/memory.md promises of a handler with Coalesce: one notification for each object
// that the handler has received or that exists.
func (s Soak) BacklogBound() int { return 2 * s.Objects }

// HeapBound follows from BacklogBound. The backlog holds the states that the blocked handler received last,
// which the cache no longer has: as much again as the cache, and the entries.
func (s Soak) HeapBound() uint64 {
	return s.Before.Live + 2*(s.Synced.Live-s.Before.Live) + uint64(s.BacklogBound())*entryBytes + heapSlack
}

// Problems returns the bounds that were broken, and what grew, each after its guarantee. timed is whether the
// lag counts: after a short run on a busy machine it means nothing.
func (s Soak) Problems(timed bool) (problems []string) {
	say := func(broken guarantee.Guarantee, format string, args ...any) {
		problems = append(problems, fmt.Sprintf("%s: "+format, append([]any{broken}, args...)...))
	}
	if len(s.Samples) < 8 {
		return []string{fmt.Sprintf("there are %d samples, which are too few", len(s.Samples))}
	}
	if n := most(s.Samples, func(x Sample) int { return x.Backlog }); n > s.BacklogBound() {
		say(guarantee.BoundedMemory, "%d notifications wait for the blocked handler, want %d at most", n,
			s.BacklogBound())
	}
	if n := most(s.Samples, func(x Sample) int { return int(x.Live) }); uint64(n) > s.HeapBound() {
		say(guarantee.BoundedMemory, "the live heap has %d bytes, want %d at most", n, s.HeapBound())
	}
	for _, c := range []struct {
		about guarantee.Guarantee
		what  string
		slack int
		of    func(Sample) int
	}{
		{guarantee.BoundedMemory, "the live heap", heapSlack, func(x Sample) int { return int(x.Live) }},
		{guarantee.NoLeak, "the number of goroutines", countSlack, func(x Sample) int { return x.Goroutines }},
		{guarantee.NoLeak, "the number of descriptors", countSlack, func(x Sample) int { return x.Descriptors }},
		{guarantee.Isolated, "the backlog of handlers that keep up", s.Objects / 2,
			func(x Sample) int { return x.Others }},
	} {
		quarter := len(s.Samples) / 4
		before, end := middle(s.Samples[quarter:2*quarter], c.of), middle(s.Samples[3*quarter:], c.of)
		if float64(end) > float64(before)*(1+growth)+float64(c.slack) {
			say(c.about, "%s grew from %d to %d", c.what, before, end)
		}
	}
	if s.After.Goroutines > s.Before.Goroutines {
		say(guarantee.NoLeak, "%d goroutines are left after the stop, %d were there before",
			s.After.Goroutines, s.Before.Goroutines)
	}
	if s.After.Descriptors > s.Before.Descriptors {
		say(guarantee.NoLeak, "%d descriptors are left after the stop, %d were there before",
			s.After.Descriptors, s.Before.Descriptors)
	}
	if s.After.Live > s.Before.Live+heapSlack {
		say(guarantee.BoundedMemory, "%d bytes of the heap are left after the stop, %d were there before",
			s.After.Live, s.Before.Live)
	}
	if timed && s.Slowest99 >= LagBound {
		say(guarantee.Isolated,
			"a handler that keeps up was told %v after the change at the 99th percentile, want less than %v",
			s.Slowest99, LagBound)
	}
	return problems
}

func most(samples []Sample, of func(Sample) int) (n int) {
	for _, s := range samples {
		n = max(n, of(s))
	}
	return n
}

// middle returns the median.
func middle(samples []Sample, of func(Sample) int) int {
	values := make([]int, len(samples))
	for i, s := range samples {
		values[i] = of(s)
	}
	slices.Sort(values)
	return values[len(values)/2]
}
