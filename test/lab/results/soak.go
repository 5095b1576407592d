package results

import (
	"fmt"
	"slices"
	"time"
)

// Soak is what became of an informer under load: one whose handlers keep up but for one, which is blocked.
type Soak struct {
	// Server is which one it was: "in memory", or "embedded".
	Server string
	// Objects is how many there were at any time at most, Handlers how many handlers the informer had, the
	// blocked one included.
	Objects, Handlers int
	// Writers is how many wrote at the same time.
	Writers int
	// Changes is how many the server made in the time that Took says, Calls how many a handler that keeps up
	// was told of.
	Changes, Calls int
	Took           time.Duration
	// Before is from before the informer existed, Synced from when all handlers had the initial list and none
	// was blocked, After from after the stop. Samples are from the load.
	Before, Synced, After Sample
	Samples               []Sample
	// Lag50 and Lag99 are those of all handlers that keep up, Slowest99 that of the slowest of them.
	Lag50, Lag99, Slowest99 time.Duration
	// Lists is how many lists the informer read during the load, beside the first.
	Lists int
	// Machine says where it was.
	Machine string
}

// Sample is what there was at one time.
type Sample struct {
	// At is the time since the load began.
	At time.Duration
	// Heap is what is in use, garbage included, Live what a garbage collection leaves of it, in bytes.
	Heap, Live uint64
	// Descriptors are the open files, none where the system doesn't tell.
	Goroutines, Descriptors int
	// Backlog is how many notifications wait for the blocked handler, Others how many for the one of the
	// others that is furthest behind.
	Backlog, Others int
	// Lag50 and Lag99 are the median and the 99th percentile of the lag since the last sample.
	Lag50, Lag99 time.Duration
	// Load is how many threads of the machine want a core, 0 where the system doesn't tell.
	Load float64
}

// The bounds.
const (
	// LagBound is that of the slowest handler's Lag99.
	LagBound = time.Second
	// entryBytes is what an entry of a backlog takes beside the objects that it holds.
	entryBytes = 512
	// heapSlack and countSlack are for what comes and goes: buffers, a new connection, a request's goroutines.
	heapSlack  = 16 << 20
	countSlack = 8
	// growth is by which part the end may exceed what was before.
	growth = 0.05
)

// BacklogBound is what docs/memory.md promises of a handler with Coalesce: one notification for each object
// that it was told of or that there is.
func (s Soak) BacklogBound() int { return 2 * s.Objects }

// HeapBound follows from BacklogBound: as much again as the cache for the states that the blocked handler was
// told of last, which the cache has no longer, and the entries.
func (s Soak) HeapBound() uint64 {
	return s.Before.Live + 2*(s.Synced.Live-s.Before.Live) + uint64(s.BacklogBound())*entryBytes + heapSlack
}

// Problems says what broke a bound or grew. timed is whether the lag counts: on a machine that does other
// things a short run says nothing of it.
func (s Soak) Problems(timed bool) (problems []string) {
	say := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	if len(s.Samples) < 8 {
		return []string{fmt.Sprintf("there are %d samples, which are too few", len(s.Samples))}
	}
	if n := most(s.Samples, func(x Sample) int { return x.Backlog }); n > s.BacklogBound() {
		say("%d notifications wait for the blocked handler, want %d at most", n, s.BacklogBound())
	}
	if n := most(s.Samples, func(x Sample) int { return int(x.Live) }); uint64(n) > s.HeapBound() {
		say("the live heap has %d bytes, want %d at most", n, s.HeapBound())
	}
	for _, c := range []struct {
		what  string
		slack int
		of    func(Sample) int
	}{
		{"the live heap", heapSlack, func(x Sample) int { return int(x.Live) }},
		{"the number of goroutines", countSlack, func(x Sample) int { return x.Goroutines }},
		{"the number of descriptors", countSlack, func(x Sample) int { return x.Descriptors }},
		{"the backlog of handlers that keep up", s.Objects / 2, func(x Sample) int { return x.Others }},
	} {
		quarter := len(s.Samples) / 4
		before, end := middle(s.Samples[quarter:2*quarter], c.of), middle(s.Samples[3*quarter:], c.of)
		if float64(end) > float64(before)*(1+growth)+float64(c.slack) {
			say("%s grew from %d to %d", c.what, before, end)
		}
	}
	if s.After.Goroutines > s.Before.Goroutines {
		say("%d goroutines are left after the stop, %d were there before", s.After.Goroutines, s.Before.Goroutines)
	}
	if s.After.Descriptors > s.Before.Descriptors {
		say("%d descriptors are left after the stop, %d were there before", s.After.Descriptors,
			s.Before.Descriptors)
	}
	if s.After.Live > s.Before.Live+heapSlack {
		say("%d bytes of the heap are left after the stop, %d were there before", s.After.Live, s.Before.Live)
	}
	if timed && s.Slowest99 >= LagBound {
		say("a handler that keeps up was told %v after the change at the 99th percentile, want less than %v",
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
