package load

import (
	"flag"
	"strings"
	"testing"
	"time"

	"github.com/kubewright/kubewright/test/lab/results"
)

var (
	full = flag.Bool("lab.full", false, "run everything, as make soak does: it takes 45 minutes")
	file = flag.String("lab.results", "", "the file to which to append results")
)

// TestSoak: nothing grows beyond the documented bounds, and the lag of handlers that keep up is bounded. A
// short run doesn't check the lag.
func TestSoak(t *testing.T) {
	for _, s := range []soak{
		{job: job{Server: inMemory, Objects: 50_000, Writers: 1, Rate: 2000}},
		{job: job{Server: isEmbedded, Objects: 50_000, Writers: 8}},
	} {
		t.Run(s.Server, func(t *testing.T) {
			s.handlers, s.For, s.every = 20, 20*time.Minute, 5*time.Second
			if !*full {
				s.Objects, s.For, s.every = 1000, 3*time.Second, 100*time.Millisecond
			}
			r := s.run(t)
			tell(t, r)
			for _, problem := range r.Problems(*full) {
				t.Error(problem)
			}
			if err := results.Append(*file, r); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestUnbounded: a soak notices a blocked handler whose backlog isn't bounded.
func TestUnbounded(t *testing.T) {
	s := soak{job: job{Server: inMemory, Objects: 100, Writers: 1, Rate: 2000}, handlers: 3, unbounded: true,
		For: 3 * time.Second, every: 100 * time.Millisecond}
	r := s.run(t)
	tell(t, r)
	if problems := strings.Join(r.Problems(false), "\n"); !strings.Contains(problems, "the blocked handler") {
		t.Errorf("the problems are %q", problems)
	}
}

func tell(t *testing.T, r results.Soak) {
	t.Helper()
	t.Logf("%d changes in %v, %.0f a second; lag %v, p99 %v, of the slowest handler %v; %d lists",
		r.Changes, r.Took.Round(time.Millisecond), float64(r.Changes)/r.Took.Seconds(), r.Lag50, r.Lag99,
		r.Slowest99, r.Lists)
	t.Logf("before %+v", r.Before)
	t.Logf("synced %+v", r.Synced)
	t.Logf("end    %+v", r.Samples[len(r.Samples)-1])
	t.Logf("after  %+v", r.After)
	t.Logf("bounds: backlog %d, heap %d", r.BacklogBound(), r.HeapBound())
}
